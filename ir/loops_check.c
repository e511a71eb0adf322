/* SPDX-License-Identifier: Apache-2.0 */
/* loops_check.c - whether the nodes of loops fit together (loops.h).
 *
 *   error verify.loop: node 'y': a stack of 7 steps; the loop has 8 */
#include "ir/infer.h"
#include "ir/loops.h"

static void
problem(const qn_graph *g, qn_id id, const char *text)
{
	(void)qn_infer_error(g, qn_graph_node(g, id), "verify.loop", "%s", text);
}

static int32_t
from_front(int64_t axis, int32_t rank)
{
	return (int32_t)(axis < 0 ? axis + rank : axis);
}

static void
check_length(const qn_graph *g, const qn_node *n, const char *what, int64_t have, int64_t count)
{
	if (have != count)
		(void)qn_infer_error(g, n, "verify.loop", "%s of %lld steps; the loop has %lld",
				     what, (long long)have, (long long)count);
}

/* A value of the loop, or one that stays the same in all its steps. */
static bool
fits_end(const qn_loops *l, const qn_node *n)
{
	return qn_loop_is_in(l, l->of[n->in[1]], l->of[n->in[0]]);
}

/* The operands that connect a node with its loop. */
static void
check_links(const qn_graph *g, const qn_loops *l, qn_id id)
{
	const qn_node *n = qn_graph_node(g, id);
	const bool leaves = n->op == QN_OP_loop_stack || n->op == QN_OP_loop_last;
	const uint32_t at = n->op == QN_OP_loop || n->op == QN_OP_loop_end ? 0 : 1;

	if (n->op != QN_OP_loop_slice && n->op != QN_OP_loop_carry && n->op != QN_OP_loop_end &&
	    !leaves)
		return;
	const qn_op by = qn_graph_node(g, n->in[at])->op;
	const qn_node *loop = qn_loop_of(g, n, at);
	if (loop == NULL || by != (leaves ? QN_OP_loop_end : QN_OP_loop)) {
		(void)qn_infer_error(g, n, "verify.loop", "input %u must be a %s", at,
				     leaves ? "loop_end" : "loop");
		return;
	}
	const qn_type *x = qn_infer_in(g, n, 0);
	if (n->op == QN_OP_loop_slice && x->rank > 0)
		check_length(g, n, "data", x->dim[from_front(n->attr->loop_slice.axis, x->rank)],
			     loop->attr->loop.count);
	if (n->op == QN_OP_loop_stack)
		check_length(g, n, "a stack", n->attr->loop_stack.length, loop->attr->loop.count);
	if (leaves && !fits_end(l, n))
		problem(g, id,
			"the value belongs to a loop inside; take its last value, or stack it");
	if (n->op == QN_OP_loop_end && l->of[id] != l->of[n->in[0]])
		problem(g, id, "a carried value belongs to another loop");
	if (n->op == QN_OP_loop_end && l->loop[l->of[id] - 1].end != id)
		problem(g, id, "the loop has another loop_end");
	if (n->op == QN_OP_loop_carry && l->of[id] != l->of[n->in[1]])
		problem(g, id, "its first value belongs to a loop inside");
}

/* Each carry of a loop has a value of its type at the loop's end, and an index of its own.  before: by the
 * loop's end the last carry seen, and by a carry the one before it. */
static void
check_carry(const qn_graph *g, const qn_loops *l, qn_id id, qn_id *before)
{
	const qn_node *n = qn_graph_node(g, id);
	const qn_loop *loop = &l->loop[l->of[id] - 1];
	const int64_t index = n->attr->loop_carry.index;
	qn_id at;

	if (!qn_loop_next(g, l, id, &at)) {
		(void)qn_infer_error(g, n, "verify.loop",
				     "carried value %lld has no value at the end of its loop",
				     (long long)index);
		return;
	}
	const qn_node *next = qn_graph_node(g, at);
	if (next->type != n->type)
		(void)qn_infer_error(g, n, "verify.loop", "it begins as %s and carries '%s', a %s",
				     qn_infer_type_text(g, n->type), next->name,
				     qn_infer_type_text(g, next->type));
	for (qn_id k = before[loop->end]; k != 0; k = before[k]) {
		if (qn_graph_node(g, k)->attr->loop_carry.index != index)
			continue;
		problem(g, id, "another carried value of its loop has its index");
		return;
	}
	before[id] = before[loop->end];
	before[loop->end] = id;
}

/* A value depends on at most one chain of loops, each in the one before. */
static void
check_depends(const qn_graph *g, const qn_loops *l, qn_id id)
{
	const qn_node *n = qn_graph_node(g, id);
	const uint32_t of = n->op == QN_OP_loop ? l->loop[l->of[id] - 1].parent : l->with[id];

	for (uint32_t i = 0; i < n->nin; i++)
		if (!qn_loop_is_in(l, of, l->of[n->in[i]]))
			(void)qn_infer_error(g, n, "verify.loop",
					     "it reads values of two loops, neither of which has "
					     "the number of the other as its input");
}

/* In the order of a graph: no node of something else between those of a loop. */
static void
check_order(const qn_graph *g, const qn_loops *l)
{
	for (uint32_t k = 1; k <= l->n; k++)
		for (qn_id id = l->loop[k - 1].begin; id <= l->loop[k - 1].last; id++) {
			const qn_op op = qn_graph_node(g, id)->op;

			if (op == QN_OP_const || op == QN_OP_input ||
			    qn_loop_is_in(l, l->with[id], k))
				continue;
			problem(g, id,
				"it stands between nodes of a loop that it does not depend on");
		}
}

void
qn_loops_check(const qn_graph *g, qn_arena *a)
{
	const qn_loops l = qn_loops_find(g, a);
	qn_id *before = QN_NEW(a, qn_id, g->n);

	if (l.n > QN_MOST_LOOPS) {
		(void)qn_infer_refuse(g, qn_graph_node(g, l.loop[0].begin), "verify.loop",
				      "the graph has %zu loops; at most %d are possible", l.n,
				      (int)QN_MOST_LOOPS);
		return;
	}
	for (qn_id id = 1; id < g->n; id++) {
		const qn_op op = qn_graph_node(g, id)->op;

		if (l.n == 0 && op != QN_OP_loop_slice && op != QN_OP_loop_carry &&
		    op != QN_OP_loop_end && op != QN_OP_loop_stack && op != QN_OP_loop_last)
			continue;
		if (l.n == 0) {
			problem(g, id, "the graph has no loop");
			continue;
		}
		check_depends(g, &l, id);
		check_links(g, &l, id);
		if (op == QN_OP_loop_carry && l.of[id] != 0)
			check_carry(g, &l, id, before);
	}
	for (size_t i = 0; i < g->noutput; i++)
		if (l.n > 0 && l.of[g->output[i].value] != 0)
			problem(g, g->output[i].value,
				"it changes from step to step of a loop and cannot be returned; "
				"return its last value, or stack it");
	check_order(g, &l);
}
