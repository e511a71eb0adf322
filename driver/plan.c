/* SPDX-License-Identifier: Apache-2.0 */
/* plan.c - the plan of an integer model by itself: buffers of the arena, steps. */
#include "codegen/estimate.h"
#include "driver/emit_impl.h"
#include "ir/macs.h"

static void
tell(const qn_emit_call *c, const char *name, const char *use, size_t offset, size_t bytes,
     size_t first, size_t last)
{
	const qn_plan_buffer b = {.size = sizeof b,
				  .name = name,
				  .use = use,
				  .offset = offset,
				  .bytes = bytes,
				  .first = first,
				  .last = last};

	if (bytes > 0)
		c->buffer_fn(c->user, &b);
}

static qn_status
tell_plan(void *arg, qn_arena *a)
{
	qn_emit_call *c = arg;
	qn_plan *p;

	QN_TRY(qn_emit_plan(c, a, &p));
	for (size_t i = 0; i < p->nstep; i++) {
		const qn_step *s = &p->step[i];
		const char *name = qn_graph_node(p->g, s->node)->name;

		tell(c, name, "work", s->work_offset, s->work, i, i);
		tell(c, name, "constants", s->load_offset, s->load, i, i);
		if (s->alias == 0 && !s->in_output)
			tell(c, name, "result", s->offset, s->bytes, i,
			     s->last < p->nstep ? s->last : p->nstep - 1);
	}
	return QN_OK;
}

qn_status
qn_memory_plan(qn_model *m, const qn_emit_opts *opts, qn_plan_fn *fn, void *user,
	       qn_emit_info *info)
{
	QN_TRY(QN_GIVEN(qn_model_ctx(m), fn));
	return qn_emit_guard(&(qn_emit_call){.m = m, .folder = "", .buffer_fn = fn, .user = user},
			     tell_plan, opts, info);
}

static qn_status
tell_steps(void *arg, qn_arena *a)
{
	qn_emit_call *c = arg;
	qn_plan *p;

	QN_TRY(qn_emit_plan(c, a, &p));
	for (size_t i = 0; i < p->nstep; i++) {
		const qn_step *s = &p->step[i];
		qn_layers layers;

		qn_step_layers(p->g, s, NULL, &layers);
		const qn_plan_step step = {.size = sizeof step,
					   .name = qn_graph_node(p->g, s->node)->name,
					   .layers = layers.n,
					   .layer = layers.name,
					   .macs = qn_step_macs(p, s),
					   .weight_bytes = s->constant_bytes,
					   .instructions = qn_step_instructions(p, s)};
		c->step_fn(c->user, &step);
	}
	return QN_OK;
}

qn_status
qn_plan_steps(qn_model *m, const qn_emit_opts *opts, qn_step_fn *fn, void *user, qn_emit_info *info)
{
	QN_TRY(QN_GIVEN(qn_model_ctx(m), fn));
	return qn_emit_guard(&(qn_emit_call){.m = m, .folder = "", .step_fn = fn, .user = user},
			     tell_steps, opts, info);
}
