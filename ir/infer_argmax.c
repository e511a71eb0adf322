/* SPDX-License-Identifier: Apache-2.0 */
/* infer_argmax.c - types of argmax and argmin: the index of the largest or smallest element along
 * one axis, as i32 or i64.
 *
 *   argmax {axis=1}              [2,5,3] -> [2,3]  i32, unless i64 is written
 *   argmax {axis=1, keepdims=1}  [2,5,3] -> [2,1,3] */
#include "ir/infer.h"

bool
qn_infer_comparable(const qn_graph *g, const qn_node *n, int32_t axis)
{
	const qn_elem *e = qn_infer_in(g, n, 0)->elem;

	if (!qn_elem_is_quant(e) || e->gran == QN_PER_TENSOR)
		return true;
	if (e->gran == QN_SUB_CHANNEL)
		return qn_infer_refuse(g, n, "unsupported.subchannel",
				       "%s does not support operands quantized in blocks: %s",
				       qn_opinfo_of(n)->name, qn_infer_elem_text(g, e));
	return e->axis[0] != axis ||
	       qn_infer_error(g, n, "type.axis.merged",
			      "%s reduces axis %d, along which the scales differ",
			      qn_opinfo_of(n)->name, (int)axis);
}

const qn_elem *
qn_infer_index_elem(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	const qn_elem *i32 = qn_elem_plain(&g->model->types, QN_PLAIN_i32);

	if (declared == NULL || declared->is_tuple || declared->elem == i32 ||
	    declared->elem == qn_elem_plain(&g->model->types, QN_PLAIN_i64))
		return declared == NULL || declared->is_tuple ? i32 : declared->elem;
	(void)qn_infer_error(g, n, "type.element", "the result is declared %s, must be i32 or i64",
			     qn_infer_type_text(g, declared));
	return NULL;
}

const qn_type *
qn_infer_argmax(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	const qn_attrs_argmax *a = &n->attr->argmax;
	const qn_elem *e = qn_infer_index_elem(g, n, declared);
	bool ok = qn_infer_operands(g, n) != QN_OPERANDS_BAD && e != NULL;

	ok = qn_infer_flag(g, n, "keepdims", a->keepdims) && ok;
	ok = qn_infer_flag(g, n, "select_last_index", a->select_last_index) && ok;
	if (!ok)
		return NULL;
	qn_shape x = qn_shape_of(qn_infer_in(g, n, 0)), y = {.rank = 0};
	if (x.rank < 0)
		return qn_infer_result(g, n, e, &x);
	if (a->axis < -(int64_t)x.rank || a->axis >= x.rank) {
		(void)qn_infer_error(g, n, "attr.value",
				     "axis is %lld, the input has %d dimensions",
				     (long long)a->axis, (int)x.rank);
		return NULL;
	}
	int32_t axis = (int32_t)(a->axis < 0 ? a->axis + x.rank : a->axis);
	if (x.dim[axis] == 0) {
		(void)qn_infer_error(g, n, "shape.window", "%s has no elements along axis %d",
				     qn_infer_type_text(g, qn_infer_in(g, n, 0)), (int)axis);
		return NULL;
	}
	for (int32_t i = 0; i < x.rank; i++)
		if (i != axis || a->keepdims != 0)
			y.dim[y.rank++] = i == axis ? 1 : x.dim[i];
	return qn_infer_comparable(g, n, axis) ? qn_infer_result(g, n, e, &y) : NULL;
}

const qn_type *
qn_infer_argmin(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	return qn_infer_argmax(g, n, declared);
}
