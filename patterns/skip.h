/* SPDX-License-Identifier: Apache-2.0 */
/* skip.h - which matches stay float although a pattern took them.
 *
 *   first,last,name:conv1*,op:softmax
 *
 * A word selects a match if one of its nodes has the name or op; `first` and `last` select the one
 * whose root comes first or last in the graph. */
#ifndef QN_PATTERNS_SKIP_H
#define QN_PATTERNS_SKIP_H

#include "patterns/group.h"

typedef enum qn_skip_kind { QN_SKIP_FIRST, QN_SKIP_LAST, QN_SKIP_NAME, QN_SKIP_OP } qn_skip_kind;

typedef struct qn_skip_word {
	qn_skip_kind kind;
	const char *text; /* of NAME and OP */
} qn_skip_word;

typedef struct qn_skip {
	const qn_skip_word *word;
	size_t n;
	qn_skip_fn *fn; /* of the host; NULL: none */
	void *user;
	const struct qn_recipe *recipe; /* whose rules skip too; NULL: none */
} qn_skip;

/* Reads the words (skip.syntax, skip.op); texts are copied. */
qn_status qn_skip_parse(qn_env *env, qn_arena *a, const char *text, qn_skip *out) QN_MUST_CHECK;

/* Leaves the groups that are to be skipped without a label; why[i] says for group i why it is,
 * NULL: it is not.  Warns of words that hold for no match (skip.nothing). */
void qn_skip_groups(qn_model *m, qn_grouper *s, const qn_skip *skip, const char **why);

/* Whether a node that was skipped is float. */
bool qn_skip_left(const qn_graph *g);

#endif
