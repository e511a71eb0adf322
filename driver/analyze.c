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

	if (x->alone < y->alone || y->alone < x->alone)
		return x->alone < y->alone ? 1 : -1;
	return x->out < y->out ? -1 : 1;
}

/* The layer's operator: the one whose result the dequantize of its pattern reads. */
static const qn_node *
core_of(const qn_graph *g, qn_id out)
{
	const qn_node *n = qn_graph_node(g, out);

	while (n->op == QN_OP_dequantize || n->op == QN_OP_quantize)
		n = qn_graph_node(g, n->in[0]);
	return n;
}

/* The quantize of its weights; NULL: it has none. */
static const qn_node *
weights_of(const qn_graph *g, const qn_node *core)
{
	if (qn_opinfo_of(core)->behaviour != QN_ACC || core->nin < 2)
		return NULL;
	const qn_node *w = qn_graph_node(g, core->in[1]);
	if (w->op == QN_OP_dequantize)
		w = qn_graph_node(g, w->in[0]);
	return w->op == QN_OP_quantize && qn_graph_node(g, w->in[0])->op == QN_OP_const ? w : NULL;
}

/* As recipes name it: an accumulator is called after the node of the float graph, "conv1.acc". */
static const char *
name_of(const qn_node *core, qn_arena *a)
{
	static const char end[] = ".acc";
	const size_t n = strlen(core->name), m = sizeof end - 1;

	return n > m && strcmp(core->name + n - m, end) == 0 ? qn_arena_strn(a, core->name, n - m)
							     : core->name;
}

static const char *
joined_layers(const qn_node *n, qn_arena *a)
{
	qn_buf b;

	if (n->facts == NULL || n->facts->norigin == 0)
		return n->name;
	qn_buf_init(&b, a);
	for (uint32_t i = 0; i < n->facts->norigin; i++)
		qn_buff(&b, "%s%s", i > 0 ? ", " : "", n->facts->origin[i]);
	return qn_buf_str(&b);
}

static void
tell(const analyze_call *c, const qn_noise_analysis *n, const qn_layer_noise *l)
{
	const qn_graph *g = qn_model_entry(c->m);
	qn_arena *a = c->m->scratch;
	const qn_node *core = core_of(g, l->out), *w = weights_of(g, core);
	const qn_node *real = qn_graph_node(n->real, n->map[l->out]);
	qn_buf type;

	qn_buf_init(&type, a);
	if (w != NULL)
		qn_buff(&type, "i%d", w->type->elem->bits);
	const qn_layer_cost cost = {.size = sizeof cost,
				    .name = name_of(core, a),
				    .layers = joined_layers(real, a),
				    .op = qn_opinfo_of(core)->name,
				    .weights = w != NULL ? qn_buf_str(&type) : NULL,
				    .macs = qn_node_macs(g, core),
				    .weight_bytes =
					    w != NULL ? ((uint64_t)qn_type_count(w->type) *
								 (uint64_t)w->type->elem->bits +
							 7) / 8
						      : 0,
				    .alone = decibel(l->alone),
				    .weights_alone = decibel(l->weights),
				    .data_alone = decibel(l->data),
				    .here = decibel(l->here),
				    .gain = decibel(l->without) - decibel(n->all)};
	c->fn(c->user, &cost);
}

static qn_status
analyze(void *arg, qn_arena *scratch)
{
	const analyze_call *c = arg;
	qn_noise_analysis n;
	qn_dataset *d;

	QN_TRY(qn_samples_for(qn_model_entry(c->m), scratch, c->nin, c->in, NULL, &d));
	QN_TRY(qn_analyze_noise(c->m, d, &n));
	if (n.n > 0)
		qsort(n.layer, n.n, sizeof *n.layer, compare);
	for (size_t i = 0; i < n.n; i++)
		tell(c, &n, &n.layer[i]);
	*c->out = (qn_analysis){n.n, decibel(n.all)};
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
