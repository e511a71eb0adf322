/* SPDX-License-Identifier: Apache-2.0 */
/* trace.h - the values of trace ops, to the hook of a host.
 *
 *   qn_tracing t = {.fn = fn, .user = user};
 *   qn_tracing_prepare(&t, graph, arena);       no memory is taken later, while a sweep runs
 *   qn_interp_run(in, x, qn_trace_value, &t);
 *   t.ended is the op whose value the hook ended the run at, or NULL */
#ifndef QN_DRIVER_TRACE_H
#define QN_DRIVER_TRACE_H

#include "ir/graph.h"
#include "quern/measure.h"

/* A trace op, and what does not change of its values. */
typedef struct qn_trace_point {
	const qn_node *node;
	qn_traced value;
} qn_trace_point;

typedef struct qn_tracing {
	qn_trace_fn *fn;
	void *user;
	uint64_t run; /* the batch that runs now */
	qn_trace_point *point;
	size_t n, cap;
	const qn_node *ended;
} qn_tracing;

/* Finds the trace ops of g and of the graphs that it calls, whose types are static. */
void qn_tracing_prepare(qn_tracing *t, const qn_graph *g, qn_arena *a);
/* A qn_observe_fn, whose user is a qn_tracing. */
qn_status qn_trace_value(void *user, const qn_graph *g, qn_id id, const qn_tensor *value);

#endif
