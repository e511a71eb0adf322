/* SPDX-License-Identifier: Apache-2.0 */
/* requantize_integer.c - ops with integer arithmetic of their own take quantized operands.
 *
 *   quantize(add(dequantize(a), dequantize(b)))    ->  add(a, b)      with the quantize's parameters; softmax, silu, global_avg_pool …
 *   less(dequantize(a), dequantize(b))             ->  less(a, b)     the result is plain
 *   argmax(dequantize(x))                          ->  argmax(x) */
#include "passes/requantize.h"

enum { MOST_STEPS = 16 }; /* 1/8 of a step of 8 bits (requantize_storage.c) */

/* The element type that the op computes for a result of type e: e itself or, where its arithmetic has parameters
 * of its own alone, those, if a step of them is at most `most` of e; NULL: it has none. */
static const qn_elem *
computed_elem(qn_types *t, const qn_node *n, const qn_elem *e, double most)
{
	qn_elem d = qn_elem_desc(e->bits, e->is_signed);
	const qn_elem *made = NULL;
	double scale, want;
	int64_t zp;

	if (qn_opinfo_of(n)->behaviour != QN_FIXED || qn_has_fixed_output(t, n, e) ||
	    qn_supports_any_output(n, e))
		return e;
	qn_elem_param(t, e, 0, &scale, &zp);
	qn_fixed_output(n, &d, &want, &d.zp);
	d.scale = qn_scale_const(t, want);
	d.expressed = e->expressed;
	return e->bits > 8 && want <= most * scale && qn_elem_make(t, "result", &d, &made) == QN_OK
		       ? made
		       : NULL;
}

/* Whether all operands stand for quantized values; *wide: whether one of them has 16 bits. */
static bool
are_quantized(qn_rw *rw, const qn_node *op, bool *wide)
{
	for (uint32_t i = 0; i < op->nin; i++) {
		const qn_elem *e = qn_rqz_operand_elem(rw, op->in[i]);

		if (qn_rqz_is_parameter(qn_rw_graph(rw), op, i))
			continue;
		if (e == NULL || !qn_rqz_supports(e))
			return false;
		*wide = *wide || e->bits > 8;
	}
	return op->nin > 0;
}

/* Whether an operand has several scales in 8 bits, which nothing of 16 bits can be computed with. */
static bool
has_narrow_channels(qn_rw *rw, const qn_node *op)
{
	for (uint32_t i = 0; i < op->nin; i++) {
		const qn_elem *e = qn_rqz_operand_elem(rw, op->in[i]);

		if (!qn_rqz_is_parameter(qn_rw_graph(rw), op, i) && qn_rqz_has_channels(e) &&
		    e->bits <= 8)
			return true;
	}
	return false;
}

/* The quantized values that the operands stand for, in one scale each if the op needs that. */
static bool
operands_of(qn_rw *rw, qn_id id, bool one_scale, qn_id *in)
{
	for (uint32_t i = 0; i < qn_rw_node(rw, id)->nin; i++) {
		const qn_node *op = qn_rw_node(rw, id);

		if (qn_rqz_is_parameter(qn_rw_graph(rw), op, i)) {
			in[i] = qn_rw_node(rw, op->in[i])->in[0];
			continue;
		}
		in[i] = qn_rqz_operand(rw, op->in[i]);
		in[i] = one_scale ? qn_rqz_aligned(rw, in[i]) : in[i];
		if (in[i] == 0)
			return false;
	}
	return true;
}

/* How many operands have the storage of the result: pow's exponent and the entries of a table are not data. */
static uint32_t
of_one_storage(const qn_node *op)
{
	return op->op == QN_OP_table ? 0 : op->op == QN_OP_pow ? 1 : op->nin;
}

/* op(a, …) of type `type` for op(dequantize(a), …); 0 when an operand is something else. */
static qn_id
on_quantized(qn_rw *rw, qn_id id, const qn_type *type)
{
	qn_types *t = &qn_rw_model(rw)->types;
	const qn_node *op = qn_rw_node(rw, id);
	qn_id *in = QN_NEW(qn_rw_model(rw)->scratch, qn_id, op->nin);
	const qn_type *made = type;
	bool wide = false;

	if (qn_rqz_skipped(rw, id))
		return qn_rw_decline(rw, "it is to stay in float");
	if (!are_quantized(rw, op, &wide))
		return qn_rw_decline(rw, "an operand is not a dequantize of 8- or 16-bit values");
	const bool one_scale = qn_rqz_needs_one_scale(qn_rw_graph(rw), op, type) ||
			       (wide && has_narrow_channels(rw, op));
	if (!operands_of(rw, id, one_scale, in))
		return 0;
	op = qn_rw_node(rw, id);
	bool quantized = qn_elem_is_quant(type->elem);
	const qn_elem *like = quantized ? type->elem : qn_rw_node(rw, in[0])->type->elem;
	bool is_signed = like->is_signed;
	wide = wide || like->bits > 8 || one_scale;
	if (quantized && qn_rqz_has_channels(type->elem) && one_scale)
		made = qn_type_with_elem(t, type, qn_rqz_aligned_elem(t, type->elem));
	else if (quantized && wide && type->elem->bits <= 8 && op->op != QN_OP_mul)
		made = qn_type_with_elem(t, type, qn_rqz_wide_elem(t, type->elem));
	const bool by_rms = wide && op->op == QN_OP_l2_norm;
	const qn_elem *own = quantized && !by_rms ? computed_elem(t, op, made->elem,
								  made != type ? MOST_STEPS : 1)
						  : made->elem;
	if (own == NULL)
		return qn_rw_decline(rw, "no arithmetic of the op gives these parameters");
	made = qn_type_with_elem(t, made, own);
	for (uint32_t i = 0; i < of_one_storage(qn_rw_node(rw, id)); i++)
		if (!qn_rqz_is_parameter(qn_rw_graph(rw), qn_rw_node(rw, id), i))
			in[i] = qn_rqz_stored_as(rw, in[i], wide ? 16 : 8, wide || is_signed);
	op = qn_rw_node(rw, id);
	const char *name =
		op->op == QN_OP_l2_norm ? qn_rqz_l2_norm_name(rw, id, in[0]) : qn_rw_name(rw, id);
	qn_id y = by_rms ? qn_rqz_wide_l2_norm(rw, id, in[0], made)
			 : qn_rw_add(rw, op->op, name, op->nin, in, op->attr, made);
	if (qn_rw_node(rw, id)->op == QN_OP_l2_norm)
		y = qn_rqz_bounded_l2_norm(rw, id, in[0], y);
	if (made == type || y == 0)
		return y;
	return qn_rw_add(rw, QN_OP_requantize, qn_rw_name(rw, id), 1, &y, NULL, type);
}

/* quantize(op(dequantize(a), …)) -> op(a, …) with the quantize's parameters */
qn_id
qn_rqz_compute(qn_rw *rw, const qn_match *m)
{
	const qn_type *type = qn_rw_node(rw, m->root)->type;

	if (!qn_rqz_supports(type->elem))
		return qn_rw_decline(rw, "no arithmetic of the op gives these parameters");
	return on_quantized(rw, m->at[OP], type);
}

/* A comparison has a plain result: less(dequantize(a), dequantize(b)) -> less(a, b). */
qn_id
qn_rqz_compare(qn_rw *rw, const qn_match *m)
{
	const qn_type *type = qn_rw_node(rw, m->root)->type;

	if (type->is_tuple || type->elem->kind != QN_ELEM_PLAIN || qn_elem_is_float(type->elem))
		return qn_rw_decline(rw, "it is not a comparison");
	return on_quantized(rw, m->root, type);
}

/* index(dequantize(x)) -> index(x): quantized values have the order of the float values, and sums in 16 bits nearly */
qn_id
qn_rqz_index(qn_rw *rw, const qn_match *m)
{
	const qn_node *n = qn_rw_node(rw, m->root);
	const qn_elem *e = qn_rqz_operand_elem(rw, n->in[0]);

	if (qn_rqz_skipped(rw, m->root))
		return qn_rw_decline(rw, "it is to stay in float");
	qn_id x = e != NULL && qn_rqz_supports(e) ? qn_rqz_operand(rw, n->in[0])
						  : qn_rqz_whole_sum(rw, n->in[0]);
	if (x == 0)
		return qn_rw_decline(rw, "its operand is neither a dequantize of 8- or 16-bit "
					 "values nor of a sum of products");
	x = qn_rqz_aligned(rw, x);
	n = qn_rw_node(rw, m->root);
	return qn_rw_add(rw, n->op, qn_rw_name(rw, m->root), 1, &x, n->attr, n->type);
}
