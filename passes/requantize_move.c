/* SPDX-License-Identifier: Apache-2.0 */
/* requantize_move.c - a quantize moves up past what only moves, selects or clamps.
 *
 *   quantize(transpose(relu(dequantize(x))))   ->  transpose(relu(requantize(x)))     one op at a time
 *   quantize(max_pool(dequantize(x)))          ->  requantize(max_pool(x))            fewer elements to requantize
 *
 * Both are exact apart from the requantize: it is monotone, so it commutes with selecting,
 * and 0 is representable in every type. */
#include "passes/requantize.h"

/* The type of x quantized to e, which stands for floats of the type of x. */
static const qn_type *
quantized_type(qn_rw *rw, qn_id x, const qn_elem *e)
{
	qn_types *t = &qn_rw_model(rw)->types;
	const qn_type *type = qn_rw_node(rw, x)->type;
	const qn_elem *from = type->elem;

	if (qn_elem_is_float(from) && e->kind == QN_ELEM_UNIFORM && e->expressed != from->plain) {
		qn_elem d = *e;

		d.expressed = from->plain;
		if (qn_elem_make(t, "quantize", &d, &e) != QN_OK)
			return NULL;
	}
	return qn_type_with_elem(t, type, e);
}

qn_id
qn_rqz_quantize(qn_rw *rw, qn_id x, const qn_elem *e, const char *name)
{
	const qn_type *type = quantized_type(rw, x, e);

	return type != NULL ? qn_rw_add(rw, QN_OP_quantize, name, 1, &x, NULL, type) : 0;
}

qn_id
qn_rqz_narrowed(qn_rw *rw, const qn_match *m, qn_id x)
{
	const qn_node *q = qn_rw_node(rw, m->root);
	const qn_node *op = qn_rw_node(rw, m->at[OP]);
	qn_id y = qn_rw_add(rw, op->op, qn_rw_name(rw, m->at[OP]), 1, &x, op->attr, NULL);

	if (y == 0)
		return 0;
	if (qn_rw_node(rw, y)->type == q->type)
		return y;
	return qn_rw_add(rw, QN_OP_requantize, qn_rw_name(rw, m->root), 1, &y, NULL, q->type);
}

/* quantize(op(dequantize(x))) -> requantize(op(x)): first the op, with the parameters of x */
qn_id
qn_rqz_shrink(qn_rw *rw, const qn_match *m)
{
	if (!qn_rqz_narrow(qn_rw_node(rw, m->at[X])->type->elem))
		return qn_rw_decline(
			rw, "the quantized values are wider than 16 bits or have several scales");
	return qn_rqz_narrowed(rw, m, m->at[X]);
}

/* A part of a split, which a quantize after it passes in one step. */
static bool
is_part(const qn_rw *rw, const qn_node *n)
{
	return n->op == QN_OP_get && qn_rw_node(rw, n->in[0])->op == QN_OP_split;
}

/* Whether a quantize of the value moves up. */
static bool
climbs(const qn_rw *rw, qn_id id)
{
	const qn_node *n = qn_rw_node(rw, id);

	return qn_rqz_moves(qn_rw_graph(rw), n) && qn_rqz_ends(rw, id);
}

/* The next value, from *i on, that is quantized when a quantize of value id moves up; 0: no
 * more. */
static qn_id
next_above(const qn_rw *rw, qn_id id, uint32_t *i)
{
	const qn_node *n = qn_rw_node(rw, id);

	if (qn_rqz_is_table(rw, n))
		return 0; /* it is quantized as it is gathered */
	if (is_part(rw, n))
		return (*i)++ == 0 ? qn_rw_node(rw, n->in[0])->in[0] : 0;
	for (; *i < n->nin; ++*i)
		if (!qn_rqz_is_index(n, *i) &&
		    qn_elem_is_float(qn_rw_node(rw, n->in[*i])->type->elem))
			return n->in[(*i)++];
	return 0;
}

/* Quantizes all that lies above value id, the highest first: a rule that moves a quantize up calls
 * itself for what it adds, and this keeps it from going deeper than one step, however long the
 * chain is.
 *
 *   quantize(d(c(b(a(dequantize(x))))))     quantize(a), of (b), of (c); then that of d */
static bool
quantize_above(qn_rw *rw, qn_id id, const qn_elem *e, const char *name)
{
	struct {
		qn_id id;
		uint32_t next;
	} * stack, *top;
	size_t cap = 0, n = 0;

	stack = qn_arena_grow(qn_rw_model(rw)->scratch, NULL, &cap, 1, sizeof *stack);
	for (qn_id x = id; x != 0 || n > 1;) {
		if (x != 0) {
			stack = qn_arena_grow(qn_rw_model(rw)->scratch, stack, &cap, n + 1,
					      sizeof *stack);
			stack[n].id = x;
			stack[n++].next = 0;
		} else if (qn_rqz_quantize(rw, stack[--n].id, e, name) == 0) {
			return false;
		}
		top = &stack[n - 1];
		while ((x = next_above(rw, top->id, &top->next)) != 0) {
			if (qn_rw_known(rw, QN_OP_quantize, x, quantized_type(rw, x, e)))
				continue;
			if (climbs(rw, x))
				break;
			if (qn_rw_node(rw, top->id)->nin > 1 &&
			    qn_rqz_quantize(rw, x, e, name) == 0)
				return false;
		}
	}
	return true;
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
	qn_id *in = QN_NEW(qn_rw_model(rw)->scratch, qn_id, nin);

	if (e->gran != QN_PER_TENSOR || !qn_rqz_ends(rw, m->at[OP]))
		return qn_rw_decline(rw, "no quantized values are at the other end of the chain");
	if (!quantize_above(rw, m->at[OP], e, qn_rw_name(rw, m->root)))
		return 0;
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
		return qn_rw_decline(rw, "no quantized values are at the other end of the chain");
	if (!quantize_above(rw, m->at[OP], e, qn_rw_name(rw, m->root)))
		return 0;
	qn_id x = qn_rqz_quantize(rw, split->in[0], e, qn_rw_name(rw, m->root));
	x = qn_rw_add(rw, QN_OP_split, name, 1, &x, sizes, NULL);
	return qn_rw_add(rw, QN_OP_get, qn_rw_name(rw, m->at[OP]), 1, &x, part, NULL);
}
