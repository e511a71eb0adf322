/* SPDX-License-Identifier: Apache-2.0 */
/* prune.c - removes channels that are the same for all inputs, or that are not read.
 *
 *   %a = conv2d %x, %w, %b       channel 3 of %q is 17 whatever %x is, channel 5 meets weights of 0:
 *   %q = requantize %a           %w, %b, %q lose both, %u their weights, and %v takes on what channel 3
 *   %y = conv2d %q, %u, %v       adds to each of its sums
 *
 * The outputs' bytes stay what they were.  A channel of a value goes together with those of all values
 * that it is tied to: by a depthwise convolution, a requantize, a sum, a pool.  It goes where each layer
 * that reads one of them can do without: the channel is one number there, with the zero point equal to
 * it or no window that reaches beyond the image, as padding would be another number; or all weights
 * that meet it in rows that stay are 0.  Channels of inputs and outputs of the graph stay, and those
 * that any other op reads.
 *
 * requires: an integer graph.   leaves: an integer graph. */
#include "passes/prune.h"

#include "ir/diag.h"
#include "passes/passes.h"
#include "patterns/rewrite.h"

typedef struct pruner {
	const qn_channels *c;
	const qn_graph *g;
	uint32_t
		*parent; /* by channel: another one that it is tied to; itself: the first of them */
	bool *need;      /* by the first of tied channels */
	bool *done;      /* by channel of a layer: what it reads is needed */
	qn_summing *layer; /* by node, of those that are layers */
} pruner;

static bool
followed(const pruner *p, qn_id id)
{
	return p->c->first[id] != QN_NO_CHANNELS;
}

static uint32_t
first_of(const pruner *p, uint32_t channel)
{
	while (p->parent[channel] != channel) {
		p->parent[channel] = p->parent[p->parent[channel]];
		channel = p->parent[channel];
	}
	return channel;
}

static void
tie(pruner *p, uint32_t a, uint32_t b)
{
	a = first_of(p, a);
	b = first_of(p, b);
	p->parent[a < b ? b : a] = a < b ? a : b;
	p->need[a < b ? a : b] = p->need[a] || p->need[b];
}

static void
need(pruner *p, uint32_t channel)
{
	p->need[first_of(p, channel)] = true;
}

static void
need_all(pruner *p, qn_id id)
{
	for (int64_t k = 0; followed(p, id) && k < qn_channel_count(p->g, id); k++)
		need(p, p->c->first[id] + (uint32_t)k);
}

/* ---- which channels go together ---- */

/* The channels of two values in turn, as often as the longer one has some. */
static void
tie_regrouped(pruner *p, qn_id x, qn_id y)
{
	const int64_t a = qn_channel_count(p->g, x), b = qn_channel_count(p->g, y);

	if (a % b != 0 && b % a != 0) {
		need_all(p, x);
		need_all(p, y);
		return;
	}
	for (int64_t k = 0; k < (a > b ? a : b); k++)
		tie(p, p->c->first[x] + (uint32_t)(k % a), p->c->first[y] + (uint32_t)(k % b));
}

/* Operand x of node y: constants follow the node, a value of one channel is read by all. */
static void
tie_same(pruner *p, qn_id x, qn_id y)
{
	const qn_node *from = qn_graph_node(p->g, x);

	if (from->op == QN_OP_const)
		return;
	if (qn_channel_count(p->g, x) == qn_channel_count(p->g, y))
		tie_regrouped(p, x, y);
	else {
		need_all(p, x);
		need_all(p, y);
	}
}

static void
tie_concat(pruner *p, const qn_node *n, qn_id y)
{
	const int64_t axis = n->attr->axis.axis;
	const bool along = axis == n->type->rank - 1 || axis == -1;
	uint32_t at = p->c->first[y];

	for (uint32_t i = 0; i < n->nin; i++) {
		const qn_id x = n->in[i];
		const bool fixed = qn_graph_node(p->g, x)->op == QN_OP_const;

		for (int64_t k = 0; k < qn_channel_count(p->g, x); k++) {
			if (fixed)
				need(p, at + (uint32_t)k);
			else
				tie(p, p->c->first[x] + (uint32_t)k, at + (uint32_t)k);
		}
		at += along ? (uint32_t)qn_channel_count(p->g, x) : 0;
	}
}

static void
tie_layer(pruner *p, qn_id id)
{
	const qn_node *n = qn_graph_node(p->g, id);
	const qn_summing *l = &p->layer[id];

	if (l->groups == 1)
		return;
	if (l->groups == l->out && l->depth == 1) {
		tie_regrouped(p, n->in[0], id);
		return;
	}
	need_all(p, n->in[0]);
	need_all(p, id);
}

/* The node computes its result from followed operands, in a way that can lose channels. */
static bool
is_tied(pruner *p, qn_id id)
{
	const qn_node *n = qn_graph_node(p->g, id);

	if (!followed(p, id) || p->c->flow[id] == QN_FLOW_OTHER || n->nin == 0)
		return false;
	if (p->c->flow[id] == QN_FLOW_LAYER)
		return followed(p, n->in[0]) && qn_summing_of(p->g, n, &p->layer[id]);
	for (uint32_t i = 0; i < n->nin; i++)
		if (!followed(p, n->in[i]))
			return false;
	return true;
}

static void
tie_node(pruner *p, qn_id id)
{
	const qn_node *n = qn_graph_node(p->g, id);

	if (n->op == QN_OP_const)
		return;
	if (!is_tied(p, id)) {
		p->c->flow[id] = QN_FLOW_OTHER;
		need_all(p, id);
		for (uint32_t i = 0; i < n->nin; i++)
			need_all(p, n->in[i]);
		return;
	}
	if (p->c->flow[id] == QN_FLOW_LAYER)
		tie_layer(p, id);
	else if (p->c->flow[id] == QN_FLOW_REGROUP)
		tie_regrouped(p, n->in[0], id);
	else if (p->c->flow[id] == QN_FLOW_CONCAT)
		tie_concat(p, n, id);
	else
		for (uint32_t i = 0; i < n->nin; i++)
			tie_same(p, n->in[i], id);
}

/* ---- which of them are needed ---- */

/* Whether the layer can take channel k of its input into its bias. */
static bool
is_folded(const pruner *p, const qn_node *n, const qn_summing *l, int64_t k)
{
	const qn_interval *r = &p->c->range[p->c->first[n->in[0]] + (uint32_t)k];

	return r->lo == r->hi && (!l->padded || r->lo == l->zero);
}

/* Row o of a layer stays: so do the channels that it reads. */
static void
need_row(pruner *p, qn_id id, int64_t o)
{
	const qn_node *n = qn_graph_node(p->g, id);
	const qn_summing *l = &p->layer[id];
	const uint32_t in = p->c->first[n->in[0]];

	for (int64_t k = 0; k < l->terms; k++)
		if (qn_tensor_i64(l->w, o * l->terms + k) != 0 && !is_folded(p, n, l, k % l->depth))
			need(p, in + (uint32_t)(k % l->depth));
}

/* Until nothing more is needed. */
static void
need_what_rows_read(pruner *p)
{
	bool again = true;

	while (again) {
		again = false;
		for (qn_id id = p->g->n - 1; id > 0; id--) {
			if (p->c->flow[id] != QN_FLOW_LAYER || p->layer[id].groups != 1)
				continue;
			for (int64_t o = 0; o < p->layer[id].out; o++) {
				const uint32_t row = p->c->first[id] + (uint32_t)o;

				if (p->done[row] || !p->need[first_of(p, row)])
					continue;
				p->done[row] = again = true;
				need_row(p, id, o);
			}
		}
	}
}

/* A value has a channel at least.  Whether one was missing. */
static bool
need_one_of_each(pruner *p)
{
	bool missing = false;

	for (qn_id id = 1; id < p->g->n; id++) {
		bool any = !followed(p, id);

		for (int64_t k = 0; !any && k < qn_channel_count(p->g, id); k++)
			any = p->need[first_of(p, p->c->first[id] + (uint32_t)k)];
		if (!any && qn_graph_node(p->g, id)->op != QN_OP_const) {
			need(p, p->c->first[id]);
			missing = true;
		}
	}
	return missing;
}

const bool *
qn_channels_needed(qn_model *m, const qn_channels *c, bool *some)
{
	pruner p = {.c = c, .g = c->g};

	p.parent = QN_NEW(m->scratch, uint32_t, c->n + 1);
	p.need = QN_NEW(m->scratch, bool, c->n + 1);
	p.done = QN_NEW(m->scratch, bool, c->n + 1);
	p.layer = QN_NEW(m->scratch, qn_summing, c->g->n);
	for (uint32_t k = 0; k < c->n; k++)
		p.parent[k] = k;
	for (qn_id id = 1; id < c->g->n; id++)
		tie_node(&p, id);
	for (size_t i = 0; i < c->g->noutput; i++)
		need_all(&p, c->g->output[i].value);
	do {
		need_what_rows_read(&p);
	} while (need_one_of_each(&p));
	*some = false;
	for (qn_id id = 1; id < c->g->n; id++)
		for (int64_t k = 0; followed(&p, id) && k < qn_channel_count(c->g, id); k++) {
			const uint32_t channel = c->first[id] + (uint32_t)k;

			p.done[channel] = qn_graph_node(c->g, id)->op == QN_OP_const ||
					  p.need[first_of(&p, channel)];
			*some = *some || !p.done[channel];
		}
	return p.done;
}

qn_status
qn_prune(qn_model *m)
{
	qn_graph *g = qn_model_entry(m);
	qn_channels c;
	bool some;

	if (m->stage != QN_STAGE_INTEGER)
		return qn_report(m->env, QN_EINVALID, "pass.stage", m->name,
				 "prune takes an integer graph; this one is %s",
				 qn_stage_names[m->stage]);
	QN_TRY(qn_graph_sweep(m, g, NULL, &g));
	qn_channels_of(m, g, &c);
	const bool *need = qn_channels_needed(m, &c, &some);
	if (!some)
		return QN_OK;
	QN_TRY(qn_channels_remove(m, &c, need, &g));
	qn_model_set_graph(m, g);
	return QN_OK;
}
