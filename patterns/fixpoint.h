/* SPDX-License-Identifier: Apache-2.0 */
/* fixpoint.h - rules over groups, round after round until none changes anything.
 *
 *   rules: add(x, 0.0) -> x, mul(x, 1.0) -> x         (x + 0) * 1   ->  x
 *
 * A pass finds the groups of one rule in the whole graph, then rebuilds the graph from the inputs
 * down; at the root of each group, whose inputs are rebuilt by then, the callback says what takes
 * its place.  Local rules (rewrite.h) are cheaper where a rule needs to know no users. */
#ifndef QN_PATTERNS_FIXPOINT_H
#define QN_PATTERNS_FIXPOINT_H

#include "patterns/group.h"

enum { QN_MAX_PASSES = 100 }; /* of all rules together, as in TVM */

/* m: the match with the values of dst, the graph under construction, that stand for those of
 * before.  Returns the value that replaces the root; m->root: leave it; 0: an error. */
typedef qn_id qn_fixpoint_fn(void *user, qn_graph *dst, const qn_match *m, const qn_graph *before,
			     qn_id before_root);

typedef struct qn_fixpoint_rule {
	const char *name; /* for messages */
	const qn_pat *pattern;
	qn_fixpoint_fn *fn;
	void *user;
	uint32_t flags;
} qn_fixpoint_rule;

/* Rewrites the entry graph of the model.  Errors: rewrite.fixpoint after QN_MAX_PASSES,
 * rewrite.type, rewrite.callback, pattern.limit, limit.nodes; the model is as it was then.  *passes (may be
 * NULL): how many were run. */
qn_status qn_rewrite_to_fixpoint(qn_model *m, const qn_fixpoint_rule *rules, size_t n,
				 const qn_matcher *like, size_t *passes) QN_MUST_CHECK;

#endif
