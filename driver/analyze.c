/* SPDX-License-Identifier: Apache-2.0 */
/* analyze.c - what each layer costs (calibrate/analyze.h), worst first, in dB and in the words of the source. */
#include "calibrate/analyze.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/lint.h"
#include "driver/context.h"
#include "driver/host_struct.h"
#include "driver/run.h"
#include "driver/score.h"
#include "ir/diag.h"
#include "ir/loops.h"
#include "ir/macs.h"
#include "quern/measure.h"
#include "runtime/math.h"

typedef struct analyze_call {
	qn_model *m;
	size_t nin;
	qn_array *const *in;
	const qn_analyze_opts *opts;
	qn_layer_fn *fn;
	void *user;
	qn_analysis *out;
} analyze_call;

/* Of noise relative to the signal. */
static double
decibel(double noise)
{
	return noise > 0 ? -10 * (qn_ln(noise) / qn_ln(10)) : (double)INFINITY;
}

/* By how many dB the noise fell; 0 where there was none before and after. */
static double
gain_of(double noise, double before)
{
	return noise > 0 || before > 0 ? decibel(noise) - decibel(before) : 0;
}

static int
compare(const void *a, const void *b)
{
	const qn_layer_noise *x = a, *y = b;

	if (x->alone.noise < y->alone.noise || y->alone.noise < x->alone.noise)
		return x->alone.noise < y->alone.noise ? 1 : -1;
	return x->layer->node[0] < y->layer->node[0] ? -1 : 1;
}

/* ---- weights ---- */

/* Weights of a layer's products; those that several of them share count once. */
typedef struct weights {
	int least, most; /* bits; 0: it has none */
	uint64_t bytes;
} weights;

static weights
sum_weights(const qn_graph *g, const qn_network_layer *l, qn_arena *a)
{
	bool *counted = QN_NEW(a, bool, g->n);
	weights sum = {0};

	for (size_t i = 0; i < l->nnode; i++) {
		const qn_node *w = qn_layer_weights(g, qn_graph_node(g, l->node[i]));

		if (w == NULL || counted[w->in[0]])
			continue;
		const int bits = w->type->elem->bits;
		counted[w->in[0]] = true;
		sum.least = sum.least == 0 || bits < sum.least ? bits : sum.least;
		sum.most = bits > sum.most ? bits : sum.most;
		sum.bytes += ((uint64_t)qn_type_count(w->type) * (uint64_t)bits + 7) / 8;
	}
	return sum;
}

/* "i4", or "i4-i8" where products differ; NULL: there are none. */
static const char *
type_of(const weights *w, qn_arena *a)
{
	qn_buf b;

	if (w->most == 0)
		return NULL;
	qn_buf_init(&b, a);
	qn_buff(&b, "i%d", w->least);
	if (w->most > w->least)
		qn_buff(&b, "-i%d", w->most);
	return qn_buf_str(&b);
}

/* ---- a layer ---- */

static const char *
joined_layers(const qn_network_layer *l, qn_arena *a)
{
	qn_buf b;

	if (l->source.n == 0)
		return l->name;
	qn_buf_init(&b, a);
	for (uint32_t i = 0; i < l->source.n; i++)
		qn_buff(&b, "%s%s", i > 0 ? ", " : "", l->source.name[i]);
	return qn_buf_str(&b);
}

static uint64_t
macs_of(const qn_graph *g, const qn_loops *loops, const qn_network_layer *l)
{
	uint64_t n = 0;

	for (size_t i = 0; i < l->nnode; i++)
		n += qn_node_macs(g, qn_graph_node(g, l->node[i])) *
		     qn_loop_runs(loops, l->node[i]);
	return n;
}

static qn_histogram
histogram_of(const qn_value_histogram *h)
{
	return (qn_histogram){.value = h->n > 0 ? h->name : NULL,
			      .lo = h->lo,
			      .hi = h->hi,
			      .bins = QN_HISTOGRAM_BINS,
			      .count = h->count,
			      .range_lo = h->range_lo,
			      .range_hi = h->range_hi};
}

/* Percent of the samples that o is right about: by their labels, else by the float network. */
static double
percent_of(const qn_float_outputs *f, const qn_outcome *o)
{
	const uint64_t right = f->label != NULL ? o->hits : o->same;

	return f->samples > 0 ? 100 * (double)right / (double)f->samples : 0;
}

static double
float_percent(const qn_float_outputs *f)
{
	return f->label == NULL ? 100 : percent_of(f, &(qn_outcome){.hits = f->hits});
}

static void
tell(const analyze_call *c, const qn_noise_analysis *n, const qn_layer_noise *l)
{
	const qn_graph *g = n->forms.symbolic;
	qn_arena *a = qn_arena_child(c->m->scratch);
	const qn_loops loops = qn_loops_find(g, a);
	const weights w = sum_weights(g, l->layer, a);
	const qn_float_outputs *f = &n->outputs;
	const qn_layer_ranges *r = &l->ranges;
	qn_layer_cost cost = {.size = sizeof cost,
			      .name = l->layer->name,
			      .layers = joined_layers(l->layer, a),
			      .op = qn_opinfo_of(qn_graph_node(g, l->layer->core))->name,
			      .matches = l->layer->nout,
			      .weights = type_of(&w, a),
			      .macs = macs_of(g, &loops, l->layer),
			      .weight_bytes = w.bytes,
			      .alone = decibel(l->alone.noise),
			      .weights_alone = decibel(l->weights.noise),
			      .data_alone = decibel(l->data),
			      .here = decibel(l->here),
			      .gain = gain_of(l->without.noise, n->all.noise),
			      .cosine = l->alone.cosine,
			      .ranges = r->nrange,
			      .clipped = 100 * r->clipped,
			      .used = 100 * r->used,
			      .outliers = r->outliers,
			      .worst_outlier = r->worst,
			      .range_gain = -decibel(r->better),
			      .saturated = r->saturated,
			      .index = (size_t)(l->layer - n->layers.layer),
			      .data_values = histogram_of(&r->data),
			      .weight_values = histogram_of(&r->weights)};

	cost.from = qn_network_layers_before(g, &n->layers, cost.index, a, &cost.nfrom);
	if (f->samples > 0) {
		cost.loss = float_percent(f) - percent_of(f, &l->alone);
		cost.accuracy_gain = percent_of(f, &l->without) - percent_of(f, &n->all);
	}
	c->fn(c->user, &cost);
	qn_arena_release(a);
}

static void
tell_plan(void *user, const qn_analysis_plan *p)
{
	const analyze_call *c = user;

	c->opts->plan(c->opts->plan_user, &(qn_analyze_plan){.size = sizeof(qn_analyze_plan),
							     .layers = p->layers,
							     .bytes = p->bytes,
							     .steps = p->steps,
							     .done = p->done});
}

/* The labels, which have to be classes of the first output. */
static qn_status
find_labels(const analyze_call *c, const qn_dataset *d, qn_arena *a, const int64_t **label)
{
	const qn_graph *g = qn_model_entry(c->m);
	const qn_source *s = c->nin > 0 ? qn_dataset_source(d, 0) : NULL;
	const char *from = s != NULL ? s->name : "";
	const size_t samples = d->nbatch * d->batch;

	QN_TRY(qn_labels_for(c->m, c->opts->labels, s, samples, a, label));
	if (*label == NULL || g->noutput == 0)
		return QN_OK;
	from = c->opts->labels != NULL ? c->opts->labels->name : from;
	QN_TRY(qn_labels_fit_output(c->m, from));
	const qn_type *t = qn_graph_node(g, g->output[0].value)->type;
	const int64_t classes = qn_type_is_f32(t) ? qn_type_count(t) / (int64_t)d->batch : 0;
	for (size_t i = 0; i < samples; i++)
		if ((*label)[i] < 0 || (*label)[i] >= classes)
			return qn_report(
				c->m->env, QN_EINVALID, "data.labels", from,
				"sample %zu has label %lld, but the first output has %lld classes, "
				"counted from 0",
				i, (long long)(*label)[i], (long long)classes);
	return QN_OK;
}

/* Of the noise of all layers, that of their constants and that of their other operands. */
static double
weights_gain(const qn_noise_analysis *n)
{
	double data = 0, all = 0;

	for (size_t i = 0; i < n->n; i++) {
		data += n->layer[i].data;
		all += n->layer[i].data + n->layer[i].weights.noise;
	}
	return gain_of(data, all);
}

static qn_status
analyze(void *arg, qn_arena *scratch)
{
	const analyze_call *c = arg;
	qn_noise_opts opts = {.plan = c->opts->plan != NULL ? tell_plan : NULL, .user = arg};
	qn_noise_analysis n;
	qn_dataset *d;

	QN_TRY(qn_samples_for(qn_model_entry(c->m), scratch, c->nin, c->in, NULL, &d));
	QN_TRY(qn_lint_data(qn_model_entry(c->m), d, 0, scratch));
	QN_TRY(find_labels(c, d, scratch, &opts.label));
	QN_TRY(qn_analyze_noise(c->m, d, &opts, &n));
	if (opts.label == NULL && !qn_gives_classes(qn_model_entry(c->m)))
		n.outputs.samples = 0; /* results without classes agree in nothing */
	if (n.n > 0)
		qsort(n.layer, n.n, sizeof *n.layer, compare);
	for (size_t i = 0; i < n.n; i++)
		tell(c, &n, &n.layer[i]);
	*c->out = (qn_analysis){.layers = n.n,
				.samples = d->nbatch * d->batch,
				.sqnr = decibel(n.all.noise),
				.cosine = n.all.cosine,
				.weights_gain = weights_gain(&n)};
	if (n.outputs.samples == 0)
		return QN_OK;
	c->out->accuracy = n.outputs.label != NULL ? "top1" : "agreement";
	c->out->float_percent = float_percent(&n.outputs);
	c->out->percent = percent_of(&n.outputs, &n.all);
	return QN_OK;
}

qn_status
qn_analyze(qn_model *m, size_t nin, qn_array *const *in, const qn_analyze_opts *opts,
	   qn_layer_fn *fn, void *user, qn_analysis *out)
{
	qn_analyze_opts o;
	analyze_call c = {
		.m = m, .nin = nin, .in = in, .opts = &o, .fn = fn, .user = user, .out = out};

	QN_TRY(QN_GIVEN(qn_model_ctx(m), fn, out));
	*out = (qn_analysis){0};
	QN_TRY(QN_TAKE(m->env, qn_analyze_opts, opts, &o));
	return qn_guard_model(m, analyze, &c);
}
