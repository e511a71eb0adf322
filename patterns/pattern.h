/* SPDX-License-Identifier: Apache-2.0 */
/* pattern.h - patterns over graphs, as constant data, and the matcher.
 *
 *   enum { ROOT, X, W, B };
 *   #define CONV QN_P_OP(conv2d, QN_NO_SLOT, QN_P_ARGS(QN_P_ANY(X), QN_P_CONST(W)))
 *   static const qn_pat *const pattern = QN_P_OP(bias_add, ROOT, QN_P_ARGS(CONV, QN_P_CONST(B)));
 *
 * A pattern node with a slot binds the value that it matches; a slot that is bound already
 * matches only the same value, so one slot used twice asks for a real diamond.  The search is
 * complete: a later failure comes back to untaken alternatives, and to the swapped operands of
 * add and mul, in that order of preference. */
#ifndef QN_PATTERNS_PATTERN_H
#define QN_PATTERNS_PATTERN_H

#include "ir/graph.h"

enum { QN_MAX_SLOTS = 16, QN_MAX_INNER = 32 };
#define QN_NO_SLOT (-1)

typedef enum qn_pat_kind {
	QN_PAT_ANY,   /* anything */
	QN_PAT_CONST, /* a constant */
	QN_PAT_OP, /* a node of this op whose inputs match one by one; narg < 0: any number, none inspected */
	QN_PAT_CLASS, /* a node of any op with this behaviour (ir/ops.def); inputs are not inspected */
	QN_PAT_ALT    /* the first argument, else the second, … */
} qn_pat_kind;

typedef struct qn_pat {
	qn_pat_kind kind;
	int slot;
	qn_op op;
	qn_behaviour behaviour;
	int narg;
	const struct qn_pat *const *arg;
} qn_pat;

/* Each gives a pointer to constant data. */
#define QN_P_ARGS(...)                                                                             \
	(int)QN_COUNT(((const qn_pat *const[]){__VA_ARGS__})), (const qn_pat *const[])             \
	{                                                                                          \
		__VA_ARGS__                                                                        \
	}
#define QN_P_ANY(slot_) (&(const qn_pat){.kind = QN_PAT_ANY, .slot = (slot_)})
#define QN_P_CONST(slot_) (&(const qn_pat){.kind = QN_PAT_CONST, .slot = (slot_)})
#define QN_P_OP(op_, slot_, ...)                                                                   \
	(&(const qn_pat){QN_PAT_OP, (slot_), QN_OP_##op_, QN_NONE, __VA_ARGS__})
#define QN_P_OPN(op_, slot_) (&(const qn_pat){QN_PAT_OP, (slot_), QN_OP_##op_, QN_NONE, -1, NULL})
#define QN_P_CLASS(behaviour_, slot_)                                                              \
	(&(const qn_pat){QN_PAT_CLASS, (slot_), QN_NOP, behaviour_, -1, NULL})
#define QN_P_ALT(slot_, ...) (&(const qn_pat){QN_PAT_ALT, (slot_), QN_NOP, QN_NONE, __VA_ARGS__})

typedef struct qn_match {
	qn_id root;
	qn_id at[QN_MAX_SLOTS]; /* 0: not bound */
	uint32_t ninner;
	qn_id inner
		[QN_MAX_INNER]; /* the nodes that OP and CLASS patterns matched, the root first; each once unless the pattern meets it twice */
} qn_match;

enum { QN_MATCH_STEPS = 1000000 }; /* then the search gives up and the pattern does not match */

bool qn_match_at(const qn_graph *g, const qn_pat *p, qn_id root, qn_match *out);

#endif
