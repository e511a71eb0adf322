/* SPDX-License-Identifier: Apache-2.0 */
/* evaluate.h - values of a graph for the batches of a data set, a few at a time.
 *
 *   x ─▶ f ─▶ a ─▶ g ─▶ b        b of batch 3     runs f and g on the samples of batch 3
 *                                keep a           runs f on all batches
 *                                b of batch 3     runs g on the kept a
 *
 * Only nodes that the wanted values need are run, from graph inputs and kept values.  Symbols have
 * the values that they are bound to at the time of the call. */
#ifndef QN_CALIBRATE_EVALUATE_H
#define QN_CALIBRATE_EVALUATE_H

#include "calibrate/dataset.h"

typedef struct qn_evaluator qn_evaluator;

/* budget: bytes that kept values may take.  g, data and the arena must outlive it. */
qn_evaluator *qn_evaluator_new(const qn_graph *g, qn_dataset *data, size_t budget, qn_arena *a);

/* Fails (calibrate.future) where the type of a node has a symbol without a value. */
qn_status qn_evaluator_check(const qn_graph *g, const qn_node *n) QN_MUST_CHECK;

/* From now on values of loops can be wanted: what they are in all steps, stacked along a new first axis (evaluate_part.h).
 * They are never kept. */
void qn_evaluator_stack(qn_evaluator *e);

/* The values `id` of one batch; valid until the next call.  calibrate.future names a symbol on the
 * way that has no value yet, calibrate.loop a value of a loop that is replaced, or wanted without qn_evaluator_stack. */
qn_status qn_evaluator_run(qn_evaluator *e, size_t n, const qn_id *id, size_t batch,
			   const qn_tensor **out) QN_MUST_CHECK;

/* The same where the values `id` of `with` are what it says, whatever the graph says: what depends on them is
 * run, the rest is taken from what is kept.  A constant may be replaced too. */
typedef struct qn_replaced {
	size_t n;
	const qn_id *id;
	const void *const *data; /* of the values' types */
} qn_replaced;
qn_status qn_evaluator_run_with(qn_evaluator *e, const qn_replaced *with, size_t n, const qn_id *id,
				size_t batch, const qn_tensor **out) QN_MUST_CHECK;

/* Evaluates the values for all batches and keeps them, as far as the budget goes (all batches of a
 * value or none).  The symbols that they depend on must not change any more. */
qn_status qn_evaluator_cache(qn_evaluator *e, size_t n, const qn_id *id) QN_MUST_CHECK;

/* From now on only these batches are kept, in ascending order; others are run from what was kept
 * before, as far as that is all of them. */
void qn_evaluator_choose(qn_evaluator *e, size_t n, const size_t *batch);

/* To be called after a symbol was bound to another value; … on which values that are kept depend. */
void qn_evaluator_changed(qn_evaluator *e);
void qn_evaluator_forget(qn_evaluator *e);

/* Nodes that were run so far, each batch counted. */
uint64_t qn_evaluator_runs(const qn_evaluator *e);
/* … and what that took: multiplications and elements (docs/limits.md). */
uint64_t qn_evaluator_steps(const qn_evaluator *e);

#endif
