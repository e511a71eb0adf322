/* SPDX-License-Identifier: Apache-2.0 */
/* recipe.c - which rules of a recipe hold where, and what comes of them (recipe.h). */
#include "patterns/recipe.h"

#include <string.h>

#include "ir/diag.h"
#include "patterns/glob.h"

bool
qn_recipe_rule_matches(const qn_recipe_rule *r, const char *op, const char *name)
{
	return (r->op == NULL || strcmp(r->op, op) == 0) &&
	       (r->name == NULL || qn_glob(r->name, name));
}

bool
qn_recipe_rule_holds(const qn_recipe_rule *r, const qn_node *n)
{
	const char *const *layer;
	const size_t nlayer = qn_node_origin(n, &layer);

	if (n->op == QN_OP_const || n->op == QN_OP_input)
		return false;
	for (size_t i = 0; i < nlayer; i++)
		if (qn_recipe_rule_matches(r, qn_opinfo_of(n)->name, layer[i]))
			return true;
	return qn_recipe_rule_matches(r, qn_opinfo_of(n)->name, n->name);
}

static void
apply(const qn_recipe *r, size_t i, qn_quant_opts *out)
{
	const qn_recipe_rule *rule = &r->rule[i];

	if (rule->widens && (!out->automatic || out->when != QN_STATIC))
		return;
	r->used[i] = r->used[i] || !qn_recipe_rule_is_of_weights(rule);
	if (rule->has_activations && rule->when == QN_STATIC) {
		out->activations = rule->activations;
		out->automatic = rule->automatic;
		out->says_activations = rule->op != NULL || rule->name != NULL;
		out->per_axis = rule->per_axis;
	}
	if (rule->has_activations)
		out->when = rule->when;
	if (rule->has_weights) {
		out->weight_bits = rule->weight_bits;
		out->weight_block = rule->weight_block;
	}
	if (rule->has_granularity)
		out->per_tensor_weights = rule->per_tensor;
	if (rule->method != NULL)
		out->method = rule->method;
}

bool
qn_recipe_has_skip(const qn_recipe *r)
{
	for (size_t i = 0; r != NULL && i < r->n; i++)
		if (r->rule[i].has_skip && r->rule[i].skip)
			return true;
	return false;
}

bool
qn_recipe_is_automatic(const qn_recipe *r)
{
	for (size_t i = 0; r != NULL && i < r->n; i++)
		if (r->rule[i].automatic)
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
			if (qn_recipe_rule_holds(&r->rule[i], qn_graph_node(composite, id))) {
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

	for (size_t i = 0; r != NULL && i < r->n; i++) {
		const qn_recipe_rule *rule = &r->rule[i];
		const bool of_layers = rule->widens && rule->op == NULL;

		if (rule->when == QN_STATIC && !of_layers && qn_recipe_rule_matches(rule, op, name))
			apply(r, i, &out);
	}
	return out;
}

bool
qn_recipe_stores_input(const qn_recipe *r, const char *name)
{
	for (size_t i = 0; r != NULL && i < r->n; i++) {
		const qn_recipe_rule *rule = &r->rule[i];

		if (rule->has_activations && !rule->automatic && rule->when == QN_STATIC &&
		    (rule->op != NULL || rule->name != NULL) &&
		    qn_recipe_rule_matches(rule, "input", name))
			return true;
	}
	return false;
}

const char *
qn_recipe_skips(const qn_recipe *r, qn_arena *a, const qn_graph *g, const qn_group *gr)
{
	size_t by = 0; /* the last rule that holds and has the key, from 1 */
	qn_buf b;

	for (size_t i = 0; i < r->n; i++)
		for (uint32_t k = 0; k < gr->ninner && r->rule[i].has_skip; k++)
			if (qn_recipe_rule_holds(&r->rule[i], qn_graph_node(g, gr->inner[k]))) {
				r->used[i] = true;
				by = i + 1;
				break;
			}
	if (by == 0 || !r->rule[by - 1].skip)
		return NULL;
	qn_buf_init(&b, a);
	qn_buff(&b, "skipped by /rules/%zu of the recipe", by - 1);
	return qn_buf_str(&b);
}

bool
qn_recipe_agrees(const qn_recipe *r, const qn_graph *composite, const char *name)
{
	size_t by = 0;

	for (size_t i = 0; r != NULL && i < r->n; i++)
		for (qn_id id = 1; id < composite->n && r->rule[i].has_skip; id++)
			if (qn_recipe_rule_holds(&r->rule[i], qn_graph_node(composite, id)))
				by = i + 1;
	if (by == 0 || !r->rule[by - 1].skip)
		return true;
	(void)qn_report(composite->model->env, QN_EUSAGE, "recipe.late", name,
			"/rules/%zu of the recipe skips this match, but the model was "
			"partitioned without it; give the recipe to the run that partitions",
			by - 1);
	return false;
}

/* ---- rules that match nothing ---- */

enum {
	NEAREST = 3, /* names that a message has */
	FARTHEST = 8,
	COMPARED = 20000 /* names at most */
};

/* The names nearest to a rule's, the nearest first. */
typedef struct nearest {
	const char *glob;
	const char *name[NEAREST];
	uint32_t far[NEAREST];
	size_t n;
} nearest;

static void
offer(nearest *s, const char *name)
{
	const size_t length = strlen(name) > strlen(s->glob) ? strlen(name) : strlen(s->glob);
	uint32_t far = qn_glob_distance(s->glob, name, FARTHEST);
	size_t at = s->n;

	if (far > FARTHEST || far >= length || (s->n > 0 && far > s->far[0] + 1))
		return; /* nothing in common, or far from as near as another one */
	for (size_t k = 0; k < s->n; k++)
		if (strcmp(s->name[k], name) == 0)
			return;
	while (at > 0 && far < s->far[at - 1])
		at--;
	if (at == NEAREST)
		return;
	s->n += s->n < NEAREST;
	for (size_t k = s->n - 1; k > at; k--) {
		s->name[k] = s->name[k - 1];
		s->far[k] = s->far[k - 1];
	}
	s->name[at] = name;
	s->far[at] = far;
	while (s->far[s->n - 1] > s->far[0] + 1)
		s->n--;
}

typedef bool visit_fn(void *user, const char *op, const char *name);

/* Inputs of composites are values of the graph around them. */
static bool
visit_nodes(const qn_graph *g, visit_fn *fn, void *user)
{
	for (qn_id id = 1; id < g->n; id++) {
		const qn_node *n = qn_graph_node(g, id);

		if (n->op == QN_OP_const || (n->op == QN_OP_input && g->pattern != NULL))
			continue;
		if (fn(user, qn_opinfo_of(n)->name, n->name))
			return true;
		if (n->callee != NULL && n->callee->pattern != NULL &&
		    visit_nodes(n->callee, fn, user))
			return true;
		const char *const *layer;
		const size_t nlayer = qn_node_origin(n, &layer);
		for (size_t i = 0; i < nlayer; i++)
			if (fn(user, qn_opinfo_of(n)->name, layer[i]))
				return true;
	}
	return false;
}

/* Calls fn with what rules may match, until it says true. */
static bool
visit(const qn_graph *g, visit_fn *fn, void *user)
{
	for (size_t i = 0; i < g->noutput; i++)
		if (fn(user, "output", g->output[i].name))
			return true;
	return visit_nodes(g, fn, user);
}

typedef struct search {
	const qn_recipe_rule *rule;
	nearest near;
	size_t compared;
	bool has_op;
} search;

static bool
is_matched(void *user, const char *op, const char *name)
{
	return qn_recipe_rule_matches(user, op, name);
}

static bool
look_near(void *user, const char *op, const char *name)
{
	search *s = user;

	if (s->rule->op != NULL && strcmp(s->rule->op, op) != 0)
		return false;
	s->has_op = true;
	if (s->rule->name != NULL && s->compared++ < COMPARED)
		offer(&s->near, name);
	return false;
}

/* What messages call a rule: its number, or the word of the option --dynamic that it stands for. */
static const char *
title_of(qn_arena *a, const qn_recipe_rule *rule, size_t i)
{
	qn_buf b;

	qn_buf_init(&b, a);
	if (strcmp(rule->place, "dynamic") != 0)
		qn_buff(&b, "/rules/%zu", i);
	else
		qn_buff(&b, "'%s%s'", rule->op != NULL ? "op:" : "",
			rule->op != NULL ? rule->op : rule->name);
	return qn_buf_str(&b);
}

static qn_status
report_nothing(const qn_recipe_rule *rule, size_t i, const qn_graph *g)
{
	search s = {.rule = rule, .near.glob = rule->name};
	qn_buf near, what;

	(void)visit(g, look_near, &s);
	qn_buf_init(&near, g->model->scratch);
	qn_buf_init(&what, g->model->scratch);
	for (size_t k = 0; k < s.near.n; k++)
		qn_buff(&near, "%s'%s'%s",
			k == 0             ? "; did you mean "
			: k + 1 < s.near.n ? ", "
					   : " or ",
			s.near.name[k], k + 1 == s.near.n ? "?" : "");
	if (rule->op != NULL)
		qn_buff(&what, "no op '%s'", rule->op);
	else
		qn_buf_puts(&what, "no node, input or output");
	if (rule->name != NULL && (rule->op == NULL || s.has_op))
		qn_buff(&what, " named '%s'", rule->name);
	if (rule->op != NULL && !s.has_op && strcmp(rule->op, "dense") == 0)
		qn_buf_puts(&what, "; a product with a constant matrix without a bias is a matmul");
	return qn_report(g->model->env, QN_EINVALID, "recipe.nothing", rule->place,
			 "%s matches nothing: the model has %s%s",
			 title_of(g->model->scratch, rule, i), qn_buf_str(&what),
			 qn_buf_str(&near));
}

qn_status
qn_recipe_check(const qn_recipe *r, const qn_graph *g)
{
	qn_status status = QN_OK;

	for (size_t i = 0; r != NULL && i < r->n; i++)
		if (!visit(g, is_matched, (void *)(uintptr_t)&r->rule[i]))
			status = report_nothing(&r->rule[i], i, g);
	return status;
}

void
qn_recipe_use_dynamic(const qn_recipe *r, const qn_graph *composite, bool computed)
{
	const qn_scale_time when =
		qn_recipe_for_graph(&(qn_quant_opts){.recipe = r}, composite).when;

	for (size_t i = 0; i < r->n && (computed || when == QN_STATIC); i++)
		for (qn_id id = 1; id < composite->n && r->rule[i].when != QN_STATIC; id++)
			if (qn_recipe_rule_holds(&r->rule[i], qn_graph_node(composite, id)))
				r->dynamic[i] = true;
}

/* The first node that a rule matches. */
typedef struct first_match {
	const qn_recipe_rule *rule;
	const char *op, *name;
} first_match;

static bool
is_first(void *user, const char *op, const char *name)
{
	first_match *f = user;

	if (strcmp(op, "call") == 0 || !qn_recipe_rule_matches(f->rule, op, name))
		return false;
	f->op = op;
	f->name = name;
	return true;
}

qn_status
qn_recipe_check_dynamic(const qn_recipe *r, const qn_graph *g)
{
	qn_status status = QN_OK;

	for (size_t i = 0; r != NULL && i < r->n; i++) {
		first_match f = {.rule = &r->rule[i]};

		if (f.rule->when == QN_STATIC || r->dynamic[i] || !visit(g, is_first, &f))
			continue;
		status = qn_report(
			g->model->env, QN_EINVALID, "recipe.dynamic", f.rule->place,
			"no layer that %s matches can compute its scale at run "
			"time: "
			"%s '%s' cannot, only conv1d, conv2d, conv3d, conv2d_transpose, dense and "
			"matmul with constant weights, quantized by their standard patterns; name "
			"one of these",
			title_of(g->model->scratch, f.rule, i), f.op, f.name);
	}
	return status;
}
