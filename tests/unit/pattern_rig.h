/* SPDX-License-Identifier: Apache-2.0 */
/* pattern_rig.h - for tests of patterns in text form: a model from text, a set of patterns, and the
 * bindings of a match as text. */
#ifndef TESTS_UNIT_PATTERN_RIG_H
#define TESTS_UNIT_PATTERN_RIG_H

#include "tests/unit/run_util.h"

#include "patterns/build.h"

static inline void
read_model(const char *text)
{
	qn_model_init(&rg->m, &rg->env, &rg->arena, "test");
	qn_status status = qn_model_parse(&rg->m, "test", text, strlen(text));

	no_errors();
	assert_int_equal(status, QN_OK);
	rg->g = qn_model_entry(&rg->m);
}

static inline qn_patterns *
new_set(void)
{
	qn_patterns *set = QN_NEW(&rg->arena, qn_patterns, 1);

	qn_patterns_init(set, &rg->env, &rg->arena);
	return set;
}

static inline qn_pattern *
read_pattern(qn_patterns *set, const char *text)
{
	qn_pattern *p;

	if (qn_patterns_parse(set, text, &p) != QN_OK)
		fail_msg("%s: %s", text, rg->diags.n > 0 ? rg->diags.item[0].message : "?");
	return p;
}

static inline const char *
text_of(const qn_pattern *p)
{
	qn_buf b;

	qn_buf_init(&b, &rg->arena);
	assert_int_equal(qn_patterns_print(&b, p), QN_OK);
	return qn_buf_str(&b);
}

/* "c=conv x=a x=b": named parts in the order in which they were bound. */
static inline const char *
bindings_of(const qn_match *m)
{
	qn_buf b;

	qn_buf_init(&b, &rg->arena);
	for (size_t i = 0; i < m->nbound; i++) {
		const qn_bound *at = &m->bound[i];
		const qn_pattern *p = (const qn_pattern *)(const void *)at->pat;
		const char *name = at->kind == QN_BOUND_SLOT ? qn_pattern_slot_name(p) : NULL;

		if (name != NULL)
			qn_buff(&b, "%s%s=%s", b.n > 0 ? " " : "", name,
				qn_graph_node(at->graph, at->value)->name);
	}
	return qn_buf_str(&b);
}

#endif
