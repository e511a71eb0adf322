/* SPDX-License-Identifier: Apache-2.0 */
/* weighted.c - convolutions and dense layers with constant weights: an i32 accumulator in units of
 * scale(x) * scale(w), the bias in the same units. */
#include "patterns/standard.h"

#include "patterns/quantizing.h"
#include "patterns/stored.h"

#include "ir/diag.h"

enum { ANCHOR, X, W, B };

static bool
is_f32_const(const qn_graph *g, qn_id id)
{
	const qn_node *n = qn_graph_node(g, id);

	return n->op == QN_OP_const && qn_type_is_f32(n->type);
}

static bool
is_f32(const qn_graph *g, qn_id id)
{
	return qn_type_is_f32(qn_graph_node(g, id)->type);
}

/* Weights that the model stores as quantized values, maybe in blocks, and dequantizes: they stay what they are. */
static bool
is_stored(const qn_graph *g, qn_id id)
{
	const qn_node *n = qn_graph_node(g, id);

	return n->op == QN_OP_dequantize && qn_type_is_f32(n->type) &&
	       qn_graph_node(g, n->in[0])->op == QN_OP_const;
}

int
qn_accept_weighted(void *user, const qn_graph *g, const qn_match *m, const char **reason)
{
	(void)user;
	if (!is_f32(g, m->at[X])) {
		*reason = "the data is not f32";
		return 0;
	}
	if (!is_f32_const(g, m->at[W]) && !is_stored(g, m->at[W])) {
		*reason = "the weights are not an f32 constant";
		return 0;
	}
	if (m->at[B] != 0 && !is_f32_const(g, m->at[B])) {
		*reason = "the bias is not an f32 constant";
		return 0;
	}
	return 1;
}

/* A float product of dequantized operands, as files of quantized graphs have them: the requantizer
 * brings data with a scale for each channel to one, by which the accumulator has its type. */
qn_id
qn_quantize_real_product(qn_quantizing *b, const qn_node *n, const char *name, const qn_id *in,
			 qn_id bias)
{
	const qn_id real[3] = {qn_qb_dequantize(b, in[0], NULL), qn_qb_dequantize(b, in[1], NULL),
			       bias};

	return qn_qb_op(b, n->op, name, bias != 0 ? 3 : 2, real, n->attr);
}

/* Weights in blocks: what the accumulator's units are follows from their scales, so the product stays float until
 * these are known. */
static qn_id
quantize_blocks(qn_quantizing *b, const qn_match *m, const qn_blocks *blocks)
{
	const qn_node *anchor = qn_qb_matched(b, ANCHOR), *root = qn_qb_root(b);
	const qn_id in[2] = {qn_qb_quantize(b, m->at[X], anchor->name, "x"),
			     qn_qb_quantize_blocks(b, m->at[W], anchor->name, "w", blocks)};

	return qn_quantize_real_product(b, anchor, root->name, in, m->at[B]);
}

/* Data whose scale is computed at run time: a float product, as only then the accumulator's type is known. */
static qn_id
quantize_dynamic(qn_quantizing *b, const qn_match *m, const qn_blocks *blocks)
{
	const qn_node *anchor = qn_qb_matched(b, ANCHOR), *root = qn_qb_root(b);
	const int axis = qn_qb_opts(b)->per_tensor_weights ? -1 : 0;

	if (qn_qb_opts(b)->when == QN_AT_RUN_TIME_BY_ROW && anchor->op != QN_OP_dense) {
		(void)qn_report(qn_qb_graph(b)->model->env, QN_EINVALID, "recipe.rows",
				anchor->name,
				"%s '%s' cannot have a scale of run time for each row of its data, "
				"only dense and matmul can; \"dynamic\" gives it one for all of it",
				qn_opinfo_of(anchor)->name, anchor->name);
		return 0;
	}
	const qn_id x = qn_qb_dynamic(b, m->at[X], anchor->name, "x");
	const qn_id w = blocks != NULL
				? qn_qb_quantize_blocks(b, m->at[W], anchor->name, "w", blocks)
				: qn_qb_quantize_weights(b, m->at[W], anchor->name, "w", axis);
	const qn_id in[3] = {x, qn_qb_dequantize(b, w, NULL), m->at[B]};

	return qn_qb_op(b, anchor->op, root->name, m->at[B] != 0 ? 3 : 2, in, anchor->attr);
}

/* Weights that come quantized: the product stays float until their scales and those of the data meet in the
 * requantizer. */
static qn_id
quantize_stored_weights(qn_quantizing *b, const qn_match *m)
{
	const qn_node *anchor = qn_qb_matched(b, ANCHOR), *root = qn_qb_root(b);
	const qn_id x =
		qn_qb_is_dynamic(b, m->at[X])
			? qn_qb_dynamic(b, m->at[X], anchor->name, "x")
			: qn_qb_dequantize(b, qn_qb_quantize(b, m->at[X], anchor->name, "x"), NULL);
	const qn_id in[3] = {x, m->at[W], m->at[B]};

	return qn_qb_op(b, anchor->op, root->name, m->at[B] != 0 ? 3 : 2, in, anchor->attr);
}

qn_id
qn_quantize_weighted(void *user, qn_quantizing *b, const qn_match *m)
{
	const qn_node *anchor = qn_qb_matched(b, ANCHOR);
	const qn_node *root = qn_qb_root(b);
	const qn_quant_opts *o = qn_qb_opts(b);
	qn_graph *g = qn_qb_graph(b);
	qn_blocks blocks;
	qn_buf acc;
	qn_id in[3];

	(void)user;
	if (qn_graph_node(g, m->at[W])->op != QN_OP_const)
		return quantize_stored_weights(b, m);
	const bool in_blocks = qn_qb_product_blocks(b, qn_graph_node(g, m->at[W])->type, &blocks);
	const bool dynamic = qn_qb_is_dynamic(b, m->at[X]);
	if (in_blocks && !dynamic)
		return quantize_blocks(b, m, &blocks);
	if (dynamic)
		return quantize_dynamic(b, m, in_blocks ? &blocks : NULL);
	qn_buf_init(&acc, g->model->scratch);
	qn_buff(&acc, "%s.acc", anchor->name);
	in[0] = qn_qb_quantize(b, m->at[X], anchor->name, "x");
	in[1] = qn_qb_quantize_weights(b, m->at[W], anchor->name, "w",
				       o->per_tensor_weights ? -1 : 0);
	if (qn_qb_has_channels(b, in[0]))
		return qn_quantize_real_product(b, anchor, root->name, in, m->at[B]);
	if (m->at[B] != 0)
		in[2] = qn_qb_quantize_bias(b, m->at[B], qn_graph_node(g, m->at[B])->name, in[0],
					    in[1]);
	qn_id y =
		qn_qb_op(b, anchor->op, qn_buf_str(&acc), m->at[B] != 0 ? 3 : 2, in, anchor->attr);
	return qn_qb_dequantize(b, y, root->name);
}
