/* SPDX-License-Identifier: Apache-2.0 */
/* limits.c - checks a model against the context's limits, before any pass or run.
 *
 *   graph @a: 3 nodes     graph @b: call @a, call @a     graph @main: call @b, call @b
 *   nodes  3              2 + 2*3 = 8                    2 + 2*8 = 18
 *
 * Graphs come after those that they call, so one sweep counts what inlining all calls would
 * make, however often they double.  What stands in a loop counts once for each of its steps. */
#include "driver/limits.h"

#include "driver/summary.h"
#include "ir/diag.h"
#include "ir/limits.h"
#include "ir/loops.h"

/* Steps that a node of a loop counts in each step of the loop beside its elements: about what starting it
 * takes, where an element takes 1 ns. */
enum { LOOP_NODE = 64 };

/* Of a graph with all that it calls; UINT64_MAX stands for all larger numbers. */
typedef struct cost {
	uint64_t nodes, steps, depth;
} cost;

typedef struct checker {
	qn_model *m;
	qn_map costs; /* graph, by address -> cost */
	qn_status status;
} checker;

static uint64_t
sum(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static void
check(checker *c, qn_limit_kind kind, const char *place, uint64_t have)
{
	if (have > qn_limit(c->m->env, kind))
		c->status = qn_limit_report(c->m->env, kind, place, have);
}

/* Elements of the value; 0 when its shape is not known. */
static uint64_t
check_type(checker *c, const qn_graph *g, const qn_node *n, const qn_type *t)
{
	qn_env *env = c->m->env;
	uint64_t most = 0;

	for (int32_t i = 0; i < t->rank; i++)
		if (t->dim[i] > 0 && (uint64_t)t->dim[i] > most)
			most = (uint64_t)t->dim[i];
	if (most > qn_limit(env, QN_LIMIT_DIM))
		check(c, QN_LIMIT_DIM, qn_node_place(g, n), most);
	int64_t count = qn_type_count(t);
	uint64_t bytes = count > 0 ? (uint64_t)count * qn_elem_bytes(t->elem) : 0;
	if (bytes > qn_limit(env, QN_LIMIT_BYTES))
		check(c, QN_LIMIT_BYTES, qn_node_place(g, n), bytes);
	return count > 0 ? (uint64_t)count : 0;
}

static uint64_t
product(uint64_t a, uint64_t b)
{
	return b != 0 && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

static void
add_node(checker *c, const qn_graph *g, const qn_node *n, uint64_t runs, cost *all)
{
	uint64_t steps = runs > 1 ? LOOP_NODE : 1;

	for (uint32_t i = 0; n->type->is_tuple && i < n->type->nfield; i++)
		steps = sum(steps, check_type(c, g, n, n->type->field[i]));
	if (!n->type->is_tuple)
		steps = sum(steps, check_type(c, g, n, n->type));
	steps = sum(steps, qn_node_macs(g, n));
	const cost *callee =
		n->op == QN_OP_call ? qn_map_get(&c->costs, &n->callee, sizeof n->callee) : NULL;
	if (callee != NULL) {
		all->nodes = sum(all->nodes, callee->nodes);
		steps = sum(steps, callee->steps);
		all->depth = callee->depth + 1 > all->depth ? callee->depth + 1 : all->depth;
	}
	all->steps = sum(all->steps, product(steps, runs));
}

/* A file gives no samples for states, so nothing else bounds their number. */
static void
check_states(checker *c, const qn_graph *g)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < g->nstate; i++) {
		const qn_node *n = qn_graph_state(g, i);
		const int64_t count = qn_type_count(n->type);

		bytes = sum(bytes, count > 0 ? (uint64_t)count * qn_elem_bytes(n->type->elem) : 0);
		if (bytes > qn_limit(c->m->env, QN_LIMIT_BYTES)) {
			check(c, QN_LIMIT_BYTES, qn_node_place(g, n), bytes);
			return;
		}
	}
}

qn_status
qn_limits_check(qn_model *m, qn_arena *a)
{
	checker c = {.m = m};
	const cost *last = NULL;

	qn_map_init(&c.costs, a);
	for (size_t i = 0; i < m->ngraph; i++) {
		const qn_graph *g = m->graph[i];
		const qn_loops loops = qn_loops_find(g, a);
		cost *all = QN_NEW(a, cost, 1);

		all->nodes = g->n - 1;
		for (qn_id id = 1; id < g->n; id++)
			add_node(&c, g, qn_graph_node(g, id), qn_loop_runs(&loops, id), all);
		check_states(&c, g);
		qn_map_put(&c.costs, &g, sizeof(qn_graph *), all);
		last = all;
	}
	if (last == NULL)
		return c.status;
	const char *name = qn_model_entry(m)->name;
	check(&c, QN_LIMIT_NESTING, name, last->depth);
	check(&c, QN_LIMIT_NODES, name, last->nodes);
	check(&c, QN_LIMIT_STEPS, name, last->steps);
	return c.status;
}
