/* SPDX-License-Identifier: Apache-2.0 */
/* recipe_used.c - which rules of a recipe have an effect on a graph, and why the others have none. */
#include "ir/diag.h"
#include "patterns/recipe.h"

bool
qn_recipe_rule_is_of_weights(const qn_recipe_rule *r)
{
	const bool weights = r->has_weights || r->has_granularity;
	const bool more = r->has_activations || r->has_skip || r->method != NULL ||
			  r->has_rounding || r->has_bias || r->has_equalize || r->has_narrow;

	return weights && !more;
}

static bool
holds_in(const qn_recipe_rule *r, const qn_graph *composite)
{
	for (qn_id id = 1; id < composite->n; id++)
		if (qn_recipe_rule_holds(r, qn_graph_node(composite, id)))
			return true;
	return false;
}

/* Whether a rule holds for something that has parameters of its own: a match, an input, an output. */
static bool
holds_for_stored(const qn_recipe_rule *r, const qn_graph *g)
{
	for (size_t k = 0; k < g->ninput; k++)
		if (qn_recipe_rule_matches(r, "input", qn_graph_node(g, g->input[k])->name))
			return true;
	for (size_t k = 0; k < g->noutput; k++)
		if (qn_recipe_rule_matches(r, "output", g->output[k].name))
			return true;
	for (qn_id id = 1; id < g->n; id++) {
		const qn_node *n = qn_graph_node(g, id);

		if (n->callee != NULL && n->callee->pattern != NULL && holds_in(r, n->callee))
			return true;
	}
	return false;
}

bool
qn_recipe_mixes(const qn_recipe *r, const qn_graph *g)
{
	for (size_t i = 0; r != NULL && i < r->n; i++)
		if (r->rule[i].has_activations && !r->rule[i].automatic &&
		    holds_for_stored(&r->rule[i], g))
			return true;
	return false;
}

/* ---- rules that are used ---- */

/* Partition may have run earlier, on the way to a file: what it skipped or put into composites it has
 * looked at with each rule that skips. */
static void
use_in(const qn_recipe *r, const qn_graph *g)
{
	for (qn_id id = 1; id < g->n; id++) {
		const qn_node *n = qn_graph_node(g, id);

		if (g->pattern == NULL && (n->facts == NULL || !n->facts->skipped))
			continue;
		for (size_t i = 0; i < r->n; i++)
			if (r->rule[i].has_skip && qn_recipe_rule_holds(&r->rule[i], n))
				r->used[i] = true;
	}
}

void
qn_recipe_use_skips(const qn_recipe *r, const qn_model *m)
{
	for (size_t i = 0; r != NULL && i < m->ngraph; i++)
		use_in(r, m->graph[i]);
}

/* Values that are computed from constants alone. */
static bool *
fixed_values(const qn_graph *g, qn_arena *a)
{
	bool *fixed = QN_NEW(a, bool, g->n);

	for (qn_id id = 1; id < g->n; id++) {
		const qn_node *n = qn_graph_node(g, id);

		fixed[id] = n->op == QN_OP_const || n->nin > 0;
		for (uint32_t i = 0; i < n->nin; i++)
			fixed[id] = fixed[id] && fixed[n->in[i]];
	}
	return fixed;
}

static bool
has_weights(const qn_node *call, const bool *fixed)
{
	for (uint32_t i = 0; i < call->nin; i++)
		if (fixed[call->in[i]])
			return true;
	for (qn_id id = 1; id < call->callee->n; id++)
		if (qn_graph_node(call->callee, id)->op == QN_OP_const)
			return true;
	return false;
}

void
qn_recipe_use_weights(const qn_recipe *r, const qn_graph *g)
{
	if (r == NULL)
		return;
	const bool *fixed = fixed_values(g, g->model->scratch);
	for (qn_id id = 1; id < g->n; id++) {
		const qn_node *n = qn_graph_node(g, id);

		if (n->callee == NULL || n->callee->pattern == NULL || !has_weights(n, fixed))
			continue;
		for (size_t i = 0; i < r->n; i++)
			if (qn_recipe_rule_is_of_weights(&r->rule[i]) &&
			    holds_in(&r->rule[i], n->callee))
				r->used[i] = true;
	}
}

/* ---- rules that are not ---- */

static const char *
text(const qn_graph *g, const qn_node *n, const char *fmt, const char *name)
{
	qn_buf b;

	qn_buf_init(&b, g->model->scratch);
	qn_buff(&b, "'%s' (%s) ", n->name, qn_opinfo_of(n)->name);
	qn_buff(&b, fmt, name);
	return qn_buf_str(&b);
}

/* What a value that only moves, selects or clamps elements comes from. */
static const qn_node *
source_of(const qn_graph *g, const qn_node *n)
{
	while (qn_opinfo_of(n)->behaviour == QN_SAME && n->nin > 0 &&
	       (n->facts == NULL || !n->facts->skipped))
		n = qn_graph_node(g, n->in[0]);
	return n;
}

/* Of a node of the entry graph that is in no match. */
static const char *
why_single(const qn_graph *g, const qn_recipe_rule *r, const qn_node *n)
{
	const qn_node *from = source_of(g, n);
	const bool stored =
		from->op == QN_OP_input || (from->callee != NULL && from->callee->pattern != NULL);

	if (!stored || from == n)
		return text(g, n, "stays in float", NULL);
	if (qn_recipe_rule_is_of_weights(r))
		return text(g, n, "has no weights", NULL);
	return text(g, n, "has no parameters of its own: its values are stored as those of '%s'",
		    from->name);
}

/* Why a rule that matches something changes nothing, by the first that it matches. */
static const char *
why_unused(const qn_graph *g, const qn_recipe_rule *r)
{
	for (qn_id id = 1; id < g->n; id++) {
		const qn_node *n = qn_graph_node(g, id);

		if (n->op == QN_OP_input && qn_recipe_rule_matches(r, "input", n->name))
			return text(g, n, "has no weights", NULL);
		for (qn_id k = 1; n->callee != NULL && k < n->callee->n; k++)
			if (qn_recipe_rule_holds(r, qn_graph_node(n->callee, k)))
				return text(g, qn_graph_node(n->callee, k), "has no weights", NULL);
		if (n->callee == NULL && qn_recipe_rule_holds(r, n))
			return why_single(g, r, n);
	}
	return "what it matches has no weights"; /* an output */
}

void
qn_recipe_warn(const qn_recipe *r, const qn_graph *g)
{
	for (size_t i = 0; r != NULL && i < r->n; i++)
		if (!r->used[i] && r->rule[i].when == QN_STATIC)
			qn_warn(g->model->env, "recipe.unused", r->rule[i].place,
				"/rules/%zu changes nothing: %s", i, why_unused(g, &r->rule[i]));
}
