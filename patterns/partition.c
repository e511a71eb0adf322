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
#include "patterns/rewrite.h"

static void
note(qn_model *m, const qn_graph *g, qn_id id, const char *text)
{
	const char *name = qn_graph_node(g, id)->name;

	if (m->notes == NULL) {
		m->notes = QN_NEW(m->arena, qn_map, 1);
		qn_map_init(m->notes, m->arena);
	}
	if (qn_map_gets(m->notes, name) == NULL)
		qn_map_puts(m->notes, name, qn_arena_str(m->arena, text));
}

static void
try_match(qn_model *m, qn_grouper *s, const qn_qpattern *qp, qn_id root)
{
	const char *reason = NULL;
	qn_group group;
	qn_match match;
	qn_buf b;

	if (!qn_group_find(s, qp->pattern, root, 0, &match, &group))
		return;
	if (qp->accept == NULL || qp->accept(s->g, &match, &reason)) {
		group.label = group.pattern = qp->name;
		qn_group_take(s, &group);
		qn_trace(m->env, "%s: %s at %s '%s': fired", m->env->trace_pass, qp->name,
			 qn_opinfo_of(qn_graph_node(s->g, root))->name,
			 qn_graph_node(s->g, root)->name);
		return;
	}
	qn_trace(m->env, "%s: %s at %s '%s': declined: %s", m->env->trace_pass, qp->name,
		 qn_opinfo_of(qn_graph_node(s->g, root))->name, qn_graph_node(s->g, root)->name,
		 reason);
	qn_buf_init(&b, m->scratch);
	qn_buff(&b, "pattern '%s' declined: %s", qp->name, reason);
	note(m, s->g, root, qn_buf_str(&b));
}

qn_status
qn_partition(qn_model *m, const qn_quant_opts *opts)
{
	const qn_graph *g = qn_model_entry(m);
	qn_grouper s;
	size_t n;
	const qn_qpattern *list = qn_standard_patterns(opts->scheme, &n);

	if (m->stage != QN_STAGE_FLOAT)
		return qn_report(m->env, QN_EINVALID, "pass.stage", m->name,
				 "partition takes a float graph; this one is %s",
				 qn_stage_names[m->stage]);
	qn_grouper_init(&s, m->scratch, qn_matcher_new(m->scratch, 0), g);
	m->notes = NULL;
	for (size_t k = 0; k < n; k++) /* list order is priority */
		for (qn_id id = g->n - 1; id > 0; id--)
			try_match(m, &s, &list[k], id);
	return qn_groups_cut(m, &s);
}
