/* SPDX-License-Identifier: Apache-2.0 */
/* requantize_l2_norm.c - l2_norm of values of 16 bits, which has no kernel, is an rms_norm of them.
 *
 *   l2_norm(x [2,9])  ->  rms_norm(x, 1/3, 1/3, …) {axis=1, epsilon=0}
 *
 * x / sqrt(sum of x^2) = x / sqrt(mean of x^2) / sqrt(n).  A sum below epsilon is one of zeros alone, whose result is 0
 * in both, if a step of x is at least sqrt(epsilon). */
#include <math.h>

#include "passes/requantize.h"

/* 1 / sqrt(n) for each element from the axis on, the largest value of 16 bits each. */
static qn_id
add_scale(qn_rw *rw, const qn_type *x, int32_t axis, qn_plain expressed)
{
	qn_model *m = qn_rw_model(rw);
	qn_elem d = qn_elem_desc(16, true);
	const qn_elem *made = NULL;
	void *data;

	d.expressed = expressed;
	d.scale = qn_scale_const(&m->types, 1 / sqrt((double)x->dim[axis]) / INT16_MAX);
	if (qn_elem_make(&m->types, "scale", &d, &made) != QN_OK)
		return 0;
	const qn_type *type = qn_type_tensor(&m->types, made, x->rank - axis, x->dim + axis);
	qn_tensor *to = qn_tensor_new(m->arena, type, &data);
	for (int64_t i = 0; i < qn_type_count(type); i++)
		qn_store_i64(data, made->plain, i, INT16_MAX);
	return qn_rw_const(rw, "l2_norm.scale", to);
}

/* Whether all axes after this one have one element. */
static bool
is_last(const qn_type *x, int32_t axis)
{
	for (int32_t i = axis + 1; i < x->rank; i++)
		if (x->dim[i] != 1)
			return false;
	return true;
}

qn_id
qn_rqz_wide_l2_norm(qn_rw *rw, qn_id id, qn_id x, const qn_type *type)
{
	const qn_node *n = qn_rw_node(rw, id);
	const qn_type *xt = qn_rw_node(rw, x)->type;
	const int64_t at = n->attr->l2_norm.axis;
	const int32_t axis = (int32_t)(at < 0 ? at + xt->rank : at);
	const double epsilon = n->attr->l2_norm.epsilon;
	qn_attrs a = {0};
	double step;
	int64_t zp;

	qn_elem_param(&qn_rw_model(rw)->types, xt->elem, 0, &step, &zp);
	if (qn_type_count(xt) < 1 || !is_last(xt, axis))
		return qn_rw_decline(rw, "l2_norm of 16-bit values is along the last axis");
	if (step * step < epsilon)
		return qn_rw_decline(rw, "a step of its 16-bit operand is below sqrt(epsilon)");
	a.layer_norm.axis = axis;
	a.layer_norm.epsilon = 0;
	const qn_id scale = add_scale(rw, xt, axis, type->elem->expressed);
	return scale == 0 ? 0
			  : qn_rw_add(rw, QN_OP_rms_norm, qn_rw_name(rw, id), 2,
				      (const qn_id[]){x, scale}, &a, type);
}
