/* SPDX-License-Identifier: Apache-2.0 */
/* accumulate.c - see accumulate.h.
 *
 *   %c = loop_carry …    %f = call @mul %g, %c    %n = call @add %f, %i    loop_end … %n      mul and add
 *   %s = state …         %n = concat %s, %x       return %n as the next %s                    nothing: it only moves
 *
 * From a value to its operands, and from a carry to its next value, there is a cycle through each value that follows
 * from itself: these are the strongly connected components (Tarjan 1972, without recursion). */
#include "patterns/accumulate.h"

#include "ir/loops.h"

typedef struct search {
	const qn_graph *g;
	const qn_id *next;  /* of a carry or state: what it is next; otherwise 0 */
	uint32_t *at, *low; /* when a value was reached, from 1, and the earliest that it reaches */
	uint32_t *edge;     /* of a value on the path: the edges that are done */
	qn_id *path,
		*open; /* values that are being looked at; those of components that are not complete */
	size_t npath, nopen;
	bool *is_open, *found;
	bool flat; /* the graph has no composites */
	uint32_t reached;
} search;

/* Ops that compute elements from elements, so that errors add up. */
static bool
adds(qn_op op)
{
	return op == QN_OP_add || op == QN_OP_sub || op == QN_OP_mul || op == QN_OP_div ||
	       op == QN_OP_bias_add;
}

static bool
moves(const qn_node *n)
{
	const qn_behaviour b = qn_opinfo_of(n)->behaviour;

	return b == QN_SAME || b == QN_JOIN || n->op == QN_OP_const || n->op == QN_OP_input ||
	       n->op == QN_OP_stats || n->op == QN_OP_stats_ref || n->op == QN_OP_coupled_ref;
}

/* Whether a composite only moves and adds up elements; *sum: whether it does the latter. */
static bool
is_of_elements(const qn_graph *composite, bool *sum)
{
	*sum = false;
	for (qn_id id = 1; id < composite->n; id++) {
		const qn_node *n = qn_graph_node(composite, id);

		if (!adds(n->op) && !moves(n))
			return false;
		*sum = *sum || adds(n->op);
	}
	return true;
}

bool
qn_adds_elements(const qn_graph *composite)
{
	bool sum;

	return is_of_elements(composite, &sum) && sum;
}

/* Whether a value follows from its operands, element by element; *sum: as a sum or product. */
static bool
follows(const search *s, const qn_node *n, bool *sum)
{
	*sum = s->flat && adds(n->op);
	if (n->type->is_tuple || !qn_type_is_f32(n->type))
		return false;
	if (n->op == QN_OP_call)
		return n->callee->pattern != NULL && is_of_elements(n->callee, sum);
	return *sum || n->op == QN_OP_loop_carry || moves(n);
}

/* Edge k of a value; 0: it has no more. */
static qn_id
target(const search *s, qn_id id, uint32_t k)
{
	const qn_node *n = qn_graph_node(s->g, id);
	bool sum;

	if (!follows(s, n, &sum))
		return 0;
	if (k < n->nin)
		return n->in[k];
	return k == n->nin ? s->next[id] : 0;
}

static void
reach(search *s, qn_id id)
{
	s->at[id] = s->low[id] = ++s->reached;
	s->path[s->npath++] = s->open[s->nopen++] = id;
	s->is_open[id] = true;
}

/* The component of which `id` was reached first: the values from there on. */
static void
close_component(search *s, qn_id id)
{
	size_t from = s->nopen;
	bool any = false, sum;

	do {
		const qn_node *n = qn_graph_node(s->g, s->open[--from]);

		s->is_open[s->open[from]] = false;
		any = any || (follows(s, n, &sum) && sum);
	} while (s->open[from] != id);
	for (size_t i = from; any && s->nopen - from > 1 && i < s->nopen; i++)
		s->found[s->open[i]] = s->flat || qn_graph_node(s->g, s->open[i])->op == QN_OP_call;
	s->nopen = from;
}

static uint32_t
least(uint32_t x, uint32_t y)
{
	return x < y ? x : y;
}

static void
search_from(search *s, qn_id root)
{
	reach(s, root);
	while (s->npath > 0) {
		const qn_id id = s->path[s->npath - 1], to = target(s, id, s->edge[id]++);

		if (to != 0 && s->at[to] == 0) {
			reach(s, to);
		} else if (to != 0) {
			if (s->is_open[to])
				s->low[id] = least(s->low[id], s->at[to]);
		} else {
			s->npath--;
			if (s->npath > 0) {
				const qn_id by = s->path[s->npath - 1];

				s->low[by] = least(s->low[by], s->low[id]);
			}
			if (s->low[id] == s->at[id])
				close_component(s, id);
		}
	}
}

/* By carry and state, what it is in the next step; NULL: there are none. */
static const qn_id *
next_values(const qn_graph *g, qn_arena *a)
{
	const bool has_loop = qn_has_loop(g);
	qn_id *next;

	if (!has_loop && g->nstate == 0)
		return NULL;
	next = QN_NEW(a, qn_id, g->n);
	for (size_t k = 0; k < g->nstate; k++)
		next[g->input[qn_graph_fed(g) + k]] = g->output[qn_graph_given(g) + k].value;
	if (has_loop) {
		const qn_loops l = qn_loops_find(g, a);

		for (qn_id id = 1; id < g->n; id++)
			if (qn_graph_node(g, id)->op == QN_OP_loop_carry &&
			    !qn_loop_next(g, &l, id, &next[id]))
				next[id] = 0;
	}
	return next;
}

const bool *
qn_accumulates(const qn_graph *g, bool flat, qn_arena *a)
{
	search s = {.g = g, .flat = flat, .next = next_values(g, a)};

	if (s.next == NULL)
		return NULL;
	s.at = QN_NEW(a, uint32_t, g->n);
	s.low = QN_NEW(a, uint32_t, g->n);
	s.edge = QN_NEW(a, uint32_t, g->n);
	s.path = QN_NEW(a, qn_id, g->n);
	s.open = QN_NEW(a, qn_id, g->n);
	s.is_open = QN_NEW(a, bool, g->n);
	s.found = QN_NEW(a, bool, g->n);
	for (qn_id id = 1; id < g->n; id++)
		if (s.next[id] != 0 && s.at[id] == 0)
			search_from(&s, id);
	return s.found;
}
