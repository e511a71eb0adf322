/* SPDX-License-Identifier: Apache-2.0 */
/* partition.c - replaces each accepted match of a quantizer pattern by a call of a composite.
 *
 *   %c = conv2d %x, %w        graph @conv1.conv2d_bias(%x, %w, %b) pattern "conv2d_bias" { %c = conv2d %x, %w   %y = bias_add %c, %b   return %y }
 *   %y = bias_add %c, %b  ->  …
 *                             %y = call @conv1.conv2d_bias %x, %w, %b
 *
 * Patterns go in list order over the immutable source graph, each from the last node to the
 * first (root first), so a longer pattern that stands earlier wins.  A match is refused when a
 * node inside it belongs to another one already, or is used outside it: then it would have to be
 * computed twice.
 * requires: a float graph.   leaves: the entry graph calls composites; other nodes are as they were. */
#include <string.h>

#include "ir/diag.h"
#include "patterns/group.h"
#include "patterns/quantizer.h"
#include "patterns/reading.h"
#include "patterns/recipe.h"
#include "patterns/rewrite.h"
#include "patterns/skip.h"

/* Why no pattern took the node; the first reason, or one that is more than a reason: skipped. */
static void
note(qn_model *m, const qn_grouper *s, qn_id id, const char *text, bool skipped)
{
	const qn_node *n = qn_graph_node(s->g, id);
	const qn_facts like = {.skipped = skipped, .note = text};
	qn_layers layers = {0};

	if (s->facts[id] != NULL && !skipped)
		return;
	qn_layers_add_node(&layers, n);
	s->facts[id] = qn_facts_make(m, n, &like, &layers);
}

/* Reports a match to the host; why NULL: it was taken. */
static void
explain(const qn_quant_opts *opts, const qn_grouper *s, const char *pattern, qn_id root,
	const char *why, const qn_group *gr)
{
	qn_arena *a = s->g->model->arena;

	if (opts->explain == NULL)
		return;
	qn_explained e = {.pass = "partition",
			  .pattern = pattern,
			  .root = qn_arena_str(a, qn_graph_node(s->g, root)->name),
			  .why = why != NULL ? qn_arena_str(a, why) : NULL};

	if (gr != NULL) {
		const char **in = QN_NEW(a, const char *, gr->ninput);

		for (uint32_t i = 0; i < gr->ninput; i++)
			in[i] = qn_arena_str(a, qn_graph_node(s->g, gr->input[i])->name);
		e.in = in;
		e.nin = gr->ninput;
	}
	opts->explain(opts->explain_user, &e);
}

static qn_status
try_match(qn_model *m, const qn_quant_opts *opts, qn_grouper *s, const qn_quantizer *q,
	  const qn_pat *pattern, qn_id root)
{
	const qn_node *n = qn_graph_node(s->g, root);
	const char *reason = NULL;
	qn_group group;
	qn_match match;
	qn_buf b;

	if (!qn_group_find(s, pattern, root, 0, &match, &group)) {
		if (s->why != NULL)
			explain(opts, s, q->name, root, s->why, NULL);
		return qn_matcher_exhausted(s->matcher) ? qn_matcher_report(s->matcher, s->g, root)
							: QN_OK;
	}
	if (q->accept != NULL)
		match.reading = qn_reading_new(m->scratch);
	if (q->accept == NULL || q->accept(q->user, s->g, &match, &reason) != 0) {
		group.label = group.pattern = q->name;
		qn_group_take(s, &group);
		qn_trace(m->env, "%s: %s at %s '%s'%s: fired", m->env->trace_pass, q->name,
			 qn_opinfo_of(n)->name, n->name, qn_node_layers(n, m->scratch));
		return QN_OK;
	}
	if (reason == NULL)
		reason = "it gives no reason";
	qn_trace(m->env, "%s: %s at %s '%s'%s: declined: %s", m->env->trace_pass, q->name,
		 qn_opinfo_of(n)->name, n->name, qn_node_layers(n, m->scratch), reason);
	explain(opts, s, q->name, root, reason, NULL);
	qn_buf_init(&b, m->scratch);
	qn_buff(&b, "pattern '%s' declined: %s", q->name, reason);
	note(m, s, root, qn_buf_str(&b), false);
	return QN_OK;
}

/* Lowers what is to be skipped back to float, and reports what became of each group, in the order of
 * the roots. */
static void
finish(qn_model *m, const qn_quant_opts *opts, qn_grouper *s)
{
	const qn_skip nothing = {.recipe = opts->recipe};
	const char **why = QN_NEW(m->scratch, const char *, s->ngroup);

	qn_skip_groups(m, s, opts->skip != NULL ? opts->skip : &nothing, why);
	for (qn_id id = 1; id < s->g->n; id++) {
		const qn_group *gr = s->rooted[id] != 0 ? &s->group[s->rooted[id] - 1] : NULL;

		if (gr == NULL)
			continue;
		const char *reason = why[s->rooted[id] - 1];
		explain(opts, s, gr->pattern, id, reason, gr);
		for (uint32_t k = 0; k < gr->ninner && reason != NULL; k++)
			if (qn_graph_node(s->g, gr->inner[k])->op != QN_OP_const)
				note(m, s, gr->inner[k], reason, true);
	}
}

qn_status
qn_partition(qn_model *m, const qn_quant_opts *opts)
{
	const qn_graph *g = qn_model_entry(m);
	qn_grouper s;
	size_t n;
	const qn_qpattern **list = qn_quant_patterns(opts, m->scratch, &n);

	if (m->stage != QN_STAGE_FLOAT)
		return qn_report(m->env, QN_EINVALID, "pass.stage", m->name,
				 "partition takes a float graph; this one is %s",
				 qn_stage_names[m->stage]);
	QN_TRY(qn_recipe_check(opts->recipe, g));
	qn_grouper_init(&s, m->scratch, qn_matcher_new(m->scratch, 0), g);
	s.tell = opts->explain != NULL;
	s.facts = QN_NEW(m->scratch, const qn_facts *, g->n);
	for (size_t k = 0; k < n; k++) /* list order is priority */
		for (qn_id id = g->n - 1; id > 0; id--)
			QN_TRY(try_match(m, opts, &s, &list[k]->desc, list[k]->pattern, id));
	finish(m, opts, &s);
	return qn_groups_cut(m, &s);
}
