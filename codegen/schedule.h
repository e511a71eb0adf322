/* SPDX-License-Identifier: Apache-2.0 */
/* schedule.h - which nodes become which steps, and plans of given kernels. */
#ifndef QN_CODEGEN_SCHEDULE_H
#define QN_CODEGEN_SCHEDULE_H

#include "codegen/emit.h"

/* The plan with the fastest kernels of the target (plan.c); the same graph without the kernels of
 * `declined`, which is as qn_plan has it. */
qn_status qn_plan_fast(const qn_graph *g, const char *name, const qn_target *target, qn_arena *a,
		       qn_plan **out) QN_MUST_CHECK;
qn_status qn_plan_with(const qn_plan *like, const qn_declined *const *declined, qn_arena *a,
		       qn_plan **out) QN_MUST_CHECK;
/* The same steps, joined as qn_strips_join does: placed only, so that constants are as before; or all of the plan. */
qn_status qn_plan_place_strips(const qn_plan *like, const int32_t *join, qn_arena *a,
			       qn_plan **out) QN_MUST_CHECK;
qn_status qn_plan_strips(const qn_plan *like, const int32_t *join, qn_arena *a,
			 qn_plan **out) QN_MUST_CHECK;
/* Joins steps where the arena gets smaller; with the goal size, what is shared comes first unless it is larger then. */
qn_status qn_plan_order(qn_plan **p, const qn_plan_opts *o, qn_arena *a) QN_MUST_CHECK;
/* Reports what is larger than an object of the target may be: constants, inputs, results of steps, the activation
 * arena. */
qn_status qn_plan_check_sizes(qn_plan *plan, qn_arena *a) QN_MUST_CHECK;

/* The steps of all nodes that an output needs, in the order of the values that they leave; where
 * results lie is not set yet.  declined: as qn_plan has it.
 * Reports every node that cannot be emitted (emit.unsupported, emit.float, int.unsupported). */
qn_status qn_schedule_make(const qn_graph *g, const qn_target *target,
			   const qn_declined *const *declined, qn_arena *a, qn_step **step,
			   size_t *nstep) QN_MUST_CHECK;

/* The steps in another order, those first whose results are read all over the network and what these need; in arena
 * a.  NULL: they are in this order already. */
qn_step *qn_schedule_shared_first(const qn_graph *g, const qn_step *step, size_t nstep,
				  qn_arena *a);

/* For each value of the graph the index of its step plus 1, or 0: an array of g->n in arena a. */
uint32_t *qn_step_of(const qn_graph *g, const qn_step *step, size_t nstep, qn_arena *a);

/* The value that holds the bytes of value id: id itself, or what an alias stands for. */
qn_id qn_value_root(const qn_step *step, const uint32_t *step_of, qn_id id);

#endif
