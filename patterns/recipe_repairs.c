/* SPDX-License-Identifier: Apache-2.0 */
/* recipe_repairs.c - what the rules of a recipe say about repairs.
 *
 *   {"rules": [{"weight-rounding": "adaptive"}, {"name": "fc", "weight-rounding": "nearest"}, {"name": "conv1", "equalize": false}]}
 *
 * Repairs are made when matches are no longer there: a rule holds for a layer if it holds for it, or for what is computed of
 * it alone before the next layer and the next quantize, as its bias and its activation function are. */
#include "patterns/recipe.h"

bool
qn_recipe_repairs(const qn_recipe *r)
{
	return qn_recipe_repairs_layers(r) || qn_recipe_narrows(r);
}

bool
qn_recipe_repairs_layers(const qn_recipe *r)
{
	for (size_t i = 0; r != NULL && i < r->n; i++)
		if ((r->rule[i].has_bias && r->rule[i].bias) ||
		    (r->rule[i].has_rounding && r->rule[i].rounding != QN_WEIGHTS_NEAREST))
			return true;
	return false;
}

bool
qn_recipe_narrows(const qn_recipe *r)
{
	for (size_t i = 0; r != NULL && i < r->n; i++)
		if (r->rule[i].has_narrow && r->rule[i].narrow)
			return true;
	return false;
}

bool
qn_recipe_equalizes(const qn_recipe *r)
{
	for (size_t i = 0; r != NULL && i < r->n; i++)
		if (r->rule[i].has_equalize && r->rule[i].equalize)
			return true;
	return false;
}

/* Whether the node computes of value `id` and constants alone, and has no weights. */
static bool
follows(const qn_graph *g, const qn_node *n, qn_id id)
{
	if (n->op == QN_OP_quantize || qn_opinfo_of(n)->behaviour == QN_ACC)
		return false;
	for (uint32_t i = 0; i < n->nin; i++)
		if (n->in[i] != id && qn_graph_node(g, n->in[i])->op != QN_OP_const)
			return false;
	return true;
}

/* The only use of a value, when that belongs to its layer; 0: there is none. */
static qn_id
next_of(const qn_graph *g, const uint32_t *uses, qn_id id)
{
	for (qn_id k = id + 1; k < g->n && uses[id] == 1; k++)
		for (uint32_t i = 0; i < qn_graph_node(g, k)->nin; i++)
			if (qn_graph_node(g, k)->in[i] == id)
				return follows(g, qn_graph_node(g, k), id) ? k : 0;
	return 0;
}

static void
apply(const qn_recipe_rule *rule, qn_recipe_repair *out)
{
	if (rule->has_rounding)
		out->rounding = rule->rounding;
	if (rule->has_bias)
		out->bias = rule->bias;
	if (rule->has_equalize) {
		out->equalize = rule->equalize;
		out->says_equalize = true;
	}
	if (rule->has_narrow) {
		out->narrow = rule->narrow;
		out->says_narrow = true;
	}
}

void
qn_recipe_repair_layer(const qn_recipe *r, const qn_graph *g, const uint32_t *uses, qn_id layer,
		       qn_recipe_repair *out)
{
	for (size_t i = 0; r != NULL && i < r->n; i++)
		for (qn_id id = layer; id != 0; id = next_of(g, uses, id))
			if (qn_recipe_rule_holds(&r->rule[i], qn_graph_node(g, id))) {
				apply(&r->rule[i], out);
				break;
			}
}
