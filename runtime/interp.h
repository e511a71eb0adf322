/* SPDX-License-Identifier: Apache-2.0 */
/* interp.h - runs a graph at any stage, float and integer nodes mixed, one node after the other.
 *
 *   qn_interp *in;
 *   QN_TRY(qn_interp_new(graph, arena, &in));        checks that every node has a form for its types, prepares integer parameters
 *   QN_TRY(qn_interp_run(in, inputs, NULL, NULL));   as often as wanted, without further memory
 *   const qn_tensor *y = qn_interp_output(in, 0);
 *
 * Float nodes sum in the fixed order of docs/quantization.md ("Deterministic sums"); integer
 * nodes run the kernels that get emitted.  A value's memory is reused after its last use. */
#ifndef QN_RUNTIME_INTERP_H
#define QN_RUNTIME_INTERP_H

#include "ir/graph.h"

typedef struct qn_interp qn_interp;

/* Called with each value right after it is computed (inputs and constants too), in id order;
 * data is valid during the call only. */
typedef qn_status qn_observe_fn(void *user, const qn_graph *g, qn_id id, const qn_tensor *value);

/* Reports every node that cannot run (run.unsupported with node, op, types and reason;
 * run.dynamic for shapes that are not static; run.symbol for an unbound symbol) and fails.  The
 * graph must outlive the interpreter.  Composites are run inline; their nodes are observed too,
 * with their own graph. */
qn_status qn_interp_new(const qn_graph *g, qn_arena *arena, qn_interp **out) QN_MUST_CHECK;

/* inputs: one tensor for each graph input, of the input's type (run.input otherwise). */
qn_status qn_interp_run(qn_interp *in, const qn_tensor *const *inputs, qn_observe_fn *observe,
			void *user) QN_MUST_CHECK;

/* Output k of the last run; valid until the next one. */
const qn_tensor *qn_interp_output(const qn_interp *in, size_t k);

/* Bytes of all value buffers, for reports. */
size_t qn_interp_bytes(const qn_interp *in);

/* Evaluates a node whose inputs are all constants; used by constant folding.  The result is in
 * arena a. */
qn_status qn_eval_node(const qn_graph *g, const qn_node *n, const qn_tensor *const *in, qn_arena *a,
		       qn_tensor **out) QN_MUST_CHECK;

#endif
