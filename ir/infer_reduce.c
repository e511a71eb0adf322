/* SPDX-License-Identifier: Apache-2.0 */
/* infer_reduce.c - types of reduce_mean, reduce_sum, reduce_prod, reduce_max, reduce_min.
 *
 *   axes=[1,-1]              [2,3,4,5] -> [2,4]
 *   axes=[1,-1], keepdims=1  [2,3,4,5] -> [2,1,4,1]
 *
 * A quantized axis that stays moves along; one that is reduced is an error, except where the result
 * has parameters of its own. */
#include "ir/reduce.h"

#include "ir/infer.h"

/* Attributes against a rank, which may be -1: unknown. */
static bool
attributes_ok(const qn_graph *g, const qn_node *n, int32_t rank)
{
	const qn_attrs_reduce *a = &n->attr->reduce;
	uint32_t seen = 0;
	bool ok = true;

	if (a->keepdims != 0 && a->keepdims != 1)
		ok = qn_infer_error(g, n, "attr.value", "keepdims is %lld, must be 0 or 1",
				    (long long)a->keepdims);
	for (int32_t i = 0; rank >= 0 && i < a->axes.n; i++) {
		int64_t axis = a->axes.v[i];

		if (axis < -(int64_t)rank || axis >= rank) {
			ok = qn_infer_error(g, n, "attr.value",
					    "axes has %lld, the input has %d dimensions",
					    (long long)axis, (int)rank);
			continue;
		}
		uint32_t bit = UINT32_C(1) << (axis < 0 ? axis + rank : axis);
		if ((seen & bit) != 0)
			ok = qn_infer_error(g, n, "attr.value", "axes names axis %lld twice",
					    (long long)(axis < 0 ? axis + rank : axis));
		seen |= bit;
	}
	return ok;
}

static qn_shape
reduced_shape(const qn_shape *x, uint32_t mask, bool keep)
{
	qn_shape y = {.rank = 0};

	for (int32_t i = 0; i < x->rank; i++) {
		bool over = (mask >> i & 1) != 0;

		if (!over || keep)
			y.dim[y.rank++] = over ? 1 : x->dim[i];
	}
	return y;
}

/* Only the sum and the product of no elements are numbers. */
static bool
has_elements(const qn_graph *g, const qn_node *n, const qn_shape *x, uint32_t mask)
{
	bool empty_ok = n->op == QN_OP_reduce_sum || n->op == QN_OP_reduce_prod;

	for (int32_t i = 0; !empty_ok && i < x->rank; i++)
		if ((mask >> i & 1) != 0 && x->dim[i] == 0)
			return qn_infer_error(g, n, "shape.window",
					      "%s has no elements along axis %d",
					      qn_infer_type_text(g, qn_infer_in(g, n, 0)), (int)i);
	return true;
}

static const qn_type *
reduced(const qn_graph *g, const qn_node *n, const qn_elem *e)
{
	qn_shape x = qn_shape_of(qn_infer_in(g, n, 0));

	if (!attributes_ok(g, n, x.rank))
		return NULL;
	if (x.rank < 0)
		return qn_infer_result(g, n, e, &x);
	uint32_t mask = qn_reduce_mask(&n->attr->reduce.axes, x.rank);
	if (!has_elements(g, n, &x, mask))
		return NULL;
	qn_shape y = reduced_shape(&x, mask, n->attr->reduce.keepdims != 0);
	return qn_infer_result(g, n, e, &y);
}

/* The element of a result that holds quantized values of the input. */
static const qn_elem *
selected(const qn_graph *g, const qn_node *n)
{
	const qn_elem *e = qn_infer_same(g, n);
	int32_t rank, axis;

	if (e == NULL || !qn_elem_is_quant(e) || e->gran == QN_PER_TENSOR)
		return e;
	if (e->gran == QN_SUB_CHANNEL) {
		(void)qn_infer_refuse(g, n, "unsupported.subchannel",
				      "%s does not support operands quantized in blocks: %s",
				      qn_opinfo_of(n)->name, qn_infer_elem_text(g, e));
		return NULL;
	}
	rank = qn_infer_in(g, n, 0)->rank;
	axis = e->axis[0];
	if (rank < 0 || !attributes_ok(g, n, rank))
		return rank < 0 ? e : NULL;
	uint32_t mask = qn_reduce_mask(&n->attr->reduce.axes, rank);
	if ((mask >> axis & 1) != 0) {
		(void)qn_infer_error(g, n, "type.axis.merged",
				     "%s reduces axis %d, along which the scales differ",
				     qn_opinfo_of(n)->name, (int)axis);
		return NULL;
	}
	for (int32_t i = e->axis[0] - 1; n->attr->reduce.keepdims == 0 && i >= 0; i--)
		axis -= (mask >> i & 1) != 0;
	return qn_infer_move_axis(g, n, e, axis);
}

const qn_type *
qn_infer_reduce_mean(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	const qn_elem *e = qn_infer_numbers(g, n, declared);

	return e != NULL ? reduced(g, n, e) : NULL;
}

const qn_type *
qn_infer_reduce_sum(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	return qn_infer_reduce_mean(g, n, declared);
}

const qn_type *
qn_infer_reduce_max(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	const qn_elem *e = selected(g, n);

	(void)declared;
	return e != NULL ? reduced(g, n, e) : NULL;
}

const qn_type *
qn_infer_reduce_min(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	return qn_infer_reduce_max(g, n, declared);
}

const qn_type *
qn_infer_reduce_prod(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	return qn_infer_reduce_mean(g, n, declared);
}
