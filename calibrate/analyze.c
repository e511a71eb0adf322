/* SPDX-License-Identifier: Apache-2.0 */
/* analyze.c - see analyze.h. */
#include "calibrate/analyze.h"

#include <math.h>

#include "calibrate/calibrate.h"
#include "ir/diag.h"
#include "ir/limits.h"
#include "ir/loops.h"
#include "ir/macs.h"
#include "ir/progress.h"
#include "runtime/interp.h"

enum { KEEP_BYTES = 1 << 29 }; /* of values between layers, for all samples and both graphs */

typedef struct analysis {
	qn_model *m;
	qn_dataset *data;
	const qn_two_forms *two;
	qn_evaluator *quantized, *floating;
	size_t noutput;
	qn_id *output, *real_output; /* of the quantized, the float graph: those of type f32 */
	const qn_float_outputs *wanted;
	const qn_noise_opts *o;
	uint64_t steps; /* of mixed networks (docs/limits.md) */
} analysis;

/* ---- networks ---- */

/* The outputs of e with other values for some of its own, by data of all samples. */
static qn_status
run_network(analysis *s, qn_evaluator *e, const qn_replaced *with, qn_arena *a, qn_outcome *out)
{
	const qn_tensor **y = QN_NEW(a, const qn_tensor *, s->noutput);
	qn_outcome_sums *sums = qn_outcome_begin(s->wanted, a);

	for (size_t b = 0; b < s->data->nbatch; b++) {
		QN_TRY(qn_evaluator_run_with(e, with, s->noutput,
					     e == s->quantized ? s->output : s->real_output, b, y));
		qn_outcome_add(sums, b, y);
	}
	*out = qn_outcome_end(sums);
	return QN_OK;
}

static uint64_t
steps_of_node(const qn_graph *g, const qn_node *n)
{
	return n->op == QN_OP_const || n->op == QN_OP_input || n->type->is_tuple
		       ? 0
		       : qn_node_macs(g, n) + (uint64_t)qn_type_count(n->type);
}

static uint64_t
steps_of(const qn_graph *g, qn_arena *a)
{
	const qn_loops loops = qn_loops_find(g, a);
	uint64_t n = 0;

	for (qn_id id = 1; id < g->n; id++)
		n += steps_of_node(g, qn_graph_node(g, id)) * qn_loop_runs(&loops, id);
	return n;
}

/* The outputs with one layer of the other graph, float or quantized, than the rest, which is that of e. */
static qn_status
run_mixed(analysis *s, qn_evaluator *e, const qn_network_layer *l, qn_arena *a, qn_outcome *out)
{
	const bool quantized = e == s->quantized;
	const qn_tensor **y = QN_NEW(a, const qn_tensor *, s->noutput);
	qn_outcome_sums *sums = qn_outcome_begin(s->wanted, a);
	qn_interp *in;
	qn_mixed x;

	QN_TRY(qn_mixed_make(s->two, l, quantized, s->noutput,
			     quantized ? s->output : s->real_output, a, &x));
	QN_TRY(qn_interp_new(x.g, a, &in));
	const qn_tensor **from = QN_NEW(a, const qn_tensor *, x.nsource);
	for (size_t b = 0; b < s->data->nbatch; b++) {
		if (x.nsource > 0)
			QN_TRY(qn_evaluator_run(e, x.nsource, x.source, b, from));
		QN_TRY(qn_interp_run(in, from, NULL, NULL));
		for (size_t k = 0; k < s->noutput; k++)
			y[k] = qn_interp_output(in, k);
		qn_outcome_add(sums, b, y);
	}
	s->steps += steps_of(x.g, a) * s->data->nbatch;
	*out = qn_outcome_end(sums);
	return QN_OK;
}

/* ---- a layer ---- */

/* What a constant is quantized to; NULL: it stays as it is. */
static const qn_tensor *
quantized_of(const qn_two_forms *two, qn_id x)
{
	for (qn_id id = x + 1; id < two->symbolic->n; id++) {
		const qn_node *n = qn_graph_node(two->symbolic, id);

		if (n->op == QN_OP_quantize && n->in[0] == x)
			return qn_graph_node(two->quantized, id)->value;
	}
	return NULL;
}

/* The float network with the layer's constants as their quantized values stand for them. */
static qn_status
run_weights(analysis *s, const qn_network_layer *l, qn_arena *a, qn_outcome *out)
{
	qn_types *t = &s->m->types;
	qn_id *id = QN_NEW(a, qn_id, l->nconstant);
	const void **data = QN_NEW(a, const void *, l->nconstant);
	size_t n = 0;

	for (size_t i = 0; i < l->nconstant; i++) {
		const qn_tensor *q = quantized_of(s->two, l->constant[i]);

		if (q == NULL)
			continue;
		const qn_id real = s->two->map[l->constant[i]];
		id[n] = real;
		data[n++] = qn_tensor_dequantize(t, a, q, qn_graph_node(s->two->real, real)->type)
				    ->data;
	}
	*out = (qn_outcome){.cosine = 1};
	return n > 0 ? run_network(s, s->floating, &(qn_replaced){n, id, data}, a, out) : QN_OK;
}

/* The noise of the layer's exits in the quantized graph, of those that are limited as quantized values. */
static qn_status
noise_here(const analysis *s, const qn_network_layer *l, qn_arena *a, double *noise)
{
	qn_id *real = QN_NEW(a, qn_id, l->nexit), *read = QN_NEW(a, qn_id, l->nexit);
	const qn_tensor **y = QN_NEW(a, const qn_tensor *, l->nexit);
	const qn_tensor **w = QN_NEW(a, const qn_tensor *, l->nexit);
	double error = 0, power = 0;

	for (size_t i = 0; i < l->nexit; i++) {
		const qn_id limited = qn_two_forms_limited(s->two, l->exit[i]);

		real[i] = s->two->map[l->exit[i]];
		read[i] = limited != 0 ? limited : l->exit[i];
	}
	for (size_t b = 0; b < s->data->nbatch; b++) {
		qn_arena *tmp = qn_arena_child(a);

		QN_TRY(qn_evaluator_run(s->quantized, l->nexit, read, b, y));
		QN_TRY(qn_evaluator_run(s->floating, l->nexit, real, b, w));
		for (size_t i = 0; i < l->nexit; i++) {
			const float *f = w[i]->data;
			const float *v =
				qn_type_is_f32(y[i]->type)
					? y[i]->data
					: qn_tensor_dequantize(&s->m->types, tmp, y[i], w[i]->type)
						  ->data;

			for (int64_t k = 0; k < qn_type_count(w[i]->type); k++) {
				const double d = (double)v[k] - (double)f[k];

				error += d * d;
				power += (double)f[k] * (double)f[k];
			}
		}
		qn_arena_release(tmp);
	}
	*noise = !(power > 0) ? 0 : error == error ? error / power : (double)INFINITY;
	return QN_OK;
}

static qn_status
analyze_layer(analysis *s, qn_layer_noise *l, qn_arena *a)
{
	QN_TRY(run_mixed(s, s->floating, l->layer, a, &l->alone));
	QN_TRY(run_weights(s, l->layer, a, &l->weights));
	l->data = l->alone.noise > l->weights.noise ? l->alone.noise - l->weights.noise : 0;
	if (s->o->alone)
		return QN_OK;
	QN_TRY(noise_here(s, l->layer, a, &l->here));
	QN_TRY(run_mixed(s, s->quantized, l->layer, a, &l->without));
	return qn_layer_ranges_find(s->two, l->layer, s->floating, s->quantized, s->data->nbatch, a,
				    &l->ranges);
}

/* ---- the network ---- */

/* Keeps what layers begin with, and their results. */
static qn_status
keep_values(const analysis *s, const qn_network_layers *all)
{
	for (size_t i = 0; i < all->n; i++) {
		const qn_network_layer *l = &all->layer[i];
		qn_id *id = QN_NEW(s->m->scratch, qn_id, l->nin + l->nout);
		size_t n = 0;

		for (size_t k = 0; k < l->nin; k++)
			id[n++] = l->in[k];
		for (size_t k = 0; k < l->nout; k++)
			id[n++] = l->out[k];
		QN_TRY(qn_evaluator_cache(s->quantized, n, id));
		for (size_t k = 0; k < n; k++)
			id[k] = s->two->map[id[k]];
		QN_TRY(qn_evaluator_cache(s->floating, n, id));
		QN_TRY(qn_progress(s->m->env, "samples", i + 1, all->n));
	}
	return QN_OK;
}

/* Outputs of a float type. */
static qn_status
find_outputs(analysis *s, qn_float_outputs *out)
{
	const qn_graph *g = s->two->quantized;
	qn_arena *a = s->m->scratch;

	s->output = QN_NEW(a, qn_id, qn_graph_given(g));
	s->real_output = QN_NEW(a, qn_id, qn_graph_given(g));
	for (size_t i = 0; i < qn_graph_given(g); i++) {
		const qn_id output = g->output[i].value;
		const qn_id before = qn_output_compared(g, output);
		const qn_id id = s->o->before_softmax && s->two->map[before] != 0 ? before : output;

		if (!qn_type_is_f32(qn_graph_node(g, id)->type))
			continue;
		s->output[s->noutput] = id;
		s->real_output[s->noutput++] = s->two->map[id];
	}
	s->wanted = out;
	if (s->noutput > 0)
		return qn_float_outputs_find(s->floating, s->noutput, s->real_output, s->data,
					     s->o->label, a, out);
	return qn_report(s->m->env, QN_EUNSUPPORTED, "analyze.output", s->m->name,
			 "no output of the network is float: there is nothing to measure by");
}

/* Steps of what depends on a layer, in one run of the quantized graph. */
static uint64_t
steps_after(const qn_graph *g, const qn_loops *loops, const qn_network_layers *all, size_t k,
	    bool *depends)
{
	uint64_t n = 0;

	for (qn_id id = 1; id < g->n; id++) {
		const qn_node *node = qn_graph_node(g, id);

		depends[id] = all->owner[id] == k + 1;
		for (uint32_t i = 0; i < node->nin && !depends[id]; i++)
			depends[id] = depends[node->in[i]];
		if (depends[id])
			n += steps_of_node(g, node) * qn_loop_runs(loops, id);
	}
	return n;
}

static uint64_t
bytes_of(const qn_graph *g, size_t n, const qn_id *id)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < n; i++)
		bytes += qn_type_bytes(qn_graph_node(g, id[i])->type);
	return bytes;
}

/* What is left are three runs from each layer on. */
static void
tell_plan(const analysis *s, const qn_network_layers *all, const qn_noise_opts *o)
{
	const qn_graph *g = s->two->quantized;
	const qn_loops loops = qn_loops_find(g, s->m->scratch);
	bool *depends = QN_NEW(s->m->scratch, bool, g->n);
	qn_analysis_plan p = {.layers = all->n,
			      .done = qn_evaluator_steps(s->quantized) +
				      qn_evaluator_steps(s->floating)};

	p.steps = p.done;
	for (size_t k = 0; k < all->n; k++) {
		const qn_network_layer *l = &all->layer[k];

		p.steps += 3 * steps_after(g, &loops, all, k, depends) * s->data->nbatch;
		p.bytes += 2 * s->data->nbatch * bytes_of(g, l->nout, l->out);
	}
	p.bytes = p.bytes < KEEP_BYTES ? p.bytes : KEEP_BYTES;
	o->plan(o->user, &p);
}

static qn_status
check(const qn_model *m)
{
	if (m->stage != QN_STAGE_SYMBOLIC)
		return qn_report(m->env, QN_EINVALID, "analyze.stage", m->name,
				 "analyze takes a float model, or one that stopped after calibrate "
				 "or repair; "
				 "this one is %s%s",
				 qn_stage_text(m),
				 m->stage > QN_STAGE_SYMBOLIC
					 ? " already; --from-float dequantizes a quantized file"
					 : "");
	if (qn_model_entry(m)->parts == NULL)
		return qn_report(m->env, QN_EINVALID, "analyze.parts", m->name,
				 "analyze needs to know what patterns matched, and this graph does "
				 "not say so; start from the float model");
	return QN_OK;
}

static qn_status
analyze_layers(analysis *s, qn_noise_analysis *n)
{
	for (size_t i = 0; i < n->n; i++) {
		qn_layer_noise *l = &n->layer[i];
		qn_arena *a = qn_arena_child(s->m->scratch);

		l->layer = &n->layers.layer[i];
		QN_TRY(analyze_layer(s, l, a));
		qn_arena_release(a);
		const uint64_t steps = s->steps + qn_evaluator_steps(s->quantized) +
				       qn_evaluator_steps(s->floating);
		if (steps > qn_limit(s->m->env, QN_LIMIT_STEPS))
			return qn_limit_report(s->m->env, QN_LIMIT_STEPS, l->layer->name, steps);
		QN_TRY(qn_progress(s->m->env, "layers", i + 1, n->n));
	}
	return QN_OK;
}

qn_status
qn_analyze_noise(qn_model *m, qn_dataset *data, const qn_noise_opts *opts, qn_noise_analysis *out)
{
	analysis s = {.m = m, .data = data, .two = &out->forms, .o = opts};
	qn_arena *a = m->scratch;

	*out = (qn_noise_analysis){.forms.symbolic = qn_model_entry(m)};
	QN_TRY(check(m));
	QN_TRY(qn_float_reference(m, out->forms.symbolic, &out->forms.real, &out->forms.map));
	QN_TRY(qn_two_forms_quantize(out->forms.symbolic, a, &out->forms.quantized));
	out->layers = qn_network_layers_find(out->forms.symbolic, out->forms.map, a);
	out->n = out->layers.n;
	out->layer = QN_NEW(a, qn_layer_noise, out->n);
	s.quantized = qn_evaluator_new(out->forms.quantized, data, KEEP_BYTES / 2, a);
	s.floating = qn_evaluator_new(out->forms.real, data, KEEP_BYTES / 2, a);
	qn_evaluator_stack(s.quantized);
	qn_evaluator_stack(s.floating);
	QN_TRY(keep_values(&s, &out->layers));
	QN_TRY(find_outputs(&s, &out->outputs));
	QN_TRY(run_network(&s, s.quantized, &(qn_replaced){0}, a, &out->all));
	if (opts->plan != NULL)
		tell_plan(&s, &out->layers, opts);
	return analyze_layers(&s, out);
}
