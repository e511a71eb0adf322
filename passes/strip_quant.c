/* SPDX-License-Identifier: Apache-2.0 */
/* strip_quant.c - a graph without quantized types: stored integers are plain integers.
 *
 *   graph @main(%x: tensor<4x!quant.uniform<i8:f32, s>>)      graph @main(%x: tensor<4xi8>)
 *     %d = dequantize %x                                ->      %i = cast %x : i64 … %d = mul %f, s
 *
 * quantize and dequantize become arithmetic (lower_quant.c), scast is nothing or a cast, what only moves
 * values moves integers.  Any other op on quantized values would compute something else, so it is
 * refused, by name.
 *
 * requires: types without symbols.   leaves: a float graph. */
#include "ir/diag.h"
#include "passes/passes.h"
#include "patterns/rewrite.h"

/* Ops whose results on quantized values are those on plain integers. */
static const bool moves[QN_NOP] = {
	[QN_OP_reshape] = true,    [QN_OP_flatten] = true,        [QN_OP_transpose] = true,
	[QN_OP_concat] = true,     [QN_OP_squeeze] = true,        [QN_OP_expand_dims] = true,
	[QN_OP_slice] = true,      [QN_OP_expand] = true,         [QN_OP_tile] = true,
	[QN_OP_reverse] = true,    [QN_OP_depth_to_space] = true, [QN_OP_space_to_depth] = true,
	[QN_OP_split] = true,      [QN_OP_gather] = true,         [QN_OP_gather_elements] = true,
	[QN_OP_gather_nd] = true,  [QN_OP_where] = true,          [QN_OP_resize_nearest] = true,
	[QN_OP_get] = true,        [QN_OP_tuple] = true,          [QN_OP_top_k_indices] = true,
	[QN_OP_argmax] = true,     [QN_OP_argmin] = true,         [QN_OP_const] = true,
	[QN_OP_input] = true,      [QN_OP_scast] = true,          [QN_OP_minimum] = true,
	[QN_OP_maximum] = true,    [QN_OP_max_pool] = true,       [QN_OP_reduce_max] = true,
	[QN_OP_reduce_min] = true, [QN_OP_trace] = true,
};

/* Ops of which lower-fixed-point makes operations on plain integers (lower_fixed_point.c), but for weights in blocks and
 * scales of channels. */
static const bool lowers[QN_NOP] = {
	[QN_OP_requantize] = true, [QN_OP_add] = true, [QN_OP_sub] = true,
	[QN_OP_bias_add] = true,   [QN_OP_mul] = true, [QN_OP_dense] = true,
};

static bool
is_quantized(const qn_type *type)
{
	bool any = !type->is_tuple && qn_elem_is_quant(type->elem);

	for (uint32_t i = 0; type->is_tuple && i < type->nfield; i++)
		any = any || is_quantized(type->field[i]);
	return any;
}

static const qn_type *
stored(qn_types *t, const qn_type *type)
{
	if (type->is_tuple || !qn_elem_is_quant(type->elem))
		return type;
	return qn_type_with_elem(t, type, qn_elem_plain(t, type->elem->plain));
}

static qn_status
check_all(qn_model *m, const qn_graph *g)
{
	qn_status status = QN_OK;

	for (qn_id id = 1; id < g->n; id++) {
		const qn_node *n = qn_graph_node(g, id);
		bool quantized = is_quantized(n->type);

		for (uint32_t i = 0; i < n->nin; i++)
			quantized = quantized || is_quantized(qn_graph_node(g, n->in[i])->type);
		if (!quantized || (moves[n->op] && !qn_gather_rescales(g, n)))
			continue;
		status = qn_report(
			m->env, QN_EUNSUPPORTED, "strip.computes", qn_node_place(g, n),
			"%s '%s' computes with quantized values; as plain integers they give "
			"another result: only quantize, dequantize, scast and ops that move or "
			"compare stored integers can be stripped%s",
			qn_opinfo_of(n)->name, n->name,
			!lowers[n->op] ? ""
			: m->stage == QN_STAGE_INTEGER
				? "; --passes=lower-fixed-point,strip-quant first writes it as "
				  "arithmetic on plain integers"
				: "; of an integer graph, lower-fixed-point writes it as "
				  "arithmetic "
				  "on plain integers");
	}
	return status;
}

/* A copy of n without quantized types; its value in the new graph. */
static qn_id
strip(qn_model *m, qn_graph *dst, const qn_node *like, const qn_id *map)
{
	qn_node n = *like;
	qn_id *in = QN_NEW(dst->arena, qn_id, n.nin);

	for (uint32_t i = 0; i < n.nin; i++)
		if ((in[i] = map[n.in[i]]) == 0)
			return 0;
	n.in = in;
	n.type = n.type->is_tuple ? NULL : stored(&m->types, n.type);
	if (n.op == QN_OP_const && n.type != n.value->type)
		n.value = qn_tensor_view(m->arena, n.type, n.value->data);
	if (n.op == QN_OP_scast) {
		if (qn_graph_node(dst, in[0])->type == n.type)
			return in[0];
		n.op = QN_OP_cast;
	}
	return qn_graph_add(dst, &n);
}

static qn_status
strip_all(qn_model *m, const qn_graph *g, qn_graph **out)
{
	qn_graph *dst = qn_graph_new(m, g->name);
	qn_id *map = QN_NEW(m->scratch, qn_id, g->n);
	qn_status status = QN_OK;

	for (qn_id id = 1; id < g->n; id++)
		if ((map[id] = strip(m, dst, qn_graph_node(g, id), map)) == 0)
			status = QN_EINVALID;
	QN_TRY(status);
	qn_graph_copy_outputs(dst, g, map);
	*out = dst;
	return QN_OK;
}

qn_status
qn_strip_quant(qn_model *m)
{
	qn_graph *g;

	QN_TRY(qn_lower_quant_graph(m, qn_model_entry(m), "strip-quant", &g));
	QN_TRY(check_all(m, g));
	QN_TRY(strip_all(m, g, &g));
	QN_TRY(qn_graph_sweep(m, g, NULL, &g));
	qn_model_set_graph(m, g);
	m->stage = QN_STAGE_FLOAT;
	m->after = NULL;
	m->quantized_here = m->opened = false;
	return QN_OK;
}
