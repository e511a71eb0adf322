/* SPDX-License-Identifier: Apache-2.0 */
/* strips.h - a pool computed with the convolution before it, of whose result only as many rows are in
 * memory as a window of the pool has. */
#ifndef QN_CODEGEN_STRIPS_H
#define QN_CODEGEN_STRIPS_H

#include "codegen/emit.h"

/* The two steps that such a step is, as they would be alone, and where the rows lie. */
typedef struct qn_strip_of {
	const qn_step *conv, *pool;
	int32_t rows;     /* of the convolution's result that are in memory */
	size_t row_bytes; /* of each */
	size_t at;        /* where in the step's working memory */
} qn_strip_of;

/* Joins pools to the steps of their operands: those of the core nodes that `join` has, where that can be
 * done, or all where it is NULL.  Steps before kernels are placed. */
void qn_strips_join(qn_plan *p, const bool *join, qn_arena *a);

/* Joins those steps of the plan for which the activation arena gets smaller; *p is then another plan in a. */
qn_status qn_strips_choose(qn_plan **p, qn_arena *a) QN_MUST_CHECK;

#endif
