/* SPDX-License-Identifier: Apache-2.0 */
/* inline_bodies.c - writes out the steps of all loops.
 *
 *   %i = loop {count=2}
 *   %a = loop_slice %x, %i                %a = squeeze(slice %x)       the first step
 *   %h = loop_carry %h0, %i               %n = add %a, %h0
 *   %n = add %a, %h               --->    %a_1 = squeeze(slice %x)     the second one
 *   %e = loop_end %i, %n                  %n_1 = add %a_1, %n
 *   %y = loop_stack %n, %e {length=2}     %y = concat(expand_dims %n, expand_dims %n_1)
 *
 * Types stay as they are, and so do the bytes of all outputs.
 * requires: any graph.   leaves: one of the same stage without loops. */
#include "ir/diag.h"
#include "ir/limits.h"
#include "ir/loops.h"
#include "passes/passes.h"
#include "patterns/rewrite.h"

enum { MOST_JOINED = 255 }; /* operands of a concat */

typedef struct unroller {
	const qn_graph *g;
	qn_graph *to;
	qn_arena *arena;
	qn_loops loops;
	qn_id *map;   /* what a value is now; of a loop_carry: in the step that is written */
	qn_id **part; /* by loop_stack: its parts, in the order of the result */
	bool failed;
} unroller;

static qn_id
op(unroller *u, qn_op op, const char *name, qn_id x, const qn_attrs *a)
{
	const qn_id y = x != 0 ? qn_graph_op(u->to, op, name, 1, &x, a, NULL) : 0;

	u->failed = u->failed || y == 0;
	return y;
}

/* Step t of the data of a loop_slice. */
static qn_id
slice(unroller *u, const qn_node *n, int64_t t)
{
	const qn_attrs_loop_slice *a = &n->attr->loop_slice;
	const qn_type *x = qn_graph_node(u->to, u->map[n->in[0]])->type;
	const int32_t axis = (int32_t)(a->axis < 0 ? a->axis + x->rank : a->axis);
	const int64_t at = a->reverse != 0 ? x->dim[axis] - 1 - t : t;
	qn_attrs part, drop;

	qn_attrs_default(QN_ATTRS(slice), &part);
	part.slice.begin.n = part.slice.end.n = x->rank;
	for (int32_t i = 0; i < x->rank; i++) {
		part.slice.begin.v[i] = i == axis ? at : 0;
		part.slice.end.v[i] = i == axis ? at + 1 : x->dim[i];
	}
	qn_attrs_default(QN_ATTRS(axes), &drop);
	drop.axes.axes = (qn_list){.n = 1, .v = {axis}};
	return op(u, QN_OP_squeeze, n->name, op(u, QN_OP_slice, NULL, u->map[n->in[0]], &part),
		  &drop);
}

/* Keeps the part of step t, whose axis has length 1. */
static void
keep_part(unroller *u, qn_id id, int64_t t)
{
	const qn_node *n = qn_graph_node(u->g, id);
	const qn_attrs_loop_stack *a = &n->attr->loop_stack;
	qn_attrs add;

	if (u->part[id] == NULL)
		u->part[id] = QN_NEW(u->arena, qn_id, (size_t)a->length);
	qn_attrs_default(QN_ATTRS(axes), &add);
	add.axes.axes = (qn_list){.n = 1, .v = {a->axis < 0 ? a->axis + n->type->rank : a->axis}};
	u->part[id][a->reverse != 0 ? a->length - 1 - t : t] =
		op(u, QN_OP_expand_dims, NULL, u->map[n->in[0]], &add);
}

/* All parts, joined. */
static qn_id
join(unroller *u, const qn_node *n, qn_id *part)
{
	int64_t left = n->attr->loop_stack.length;
	qn_attrs a = {.axis = {n->attr->loop_stack.axis}};

	if (a.axis.axis < 0)
		a.axis.axis += n->type->rank;
	while (left > 1 && !u->failed) {
		int64_t made = 0;

		for (int64_t i = 0; i < left; i += MOST_JOINED) {
			const int64_t k = left - i < MOST_JOINED ? left - i : MOST_JOINED;

			part[made] = qn_graph_op(u->to, QN_OP_concat,
						 left <= MOST_JOINED ? n->name : NULL, (uint32_t)k,
						 part + i, &a, NULL);
			u->failed = u->failed || part[made++] == 0;
		}
		left = made;
	}
	return part[0];
}

static qn_id
number(unroller *u, const qn_type *type, int64_t t)
{
	void *data;
	qn_tensor *x = qn_tensor_new(u->to->model->arena, type, &data);

	qn_store_i64(data, QN_PLAIN_i32, 0, t);
	return qn_graph_const(u->to, NULL, x);
}

static qn_id
copy(unroller *u, const qn_node *like)
{
	qn_node n = *like;
	qn_id *in = QN_NEW(u->arena, qn_id, (size_t)n.nin + 1);

	for (uint32_t i = 0; i < n.nin; i++)
		in[i] = u->map[n.in[i]];
	n.in = in;
	const qn_id id = qn_graph_add(u->to, &n);
	u->failed = u->failed || id == 0;
	return id;
}

static void unroll(unroller *u, qn_id begin);

/* One node, in step t of the loop with which it runs. */
static void
write_node(unroller *u, qn_id id, int64_t t)
{
	const qn_node *n = qn_graph_node(u->g, id);

	if (n->op == QN_OP_loop_slice)
		u->map[id] = slice(u, n, t);
	else if (n->op == QN_OP_loop_carry)
		u->map[id] = t == 0 ? u->map[n->in[0]] : u->map[id];
	else if (n->op == QN_OP_loop_end || n->op == QN_OP_loop_last)
		u->map[id] = u->map[n->in[0]];
	else if (n->op == QN_OP_loop_stack)
		keep_part(u, id, t);
	else if (u->loops.of[id] == 0 && u->map[id] != 0) /* a constant among its nodes */
		return;
	else
		u->map[id] = copy(u, n);
}

/* What loop k carries, as its next step reads it: all values are known before any is replaced. */
static void
carry(unroller *u, uint32_t k)
{
	const qn_loop *loop = &u->loops.loop[k - 1];
	qn_id *now = QN_NEW(u->arena, qn_id, (size_t)(loop->last - loop->begin) + 1), next;

	for (int store = 0; store < 2; store++)
		for (qn_id id = loop->begin; id <= loop->last; id++) {
			if (qn_graph_node(u->g, id)->op != QN_OP_loop_carry ||
			    u->loops.of[id] != k || !qn_loop_next(u->g, &u->loops, id, &next))
				continue;
			if (store)
				u->map[id] = now[id - loop->begin];
			else
				now[id - loop->begin] = u->map[next];
		}
}

static void
unroll(unroller *u, qn_id begin)
{
	const uint32_t k = u->loops.of[begin];
	const qn_loop *loop = &u->loops.loop[k - 1];

	for (int64_t t = 0; t < loop->count && !u->failed; t++) {
		u->map[begin] = number(u, qn_graph_node(u->g, begin)->type, t);
		for (qn_id id = begin + 1; id <= loop->last && !u->failed; id++) {
			if (qn_graph_node(u->g, id)->op == QN_OP_loop) {
				unroll(u, id);
				id = u->loops.loop[u->loops.of[id] - 1].last;
			} else {
				write_node(u, id, t);
			}
		}
		carry(u, k);
	}
	for (qn_id id = begin; id <= loop->last && !u->failed; id++)
		if (qn_graph_node(u->g, id)->op == QN_OP_loop_stack && u->loops.with[id] == k)
			u->map[id] = join(u, qn_graph_node(u->g, id), u->part[id]);
}

/* How many nodes there will be at most; UINT64_MAX: too many to count. */
static uint64_t
count_nodes(const unroller *u)
{
	uint64_t all = 0;

	for (qn_id id = 1; id < u->g->n; id++) {
		const uint64_t n = qn_loop_runs(&u->loops, id);

		if (n > UINT32_MAX)
			return UINT64_MAX;
		all += 2 * n; /* a slice is two nodes */
	}
	return all;
}

qn_status
qn_inline_bodies(qn_model *m)
{
	const qn_graph *g = qn_model_entry(m);
	unroller u = {.g = g, .arena = m->scratch};
	qn_graph *swept;

	if (!qn_has_loop(g))
		return QN_OK;
	u.loops = qn_loops_find(g, m->scratch);
	if (count_nodes(&u) > qn_limit(m->env, QN_LIMIT_NODES))
		return qn_limit_report(m->env, QN_LIMIT_NODES, g->name, count_nodes(&u));
	u.to = qn_graph_new_in(m, g->name, m->scratch);
	u.map = QN_NEW(m->scratch, qn_id, g->n);
	u.part = QN_NEW(m->scratch, qn_id *, g->n);
	qn_graph_copy_facts(u.to, g);
	for (qn_id id = 1; id < g->n && !u.failed; id++) {
		if (qn_graph_node(g, id)->op != QN_OP_loop) {
			write_node(&u, id, 0);
			continue;
		}
		unroll(&u, id);
		id = u.loops.loop[u.loops.of[id] - 1].last;
	}
	if (u.failed)
		return QN_EINVALID;
	qn_graph_copy_outputs(u.to, g, u.map);
	QN_TRY(qn_graph_sweep(m, u.to, NULL, &swept));
	qn_model_set_graph(m, swept);
	return QN_OK;
}
