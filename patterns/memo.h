/* SPDX-License-Identifier: Apache-2.0 */
/* memo.h - what searches have found out about values below their roots, for those that follow.
 *
 *   R = relu(R | conv)     tried at r9, r8, r7, …      what R is at r8 is known from r9
 *
 * Only of patterns that can go down as far as the graph does: recursive ones, and the paths of
 * dominators.  An answer depends on the value and on what the slots are bound to that the part can
 * bind; it is found under these. */
#ifndef QN_PATTERNS_MEMO_H
#define QN_PATTERNS_MEMO_H

#include "patterns/search.h"

/* What becomes of a goal whose answer may be known. */
typedef enum qn_memo_answer {
	QN_MEMO_UNKNOWN, /* is not known: goes on, and will be */
	QN_MEMO_FAILS,
	QN_MEMO_HOLDS /* what it binds is bound */
} qn_memo_answer;

/* Ways of a choice that the memo has made: all ways of the goal failed, which is noted; the known
 * answer did not lead on, so others are looked for. */
#define QN_WAY_FAILED UINT32_MAX
#define QN_WAY_AGAIN (UINT32_MAX - 1)

/* What a part with a slot may match in one match of the pattern: one value, several as a part of
 * itself (its first one is known from qn_match_is), several on the path of a dominator. */
typedef enum qn_memo_count { QN_MEMO_ONE, QN_MEMO_SEVERAL, QN_MEMO_ON_PATH } qn_memo_count;
/* By slot, up to *n - 1. */
const qn_memo_count *qn_memo_counts(qn_arena *a, const qn_pat *p, size_t *n);
/* Forgets what was found out in another graph, or before this one grew; the root pattern is p. */
void qn_memo_begin(qn_matcher *s, const qn_graph *g, const qn_pat *p);
/* At the first way of a goal of kind MATCH or PATH. */
qn_memo_answer qn_memo_lookup(qn_matcher *s, const qn_goal *goal);
/* The goal of kind LEARN: all parts of its goal hold. */
void qn_memo_learn(qn_matcher *s, const qn_goal *goal);
/* The choice of way QN_WAY_FAILED. */
void qn_memo_fail(qn_matcher *s, const qn_goal *goal);

#endif
