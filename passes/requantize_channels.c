/* SPDX-License-Identifier: Apache-2.0 */
/* requantize_channels.c - ops that are computed channel by channel, on values with a scale and a zero
 * point for each index of an axis.
 *
 *   quantize {axis 2}(add(dequantize {axis 2}(x), dequantize(y)))    ->  add(x, y)
 *
 * All that have several scales have them along one axis of the result, and one storage. */
#include "passes/requantize.h"
#include "runtime/impls.h"

bool
qn_rqz_by_channel(qn_op op)
{
	return op == QN_OP_add || op == QN_OP_sub || op == QN_OP_mul || op == QN_OP_bias_add;
}

bool
qn_rqz_supports(const qn_elem *e)
{
	return qn_rqz_narrow(e) || qn_rqz_has_channels(e);
}

bool
qn_rqz_is_parameter(const qn_graph *g, const qn_node *n, uint32_t i)
{
	const qn_node *dq = qn_graph_node(g, n->in[i]);

	if (n->op != QN_OP_custom || dq->op != QN_OP_dequantize)
		return false;
	const qn_node *x = qn_graph_node(g, dq->in[0]);
	return x->op == QN_OP_const && x->type->elem->kind == QN_ELEM_UNIFORM &&
	       (x->type->elem->bits > 16 || x->type->elem->gran == QN_PER_AXIS);
}

/* What one operand or the result adds to what is known of the others. */
typedef struct channels {
	const qn_elem *elem; /* of the first with several scales */
	int32_t from_end;    /* their axis; 0: none so far */
	bool axes, storage;  /* two of them differ */
} channels;

static void
look(channels *c, const qn_type *t)
{
	const int32_t k = qn_channel_from_end(t);

	c->axes = c->axes || (k != 0 && c->from_end != 0 && k != c->from_end);
	c->from_end = k != 0 ? k : c->from_end;
	c->elem = c->elem == NULL && t->elem->gran == QN_PER_AXIS ? t->elem : c->elem;
}

static bool
stored_alike(const channels *c, const qn_elem *e)
{
	return e->bits == c->elem->bits && e->is_signed == c->elem->is_signed;
}

bool
qn_rqz_needs_one_scale(const qn_graph *g, const qn_node *n, const qn_type *result)
{
	channels c = {0};

	for (uint32_t i = 0; i < n->nin; i++) {
		const qn_node *x = qn_graph_node(g, n->in[i]);

		if (x->op == QN_OP_dequantize && !qn_rqz_is_parameter(g, n, i))
			look(&c, qn_graph_node(g, x->in[0])->type);
	}
	look(&c, result);
	if (c.elem == NULL)
		return false;
	for (uint32_t i = 0; i < n->nin; i++) {
		const qn_node *x = qn_graph_node(g, n->in[i]);
		const qn_type *t = x->op == QN_OP_dequantize && !qn_rqz_is_parameter(g, n, i)
					   ? qn_graph_node(g, x->in[0])->type
					   : NULL;

		c.storage = c.storage ||
			    (t != NULL &&
			     (t->elem->bits > c.elem->bits ||
			      (t->elem->gran == QN_PER_AXIS && !stored_alike(&c, t->elem))));
	}
	return c.axes || c.storage || !qn_rqz_by_channel(n->op) ||
	       (qn_elem_is_quant(result->elem) && !stored_alike(&c, result->elem));
}
