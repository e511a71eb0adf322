/* SPDX-License-Identifier: Apache-2.0 */
/* recipe.c - which rules of a recipe hold where, and what comes of them (recipe.h). */
#include "patterns/recipe.h"

#include <string.h>

#include "ir/diag.h"
#include "patterns/skip.h"

static bool
holds_for(const qn_recipe_rule *r, const char *op, const char *name)
{
	return (r->op == NULL || strcmp(r->op, op) == 0) &&
	       (r->name == NULL || qn_glob(r->name, name));
}

static bool
holds_for_node(const qn_recipe_rule *r, const qn_node *n)
{
	return n->op != QN_OP_const && n->op != QN_OP_input &&
	       holds_for(r, qn_opinfo_of(n)->name, n->name);
}

static void
apply(const qn_recipe *r, size_t i, qn_quant_opts *out)
{
	const qn_recipe_rule *rule = &r->rule[i];

	r->used[i] = true;
	if (rule->has_activations)
		out->activations = rule->activations;
	if (rule->has_weights)
		out->weight_bits = rule->weight_bits;
	if (rule->has_granularity)
		out->per_tensor_weights = rule->per_tensor;
	if (rule->method != NULL)
		out->method = rule->method;
}

bool
qn_recipe_mixes(const qn_recipe *r)
{
	for (size_t i = 0; r != NULL && i < r->n; i++)
		if (r->rule[i].has_activations)
			return true;
	return false;
}

bool
qn_recipe_has_skip(const qn_recipe *r)
{
	for (size_t i = 0; r != NULL && i < r->n; i++)
		if (r->rule[i].has_skip && r->rule[i].skip)
			return true;
	return false;
}

qn_quant_opts
qn_recipe_for_graph(const qn_quant_opts *opts, const qn_graph *composite)
{
	const qn_recipe *r = opts->recipe;
	qn_quant_opts out = *opts;

	for (size_t i = 0; r != NULL && i < r->n; i++)
		for (qn_id id = 1; id < composite->n; id++)
			if (holds_for_node(&r->rule[i], qn_graph_node(composite, id))) {
				apply(r, i, &out);
				break;
			}
	return out;
}

qn_quant_opts
qn_recipe_for_value(const qn_quant_opts *opts, const char *op, const char *name)
{
	const qn_recipe *r = opts->recipe;
	qn_quant_opts out = *opts;

	for (size_t i = 0; r != NULL && i < r->n; i++)
		if (holds_for(&r->rule[i], op, name))
			apply(r, i, &out);
	return out;
}

const char *
qn_recipe_skips(const qn_recipe *r, qn_arena *a, const qn_graph *g, const qn_group *gr)
{
	size_t by = 0; /* the last rule that holds and has the key, from 1 */
	qn_buf b;

	for (size_t i = 0; i < r->n; i++)
		for (uint32_t k = 0; k < gr->ninner && r->rule[i].has_skip; k++)
			if (holds_for_node(&r->rule[i], qn_graph_node(g, gr->inner[k]))) {
				r->used[i] = true;
				by = i + 1;
				break;
			}
	if (by == 0 || !r->rule[by - 1].skip)
		return NULL;
	qn_buf_init(&b, a);
	qn_buff(&b, "skipped by rule %zu of the recipe", by - 1);
	return qn_buf_str(&b);
}

void
qn_recipe_warn(qn_env *env, const qn_recipe *r)
{
	for (size_t i = 0; r != NULL && i < r->n; i++)
		if (!r->used[i])
			qn_warn(env, "recipe.nothing", "recipe",
				"rule %zu (from 0) holds for no match, input or output", i);
}
