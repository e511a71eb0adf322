/* SPDX-License-Identifier: Apache-2.0 */
/* analyze.c - what each layer costs (calibrate/analyze.h), worst first, in dB and in the words of the source. */
#include "calibrate/analyze.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "driver/context.h"
#include "driver/run.h"
#include "ir/macs.h"
#include "quern/measure.h"
#include "runtime/math.h"

typedef struct analyze_call {
	qn_model *m;
	size_t nin;
	qn_array *const *in;
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

static int
compare(const void *a, const void *b)
{
	const qn_layer_noise *x = a, *y = b;

	if (x->alone.noise < y->alone.noise || y->alone.noise < x->alone.noise)
		return x->alone.noise < y->alone.noise ? 1 : -1;
	return x->layer->node[0] < y->layer->node[0] ? -1 : 1;
}

/* ---- weights ---- */

/* The quantize of a product's weights; NULL: it has none. */
static const qn_node *
weights_of(const qn_graph *g, const qn_node *core)
{
	if (core->type->is_tuple || qn_opinfo_of(core)->behaviour != QN_ACC || core->nin < 2)
		return NULL;
	const qn_node *w = qn_graph_node(g, core->in[1]);
	if (w->op == QN_OP_dequantize)
		w = qn_graph_node(g, w->in[0]);
	return w->op == QN_OP_quantize && qn_graph_node(g, w->in[0])->op == QN_OP_const ? w : NULL;
}

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
		const qn_node *w = weights_of(g, qn_graph_node(g, l->node[i]));

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
macs_of(const qn_graph *g, const qn_network_layer *l)
{
	uint64_t n = 0;

	for (size_t i = 0; i < l->nnode; i++)
		n += qn_node_macs(g, qn_graph_node(g, l->node[i]));
	return n;
}

static void
tell(const analyze_call *c, const qn_noise_analysis *n, const qn_layer_noise *l)
{
	const qn_graph *g = n->forms.symbolic;
	qn_arena *a = c->m->scratch;
	const weights w = sum_weights(g, l->layer, a);
	const qn_layer_cost cost = {.size = sizeof cost,
				    .name = l->layer->name,
				    .layers = joined_layers(l->layer, a),
				    .op = qn_opinfo_of(qn_graph_node(g, l->layer->core))->name,
				    .matches = l->layer->nout,
				    .weights = type_of(&w, a),
				    .macs = macs_of(g, l->layer),
				    .weight_bytes = w.bytes,
				    .alone = decibel(l->alone.noise),
				    .weights_alone = decibel(l->weights.noise),
				    .data_alone = decibel(l->data),
				    .here = decibel(l->here),
				    .gain = decibel(l->without.noise) - decibel(n->all.noise)};
	c->fn(c->user, &cost);
}

static qn_status
analyze(void *arg, qn_arena *scratch)
{
	const analyze_call *c = arg;
	qn_noise_analysis n;
	qn_dataset *d;

	QN_TRY(qn_samples_for(qn_model_entry(c->m), scratch, c->nin, c->in, NULL, &d));
	QN_TRY(qn_analyze_noise(c->m, d, NULL, &n));
	if (n.n > 0)
		qsort(n.layer, n.n, sizeof *n.layer, compare);
	for (size_t i = 0; i < n.n; i++)
		tell(c, &n, &n.layer[i]);
	*c->out = (qn_analysis){n.n, decibel(n.all.noise)};
	return QN_OK;
}

qn_status
qn_analyze(qn_model *m, size_t nin, qn_array *const *in, qn_layer_fn *fn, void *user,
	   qn_analysis *out)
{
	analyze_call c = {.m = m, .nin = nin, .in = in, .fn = fn, .user = user, .out = out};

	*out = (qn_analysis){0};
	return qn_guard_model(m, analyze, &c);
}
