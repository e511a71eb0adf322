/* SPDX-License-Identifier: Apache-2.0 */
/* requantize_move.c - a quantize moves up past what only moves, selects or clamps.
 *
 *   quantize(transpose(relu(dequantize(x))))   ->  transpose(relu(requantize(x)))     one op at a time
 *   quantize(max_pool(dequantize(x)))          ->  requantize(max_pool(x))            fewer elements to requantize
 *
 * Both are exact beside the requantize: its map of codes is monotone, so it commutes with
 * selecting, and 0 has a code in every type. */
#include "passes/requantize.h"

qn_id
qn_rqz_quantize(qn_rw *rw, qn_id x, const qn_elem *e, const char *name)
{
	const qn_type *type =
		qn_type_with_elem(&qn_rw_model(rw)->types, qn_rw_node(rw, x)->type, e);

	return qn_rw_add(rw, QN_OP_quantize, name, 1, &x, NULL, type);
}

/* quantize(op(dequantize(x))) -> requantize(op(x)): first the op, with the parameters of x */
qn_id
qn_rqz_shrink(qn_rw *rw, const qn_match *m)
{
	const qn_node *q = qn_rw_node(rw, m->root);
	const qn_node *op = qn_rw_node(rw, m->at[OP]);

	if (!qn_rqz_narrow(qn_rw_node(rw, m->at[X])->type->elem))
		return qn_rw_decline(rw, "the codes are wider than 16 bits or have several scales");
	qn_id y = qn_rw_add(rw, op->op, qn_rw_name(rw, m->at[OP]), 1, &m->at[X], op->attr, NULL);
	if (y == 0)
		return 0;
	if (qn_rw_node(rw, y)->type == q->type)
		return y;
	return qn_rw_add(rw, QN_OP_requantize, qn_rw_name(rw, m->root), 1, &y, NULL, q->type);
}

/* Averages of codes are rounded to codes of x before the requantize: left out where that is not
 * wanted. */
qn_id
qn_rqz_average(qn_rw *rw, const qn_match *m)
{
	const qn_rqz *s = qn_rw_user(rw);

	if (s->opts->exact)
		return qn_rw_decline(
			rw, "averages of codes are rounded, and only exact rules are wanted");
	return qn_rqz_shrink(rw, m);
}

/* quantize(move(…)) -> move(quantize(…)); concat likewise, each of its inputs */
qn_id
qn_rqz_hoist(qn_rw *rw, const qn_match *m)
{
	const qn_elem *e = qn_rw_node(rw, m->root)->type->elem;
	const qn_node *op = qn_rw_node(rw, m->at[OP]);
	qn_op kind = op->op;
	const qn_attrs *attr = op->attr;
	uint32_t nin = op->nin;
	qn_id *in = QN_NEW(qn_rw_model(rw)->arena, qn_id, nin);

	if (e->gran != QN_PER_TENSOR || !qn_rqz_ends(rw, m->at[OP]))
		return qn_rw_decline(rw, "there are no codes at the other end of the chain");
	for (uint32_t i = 0; i < nin; i++) {
		const qn_node *from = qn_rw_node(rw, m->at[OP]);

		in[i] = from->in[i];
		if (!qn_rqz_is_index(from, i) &&
		    qn_elem_is_float(qn_rw_node(rw, in[i])->type->elem))
			in[i] = qn_rqz_quantize(rw, in[i], e, qn_rw_name(rw, m->root));
	}
	return qn_rw_add(rw, kind, qn_rw_name(rw, m->at[OP]), nin, in, attr, NULL);
}

/* quantize(get(split(x))) -> get(split(quantize(x))); parts of equal parameters share a split */
qn_id
qn_rqz_hoist_part(qn_rw *rw, const qn_match *m)
{
	const qn_elem *e = qn_rw_node(rw, m->root)->type->elem;
	const qn_node *get = qn_rw_node(rw, m->at[OP]), *split = qn_rw_node(rw, get->in[0]);
	const qn_attrs *part = get->attr, *sizes = split->attr;
	const char *name = qn_rw_name(rw, get->in[0]);

	if (e->gran != QN_PER_TENSOR || !qn_rqz_ends(rw, m->at[OP]))
		return qn_rw_decline(rw, "there are no codes at the other end of the chain");
	qn_id x = qn_rqz_quantize(rw, split->in[0], e, qn_rw_name(rw, m->root));
	x = qn_rw_add(rw, QN_OP_split, name, 1, &x, sizes, NULL);
	return qn_rw_add(rw, QN_OP_get, qn_rw_name(rw, m->at[OP]), 1, &x, part, NULL);
}
