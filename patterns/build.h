/* SPDX-License-Identifier: Apache-2.0 */
/* build.h - patterns made at run time, by a host or from text.
 *
 *   qn_pattern *x = qn_build_any(set), *w = qn_build_const(set);
 *   qn_pattern *conv = qn_build_call(set, qn_build_op(set, "conv2d"), 2, (qn_pattern *[]){x, w});
 *
 * Functions return NULL after an error (pattern.…), and without a report if an argument is NULL.  Parts
 * must be of the same set (pattern.context).  An op is not a pattern, but an argument of a call:
 * so that relu is not written where a call of relu is meant. */
#ifndef QN_PATTERNS_BUILD_H
#define QN_PATTERNS_BUILD_H

#include "patterns/pattern.h"
#include "quern/patterns.h"

typedef struct qn_predicate {
	const char *name;
	qn_where_fn *fn;
	void *user;
} qn_predicate;

/* All that patterns made at run time share. */
typedef struct qn_patterns {
	qn_model scratch;  /* memory, and the types that texts name */
	const char *place; /* in the text that is read, for messages */
	const char **name; /* of slots; NULL: none */
	size_t nslot, name_cap;
	qn_predicate *predicate;
	size_t npredicate, predicate_cap;
} qn_patterns;

enum {
	QN_PATTERN_HEIGHT = 256
}; /* of patterns that have a text form: parts one inside the other */

struct qn_pattern {
	qn_pat pat;
	qn_patterns *set;
	uint32_t height;
	bool optional; /* ALT of what qn_build_optional was given, and what was made of it */
	bool sent_on;  /* a wildcard that has its target */
};

struct qn_callee {
	qn_patterns *set;
	qn_pat_kind kind;
	qn_op op;
	const qn_opinfo *row; /* of an op */
	qn_behaviour behaviour;
	const qn_pat_test *function;
};

void qn_patterns_init(qn_patterns *set, qn_env *env, qn_arena *arena);
/* The word of `where` in texts; a name that is known already gets the new meaning. */
void qn_patterns_predicate(qn_patterns *set, const char *name, qn_where_fn *fn, void *user);
/* NULL when there is none. */
const qn_predicate *qn_patterns_find_predicate(const qn_patterns *set, const char *name);

/* A new slot; name NULL: none. */
int qn_patterns_slot(qn_patterns *set, const char *name);
/* Gives a node a slot unless it has one. */
qn_pattern *qn_build_slot(qn_pattern *p);
/* Gives the node's slot a name, or, when it has one already, puts a node with the name around. */
qn_pattern *qn_build_named(qn_patterns *set, qn_pattern *p, int slot);
const char *qn_pattern_slot_name(const qn_pattern *p);

qn_pattern *qn_build_any(qn_patterns *set);
qn_pattern *qn_build_const(qn_patterns *set);
qn_pattern *qn_build_input(qn_patterns *set, const char *name); /* NULL: any */
/* g NULL: the value of that name in the graph that is searched. */
qn_pattern *qn_build_expr(qn_patterns *set, const qn_graph *g, qn_id value, const char *name);
qn_pattern *qn_build_number(qn_patterns *set, double value);

qn_callee *qn_build_op(qn_patterns *set, const char *name);
qn_callee *qn_build_any_op(qn_patterns *set);
/* "MIX", "SAME" … */
qn_callee *qn_build_class(qn_patterns *set, const char *name);
/* nparam < 0: any parameters. */
qn_callee *qn_build_function(qn_patterns *set, int nparam, qn_pattern *const *param,
			     qn_pattern *body);
/* narg < 0: any arguments. */
qn_pattern *qn_build_call(qn_patterns *set, const qn_callee *callee, int narg,
			  qn_pattern *const *arg);

qn_pattern *qn_build_alt(qn_patterns *set, int n, qn_pattern *const *p);
qn_pattern *qn_build_optional(qn_patterns *set, qn_pattern *p, qn_pattern *made);
qn_pattern *qn_build_dominator(qn_patterns *set, qn_pattern *parent, qn_pattern *path,
			       qn_pattern *child);
/* like: kind and value of the test; texts are copied. */
qn_pattern *qn_build_test(qn_patterns *set, qn_pattern *p, const qn_pat_test *like);
/* wildcard stands for target from now on, which may hold the wildcard. */
qn_status qn_build_redirect(qn_patterns *set, qn_pattern *wildcard, qn_pattern *target);

/* Reads the text form (docs/patterns.md), and a part of it after a pattern: "{stride=[2,2]}" or
 * ": f32[1,?]". */
qn_status qn_patterns_parse(qn_patterns *set, const char *text, qn_pattern **out) QN_MUST_CHECK;
qn_pattern *qn_build_suffix(qn_patterns *set, qn_pattern *p, const char *before, const char *text,
			    const char *after);
/* Fails (pattern.depth) for a pattern that is nested too deep to be written. */
qn_status qn_patterns_print(qn_buf *b, const qn_pattern *p) QN_MUST_CHECK;

extern const char *const qn_behaviour_names[QN_NONE + 1];

#endif
