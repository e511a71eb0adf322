/* SPDX-License-Identifier: Apache-2.0 */
/* infer_elementwise.c - types of add, sub, mul, div, squared_difference (numpy's broadcasting) and
 * bias_add.
 *
 *   [2,1,4] + [3,1]  ->  [2,3,4]       [?,1] + [1,5]  ->  [?,5]       [?] + [5]  ->  [5] */
#include "ir/infer.h"

/* Two dims that stand above each other; false when they do not fit. */
static bool
broadcast_dim(int64_t a, int64_t b, int64_t *out)
{
	if (a == 1 || b == 1) {
		*out = a == 1 ? b : a;
		return true;
	}
	*out = qn_dim_merge(a, b);
	return qn_dim_fits(a, b);
}

/* y broadcast with the type of input i. */
static bool
broadcast_with(const qn_graph *g, const qn_node *n, uint32_t i, qn_shape *y)
{
	qn_shape a = *y, b = qn_shape_of(qn_infer_in(g, n, i));

	y->rank = a.rank > b.rank ? a.rank : b.rank;
	if (a.rank < 0 || b.rank < 0)
		y->rank = -1;
	for (int32_t k = 0; k < y->rank; k++) {
		int32_t ia = k - (y->rank - a.rank);
		int32_t ib = k - (y->rank - b.rank);

		if (!broadcast_dim(ia >= 0 ? a.dim[ia] : 1, ib >= 0 ? b.dim[ib] : 1, &y->dim[k]))
			return qn_infer_error(g, n, "shape.broadcast",
					      "%s and %s do not match in dimension %d",
					      qn_infer_type_text(g, qn_infer_in(g, n, i - 1)),
					      qn_infer_type_text(g, qn_infer_in(g, n, i)), (int)k);
	}
	return true;
}

bool
qn_infer_broadcast(const qn_graph *g, const qn_node *n, qn_shape *y)
{
	bool ok = true;

	*y = qn_shape_of(qn_infer_in(g, n, 0));
	for (uint32_t i = 1; ok && i < n->nin; i++)
		ok = broadcast_with(g, n, i, y);
	return ok;
}

static const qn_type *
broadcast(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	const qn_elem *e = qn_infer_numbers(g, n, declared);
	qn_shape y;

	return e != NULL && qn_infer_broadcast(g, n, &y) ? qn_infer_result(g, n, e, &y) : NULL;
}

/* The attribute of sums; other ops have the shapes of one without having it. */
static bool
align_ok(const qn_graph *g, const qn_node *n)
{
	return qn_opinfo_of(n)->attrs != QN_ATTRS(sum) || qn_infer_align(g, n, n->attr->sum.align);
}

bool
qn_infer_align(const qn_graph *g, const qn_node *n, int64_t bits)
{
	return bits == 0 || (bits >= QN_FIX_LEAST && bits <= QN_FIX_MOST) ||
	       qn_infer_error(g, n, "attr.value", "align is %lld, must be 0 or %d to %d",
			      (long long)bits, QN_FIX_LEAST, QN_FIX_MOST);
}

static const qn_type *
sum(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	return align_ok(g, n) ? broadcast(g, n, declared) : NULL;
}

const qn_type *
qn_infer_add(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	return sum(g, n, declared);
}

const qn_type *
qn_infer_mul(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	return broadcast(g, n, declared);
}

const qn_type *
qn_infer_sub(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	return sum(g, n, declared);
}

const qn_type *
qn_infer_div(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	return broadcast(g, n, declared);
}

const qn_type *
qn_infer_squared_difference(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	return broadcast(g, n, declared);
}

/* x [...,C] + b [C] */
const qn_type *
qn_infer_bias_add(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	const qn_elem *e = align_ok(g, n) ? qn_infer_mix(g, n, declared) : NULL;

	if (e == NULL)
		return NULL;
	qn_shape x = qn_shape_of(qn_infer_in(g, n, 0));
	if (x.rank == 0) {
		(void)qn_infer_error(g, n, "shape.rank",
				     "the data is a scalar and has no channels");
		return NULL;
	}
	int64_t channels = x.rank > 0 ? x.dim[x.rank - 1] : QN_DYNAMIC;
	return qn_infer_vector(g, n, 1, channels) ? qn_infer_result(g, n, e, &x) : NULL;
}
