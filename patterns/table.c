/* SPDX-License-Identifier: Apache-2.0 */
/* table.c - quantizes a gather from a constant table, an embedding, whose elements have fewer bits than
 * activations.
 *
 *   gather(w, i)   ->   gather(dequantize(quantize(w)), i)     w in blocks, or with a scale for each index of the axis
 *
 * The result has no parameters of its own: the quantize after it determines in which type elements are gathered
 * (passes/requantize_table.c).  A table with as many bits is stored in that type, and not handled here. */
#include "patterns/quantizing.h"
#include "patterns/recipe.h"
#include "patterns/standard.h"

static bool
is_packed(uint8_t bits)
{
	return bits == 2 || bits == 4;
}

/* Weights of 8 bits have fewer than activations of 16 too; they are meant where they are in blocks. */
static bool
is_narrower(const qn_quant_opts *o)
{
	return is_packed(o->weight_bits) ||
	       (o->weight_block != 0 && qn_activation_desc(o).bits > 8);
}

bool
qn_may_have_tables(const qn_quant_opts *o)
{
	bool may = is_narrower(o);

	for (size_t i = 0; o->recipe != NULL && i < o->recipe->n; i++)
		may = may || is_packed(o->recipe->rule[i].weight_bits) ||
		      o->recipe->rule[i].weight_block != 0;
	return may;
}

/* What the options and the recipe say of the node, which does not count as a use of a rule. */
static qn_quant_opts
opts_of(const qn_quant_opts *opts, const qn_node *n, qn_arena *a)
{
	qn_quant_opts own = *opts;

	if (opts->recipe == NULL)
		return own;
	qn_recipe unused = *opts->recipe;
	unused.used = QN_NEW(a, bool, unused.n);
	own.recipe = &unused;
	own = qn_recipe_for_value(&own, qn_opinfo_of(n)->name, n->name);
	own.recipe = opts->recipe;
	return own;
}

int
qn_accept_table(void *user, const qn_graph *g, const qn_match *m, const char **reason)
{
	const qn_node *n = qn_graph_node(g, m->root), *w = qn_graph_node(g, n->in[0]);

	if (user == NULL || w->op != QN_OP_const || !qn_type_is_f32(w->type)) {
		*reason = "it does not gather from an f32 constant";
		return 0;
	}
	const qn_quant_opts own = opts_of(user, n, g->model->scratch);
	if (w->type->rank >= 2 && qn_type_count(w->type) > 0 && is_narrower(&own))
		return 1;
	*reason = "weights do not have fewer bits than activations: the table is stored as what is "
		  "gathered from it";
	return 0;
}

/* One block: the axes with all that they have. */
static qn_blocks
whole(const qn_type *w)
{
	qn_blocks b = {.n = 1};

	for (int32_t i = 0; i < w->rank; i++) {
		b.axis[i] = i;
		b.block[i] = w->dim[i];
	}
	return b;
}

qn_id
qn_quantize_table(void *user, qn_quantizing *b, const qn_match *m)
{
	const qn_node *root = qn_qb_root(b);
	const qn_quant_opts *o = qn_qb_opts(b);
	const qn_id w = qn_qb_input(b, 0);
	qn_id in[2] = {w, qn_qb_input(b, 1)};
	qn_blocks blocks;

	(void)user;
	(void)m;
	if (w == 0 || !is_narrower(o)) /* the options are others than those of partition */
		return qn_qb_op(b, root->op, root->name, 2, in, root->attr);
	const qn_type *type = qn_graph_node(qn_qb_graph(b), w)->type;
	const int64_t axis = root->attr->gather.axis;
	if (qn_qb_blocks(b, type, o->weight_block + (int64_t)1, &blocks)) {
		in[0] = qn_qb_quantize_blocks(b, w, root->name, "w", &blocks);
	} else if (o->per_tensor_weights) {
		blocks = whole(type);
		in[0] = qn_qb_quantize_blocks(b, w, root->name, "w", &blocks);
	} else {
		in[0] = qn_qb_quantize_weights(b, w, root->name, "w",
					       (int)(axis < 0 ? axis + type->rank : axis));
	}
	in[0] = qn_qb_dequantize(b, in[0], NULL);
	return qn_qb_op(b, root->op, root->name, 2, in, root->attr);
}
