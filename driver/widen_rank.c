/* SPDX-License-Identifier: Apache-2.0 */
/* widen_rank.c - what the 8-bit activations of each layer cost (driver/widen.h), by the analysis of `quern analyze`. */
#include <stdlib.h>

#include "calibrate/analyze.h"
#include "driver/trial.h"
#include "driver/widen.h"
#include "patterns/glob.h"
#include "patterns/recipe.h"

/* ---- samples ---- */

/* Some batches of a data set. */
typedef struct chosen {
	qn_dataset d;
	qn_dataset *from;
	size_t *batch;
} chosen;

static qn_status
get(qn_dataset *d, size_t index, qn_arena *scratch, const qn_tensor *const **inputs)
{
	const chosen *c = d->user;

	return c->from->get(c->from, c->batch[index], scratch, inputs);
}

/* Those that choose, or so many of them, evenly spread. */
static qn_dataset *
choose(qn_dataset *from, qn_arena *a)
{
	chosen *c = QN_NEW(a, chosen, 1);
	size_t *fit = QN_NEW(a, size_t, from->nbatch + 1);
	size_t nfit = 0;

	for (size_t b = 0; b < from->nbatch; b++)
		if (qn_trial_has(from, QN_TRIAL_FIT, b))
			fit[nfit++] = b;
	const size_t n = nfit < QN_WIDEN_SAMPLES ? nfit : QN_WIDEN_SAMPLES;
	for (size_t i = 0; i < n; i++)
		fit[i] = fit[i * nfit / n];
	*c = (chosen){.d = *from, .from = from, .batch = fit};
	c->d.nbatch = n;
	c->d.sequence = c->d.steps = 0;
	c->d.get = get;
	c->d.reader = NULL;
	c->d.user = c;
	return &c->d;
}

/* ---- layers ---- */

static bool
is_open(const qn_quant_opts *own)
{
	return own->automatic && own->when == QN_STATIC;
}

bool
qn_widen_is_open(const qn_graph *g, const qn_quant_opts *quant)
{
	for (qn_id id = 1; id < g->n; id++) {
		const qn_node *n = qn_graph_node(g, id);

		if (n->op != QN_OP_call || n->callee->pattern == NULL)
			continue;
		const qn_quant_opts own = qn_recipe_for_graph(quant, n->callee);
		if (is_open(&own))
			return true;
	}
	return false;
}

static bool
holds_in(const qn_recipe_rule *rule, const qn_graph *composite)
{
	for (qn_id id = 1; id < composite->n; id++)
		if (qn_recipe_rule_holds(rule, qn_graph_node(composite, id)))
			return true;
	return false;
}

/* Whether a match that is open has the name. */
static bool
is_layer_open(const qn_graph *g, const qn_quant_opts *quant, const char *name)
{
	const qn_recipe_rule rule = {.name = name};

	for (qn_id id = 1; id < g->n; id++) {
		const qn_node *n = qn_graph_node(g, id);

		if (n->op != QN_OP_call || n->callee->pattern == NULL ||
		    !holds_in(&rule, n->callee))
			continue;
		const qn_quant_opts own = qn_recipe_for_graph(quant, n->callee);
		if (is_open(&own))
			return true;
	}
	return false;
}

/* Graph inputs that the layer takes, as they are or moved, and whose storage is open. */
static void
find_inputs(const qn_noise_analysis *n, const qn_network_layer *l, const qn_quant_opts *quant,
	    qn_arena *a, qn_wide_layer *out)
{
	const qn_graph *g = n->forms.symbolic;
	qn_arena *own = qn_arena_child(a);
	bool *reached = QN_NEW(own, bool, g->n);
	const char **name = QN_NEW(a, const char *, g->ninput + 1);

	for (size_t i = 0; i < l->nin; i++)
		reached[l->in[i]] = true;
	for (qn_id id = g->n - 1; id > 0; id--) {
		const qn_node *node = qn_graph_node(g, id);

		for (uint32_t i = 0; reached[id] && n->layers.owner[id] == 0 && i < node->nin; i++)
			reached[node->in[i]] = true;
		if (!reached[id] || node->op != QN_OP_input || !qn_type_is_f32(node->type))
			continue;
		const qn_quant_opts stored = qn_recipe_for_value(quant, "input", node->name);
		if (is_open(&stored))
			name[out->ninput++] = qn_glob_of(a, node->name);
	}
	out->input = name;
	qn_arena_release(own);
}

static int
compare(const void *a, const void *b)
{
	const qn_wide_layer *x = a, *y = b;

	if (x->noise < y->noise || y->noise < x->noise)
		return x->noise < y->noise ? 1 : -1;
	return x->first < y->first ? -1 : 1;
}

static bool
has_weights(const qn_graph *g, const qn_network_layer *l)
{
	for (size_t i = 0; i < l->nnode; i++)
		if (qn_opinfo_of(qn_graph_node(g, l->node[i]))->behaviour == QN_ACC)
			return true;
	return false;
}

qn_status
qn_widen_rank(qn_model *m, const qn_graph *g, const qn_quant_opts *quant, qn_dataset *data,
	      qn_arena *a, qn_wide_layers *out)
{
	const qn_noise_opts opts = {.alone = true, .before_softmax = true};
	qn_noise_analysis n;

	*out = (qn_wide_layers){0};
	QN_TRY(qn_analyze_noise(m, choose(data, m->scratch), &opts, &n));
	out->layer = QN_NEW(a, qn_wide_layer, n.n + 1);
	out->noise = n.all.noise;
	for (size_t i = 0; i < n.n; i++) {
		const qn_network_layer *l = n.layer[i].layer;
		qn_wide_layer *to = &out->layer[out->n];
		const char *name = qn_glob_of(a, l->name);

		out->constants += n.layer[i].alone.noise - n.layer[i].data;
		if (!is_layer_open(g, quant, name))
			continue;
		*to = (qn_wide_layer){.name = name,
				      .source = qn_arena_str(a, l->name),
				      .first = l->node[0],
				      .product = has_weights(n.forms.symbolic, l)};
		/* constants of sums and quotients are stored as the values that they meet */
		to->noise = to->product ? n.layer[i].data : n.layer[i].alone.noise;
		find_inputs(&n, l, quant, a, to);
		out->n++;
	}
	if (out->n > 0)
		qsort(out->layer, out->n, sizeof *out->layer, compare);
	return QN_OK;
}
