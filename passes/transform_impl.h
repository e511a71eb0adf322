/* SPDX-License-Identifier: Apache-2.0 */
/* transform_impl.h - what the pass transform shares with its parts (transform.c). */
#ifndef QN_PASSES_TRANSFORM_IMPL_H
#define QN_PASSES_TRANSFORM_IMPL_H

#include "passes/solver.h"

typedef struct transform {
	qn_model *m;
	const qn_graph *g;
	const qn_solver_opts *opts;
	qn_points p;
	qn_graph *dst;
	qn_id *map;
} transform;

/* What the weights w of the product n are quantized to (transform_weights.c). */
qn_status qn_transform_weights(const transform *t, const qn_node *n, const qn_node *w,
			       const qn_elem **out) QN_MUST_CHECK;

/* ---- transform_carried.c ---- */

/* Operand i of node `id`, *x in the new graph, as the node reads it: a product or a function reads 8 bits of what has
 * 16. */
qn_status qn_transform_narrow(transform *t, qn_id id, uint32_t i, qn_id *x) QN_MUST_CHECK;
/* Value `id`, which has parameters, as it is stored: *x in the new graph; a graph input has 8 bits first. */
qn_status qn_transform_store(transform *t, qn_id id, qn_id *x) QN_MUST_CHECK;
/* Node `id`, a loop_carry or loop_end, in the new graph. */
qn_status qn_transform_carried(transform *t, qn_id id) QN_MUST_CHECK;
/* Adds the outputs: those that are given have 8 bits. */
qn_status qn_transform_outputs(transform *t) QN_MUST_CHECK;

/* ---- transform.c ---- */

/* A symbol for a range, in the storage of activations or in 16 bits; its value is that of the range. */
qn_status qn_transform_symbol(const transform *t, const char *owner, double lo, double hi,
			      bool wide, const qn_elem **out) QN_MUST_CHECK;
/* dequantize(quantize(x) : e); 0 after an error. */
qn_id qn_transform_pair(const transform *t, qn_id x, const qn_elem *e);

#endif
