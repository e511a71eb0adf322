/* SPDX-License-Identifier: Apache-2.0 */
/* quantize_loops.c - the values that a loop carries from step to step (ir/loops.h).
 *
 *   %h = loop_carry %first, …    ->    %q = quantize %first   %c = loop_carry %q, …   %h = dequantize %c */
#include "patterns/quantizing.h"
#include "patterns/recipe.h"

/* What a loop carries has one type at its begin and its end: the quantize of its first value sets the
 * parameters, in which the next ones are stored too; in 16 bits if the loop's layers are. */
static qn_id
carry(qn_model *m, qn_graph *dst, const qn_node *like, const qn_id *map, const qn_kept *as,
      const qn_quant_opts *opts)
{
	qn_quant_opts own = qn_recipe_for_value(opts, "input", like->name);
	qn_node n = *like;
	qn_id in[2] = {map[n.in[0]], map[n.in[1]]};
	const bool real = qn_type_is_f32(n.type);

	own.per_axis = false;
	if ((opts->mixes || opts->accumulates) && as != NULL && qn_kept_wide(as))
		own.activations = QN_STORAGE_I16;
	if (real)
		in[0] = qn_quantize_real(m, dst, in[0], n.name, "carry", &own);
	if (in[0] == 0)
		return 0;
	n.in = in;
	n.type = qn_graph_node(dst, in[0])->type;
	const qn_id id = qn_graph_add(dst, &n);
	return id != 0 && real ? qn_graph_op(dst, QN_OP_dequantize, NULL, 1, &id, NULL, NULL) : id;
}

/* The values that the loop carries on, with the types of those that it began with.  carried: by index, the
 * quantized type of dst; NULL: it is not quantized. */
static qn_id
loop_end(qn_model *m, qn_graph *dst, const qn_node *like, const qn_id *map,
	 const qn_type *const *carried)
{
	qn_id *in = QN_NEW(m->scratch, qn_id, like->nin);
	qn_node n = *like;

	for (uint32_t i = 0; i < n.nin; i++) {
		in[i] = map[n.in[i]];
		if (i > 0 && carried[i - 1] != NULL)
			in[i] = qn_graph_op(dst, QN_OP_quantize, NULL, 1, &in[i], NULL,
					    carried[i - 1]);
		if (in[i] == 0)
			return 0;
	}
	n.in = in;
	return qn_graph_add(dst, &n);
}

/* A stack or last value of what is carried on has the parameters of that. */
static qn_id
leave_loop(qn_graph *dst, const qn_node *like, const qn_id *map)
{
	const qn_node *end = qn_graph_node(dst, map[like->in[1]]);
	qn_id in[2] = {map[like->in[0]], map[like->in[1]]};
	qn_node n = *like;

	n.in = in;
	for (uint32_t i = 1; i < end->nin; i++) {
		const qn_node *q = qn_graph_node(dst, end->in[i]);

		if (q->op != QN_OP_quantize || q->in[0] != in[0])
			continue;
		in[0] = end->in[i];
		n.type = NULL;
		const qn_id y = qn_graph_add(dst, &n);
		return y != 0 ? qn_graph_op(dst, QN_OP_dequantize, NULL, 1, &y, NULL, NULL) : 0;
	}
	return qn_graph_add(dst, &n);
}

/* The quantized types of what the loop of loop_end `end` carries. */
static const qn_type *const *
carried_types(const qn_graph *g, const qn_graph *dst, qn_id end, const qn_id *map, qn_arena *a)
{
	const qn_node *n = qn_graph_node(g, end);
	const qn_type **type = QN_NEW(a, const qn_type *, n->nin);

	for (qn_id id = n->in[0]; id < end; id++) {
		const qn_node *c = qn_graph_node(g, id);

		if (c->op != QN_OP_loop_carry || c->in[1] != n->in[0])
			continue;
		const qn_node *made = qn_graph_node(dst, map[id]);
		if (made->op == QN_OP_dequantize)
			type[c->attr->loop_carry.index] = qn_graph_node(dst, made->in[0])->type;
	}
	return type;
}

bool
qn_carries(qn_op op)
{
	return op == QN_OP_loop_carry || op == QN_OP_loop_end || op == QN_OP_loop_stack ||
	       op == QN_OP_loop_last;
}

qn_id
qn_quantize_carried(qn_model *m, const qn_graph *g, qn_id id, qn_graph *dst, const qn_id *map,
		    const qn_kept *as, const qn_quant_opts *opts)
{
	const qn_node *n = qn_graph_node(g, id);

	if (n->op == QN_OP_loop_carry)
		return carry(m, dst, n, map, as, opts);
	if (n->op == QN_OP_loop_end)
		return loop_end(m, dst, n, map, carried_types(g, dst, id, map, m->scratch));
	return leave_loop(dst, n, map);
}
