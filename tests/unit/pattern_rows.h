/* SPDX-License-Identifier: Apache-2.0 */
/* pattern_rows.h - for tests of what patterns match: rows of a pattern, a value and the bindings. */
#ifndef TESTS_UNIT_PATTERN_ROWS_H
#define TESTS_UNIT_PATTERN_ROWS_H

#include "tests/unit/pattern_rig.h"

#include "patterns/index.h"
#include "patterns/search.h"

typedef struct row {
	const char *pattern, *root; /* the value that is asked */
	const char *bindings;       /* NULL: no match */
	uint32_t flags;
} row;

static inline const char *
ask(const char *text, const char *root, uint32_t flags, const char **canonical)
{
	qn_pattern *p = read_pattern(new_set(), text);
	qn_id id = qn_graph_find(rg->g, root);
	qn_match m;

	assert_int_not_equal(id, 0);
	*canonical = text_of(p);
	bool is = qn_match_at(qn_matcher_new(&rg->arena, flags), rg->g, &p->pat, id, &m);
	return is ? bindings_of(&m) : NULL;
}

static inline bool
same_text(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static inline void
run_rows(const row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const row *r = &rows[i];
		const char *canonical, *again;
		const char *got = ask(r->pattern, r->root, r->flags, &canonical);

		if (!same_text(got, r->bindings))
			fail_msg("%s at %s: %s, not %s", r->pattern, r->root, got ? got : "no",
				 r->bindings ? r->bindings : "no");
		if (!same_text(ask(canonical, r->root, r->flags, &again), r->bindings) ||
		    strcmp(canonical, again) != 0)
			fail_msg("%s: prints as %s, then %s", r->pattern, canonical, again);
	}
}

#endif
