/* SPDX-License-Identifier: Apache-2.0 */
/* loops_prepare.c - loops as emitted code runs them.
 *
 *   %a = loop_carry %x {index=0}               %a, %b the same
 *   %b = loop_carry %y {index=1}      --->     %c = concat %a      a copy: the values carried are
 *   %e = loop_end %i, %b, %a                   %d = concat %b      written one after the other
 *                                              %e = loop_end %i, %d, %c */
#include "ir/loops.h"

typedef struct copier {
	const qn_graph *g;
	qn_graph *to;
	qn_arena *arena;
	qn_id *map;
} copier;

/* The value whose bytes these are. */
static qn_id
bytes_of(const qn_graph *g, qn_id id)
{
	const qn_node *n = qn_graph_node(g, id);

	while (qn_op_keeps_bytes(n->op) || n->op == QN_OP_scast) {
		id = n->in[0];
		n = qn_graph_node(g, id);
	}
	return id;
}

/* Whether value k of a loop_end has the bytes of another carried value. */
static bool
is_carried(const qn_graph *g, const qn_node *end, uint32_t k)
{
	const qn_node *n = qn_graph_node(g, bytes_of(g, end->in[k]));

	return k > 0 && n->op == QN_OP_loop_carry && n->in[1] == end->in[0] &&
	       n->attr->loop_carry.index + 1 != k;
}

static bool
is_ready(const qn_graph *g, qn_arena *a)
{
	if (qn_loops_order(g, a) != NULL)
		return false;
	for (qn_id id = 1; id < g->n; id++) {
		const qn_node *n = qn_graph_node(g, id);

		for (uint32_t k = 1; n->op == QN_OP_loop_end && k < n->nin; k++)
			if (is_carried(g, n, k))
				return false;
	}
	return true;
}

static qn_id
copy_node(copier *c, qn_id id)
{
	const qn_node *from = qn_graph_node(c->g, id);
	qn_node n = *from;
	qn_id *in = QN_NEW(c->arena, qn_id, (size_t)n.nin + 1);

	for (uint32_t i = 0; i < n.nin; i++) {
		qn_attrs axis = {.axis = {0}};

		in[i] = c->map[n.in[i]];
		if (n.op != QN_OP_loop_end || !is_carried(c->g, from, i))
			continue;
		if (qn_graph_node(c->to, in[i])->type->rank == 0) {
			qn_attrs shape = {.shape = {.shape = {.n = 1, .v = {1}}}};

			in[i] = qn_graph_op(c->to, QN_OP_reshape, NULL, 1, &in[i], &shape, NULL);
		}
		in[i] = qn_graph_op(c->to, QN_OP_concat, NULL, 1, &in[i], &axis, NULL);
		if (in[i] == 0)
			return 0;
	}
	n.in = in;
	return qn_graph_add(c->to, &n);
}

qn_status
qn_loops_gather(qn_graph **g, qn_arena *scratch, const qn_id **map)
{
	const qn_graph *from = *g;
	const qn_id *order = qn_loops_order(from, scratch);
	qn_id *to = QN_NEW(scratch, qn_id, from->n);

	if (map != NULL)
		*map = order != NULL ? to : NULL;
	if (order == NULL)
		return QN_OK;
	*g = qn_graph_new_in(from->model, from->name, from->arena);
	qn_graph_copy_facts(*g, from);
	if (!qn_graph_copy_nodes(*g, from, order, NULL, to))
		return QN_EINTERNAL;
	qn_graph_copy_outputs(*g, from, to);
	return QN_OK;
}

qn_status
qn_loops_prepare(const qn_graph *g, qn_arena *a, const qn_graph **out)
{
	copier c = {.g = g, .arena = a};

	*out = g;
	if (!qn_has_loop(g) || is_ready(g, a))
		return QN_OK;
	const qn_id *order = qn_loops_order(g, a);
	c.to = qn_graph_new_in(g->model, g->name, a);
	c.map = QN_NEW(a, qn_id, g->n);
	qn_graph_copy_facts(c.to, g);
	for (qn_id at = 1; at < g->n; at++) {
		const qn_id id = order != NULL ? order[at - 1] : at;

		c.map[id] = copy_node(&c, id);
		if (c.map[id] == 0)
			return QN_EINTERNAL;
	}
	qn_graph_copy_outputs(c.to, g, c.map);
	*out = c.to;
	return QN_OK;
}
