/* SPDX-License-Identifier: Apache-2.0 */
/* quant_types.c - types with blocks as the simpler ones that they are equal to.
 *
 *   tensor<4x4x!quant.uniform<i8:f32:{}, {{2.0}}>>           ->  tensor<4x4x!quant.uniform<i8:f32, 2.0>>
 *   tensor<2x4x!quant.uniform<i8:f32:{0:1}, {{2.0},{3.0}}>>  ->  tensor<2x4x!quant.uniform<i8:f32:0, {2.0,3.0}>>
 *   tensor<4x4x!quant.uniform<i8:f32:{0:2}, {{2.0},{3.0}}>>      stays: the axis has four elements
 *   with QN_NORMALIZE_EXPAND                                 ->  tensor<4x4x!quant.uniform<i8:f32:0, {2.0,2.0,3.0,3.0}>>
 *   tensor<2x!quant.uniform<i8:f32:0, {2.0,2.0}>>                stays
 *   with QN_NORMALIZE_COLLAPSE                               ->  tensor<2x!quant.uniform<i8:f32, 2.0>>
 *
 * requires: any graph.   leaves: the same stage, the same values. */
#include "ir/diag.h"
#include "passes/passes.h"
#include "patterns/rewrite.h"

typedef struct normalizing {
	unsigned flags;
	bool *stays; /* its value keeps its type */
} normalizing;

static bool
has_blocks(const qn_graph *g, qn_id id)
{
	const qn_type *type = qn_graph_node(g, id)->type;

	return !type->is_tuple && type->elem->kind == QN_ELEM_UNIFORM &&
	       type->elem->gran == QN_SUB_CHANNEL;
}

/* Whether the node's operands and value change their types together, or not at all. */
static bool
is_tied(const qn_graph *g, const qn_node *n, const bool *stays, qn_id id)
{
	bool any = stays[id];

	for (uint32_t i = 0; i < n->nin; i++)
		any = any || (stays[n->in[i]] && has_blocks(g, n->in[i]));
	return any && qn_opinfo_of(n)->behaviour != QN_EDGE && n->op != QN_OP_call;
}

/* Products define what the scales of their accumulators are from blocks of the weights
 * (ir/block_scales.h): these stay, and so does what only moves them. */
static void
find_staying(const qn_graph *g, bool *stays)
{
	bool changed = true;

	for (qn_id id = 1; id < g->n; id++) {
		const qn_node *n = qn_graph_node(g, id);

		for (uint32_t i = 0; i < n->nin; i++)
			if (qn_opinfo_of(n)->behaviour == QN_ACC && has_blocks(g, n->in[i]))
				stays[n->in[i]] = true;
	}
	while (changed) {
		changed = false;
		for (qn_id id = 1; id < g->n; id++) {
			const qn_node *n = qn_graph_node(g, id);

			if (!is_tied(g, n, stays, id))
				continue;
			for (uint32_t i = 0; i < n->nin; i++) {
				const bool new = has_blocks(g, n->in[i]) && !stays[n->in[i]];

				stays[n->in[i]] = stays[n->in[i]] || new;
				changed = changed || new;
			}
			changed = changed || !stays[id];
			stays[id] = true;
		}
	}
}

static const qn_type *
normalized_type(qn_types *t, const qn_type *type, unsigned flags)
{
	if (!type->is_tuple)
		return qn_type_normalize(t, type, flags);
	const qn_type **field = QN_NEW(t->arena, const qn_type *, type->nfield);
	for (uint32_t i = 0; i < type->nfield; i++)
		field[i] = normalized_type(t, type->field[i], flags);
	return qn_type_tuple(t, type->nfield, field);
}

static const qn_type *
normalized(const qn_graph *g, qn_id id, const void *user)
{
	const normalizing *how = user;
	const qn_type *type = qn_graph_node(g, id)->type;

	return how->stays[id] ? type : normalized_type(&g->model->types, type, how->flags);
}

/* Whether the value is stored in the file, or follows from what is. */
static bool
is_stored(const qn_node *n, const bool *stored)
{
	for (uint32_t i = 0; i < n->nin; i++)
		if (!stored[n->in[i]])
			return false;
	return n->nin > 0 || n->op == QN_OP_const;
}

qn_status
qn_expand_activations(qn_model *m, qn_graph *g, qn_graph **out)
{
	const normalizing how = {QN_NORMALIZE_EXPAND, QN_NEW(m->scratch, bool, g->n)};
	bool any = false;

	for (qn_id id = 1; id < g->n; id++) {
		how.stays[id] = is_stored(qn_graph_node(g, id), how.stays);
		any = any || (has_blocks(g, id) && !how.stays[id]);
	}
	*out = g;
	if (!any)
		return QN_OK;
	find_staying(g, how.stays);
	return qn_graph_retype(g, normalized, &how, m->scratch, out);
}

qn_status
qn_normalize_quant_types(qn_model *m, unsigned flags)
{
	const qn_graph *g = qn_model_entry(m);
	const normalizing how = {flags, QN_NEW(m->scratch, bool, g->n)};
	qn_graph *out;

	find_staying(g, how.stays);
	QN_TRY(qn_graph_retype(g, normalized, &how, m->graphs, &out));
	qn_model_set_graph(m, out);
	return QN_OK;
}
