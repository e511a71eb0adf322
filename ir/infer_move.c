/* SPDX-License-Identifier: Apache-2.0 */
/* infer_move.c - types of the ops that only move elements: reshape, flatten, transpose, concat.
 *
 *   reshape {shape=[-1,4]}      [2,3,4] -> [6,4]          flatten            [2,3,4] -> [2,12]
 *   transpose {perm=[0,2,1]}    [2,3,4] -> [2,4,3]        concat {axis=1}    [2,3], [2,5] -> [2,8]
 *
 * A quantized axis moves along where it stays whole; where it would be merged or split the node is
 * an error. */
#include "ir/infer.h"

/* Whether `axis` of a, with the same elements before or after it, is axis `k` of b. */
static bool
same_axis(const qn_shape *a, int32_t axis, const qn_shape *b, int32_t k)
{
	int32_t da, db;

	if (a->dim[axis] != b->dim[k] || a->dim[axis] == QN_DYNAMIC)
		return false;
	bool before = qn_dims_product(axis, a->dim, &da) == qn_dims_product(k, b->dim, &db) &&
		      da == 0 && db == 0;
	bool after = qn_dims_product(a->rank - axis - 1, a->dim + axis + 1, &da) ==
			     qn_dims_product(b->rank - k - 1, b->dim + k + 1, &db) &&
		     da == 0 && db == 0;

	return before || after;
}

/* The element after the dims of `from` were regrouped into those of `to`. */
static const qn_elem *
regrouped(const qn_graph *g, const qn_node *n, const qn_elem *e, const qn_shape *from,
	  const qn_shape *to)
{
	if (!qn_elem_is_quant(e) || e->gran == QN_PER_TENSOR)
		return e;
	if (e->gran == QN_SUB_CHANNEL) {
		(void)qn_infer_refuse(g, n, "unsupported.subchannel",
				      "%s does not support operands quantized in blocks: %s",
				      qn_opinfo_of(n)->name, qn_infer_elem_text(g, e));
		return NULL;
	}
	for (int32_t k = 0; from->rank > e->axis[0] && k < to->rank; k++)
		if (same_axis(from, e->axis[0], to, k))
			return qn_infer_move_axis(g, n, e, k);
	(void)qn_infer_error(g, n, "type.axis.merged",
			     "the scales are along axis %d, which %s merges or splits",
			     (int)e->axis[0], qn_opinfo_of(n)->name);
	return NULL;
}

/* Puts the number that makes both counts equal in place of the -1, when all else is known.  `dim`
 * is the attribute. */
static bool
resolve(const qn_graph *g, const qn_node *n, const qn_shape *x, qn_shape *y)
{
	int32_t unknown_in = 0;
	int32_t unknown_out = 0;
	int64_t in = x->rank >= 0 ? qn_dims_product(x->rank, x->dim, &unknown_in) : 0;
	int64_t out = qn_dims_product(y->rank, y->dim, &unknown_out);

	if (unknown_out > 1)
		return qn_infer_error(g, n, "attr.value",
				      "shape has %d dimensions of -1, at most one is possible",
				      (int)unknown_out);
	if (x->rank < 0 || unknown_in > 0)
		return true;
	bool fits = unknown_out == 0 ? in == out : out > 0 && in % out == 0;
	if (!fits)
		return qn_infer_error(g, n, "shape.reshape",
				      "%lld elements in %s do not fill the shape (product %lld%s)",
				      (long long)in, qn_infer_type_text(g, qn_infer_in(g, n, 0)),
				      (long long)out,
				      unknown_out > 0 ? " of the known dimensions" : "");
	for (int32_t i = 0; i < y->rank; i++)
		if (y->dim[i] == QN_DYNAMIC)
			y->dim[i] = in / out;
	return true;
}

const qn_type *
qn_infer_reshape(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	const qn_list *shape = &n->attr->shape.shape;
	const qn_elem *e = qn_infer_same(g, n);
	qn_shape y = {.rank = shape->n};

	(void)declared;
	for (int32_t i = 0; i < shape->n; i++) {
		y.dim[i] = shape->v[i];
		if (y.dim[i] < QN_DYNAMIC || y.dim[i] > QN_MAX_COUNT) {
			(void)qn_infer_error(g, n, "attr.value", "shape has a dimension of %lld",
					     (long long)y.dim[i]);
			return NULL;
		}
	}
	if (e == NULL)
		return NULL;
	qn_shape x = qn_shape_of(qn_infer_in(g, n, 0));
	if (!resolve(g, n, &x, &y))
		return NULL;
	e = regrouped(g, n, e, &x, &y);
	return e != NULL ? qn_infer_result(g, n, e, &y) : NULL;
}

/* [d0, d1, …] -> [d0, d1 * …] */
const qn_type *
qn_infer_flatten(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	const qn_elem *e = qn_infer_same(g, n);

	(void)declared;
	if (e == NULL)
		return NULL;
	qn_shape x = qn_shape_of(qn_infer_in(g, n, 0));
	qn_shape y = {2, {QN_DYNAMIC, QN_DYNAMIC}};
	if (x.rank == 0) {
		(void)qn_infer_error(g, n, "shape.rank",
				     "the input is a scalar and has no dimensions");
		return NULL;
	}
	if (x.rank > 0) {
		int32_t dynamic = 0;
		int64_t rest = qn_dims_product(x.rank - 1, x.dim + 1, &dynamic);

		y.dim[0] = x.dim[0];
		y.dim[1] = dynamic > 0 ? QN_DYNAMIC : rest;
	}
	e = regrouped(g, n, e, &x, &y);
	return e != NULL ? qn_infer_result(g, n, e, &y) : NULL;
}

static bool
is_permutation(const qn_list *perm)
{
	uint32_t seen = 0;

	for (int32_t i = 0; i < perm->n; i++) {
		if (perm->v[i] < 0 || perm->v[i] >= perm->n || (seen >> perm->v[i] & 1U) != 0)
			return false;
		seen |= 1U << perm->v[i];
	}
	return true;
}

static const qn_elem *
permuted(const qn_graph *g, const qn_node *n, const qn_elem *e)
{
	const qn_list *perm = &n->attr->perm.perm;

	if (!qn_elem_is_quant(e) || e->gran == QN_PER_TENSOR)
		return e;
	if (e->gran == QN_SUB_CHANNEL) {
		(void)qn_infer_refuse(g, n, "unsupported.subchannel",
				      "transpose does not support operands quantized in blocks: %s",
				      qn_infer_elem_text(g, e));
		return NULL;
	}
	for (int32_t k = 0; k < perm->n; k++)
		if (perm->v[k] == e->axis[0])
			return qn_infer_move_axis(g, n, e, k);
	(void)qn_infer_error(g, n, "type.axis.merged",
			     "the scales are along axis %d, which perm does not have",
			     (int)e->axis[0]);
	return NULL;
}

const qn_type *
qn_infer_transpose(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	const qn_list *perm = &n->attr->perm.perm;
	const qn_elem *e = qn_infer_same(g, n);

	(void)declared;
	if (!is_permutation(perm)) {
		(void)qn_infer_error(g, n, "attr.value", "perm is not a permutation of 0..%d",
				     (int)perm->n - 1);
		return NULL;
	}
	if (e == NULL)
		return NULL;
	qn_shape x = qn_shape_of(qn_infer_in(g, n, 0));
	qn_shape y = {.rank = perm->n};
	if (x.rank >= 0 && x.rank != perm->n) {
		(void)qn_infer_error(g, n, "attr.value",
				     "perm has %d numbers, the input %d dimensions", (int)perm->n,
				     (int)x.rank);
		return NULL;
	}
	for (int32_t i = 0; i < y.rank; i++)
		y.dim[i] = x.rank >= 0 ? x.dim[perm->v[i]] : QN_DYNAMIC;
	e = permuted(g, n, e);
	return e != NULL ? qn_infer_result(g, n, e, &y) : NULL;
}

/* All inputs have input 0's element, and it does not distinguish elements along `axis`. */
static const qn_elem *
joined(const qn_graph *g, const qn_node *n)
{
	const qn_elem *e = qn_infer_same(g, n);

	for (uint32_t i = 1; e != NULL && i < n->nin; i++) {
		const qn_elem *other = qn_infer_in(g, n, i)->elem;

		if (other != e) {
			(void)qn_infer_error(g, n, "type.mismatch",
					     "input %u ('%s') has %s elements, input 0 has %s; "
					     "requantize or cast one of them",
					     i, qn_graph_node(g, n->in[i])->name,
					     qn_infer_elem_text(g, other),
					     qn_infer_elem_text(g, e));
			return NULL;
		}
	}
	return e;
}

/* Adds input i, of y's rank, along `axis`. */
static bool
append(const qn_graph *g, const qn_node *n, uint32_t i, int32_t axis, qn_shape *y)
{
	const qn_type *t = qn_infer_in(g, n, i);

	for (int32_t k = 0; k < y->rank; k++) {
		if (k == axis) {
			bool known = y->dim[k] != QN_DYNAMIC && t->dim[k] != QN_DYNAMIC;

			y->dim[k] = known ? y->dim[k] + t->dim[k] : QN_DYNAMIC;
		} else if (qn_dim_fits(y->dim[k], t->dim[k])) {
			y->dim[k] = qn_dim_merge(y->dim[k], t->dim[k]);
		} else {
			return qn_infer_error(g, n, "shape.concat",
					      "input %u ('%s') is %s; dimension %d is %lld in the "
					      "inputs before it",
					      i, qn_graph_node(g, n->in[i])->name,
					      qn_infer_type_text(g, t), (int)k,
					      (long long)y->dim[k]);
		}
	}
	return true;
}

/* An unranked input leaves the dim along the axis unknown, nothing else. */
static bool
concat_shape(const qn_graph *g, const qn_node *n, qn_shape *y, int32_t *axis)
{
	int64_t wanted = n->attr->axis.axis;
	bool open = false;

	*y = (qn_shape){.rank = -1};
	for (uint32_t i = 0; i < n->nin; i++) {
		const qn_type *t = qn_infer_in(g, n, i);

		if (t->rank < 0) {
			open = true;
		} else if (y->rank < 0) {
			*y = qn_shape_of(t);
			if (wanted < -(int64_t)y->rank || wanted >= y->rank)
				return qn_infer_error(g, n, "attr.value",
						      "axis is %lld, the inputs have %d dimensions",
						      (long long)wanted, (int)y->rank);
			*axis = (int32_t)(wanted < 0 ? wanted + y->rank : wanted);
		} else if (!qn_infer_rank(g, n, i, y->rank) || !append(g, n, i, *axis, y)) {
			return false;
		}
	}
	if (open && y->rank >= 0)
		y->dim[*axis] = QN_DYNAMIC;
	return true;
}

const qn_type *
qn_infer_concat(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	const qn_elem *e = joined(g, n);
	qn_shape y;
	int32_t axis = -1;

	(void)declared;
	if (e == NULL || !concat_shape(g, n, &y, &axis))
		return NULL;
	if (n->nin > 1 && qn_elem_is_quant(e) && e->gran == QN_PER_AXIS && e->axis[0] == axis) {
		(void)qn_infer_error(g, n, "type.axis.merged",
				     "the scales are along axis %d, along which concat joins",
				     (int)axis);
		return NULL;
	}
	return qn_infer_result(g, n, e, &y);
}
