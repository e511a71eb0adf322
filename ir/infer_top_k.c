/* SPDX-License-Identifier: Apache-2.0 */
/* infer_top_k.c - types of top_k, the k largest or smallest elements along an axis and their
 * indices, and of top_k_indices, the indices alone.
 *
 *   top_k {axis=1, k=2}        [3,5] -> tuple of [3,2] of the input's element, [3,2] of i64
 *   top_k_indices {axis=1, k=2}   [3,5] -> [3,2] of i32, unless i64 is written */
#include "ir/infer.h"

/* The input's shape with k elements along the axis. */
static bool
chosen_shape(const qn_graph *g, const qn_node *n, qn_shape *x)
{
	const qn_attrs_top_k *a = &n->attr->top_k;
	bool ok = qn_infer_operands(g, n) != QN_OPERANDS_BAD;
	int32_t axis = 0;

	ok = qn_infer_flag(g, n, "largest", a->largest) && ok;
	ok = qn_infer_flag(g, n, "sorted", a->sorted) && ok;
	ok = qn_infer_range(g, n, "k", 1, &a->k, 0) && ok;
	if (!ok)
		return false;
	*x = qn_shape_of(qn_infer_in(g, n, 0));
	if (x->rank < 0)
		return true;
	if (!qn_infer_axis(g, n, a->axis, x->rank, &axis) || !qn_infer_comparable(g, n, axis))
		return false;
	if (x->dim[axis] != QN_DYNAMIC && a->k > x->dim[axis])
		return qn_infer_error(g, n, "attr.value", "k is %lld, axis %d has %lld elements",
				      (long long)a->k, (int)axis, (long long)x->dim[axis]);
	x->dim[axis] = a->k;
	return true;
}

const qn_type *
qn_infer_top_k_indices(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	const qn_elem *e = qn_infer_index_elem(g, n, declared);
	qn_shape y;

	return e != NULL && chosen_shape(g, n, &y) ? qn_infer_result(g, n, e, &y) : NULL;
}

const qn_type *
qn_infer_top_k(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	const qn_elem *e = qn_infer_same(g, n);
	const qn_type *field[2];
	qn_shape y;

	(void)declared;
	if (e == NULL || !chosen_shape(g, n, &y))
		return NULL;
	field[0] = qn_infer_result(g, n, e, &y);
	field[1] = qn_infer_result(g, n, qn_elem_plain(&g->model->types, QN_PLAIN_i64), &y);
	return field[0] != NULL && field[1] != NULL ? qn_type_tuple(&g->model->types, 2, field)
						    : NULL;
}
