/* SPDX-License-Identifier: Apache-2.0 */
/* report.c - the report beside the emitted files. */
#include "driver/report.h"

#include <string.h>

#include "codegen/estimate.h"
#include "codegen/kernel_table.h"
#include "codegen/strips.h"
#include "driver/summary.h"
#include "formats/json_graph.h"
#include "formats/json_prep.h"
#include "runtime/accumulator.h"
#include "runtime/override.h"

/* prep: of an input, or NULL. */
static void
put_value(qn_json_out *o, const qn_graph *g, const char *name, const qn_type *t,
	  const qn_prep *prep, qn_buf *text)
{
	qn_json_open(o, NULL, '{', QN_JSON_FLAT);
	qn_json_put_string(o, "name", name);
	qn_summary_put_type(o, g, t, text);
	qn_json_put_i64(o, "bytes", (int64_t)qn_type_bytes(t));
	if (prep != NULL)
		qn_json_put_prep(o, "preprocessing", prep);
	qn_json_close(o);
}

/* The layers of the source's file that the step computes. */
static void
put_layers(qn_json_out *o, const qn_graph *g, const qn_step *s)
{
	qn_layers layers;

	qn_step_layers(g, s, NULL, &layers);
	if (layers.n == 0)
		return;
	qn_json_open(o, "layers", '[', QN_JSON_FLAT);
	for (uint32_t i = 0; i < layers.n; i++)
		qn_json_put_string(o, NULL, layers.name[i]);
	qn_json_close(o);
}

/* The ops that the step's kernel computes after the first one: "requantize". */
static void
put_fused(qn_json_out *o, const qn_graph *g, const qn_step *s, qn_buf *text)
{
	text->n = 0;
	for (uint32_t i = 0; i < s->nepilogue; i++)
		qn_buff(text, "%s%s", i > 0 ? " + " : "",
			qn_opinfo_of(qn_graph_node(g, s->epilogue[i].node))->name);
	qn_json_put_string(o, "fused", qn_buf_str(text));
}

static void
put_step(qn_json_out *o, const qn_plan *p, const qn_step *s, qn_buf *text)
{
	const qn_node *n = qn_graph_node(p->g, s->node);
	const qn_node *core = qn_graph_node(p->g, s->core);

	qn_json_open(o, NULL, '{', QN_JSON_FLAT);
	qn_json_put_string(o, "name", n->name);
	qn_json_put_string(o, "op", qn_opinfo_of(core)->name);
	if (s->nepilogue > 0)
		put_fused(o, p->g, s, text);
	put_layers(o, p->g, s);
	qn_summary_put_type(o, p->g, n->type, text);
	qn_arena *tmp = qn_arena_child(text->arena);
	const char *kernel = qn_step_function(p->g, s, tmp);
	if (kernel != NULL)
		qn_json_put_string(o, "kernel", kernel);
	if (s->kernel == &qn_host_kernel)
		qn_json_put_string(o, "custom_kernel", s->host->by->desc.name);
	if (s->strip != NULL && s->strip->between != NULL)
		qn_json_put_string(o, "between_kernel",
				   qn_step_function(p->g, s->strip->between, tmp));
	if (s->strip != NULL) {
		qn_json_put_string(o, "reader_kernel",
				   qn_step_function(p->g, s->strip->reader, tmp));
		qn_json_put_i64(o, "reader_rows", s->strip->rows);
	}
	const int64_t worst = qn_accumulator_worst(p->g, core, tmp);
	if (worst >= 0) {
		qn_json_put_i64(o, "accumulator_bits", core->type->elem->bits);
		qn_json_put_i64(o, "largest_sum", worst);
	}
	qn_arena_release(tmp);
	if (s->runs > 1)
		qn_json_put_u64(o, "runs", s->runs);
	qn_json_put_u64(o, "macs", qn_step_macs(p, s));
	if (s->alias == 0)
		qn_json_put_u64(o, "instructions", qn_step_instructions(p, s));
	qn_json_put_i64(o, "weight_bytes", (int64_t)s->constant_bytes);
	qn_json_put_i64(o, "bytes", (int64_t)s->bytes);
	if (s->in_output)
		qn_json_put_string(o, "output", p->g->output[s->output].name);
	else if (s->alias == 0) {
		qn_json_put_i64(o, "scratch_offset", (int64_t)s->offset);
		qn_json_put_i64(o, "last_step", (int64_t)s->last);
	}
	if (s->work > 0)
		qn_json_put_i64(o, "work_bytes", (int64_t)s->work);
	qn_json_close(o);
}

/* What ranges cut off of the values that were observed; absent where they cut off nothing. */
static void
put_clipped(qn_json_out *o, const qn_model *m)
{
	if (m->nclipped == 0)
		return;
	qn_json_open(o, "clipped", '[', QN_JSON_LINES);
	for (size_t i = 0; i < m->nclipped; i++) {
		const qn_clipped *c = &m->clipped[i];

		qn_json_open(o, NULL, '{', QN_JSON_FLAT);
		qn_json_put_string(o, "value", c->value);
		qn_json_put_u64(o, "outside", c->outside);
		qn_json_put_u64(o, "elements", c->elements);
		qn_json_put_f64(o, "percent", 100 * (double)c->outside / (double)c->elements);
		qn_json_close(o);
	}
	qn_json_close(o);
}

/* Inputs, outputs and states. */
static void
put_values(qn_json_out *o, const qn_graph *g, const qn_emit_style *opts, qn_buf *text)
{
	qn_json_open(o, "inputs", '[', QN_JSON_LINES);
	for (size_t i = 0; i < qn_graph_fed(g); i++)
		put_value(o, g, qn_graph_node(g, g->input[i])->name,
			  qn_graph_node(g, g->input[i])->type,
			  opts->prep != NULL ? opts->prep[i] : NULL, text);
	qn_json_close(o);
	qn_json_open(o, "outputs", '[', QN_JSON_LINES);
	for (size_t i = 0; i < qn_graph_given(g); i++)
		put_value(o, g, g->output[i].name, qn_graph_node(g, g->output[i].value)->type, NULL,
			  text);
	qn_json_close(o);
	if (g->nstate > 0)
		qn_json_open(o, "states", '[', QN_JSON_LINES);
	for (size_t k = 0; k < g->nstate; k++)
		put_value(o, g, qn_graph_state(g, k)->name, qn_graph_state(g, k)->type, NULL, text);
	if (g->nstate > 0)
		qn_json_close(o);
}

void
qn_report_print(qn_buf *b, const qn_model *m, const qn_plan *p, const qn_emit_style *opts)
{
	const qn_graph *g = p->g;
	qn_model_info info = qn_model_describe(m);
	qn_json_out o;
	qn_buf hash, program, text;

	qn_buf_init(&hash, b->arena);
	qn_buf_init(&program, b->arena);
	qn_buf_init(&text, b->arena);
	text.decimal = true;
	qn_buff(&hash, "%08x", opts->content_hash);
	qn_buff(&program, "%08x", opts->program_hash);
	qn_json_out_init(&o, b);
	qn_json_open(&o, NULL, '{', QN_JSON_LINES);
	qn_json_put_i64(&o, "quern_report", 1);
	qn_json_put_string(&o, "version", qn_version());
	qn_json_put_string(&o, "name", p->name);
	qn_json_put_string(&o, "content_hash", qn_buf_str(&hash));
	qn_json_put_string(&o, "program_hash", qn_buf_str(&program));
	qn_json_put_string(&o, "options", opts->options_text);
	qn_json_put_string(&o, "target", p->target->name);
	qn_json_put_string(&o, "optimize", qn_optimize_names[p->optimize]);
	qn_json_put_i64(&o, "parameters", (int64_t)info.parameters);
	qn_json_put_i64(&o, "macs", (int64_t)info.macs);
	qn_json_put_i64(&o, "weight_bytes", (int64_t)p->weight_bytes);
	qn_json_put_i64(&o, "scratch_bytes", (int64_t)p->scratch_bytes);
	qn_json_put_i64(&o, "scratch_lower_bound", (int64_t)p->lower_bound);
	if (g->nstate > 0)
		qn_json_put_i64(&o, "state_bytes", (int64_t)p->state_bytes);
	qn_json_open(&o, "instructions", '{', QN_JSON_FLAT);
	qn_json_put_u64(&o, "estimate", qn_plan_instructions(p));
	qn_json_put_string(&o, "target", qn_plan_measured_on(p));
	qn_json_close(&o);
	put_values(&o, g, opts, &text);
	qn_json_put_streamed(&o, m);
	put_clipped(&o, m);
	qn_json_put_pruned(&o, m);
	qn_json_put_widened(&o, m);
	qn_json_put_repaired(&o, m);
	qn_json_open(&o, "steps", '[', QN_JSON_LINES);
	for (size_t i = 0; i < p->nstep; i++)
		put_step(&o, p, &p->step[i], &text);
	qn_json_close(&o);
	qn_json_close(&o);
}
