/* SPDX-License-Identifier: Apache-2.0 */
/* traces.h - the results that a self-test and a device know by their CRC-32: that of each step, and of a step in
 * a loop those of its last and of its first run.  What a loop stacks or leaves has the last one alone.
 *
 *   steps conv, h (in a loop of 28 runs), n (too), y      0 conv   1 h, last   2 n, last   3 y   4 h, first   5 n, first
 *
 *   qn_traces t;
 *   qn_traces_init(&t, g, nstep, node, a);
 *   t.crc = …; qn_traces_begin(&t);          of a sample
 *   qn_interp_run(in, x, qn_traces_take, &t); */
#ifndef QN_CODEGEN_TRACES_H
#define QN_CODEGEN_TRACES_H

#include "ir/graph.h"

typedef struct qn_traces {
	const qn_graph *g;
	size_t nstep, n;       /* n: steps, and first runs after them */
	const uint32_t *first; /* [nstep] the number of a step's first run; 0: it runs once */
	const uint32_t *step;  /* [n] the step of each */
	const uint32_t *of;    /* [g->n] the step whose result a value is, plus 1; 0: none */
	bool *has_run;         /* [nstep] */
	uint32_t *crc;         /* [n] of the sample that runs */
} qn_traces;

/* The results of steps are these nodes of a graph in which the nodes of each loop stand together. */
void qn_traces_init(qn_traces *t, const qn_graph *g, size_t nstep, const qn_id *node, qn_arena *a);
void qn_traces_begin(qn_traces *t);
/* Takes the CRC of a value, as the interpreter shows it; user: the traces. */
qn_status qn_traces_take(void *user, const qn_graph *g, qn_id id, const qn_tensor *value);

#endif
