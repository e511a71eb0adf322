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
qn_rqz_supports(qn_op op, const qn_elem *e)
{
	const bool by_channel =
		op == QN_OP_add || op == QN_OP_sub || op == QN_OP_mul || op == QN_OP_bias_add;

	return qn_rqz_narrow(e) || (by_channel && e->kind == QN_ELEM_UNIFORM && e->bits <= 16 &&
				    e->gran == QN_PER_AXIS);
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

const char *
qn_rqz_channels(const qn_graph *g, const qn_node *n, const qn_type *result)
{
	channels c = {0};

	for (uint32_t i = 0; i < n->nin; i++) {
		const qn_node *x = qn_graph_node(g, n->in[i]);

		if (x->op == QN_OP_dequantize)
			look(&c, qn_graph_node(g, x->in[0])->type);
	}
	look(&c, result);
	if (c.elem == NULL)
		return NULL;
	if (c.axes)
		return "its operands and its result have scales along different axes";
	for (uint32_t i = 0; i < n->nin; i++) {
		const qn_node *x = qn_graph_node(g, n->in[i]);
		const qn_type *t =
			x->op == QN_OP_dequantize ? qn_graph_node(g, x->in[0])->type : NULL;

		if (t != NULL && t->elem->gran == QN_PER_AXIS && !stored_alike(&c, t->elem))
			return "its operands have per-channel scales in different storage types";
		c.storage = c.storage || (t != NULL && t->elem->bits > c.elem->bits);
	}
	return c.storage || (qn_elem_is_quant(result->elem) && !stored_alike(&c, result->elem))
		       ? "per-channel values have another storage type than its result"
		       : NULL;
}
