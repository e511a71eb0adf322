/* SPDX-License-Identifier: Apache-2.0 */
/* graph_equal.c - whether two graphs compute the same in the same way.
 *
 *   %a = relu %x                    %first = relu %in
 *   return %a as "y"      equals    return %first as "y"
 *
 * Values are paired from the outputs backwards, so neither names of nodes, nor their order, nor
 * nodes that nothing needs count.  Called graphs are compared in the same way, each pair once.
 * The models may be different ones. */
#include <string.h>

#include "ir/graph.h"

typedef struct graph_pair {
	const qn_graph *a, *b;
} graph_pair;

typedef struct value_pair {
	qn_id a, b;
} value_pair;

typedef struct comparer {
	qn_arena *arena;
	const qn_graph *a, *b;
	qn_id *to_b, *to_a; /* the partner of each value, 0: none yet */
	value_pair *todo;
	size_t ntodo, todo_cap;
	qn_map seen; /* pairs of graphs, by address */
	graph_pair *graph;
	size_t ngraph, graph_cap;
} comparer;

static bool
types_equal(comparer *c, const qn_type *a, const qn_type *b)
{
	qn_buf x, y;

	if (c->a->model == c->b->model)
		return a == b;
	qn_buf_init(&x, c->arena);
	qn_buf_init(&y, c->arena);
	qn_type_print(&x, a);
	qn_type_print(&y, b);
	return strcmp(qn_buf_str(&x), qn_buf_str(&y)) == 0;
}

/* Pairs two values; false when one already has another partner. */
static bool
pair(comparer *c, qn_id a, qn_id b)
{
	if (c->to_b[a] != 0 || c->to_a[b] != 0)
		return c->to_b[a] == b && c->to_a[b] == a;
	c->to_b[a] = b;
	c->to_a[b] = a;
	if (c->ntodo == c->todo_cap)
		c->todo = qn_arena_grow(c->arena, c->todo, &c->todo_cap, c->ntodo + 1,
					sizeof *c->todo);
	c->todo[c->ntodo++] = (value_pair){a, b};
	return true;
}

/* Puts two graphs on the list of pairs that must be equal. */
static void
need(comparer *c, const qn_graph *a, const qn_graph *b)
{
	graph_pair p = {a, b};

	if (a == b || qn_map_get(&c->seen, &p, sizeof p) != NULL)
		return;
	qn_map_put(&c->seen, &p, sizeof p, c);
	if (c->ngraph == c->graph_cap)
		c->graph = qn_arena_grow(c->arena, c->graph, &c->graph_cap, c->ngraph + 1,
					 sizeof *c->graph);
	c->graph[c->ngraph++] = p;
}

static bool
values_equal(const qn_tensor *a, const qn_tensor *b)
{
	return a->layout == b->layout && a->bytes == b->bytes &&
	       (a->bytes == 0 || memcmp(a->data, b->data, a->bytes) == 0);
}

static bool
nodes_equal(comparer *c, const qn_node *x, const qn_node *y)
{
	const qn_attr_set_info *set = qn_opinfo_of(x)->attrs;

	if (x->op != y->op || qn_opinfo_of(x) != qn_opinfo_of(y) || x->nin != y->nin ||
	    !types_equal(c, x->type, y->type))
		return false;
	if (set->nattr > 0 && !qn_attrs_equal(set, x->attr, y->attr))
		return false;
	if (x->op == QN_OP_const && !values_equal(x->value, y->value))
		return false;
	if (x->op == QN_OP_call)
		need(c, x->callee, y->callee);
	for (uint32_t i = 0; i < x->nin; i++)
		if (!pair(c, x->in[i], y->in[i]))
			return false;
	return true;
}

static bool
bodies_equal(comparer *c)
{
	const qn_graph *a = c->a;
	const qn_graph *b = c->b;

	if (a->ninput != b->ninput || a->noutput != b->noutput || !qn_states_equal(a, b))
		return false;
	c->to_b = QN_NEW(c->arena, qn_id, a->n);
	c->to_a = QN_NEW(c->arena, qn_id, b->n);
	for (size_t i = 0; i < a->ninput; i++)
		if (!pair(c, a->input[i], b->input[i]))
			return false;
	for (size_t i = 0; i < a->noutput; i++)
		if (strcmp(a->output[i].name, b->output[i].name) != 0 ||
		    !pair(c, a->output[i].value, b->output[i].value))
			return false;
	while (c->ntodo > 0) {
		value_pair p = c->todo[--c->ntodo];

		if (!nodes_equal(c, qn_graph_node(a, p.a), qn_graph_node(b, p.b)))
			return false;
	}
	return true;
}

bool
qn_graph_equal(const qn_graph *a, const qn_graph *b)
{
	comparer c = {.arena = a->model->arena};

	qn_map_init(&c.seen, c.arena);
	need(&c, a, b);
	for (size_t i = 0; i < c.ngraph; i++) {
		c.a = c.graph[i].a;
		c.b = c.graph[i].b;
		if (!bodies_equal(&c))
			return false;
	}
	return true;
}
