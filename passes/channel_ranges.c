/* SPDX-License-Identifier: Apache-2.0 */
/* channel_ranges.c - what each channel of each value can be, from the constants of the graph and from
 * what the storage of its inputs can hold; never from samples.
 *
 *   %acc  sums of w (x - zero) + bias      bounded by the weights: exact for the largest inputs
 *   %y    requantize %acc                  computed by its own kernel from the least and the largest sums,
 *                                          as it never falls when they grow
 *
 * So a channel whose sums all give one quantized value has a range of one number.  A product with
 * padding is 0, so where a window reaches beyond the image each product may be 0 too. */
#include "passes/channels.h"

#include "ir/diag.h"
#include "runtime/interp.h"

enum {
	MOST_CHANNELS = 1 << 16, /* of a value that is followed */
	MOST_IN_ALL = 1 << 22,   /* of a graph */
	MOST_ELEMENTS = 1 << 25, /* of all values that are computed to learn their ranges */
	LEAST = 0,
	LARGEST = 1
};

/* ---- indices ---- */

static bool
is_followed(const qn_type *t)
{
	return !t->is_tuple && t->rank > 0 && qn_type_count(t) > 0 &&
	       t->dim[t->rank - 1] <= MOST_CHANNELS && t->elem->kind == QN_ELEM_UNIFORM &&
	       t->elem->gran != QN_SUB_CHANNEL && !qn_elem_has_symbol(t->elem);
}

static void
number(qn_channels *c, qn_arena *a)
{
	for (qn_id id = 1; id < c->g->n; id++) {
		const qn_type *t = qn_graph_node(c->g, id)->type;

		c->first[id] = QN_NO_CHANNELS;
		if (!is_followed(t) || c->n + (size_t)t->dim[t->rank - 1] > MOST_IN_ALL)
			continue;
		c->first[id] = (uint32_t)c->n;
		c->n += (size_t)t->dim[t->rank - 1];
	}
	c->range = QN_NEW(a, qn_interval, c->n + 1);
	for (qn_id id = 1; id < c->g->n; id++)
		for (int64_t k = 0;
		     c->first[id] != QN_NO_CHANNELS && k < qn_channel_count(c->g, id); k++)
			c->range[c->first[id] + k] =
				qn_storage_interval(qn_graph_node(c->g, id)->type->elem);
}

static bool
followed(const qn_channels *c, qn_id id)
{
	return c->first[id] != QN_NO_CHANNELS;
}

/* ---- layers ---- */

static qn_interval
product(const qn_summing *l, int64_t w, const qn_interval *x)
{
	const int64_t lo = w * (x->lo - l->zero), hi = w * (x->hi - l->zero);
	qn_interval r = lo < hi ? (qn_interval){lo, hi} : (qn_interval){hi, lo};

	if (l->padded && r.lo > 0)
		r.lo = 0;
	if (l->padded && r.hi < 0)
		r.hi = 0;
	return r;
}

/* in: the ranges of the input's channels. */
static void
sum_up(const qn_summing *l, const qn_interval *in, qn_interval *out)
{
	for (int64_t o = 0; o < l->out; o++) {
		const qn_interval *x = in + qn_summing_group(l, o) * l->depth;
		qn_interval sum = {0, 0};

		if (l->bias != NULL)
			sum.lo = sum.hi = qn_tensor_i64(l->bias, o);
		for (int64_t k = 0; k < l->terms; k++) {
			const int64_t w = qn_tensor_i64(l->w, o * l->terms + k);
			const qn_interval r = product(l, w, &x[k % l->depth]);

			sum.lo += r.lo;
			sum.hi += r.hi;
		}
		out[o] = sum;
	}
}

static bool
layer_ranges(qn_channels *c, qn_id id)
{
	const qn_node *n = qn_graph_node(c->g, id);
	qn_summing l;

	if (!followed(c, n->in[0]) || !qn_summing_of(c->g, n, &l))
		return false;
	sum_up(&l, c->range + c->first[n->in[0]], c->range + c->first[id]);
	return true;
}

/* ---- all others: by their own kernels ---- */

/* Operand `id` with the least or the largest that each channel can be. */
static const qn_tensor *
filled(const qn_channels *c, qn_id id, int corner, qn_arena *a)
{
	const qn_node *n = qn_graph_node(c->g, id);
	const int64_t count = qn_type_count(n->type), channels = qn_channel_count(c->g, id);
	const qn_interval *range = c->range + c->first[id];
	void *data;

	if (n->op == QN_OP_const)
		return n->value;
	qn_tensor *x = qn_tensor_new(a, n->type, &data);
	for (int64_t i = 0; i < count; i++)
		qn_store_i64(data, n->type->elem->plain, i,
			     corner == LEAST ? range[i % channels].lo : range[i % channels].hi);
	return x;
}

/* The node's result for the operands that `corners` has a bit for; NULL where it has no integer
 * implementation. */
static const qn_tensor *
computed(const qn_channels *c, const qn_node *n, uint32_t corners, qn_arena *a)
{
	const qn_tensor **in = QN_NEW(a, const qn_tensor *, n->nin);
	qn_env *env = c->g->model->env;
	const qn_diag_mark mark = qn_diag_mark_now(env);
	qn_tensor *out;

	for (uint32_t i = 0; i < n->nin; i++)
		in[i] = filled(c, n->in[i], (int)(corners >> (i < 31 ? i : 31) & 1), a);
	if (qn_eval_node(c->g, n, in, a, &out) == QN_OK)
		return out;
	qn_diag_forget(env, mark);
	return NULL;
}

/* Adds what a result holds to the ranges of its channels. */
static void
widen(const qn_tensor *x, bool begins, int64_t channels, qn_interval *range)
{
	for (int64_t i = 0; i < qn_type_count(x->type); i++) {
		const int64_t v = qn_tensor_i64(x, i);
		qn_interval *r = &range[i % channels];

		if ((begins && i < channels) || v < r->lo)
			r->lo = v;
		if ((begins && i < channels) || v > r->hi)
			r->hi = v;
	}
}

/* Whether something of the operands is known, and *left are elements enough to compute so often. */
static bool
is_worth_it(const qn_channels *c, const qn_node *n, size_t times, int64_t *left)
{
	int64_t elements = qn_type_count(n->type);
	bool known = false;

	for (uint32_t i = 0; i < n->nin; i++) {
		if (!followed(c, n->in[i]))
			return false;
		elements += qn_type_count(qn_graph_node(c->g, n->in[i])->type);
		known = known || c->known[n->in[i]];
	}
	if (!known || elements > *left / (int64_t)times)
		return false;
	*left -= elements * (int64_t)times;
	return true;
}

/* Operands are at their least or at their largest: bit i of a corner says which. */
static size_t
corners_of(const qn_node *n, qn_growth growth, uint32_t corner[4])
{
	if (growth == QN_OF_EACH || n->nin < 1) {
		corner[0] = 0;
		return 1;
	}
	corner[0] = 0;
	corner[1] = UINT32_MAX;
	if (growth != QN_CORNERS || n->nin != 2)
		return growth == QN_GROWS ? 2 : 0;
	corner[2] = 1;
	corner[3] = UINT32_MAX - 1;
	return 4;
}

/* Of a function of one element: channels whose operand is one number. */
static void
widen_each(const qn_channels *c, qn_id id, const qn_tensor *x)
{
	const qn_node *n = qn_graph_node(c->g, id);
	const int64_t channels = qn_channel_count(c->g, id);
	const qn_interval *in = c->range + c->first[n->in[0]];
	qn_interval *out = c->range + c->first[id];

	if (qn_channel_count(c->g, n->in[0]) != channels)
		return;
	qn_interval *found = QN_NEW(c->g->model->scratch, qn_interval, (size_t)channels);
	widen(x, true, channels, found);
	for (int64_t k = 0; k < channels; k++)
		if (in[k].lo == in[k].hi)
			out[k] = found[k];
}

static bool
node_ranges(qn_channels *c, qn_id id, qn_growth growth, int64_t *left, qn_arena *a)
{
	const qn_node *n = qn_graph_node(c->g, id);
	uint32_t corner[4];
	const size_t count = corners_of(n, growth, corner);
	const qn_tensor *x[4];

	if (count == 0 || !is_worth_it(c, n, count, left))
		return false;
	for (size_t i = 0; i < count; i++)
		if ((x[i] = computed(c, n, corner[i], a)) == NULL)
			return false;
	if (growth == QN_OF_EACH)
		widen_each(c, id, x[0]);
	for (size_t i = 0; growth != QN_OF_EACH && i < count; i++)
		widen(x[i], i == 0, qn_channel_count(c->g, id), c->range + c->first[id]);
	return true;
}

static bool
constant_ranges(qn_channels *c, qn_id id)
{
	const qn_tensor *x = qn_graph_node(c->g, id)->value;

	widen(x, true, qn_channel_count(c->g, id), c->range + c->first[id]);
	return true;
}

void
qn_channels_of(qn_model *m, const qn_graph *g, qn_channels *out)
{
	qn_channels c = {.g = g};
	int64_t left = MOST_ELEMENTS;

	c.first = QN_NEW(m->scratch, uint32_t, g->n);
	c.flow = QN_NEW(m->scratch, qn_flow, g->n);
	c.known = QN_NEW(m->scratch, bool, g->n);
	number(&c, m->scratch);
	for (qn_id id = 1; id < g->n; id++) {
		const qn_node *n = qn_graph_node(g, id);
		qn_growth growth = QN_GROWS_UNKNOWN;

		if (!followed(&c, id))
			continue;
		if (n->op == QN_OP_const) {
			c.known[id] = constant_ranges(&c, id);
			continue;
		}
		for (uint32_t i = 0; i < n->nin; i++)
			if (qn_graph_node(g, n->in[i])->type->is_tuple)
				break;
			else if (i + 1 == n->nin)
				c.flow[id] = qn_flow_of(g, n, &growth);
		qn_arena *tmp = qn_arena_child(m->scratch);
		if (c.flow[id] == QN_FLOW_LAYER)
			c.known[id] = layer_ranges(&c, id);
		else
			c.known[id] = c.flow[id] != QN_FLOW_OTHER &&
				      node_ranges(&c, id, growth, &left, tmp);
		qn_arena_release(tmp);
	}
	*out = c;
}
