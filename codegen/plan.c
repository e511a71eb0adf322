/* SPDX-License-Identifier: Apache-2.0 */
/* plan.c - a graph as steps with kernels, places in memory and sizes that the target allows.
 *
 *   graph ─schedule─▶ steps and kernels ─plan_place.c─▶ offsets in the arena ─▶ bytes of constants */
#include "codegen/emitter.h"
#include "codegen/inline.h"
#include "codegen/schedule.h"
#include "codegen/signed.h"
#include "codegen/strips.h"
#include "ir/diag.h"
#include "ir/loops.h"

static qn_status
too_large(const qn_plan *p, const char *place, const char *what, const char *name, size_t bytes)
{
	return qn_report(p->g->model->env, QN_EUNSUPPORTED, "emit.unsupported", place,
			 "%s '%s' has %zu bytes; objects of target %s can have %zu: make it "
			 "smaller, or compile for another target",
			 what, name, bytes, p->target->name, p->target->most);
}

/* Reports constants, values and an activation arena that are too large for the target's compilers. */
static qn_status
check_sizes(const qn_plan *p, const qn_emitter *e)
{
	const size_t most = p->target->most;
	qn_status status = QN_OK;

	for (size_t i = 0; i < e->nconstant; i++)
		if (e->constant[i].value->bytes > most)
			status = too_large(p, "", "constant", e->constant[i].note,
					   e->constant[i].value->bytes);
	for (size_t k = 0; k < p->g->ninput; k++) {
		const qn_node *n = qn_graph_node(p->g, p->g->input[k]);

		if (qn_type_bytes(n->type) > most)
			status = too_large(p, qn_node_place(p->g, n), "input", n->name,
					   qn_type_bytes(n->type));
	}
	for (size_t i = 0; i < p->nstep; i++) {
		const qn_node *n = qn_graph_node(p->g, p->step[i].node);

		if (p->step[i].bytes > most)
			status = too_large(p, qn_node_place(p->g, n), "the result of node", n->name,
					   p->step[i].bytes);
	}
	if (status == QN_OK && p->scratch_bytes > most)
		status = too_large(p, "", "the activation arena (scratch buffer) of", p->name,
				   p->scratch_bytes);
	return status;
}

/* Prints the steps once to learn which constants they mention. */
static void
count_constants(qn_plan *plan, qn_emitter *e)
{
	for (size_t i = 0; i < plan->nstep; i++) {
		const size_t before = e->constant_bytes;

		qn_emit_step(e, i);
		plan->step[i].constant_bytes = e->constant_bytes - before;
	}
	qn_emit_output_copies(e);
	qn_emit_reset(e);
	plan->weight_bytes = e->constant_bytes;
}

static void
count_weights(qn_plan *plan, qn_arena *a)
{
	qn_arena *tmp = qn_arena_child(a);
	qn_emitter e;

	qn_emitter_init(&e, plan, tmp);
	count_constants(plan, &e);
	qn_arena_release(tmp);
}

qn_status
qn_plan_check_sizes(qn_plan *plan, qn_arena *a)
{
	qn_emitter e;

	if (plan->target->most == 0)
		return QN_OK;
	qn_arena *tmp = qn_arena_child(a);
	qn_emitter_init(&e, plan, tmp);
	count_constants(plan, &e);
	const qn_status status = check_sizes(plan, &e);
	qn_arena_release(tmp);
	return status;
}

static void
measure_and_place(qn_plan *plan, qn_arena *a)
{
	if ((plan->target->features & QN_TARGET_ROM) != 0)
		qn_emit_measure_loads(plan, a);
	qn_plan_place(plan, a);
}

/* Places for the plan's steps. */
static qn_status
place(qn_plan *plan, qn_arena *a)
{
	measure_and_place(plan, a);
	if (plan->scratch_bytes > INT32_MAX)
		return qn_report(plan->g->model->env, QN_EUNSUPPORTED, "emit.unsupported", "",
				 "the program needs an activation arena (scratch buffer) of %zu "
				 "bytes; 2^31 - 1 is the limit",
				 plan->scratch_bytes);
	return QN_OK;
}

/* Kernels and places for the plan's graph. */
static qn_status
fill(qn_plan *plan, qn_arena *a)
{
	QN_TRY(qn_schedule_make(plan->g, plan->target, plan->declined, a, &plan->step,
				&plan->nstep));
	QN_TRY(place(plan, a));
	count_weights(plan, a);
	return QN_OK;
}

qn_status
qn_plan_graph(const qn_graph *g, const qn_target *target, qn_arena *a, const qn_graph **out)
{
	QN_TRY(qn_graph_inline(g, a, out));
	if ((target->features & QN_TARGET_OF_I8) != 0)
		QN_TRY(qn_graph_signed(*out, a, out));
	return qn_loops_prepare(*out, a, out);
}

qn_status
qn_plan_fast(const qn_graph *g, const char *name, const qn_target *target, qn_arena *a,
	     qn_plan **out)
{
	qn_plan *plan = QN_NEW(a, qn_plan, 1);
	qn_names names;

	QN_TRY(qn_plan_graph(g, target, a, &plan->g));
	plan->target = target;
	qn_names_init_as(&names, a, QN_NAME_MODEL, NULL);
	plan->name = qn_names_add(&names, name);
	QN_TRY(fill(plan, a));
	*out = plan;
	return QN_OK;
}

qn_status
qn_plan_with(const qn_plan *like, const qn_declined *const *declined, qn_arena *a, qn_plan **out)
{
	qn_plan *plan = QN_NEW(a, qn_plan, 1);

	*plan = (qn_plan){
		.g = like->g, .name = like->name, .target = like->target, .declined = declined};
	QN_TRY(fill(plan, a));
	*out = plan;
	return QN_OK;
}

/* As they were before they were placed. */
static void
unplace(qn_step *step, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		step[i].in_output = false;
		step[i].work -= step[i].work_over;
		step[i].work_over = 0;
	}
}

/* The same steps in the order of qn_schedule_shared_first, placed; NULL: that is their order, or they do not fit into
 * 2^31 bytes so. */
static void
shared_first(const qn_plan *like, qn_arena *a, qn_plan **out)
{
	qn_step *step = qn_schedule_shared_first(like->g, like->step, like->nstep, a);

	*out = NULL;
	if (step == NULL)
		return;
	qn_plan *plan = qn_arena_copy(a, like, sizeof(*like));
	unplace(step, like->nstep);
	plan->step = step;
	measure_and_place(plan, a);
	if (plan->scratch_bytes > INT32_MAX)
		return;
	count_weights(plan, a);
	*out = plan;
}

qn_status
qn_plan_place_strips(const qn_plan *like, const int32_t *join, qn_arena *a, qn_plan **out)
{
	qn_plan *plan = qn_arena_copy(a, like, sizeof(*like));

	plan->step = qn_arena_copy(a, like->step, like->nstep * sizeof(*plan->step));
	unplace(plan->step, plan->nstep);
	qn_strips_join(plan, join, a);
	QN_TRY(place(plan, a));
	*out = plan;
	return QN_OK;
}

qn_status
qn_plan_strips(const qn_plan *like, const int32_t *join, qn_arena *a, qn_plan **out)
{
	QN_TRY(qn_plan_place_strips(like, join, a, out));
	count_weights(*out, a);
	return QN_OK;
}

qn_status
qn_plan_order(qn_plan **p, const qn_plan_opts *o, qn_arena *a)
{
	qn_plan *first = NULL;

	if (o->optimize == QN_OPTIMIZE_SIZE)
		shared_first(*p, a, &first);
	QN_TRY(qn_strips_choose(p, o, a));
	if (first == NULL)
		return QN_OK;
	QN_TRY(qn_strips_choose(&first, o, a));
	if (first->scratch_bytes <= (*p)->scratch_bytes)
		*p = first;
	return QN_OK;
}
