/* SPDX-License-Identifier: Apache-2.0 */
/* requantize_operand.c - the quantized values that a float operand stands for.
 *
 *   add(transpose(dequantize(x)), …)                  transpose(x)
 *   conv2d(concat(dequantize(a), dequantize(b)), …)   concat(a, b), where both have the same parameters
 *   return reshape(dequantize(x))                     return dequantize(reshape(x))
 *
 * An op that moves, selects or clamps gives the same on quantized values as on floats, if a bound or a
 * pad value that it has is one of them. */
#include <math.h>

#include "passes/requantize.h"
#include "runtime/impls.h"

enum { MOST_MOVES = 64 }; /* on all paths from a value to dequantizes */

bool
qn_rqz_is_value(const qn_types *t, const qn_elem *e, double v, bool is_bound)
{
	double scale;
	int64_t zp;

	qn_elem_param(t, e, 0, &scale, &zp);
	const double code = v / scale + (double)zp;
	if (is_bound && !(code > (double)e->qmin && code < (double)e->qmax))
		return code == code;
	return fabs(code - rint(code)) < 0x1p-12 && code > (double)e->qmin - 0.5 &&
	       code < (double)e->qmax + 0.5;
}

bool
qn_rqz_represents_attrs(const qn_types *t, const qn_node *n, const qn_elem *e)
{
	switch ((int)n->op) {
	case QN_OP_relu:
	case QN_OP_relu6:
	case QN_OP_clip: {
		const double lo = n->op == QN_OP_clip ? n->attr->clip.min : 0;
		const double hi = n->op == QN_OP_clip    ? (double)n->attr->clip.max
				  : n->op == QN_OP_relu6 ? 6
							 : HUGE_VAL;

		return qn_rqz_is_value(t, e, lo, true) && qn_rqz_is_value(t, e, hi, true);
	}
	case QN_OP_pad:
		return n->attr->pad.mode != QN_PAD_constant ||
		       qn_rqz_is_value(t, e, n->attr->pad.value, false);
	default:
		return true;
	}
}

/* An operand that is moved, not an index or a condition. */
static bool
is_data(const qn_rw *rw, const qn_node *n, uint32_t i)
{
	const qn_type *t = qn_rw_node(rw, n->in[i])->type;

	return !qn_rqz_is_index(n, i) && (t->is_tuple || qn_elem_is_float(t->elem));
}

static const qn_elem *
elem_behind(const qn_rw *rw, qn_id id, int *budget)
{
	const qn_node *n = qn_rw_node(rw, id);
	const qn_elem *e = NULL;

	if (n->op == QN_OP_dequantize)
		return qn_rqz_aligned_elem(&qn_rw_model(rw)->types,
					   qn_rw_node(rw, n->in[0])->type->elem);
	if (--*budget < 0 || qn_rqz_joins_sums(n))
		return NULL;
	if (!qn_rqz_moves(qn_rw_graph(rw), n))
		return NULL;
	for (uint32_t i = 0; i < n->nin; i++) {
		if (!is_data(rw, n, i))
			continue;
		const qn_elem *have = elem_behind(rw, n->in[i], budget);

		if (have == NULL || !qn_rqz_narrow(have) || (e != NULL && have != e))
			return NULL;
		e = have;
	}
	return e != NULL && qn_rqz_represents_attrs(&qn_rw_model(rw)->types, n, e) ? e : NULL;
}

const qn_elem *
qn_rqz_operand_elem(const qn_rw *rw, qn_id id)
{
	const qn_node *n = qn_rw_node(rw, id);
	int budget = MOST_MOVES;

	if (n->op == QN_OP_dequantize)
		return qn_rw_node(rw, n->in[0])->type->elem;
	return elem_behind(rw, id, &budget);
}

/* The moves above value id again, on quantized values. */
static qn_id
moved(qn_rw *rw, qn_id id)
{
	const qn_node *n = qn_rw_node(rw, id);
	const qn_op op = n->op;
	const qn_attrs *attr = n->attr;
	const uint32_t nin = n->nin;

	if (op == QN_OP_dequantize)
		return qn_rqz_aligned(rw, n->in[0]);
	qn_id *in = qn_arena_copy(qn_rw_model(rw)->scratch, n->in, nin * sizeof *in);
	for (uint32_t i = 0; i < nin; i++)
		if (is_data(rw, qn_rw_node(rw, id), i))
			in[i] = moved(rw, in[i]);
	qn_rw_stand_for(rw, id);
	const qn_id y = qn_rw_add(rw, op, qn_rw_name(rw, id), nin, in, attr, NULL);
	qn_rw_stand_for(rw, 0);
	return y;
}

qn_id
qn_rqz_operand(qn_rw *rw, qn_id id)
{
	const qn_node *n = qn_rw_node(rw, id);

	if (n->op == QN_OP_dequantize)
		return n->in[0];
	return qn_rqz_operand_elem(rw, id) != NULL ? moved(rw, id) : 0;
}

/* ---- what leads to outputs alone ---- */

/* Whether quantized values are computed: other graphs have nothing to become integer with. */
static bool
computes_quantized(const qn_graph *g)
{
	for (qn_id id = 1; id < g->n; id++) {
		const qn_node *n = qn_graph_node(g, id);

		if (n->op != QN_OP_const && !n->type->is_tuple && qn_elem_is_quant(n->type->elem))
			return true;
	}
	return false;
}

void
qn_rqz_find_ends(qn_rqz *s, const qn_graph *g)
{
	qn_arena *a = g->model->scratch;
	bool *read = QN_NEW(a, bool, g->n), *inside = QN_NEW(a, bool, g->n);
	bool *output = QN_NEW(a, bool, g->n);
	const bool quantized = computes_quantized(g);

	qn_map_init(&s->last, a);
	for (size_t i = 0; i < g->noutput; i++)
		read[g->output[i].value] = output[g->output[i].value] = true;
	for (qn_id id = g->n - 1; id > 0; id--) {
		const qn_node *n = qn_graph_node(g, id);
		const bool moves =
			n->op == QN_OP_const ? output[id] && quantized : qn_rqz_moves(g, n);
		const bool ends = read[id] && !inside[id] && moves;

		if (ends)
			qn_map_puts(&s->last, n->name, (void *)(uintptr_t)n->name);
		for (uint32_t i = 0; i < n->nin; i++) {
			read[n->in[i]] = true;
			inside[n->in[i]] = inside[n->in[i]] || !ends;
		}
	}
}

/* move(dequantize(x)) -> dequantize(move(x)), where the result leads to outputs alone */
qn_id
qn_rqz_sink(qn_rw *rw, const qn_match *m)
{
	const qn_rqz *s = qn_rw_user(rw);
	const char *name = qn_rw_name(rw, m->root);
	const qn_type *type = qn_rw_node(rw, m->root)->type;

	if (type->is_tuple || !qn_elem_is_float(type->elem) ||
	    qn_rw_node(rw, m->root)->op == QN_OP_dequantize)
		return qn_rw_decline(rw, "its result is not float");
	if (name == NULL || qn_map_gets(&s->last, name) == NULL)
		return qn_rw_decline(rw, "something that stays in float reads it");
	qn_id x = qn_rqz_operand(rw, m->root);
	if (x == 0)
		return qn_rw_decline(rw, "its operands are not quantized with equal parameters");
	return qn_rw_add(rw, QN_OP_dequantize, name, 1, &x, NULL, NULL);
}
