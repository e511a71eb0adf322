/* SPDX-License-Identifier: Apache-2.0 */
/* requantize_codes.c - ops with integer arithmetic of their own take codes for real operands.
 *
 *   quantize(add(dequantize(a), dequantize(b)))    ->  add(a, b)      with the quantize's parameters; softmax, silu, global_avg_pool …
 *   less(dequantize(a), dequantize(b))             ->  less(a, b)     the result is plain
 *   argmax(dequantize(x))                          ->  argmax(x) */
#include "passes/requantize.h"

/* Whether e has the parameters that the arithmetic of a FIXED op gives; other ops take any. */
static bool
has_fixed_type(const qn_rw *rw, const qn_node *n, const qn_elem *e)
{
	double want, scale;
	int64_t want_zp, zp;

	if (qn_opinfo_of(n)->behaviour != QN_FIXED)
		return true;
	qn_fixed_output(n, e, &want, &want_zp);
	qn_elem_param(&qn_rw_model(rw)->types, e, 0, &scale, &zp);
	return scale == want && zp == want_zp;
}

/* op(a, …) of type `type` for op(dequantize(a), …); 0 when an operand is something else. */
static qn_id
on_codes(qn_rw *rw, qn_id id, const qn_type *type)
{
	const qn_node *op = qn_rw_node(rw, id);
	qn_id *in = QN_NEW(qn_rw_model(rw)->scratch, qn_id, op->nin);

	if (qn_rqz_skipped(rw, id))
		return qn_rw_decline(rw, "it is to stay in float");
	for (uint32_t i = 0; i < op->nin; i++) {
		const qn_elem *e = qn_rqz_operand_elem(rw, op->in[i]);

		if (e == NULL || !qn_rqz_narrow(e))
			return qn_rw_decline(rw,
					     "an operand is no dequantize of 8- or 16-bit codes");
	}
	for (uint32_t i = 0; i < qn_rw_node(rw, id)->nin; i++)
		in[i] = qn_rqz_operand(rw, qn_rw_node(rw, id)->in[i]);
	op = qn_rw_node(rw, id);
	return qn_rw_add(rw, op->op, qn_rw_name(rw, id), op->nin, in, op->attr, type);
}

/* quantize(op(dequantize(a), …)) -> op(a, …) with the quantize's parameters */
qn_id
qn_rqz_compute(qn_rw *rw, const qn_match *m)
{
	const qn_type *type = qn_rw_node(rw, m->root)->type;

	if (!qn_rqz_narrow(type->elem) ||
	    !has_fixed_type(rw, qn_rw_node(rw, m->at[OP]), type->elem))
		return qn_rw_decline(rw, "the op has no arithmetic that gives these parameters");
	return on_codes(rw, m->at[OP], type);
}

/* A comparison has a plain result: less(dequantize(a), dequantize(b)) -> less(a, b). */
qn_id
qn_rqz_compare(qn_rw *rw, const qn_match *m)
{
	const qn_type *type = qn_rw_node(rw, m->root)->type;

	if (type->is_tuple || type->elem->kind != QN_ELEM_PLAIN || qn_elem_is_float(type->elem))
		return qn_rw_decline(rw, "it is no comparison");
	return on_codes(rw, m->root, type);
}

/* index(dequantize(x)) -> index(x): the order of codes is that of the real numbers */
qn_id
qn_rqz_index(qn_rw *rw, const qn_match *m)
{
	const qn_node *n = qn_rw_node(rw, m->root);
	const qn_elem *e = qn_rqz_operand_elem(rw, n->in[0]);

	if (qn_rqz_skipped(rw, m->root))
		return qn_rw_decline(rw, "it is to stay in float");
	if (e == NULL || !qn_rqz_narrow(e))
		return qn_rw_decline(rw, "its operand is no dequantize of 8- or 16-bit codes");
	qn_id x = qn_rqz_operand(rw, n->in[0]);
	n = qn_rw_node(rw, m->root);
	return qn_rw_add(rw, n->op, qn_rw_name(rw, m->root), 1, &x, n->attr, n->type);
}
