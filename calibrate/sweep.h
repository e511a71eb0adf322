/* SPDX-License-Identifier: Apache-2.0 */
/* sweep.h - runs a graph on all batches of a data set: bundles of batches (runtime/interp.h) on as
 * many threads as the context has.
 *
 *   batches   0 1 2 3 | 4 5 6 7 | 8 9
 *   worker      0         1       0       each has an interpreter and a view of the data
 *
 *   QN_TRY(qn_sweep_new(graph, data, arena, &s));    s->nworker is known now
 *   QN_TRY(qn_sweep_run(s, observe, done, user));    user: one pointer a worker
 *
 * A worker sees its batches in ascending order.  What workers gather must be merged to something
 * that does not depend on how the batches were dealt out. */
#ifndef QN_CALIBRATE_SWEEP_H
#define QN_CALIBRATE_SWEEP_H

#include "calibrate/dataset.h"
#include "runtime/interp.h"

typedef struct qn_sweep {
	qn_env *env;
	const char *stage; /* for the progress: "samples", or what the caller sets */
	size_t nworker;
	size_t bundle; /* batches that run in lockstep, of a stateful network one after the other */
	bool stateful;
	struct qn_sweeper *worker;
} qn_sweep;

/* Batches first … first + n - 1 have been run and are those of the interpreter's bundle.  env: the
 * worker's, to log. */
typedef void qn_sweep_fn(void *user, qn_env *env, const qn_interp *in, size_t first, size_t n);

/* Reports what qn_interp_new reports.  The data set must outlive the sweep; one without a reader
 * is visited by a single worker. */
qn_status qn_sweep_new(const qn_graph *g, qn_dataset *data, qn_arena *a,
		       qn_sweep **out) QN_MUST_CHECK;

/* The same for a single worker, which runs batch after batch: an observer sees all values of one before
 * those of the next. */
qn_status qn_sweep_new_in_order(const qn_graph *g, qn_dataset *data, qn_arena *a,
				qn_sweep **out) QN_MUST_CHECK;

/* observe, done: called in the worker's thread with user[worker]; NULL: not wanted. */
qn_status qn_sweep_run(qn_sweep *s, qn_observe_fn *observe, qn_sweep_fn *done,
		       void *const *user) QN_MUST_CHECK;

/* The batch that a worker sees after k others. */
size_t qn_sweep_batch(const qn_sweep *s, size_t worker, size_t k);

#endif
