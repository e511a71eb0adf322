/* SPDX-License-Identifier: Apache-2.0 */
/* interp.h - runs a graph at any stage, float and integer nodes mixed, one node after the other.
 *
 *   qn_interp *in;
 *   QN_TRY(qn_interp_new(graph, arena, &in));        checks that every node is supported, prepares parameters
 *   QN_TRY(qn_interp_run(in, inputs, NULL, NULL));   as often as wanted, without further memory
 *   const qn_tensor *y = qn_interp_output(in, 0);
 *
 * A bundle is several batches that go through the graph in lockstep, all of them through a node
 * before the next, so that a layer's weights are read once for all:
 *
 *   QN_TRY(qn_interp_new_bundle(graph, 32, arena, &in));  qn_interp_bundle(in) returns how many it takes
 *   QN_TRY(qn_interp_load(in, 0, inputs));            the first batch's inputs; then 1, 2 …
 *   QN_TRY(qn_interp_run_bundle(in, n, NULL, NULL));  the first n
 *   qn_tensor y = qn_interp_output_of(in, 0, n - 1);  of the last batch
 *
 * The results are those of one batch at a time, byte for byte.
 *
 * Float nodes sum in the fixed order of docs/quantization.md ("Deterministic sums"); integer nodes run the
 * kernels that get emitted, or give their bytes by vectors (int_product.h).  A value's memory is reused
 * after its last use. */
#ifndef QN_RUNTIME_INTERP_H
#define QN_RUNTIME_INTERP_H

#include "ir/graph.h"

typedef struct qn_interp qn_interp;

/* Called with each value right after it is computed (inputs and constants too), in id order; in a
 * bundle with that of each batch in their order.  value and its data are valid during the call
 * only. */
typedef qn_status qn_observe_fn(void *user, const qn_graph *g, qn_id id, const qn_tensor *value);

/* Reports every node that cannot run (run.unsupported with node, op, types and reason;
 * run.dynamic for shapes that are not static; run.symbol for an unbound symbol) and fails.  The
 * graph must outlive the interpreter.  Composites are run inline; their nodes are observed too,
 * with their own graph. */
qn_status qn_interp_new(const qn_graph *g, qn_arena *arena, qn_interp **out) QN_MUST_CHECK;

/* The same for bundles of up to `most` batches, as many as qn_env.bundle_bytes of values hold; 1
 * at least, QN_MOST_BUNDLE at most. */
qn_status qn_interp_new_bundle(const qn_graph *g, size_t most, qn_arena *arena,
			       qn_interp **out) QN_MUST_CHECK;
size_t qn_interp_bundle(const qn_interp *in);

/* Sets the states of all batches to their first values, as they are in a new interpreter.  A run reads the
 * states that the run before has left, of each batch of a bundle its own. */
void qn_interp_reset(qn_interp *in);

/* Copies the inputs of batch j of the bundle: one tensor for each graph input that is not a state, of the
 * input's type (run.input otherwise). */
qn_status qn_interp_load(qn_interp *in, size_t j, const qn_tensor *const *inputs) QN_MUST_CHECK;
/* Runs the first n batches; each must have been loaded since the last run. */
qn_status qn_interp_run_bundle(qn_interp *in, size_t n, qn_observe_fn *observe,
			       void *user) QN_MUST_CHECK;
/* Output k of batch j of the last run; its data is valid until the next load or run. */
qn_tensor qn_interp_output_of(const qn_interp *in, size_t k, size_t j);

/* inputs: one tensor for each graph input that is not a state, of the input's type (run.input
 * otherwise). */
qn_status qn_interp_run(qn_interp *in, const qn_tensor *const *inputs, qn_observe_fn *observe,
			void *user) QN_MUST_CHECK;

/* Output k of the last run's first batch; valid until the next run. */
const qn_tensor *qn_interp_output(const qn_interp *in, size_t k);

/* Bytes of all value buffers, for reports. */
size_t qn_interp_bytes(const qn_interp *in);

/* Evaluates a node whose inputs are all constants; used by constant folding.  The result is in
 * arena a. */
qn_status qn_eval_node(const qn_graph *g, const qn_node *n, const qn_tensor *const *in, qn_arena *a,
		       qn_tensor **out) QN_MUST_CHECK;

#endif
