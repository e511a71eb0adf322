/* SPDX-License-Identifier: Apache-2.0 */
/* schedule.h - which nodes become which steps. */
#ifndef QN_CODEGEN_SCHEDULE_H
#define QN_CODEGEN_SCHEDULE_H

#include "codegen/emit.h"

/* The steps of all nodes that an output needs, in the order of the values that they leave; where
 * results lie is not set yet.
 * Reports every node that cannot be emitted (emit.unsupported, emit.float, int.unsupported). */
qn_status qn_schedule_make(const qn_graph *g, uint32_t features, qn_arena *a, qn_step **step,
			   size_t *nstep) QN_MUST_CHECK;

/* For each value of the graph the index of its step plus 1, or 0: an array of g->n in arena a. */
uint32_t *qn_step_of(const qn_graph *g, const qn_step *step, size_t nstep, qn_arena *a);

/* The value that holds the bytes of value id: id itself, or what an alias stands for. */
qn_id qn_value_root(const qn_step *step, const uint32_t *step_of, qn_id id);

#endif
