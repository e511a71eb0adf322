/* SPDX-License-Identifier: Apache-2.0 */
/* pattern.h - what the public handles of patterns stand for. */
#ifndef QN_DRIVER_PATTERN_H
#define QN_DRIVER_PATTERN_H

#include "driver/context.h"
#include "patterns/build.h"
#include "quern/patterns.h"

/* The context to which a pattern belongs: its set is allocated in it. */
static inline qn_ctx *
qn_pattern_ctx(const qn_pattern *p)
{
	return (qn_ctx *)(void *)p->set->scratch.env; /* the first member */
}

/* One call inside qn_guard: build makes a pattern or a callee of what the others hold. */
typedef struct qn_pattern_call qn_pattern_call;
typedef void qn_pattern_step(qn_pattern_call *c, qn_patterns *set);

struct qn_pattern_call {
	qn_ctx *ctx;
	qn_pattern_step *build;
	const char *text;
	double number;
	const qn_graph *graph;
	qn_id value;
	int n, index;
	qn_pattern *const *part;
	qn_pattern *one, *two, *three;
	const qn_callee *with;
	qn_pat_wrap_fn *wrap;
	qn_predicate_fn *predicate;
	void *user;
	qn_pattern *pattern; /* results */
	qn_callee *callee;
	qn_status status;
};

/* A matcher with the host's options (NULL: defaults). */
qn_status qn_matcher_like(qn_arena *a, const qn_match_opts *opts, qn_matcher **out) QN_MUST_CHECK;

/* The pattern that a step makes, NULL after an error; it has a slot, so it binds one value, which
 * can be queried. */
qn_pattern *qn_pattern_made(qn_pattern_call c);
qn_status qn_pattern_run(void *arg, qn_arena *scratch);
/* The host's predicate c->predicate as one of the library's, and what that needs as its user. */
bool qn_pattern_call_predicate(void *user, const qn_graph *g, qn_id value);
void *qn_pattern_predicate_user(const qn_pattern_call *c);

#endif
