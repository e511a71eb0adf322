/* SPDX-License-Identifier: Apache-2.0 */
/* loops.c - which nodes belong to which loop, and an order in which they stand together.
 *
 *   id   1 x   2 loop   3 loop_slice   4 w2 (of constants)   5 dense 3, 4   6 loop_end   7 loop_stack 5, 6
 *   of   .     1        1              .                     1              1            .
 *   with .     1        1              .                     1              1            1
 *   order      1 4 2 3 5 6 7 */
#include "ir/loops.h"

#include <string.h>

static bool
leaves_loop(qn_op op)
{
	return op == QN_OP_loop_stack || op == QN_OP_loop_last;
}

bool
qn_has_loop(const qn_graph *g)
{
	for (qn_id id = 1; id < g->n; id++)
		if (qn_graph_node(g, id)->op == QN_OP_loop)
			return true;
	return false;
}

const qn_node *
qn_loop_of(const qn_graph *g, const qn_node *n, uint32_t input)
{
	const qn_node *at = input < n->nin ? qn_graph_node(g, n->in[input]) : NULL;

	if (at != NULL && at->op == QN_OP_loop_end && at->nin > 0)
		at = qn_graph_node(g, at->in[0]);
	return at != NULL && at->op == QN_OP_loop ? at : NULL;
}

bool
qn_loop_is_in(const qn_loops *l, uint32_t inner, uint32_t outer)
{
	while (inner != 0 && inner != outer)
		inner = l->loop[inner - 1].parent;
	return inner == outer;
}

/* The inner one of two loops on which a value depends; where neither is in the other, the first. */
static uint32_t
inner_of(const qn_loops *l, uint32_t a, uint32_t b)
{
	return a == 0 || (b != 0 && qn_loop_is_in(l, b, a)) ? b : a;
}

bool
qn_loop_next(const qn_graph *g, const qn_loops *l, qn_id carry, qn_id *next)
{
	const uint32_t of = l->n > 0 ? l->of[carry] : 0;
	const qn_node *end =
		of != 0 && l->loop[of - 1].end != 0 ? qn_graph_node(g, l->loop[of - 1].end) : NULL;
	const int64_t at = qn_graph_node(g, carry)->attr->loop_carry.index + 1;

	if (end == NULL || at >= end->nin)
		return false;
	*next = end->in[at];
	return true;
}

/* The loop of which a loop_stack or loop_last takes a value. */
static uint32_t
left_loop(const qn_graph *g, const qn_node *n, const uint32_t *of)
{
	return qn_loop_of(g, n, 1) != NULL ? of[n->in[1]] : 0;
}

static size_t
count_loops(const qn_graph *g)
{
	size_t n = 0;

	for (qn_id id = 1; id < g->n; id++)
		n += qn_graph_node(g, id)->op == QN_OP_loop;
	return n;
}

qn_loops
qn_loops_find(const qn_graph *g, qn_arena *a)
{
	const size_t n = count_loops(g);
	qn_loops l = {0};

	if (n == 0)
		return l;
	qn_loop *loop = QN_NEW(a, qn_loop, n);
	uint32_t *of = QN_NEW(a, uint32_t, g->n), *with = QN_NEW(a, uint32_t, g->n);
	l = (qn_loops){.loop = loop, .of = of, .with = with};
	for (qn_id id = 1; id < g->n; id++) {
		const qn_node *x = qn_graph_node(g, id);

		for (uint32_t i = 0; i < x->nin; i++)
			of[id] = inner_of(&l, of[id], of[x->in[i]]);
		if (x->op == QN_OP_loop) {
			loop[l.n] = (qn_loop){
				.begin = id, .parent = of[id], .count = x->attr->loop.count};
			of[id] = (uint32_t)++l.n;
		}
		with[id] = of[id];
		if (leaves_loop(x->op) && left_loop(g, x, of) != 0) {
			with[id] = left_loop(g, x, of);
			of[id] = loop[with[id] - 1].parent;
		}
		if (x->op == QN_OP_loop_end && of[id] != 0)
			loop[of[id] - 1].end = id;
		for (uint32_t k = with[id]; k != 0; k = loop[k - 1].parent)
			loop[k - 1].last = id;
	}
	return l;
}

uint64_t
qn_loop_runs(const qn_loops *l, qn_id id)
{
	uint64_t n = 1;

	for (uint32_t k = l->n > 0 ? l->with[id] : 0; k != 0; k = l->loop[k - 1].parent) {
		const uint64_t count = (uint64_t)l->loop[k - 1].count;

		n = n > UINT64_MAX / count ? UINT64_MAX : n * count;
	}
	return n;
}

/* The last node of a loop is its end, or takes a value of it. */
static qn_id
last_of(const qn_graph *g, qn_id begin)
{
	const qn_node *loop = qn_graph_node(g, begin);
	qn_id last = begin;

	for (qn_id id = begin + 1; id < g->n; id++) {
		const qn_node *n = qn_graph_node(g, id);

		if ((n->op == QN_OP_loop_end && qn_loop_of(g, n, 0) == loop) ||
		    (leaves_loop(n->op) && qn_loop_of(g, n, 1) == loop))
			last = id;
	}
	return last;
}

uint64_t
qn_loop_walk_to(qn_loop_walk *w, const qn_graph *g, qn_id id)
{
	const qn_node *n = qn_graph_node(g, id);

	while (w->depth > 0 && w->last[w->depth] < id)
		w->depth--;
	const uint64_t around = w->depth > 0 ? w->runs[w->depth] : 1;
	if (n->op != QN_OP_loop || w->depth == QN_MAX_CALLS)
		return around;
	w->last[++w->depth] = last_of(g, id);
	w->runs[w->depth] = around * (uint64_t)n->attr->loop.count;
	return w->runs[w->depth];
}

/* ---- order ---- */

/* Marks what depends on loop k, as wholes: loops of which a node does. */
static void
mark_after(const qn_graph *g, const qn_loops *l, uint32_t k, bool *after)
{
	bool *whole = after + g->n; /* [l->n + 1] by loop, index plus 1 */

	memset(after, 0, (g->n + l->n + 1) * sizeof *after);
	for (bool more = true; more;) {
		more = false;
		for (qn_id id = 1; id < g->n; id++) {
			const qn_node *n = qn_graph_node(g, id);
			bool now = after[id];

			if (qn_loop_is_in(l, l->with[id], k))
				continue;
			for (uint32_t i = 0; i < n->nin; i++)
				now = now || after[n->in[i]] ||
				      qn_loop_is_in(l, l->with[n->in[i]], k);
			/* not the loops around k, in which it stands */
			for (uint32_t j = l->with[id]; j != 0; j = l->loop[j - 1].parent) {
				if (qn_loop_is_in(l, k, j))
					continue;
				now = now || whole[j];
				whole[j] = whole[j] || now;
			}
			more = more || now != after[id];
			after[id] = now;
		}
	}
}

/* Puts the nodes of loop k together: what does not depend on it before them, what does after them, each as they
 * were. */
static void
gather(const qn_graph *g, const qn_loops *l, uint32_t k, bool *after, qn_id *order, qn_id *tmp)
{
	size_t first = g->n, last = 0, n = 0;

	for (size_t i = 0; i + 1 < g->n; i++) {
		if (!qn_loop_is_in(l, l->with[order[i]], k))
			continue;
		first = i < first ? i : first;
		last = i;
	}
	mark_after(g, l, k, after);
	for (int part = 0; part < 3; part++) {
		for (size_t i = first; i <= last && first < g->n; i++) {
			const bool mine = qn_loop_is_in(l, l->with[order[i]], k);

			if (part == (mine ? 1 : after[order[i]] ? 2 : 0))
				tmp[n++] = order[i];
		}
	}
	memcpy(order + first, tmp, n * sizeof *order);
}

bool
qn_loops_together(const qn_graph *g, const qn_loops *l)
{
	for (size_t k = 1; k <= l->n; k++)
		for (qn_id id = l->loop[k - 1].begin; id <= l->loop[k - 1].last; id++) {
			const qn_op op = qn_graph_node(g, id)->op;

			if (op != QN_OP_const && op != QN_OP_input &&
			    !qn_loop_is_in(l, l->with[id], (uint32_t)k))
				return false;
		}
	return true;
}

const qn_id *
qn_loops_order(const qn_graph *g, qn_arena *a)
{
	const qn_loops l = qn_loops_find(g, a);

	if (l.n == 0 || qn_loops_together(g, &l))
		return NULL;
	qn_id *order = QN_NEW(a, qn_id, g->n), *tmp = QN_NEW(a, qn_id, g->n);
	bool *after = QN_NEW(a, bool, g->n + l.n + 1);
	for (qn_id id = 1; id < g->n; id++)
		order[id - 1] = id;
	for (size_t k = 0; k < l.n; k++) /* outer loops come before those in them */
		gather(g, &l, (uint32_t)k + 1, after, order, tmp);
	return order;
}
