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

#endif
