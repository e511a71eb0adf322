/* SPDX-License-Identifier: Apache-2.0 */
/* instrument.c - points of statistics: where they would help, and what a run found there.
 *
 *   %y = conv2d %x, %w        ->   %y       = conv2d %x, %w
 *   return %y                      %y.stats = stats_ref %y {key="y"}
 *                                  return %y.stats
 *
 *   stats_ref {key="y"}       ->   stats {layer=[-1.5,2.0]}
 *
 * requires: a graph of one function.   leaves: one that computes the same. */
#include <string.h>

#include "ir/loops.h"
#include "passes/solver.h"
#include "patterns/rewrite.h"

typedef struct copy {
	qn_model *m;
	const qn_graph *g;
	qn_graph *dst;
	qn_id *map;
} copy;

static copy
begin(qn_model *m)
{
	const qn_graph *g = qn_model_entry(m);
	copy c = {m, g, qn_graph_new(m, g->name), QN_NEW(m->scratch, qn_id, g->n)};

	qn_graph_copy_facts(c.dst, g);
	return c;
}

static qn_status
copy_node(copy *c, qn_id id, const qn_attrs *attr, qn_op op)
{
	qn_node n = *qn_graph_node(c->g, id);
	qn_id *in = QN_NEW(c->m->scratch, qn_id, n.nin);

	for (uint32_t i = 0; i < n.nin; i++)
		in[i] = c->map[n.in[i]];
	n.in = in;
	n.op = op;
	n.attr = attr != NULL ? attr : n.attr;
	c->map[id] = qn_graph_add(c->dst, &n);
	return c->map[id] != 0 ? QN_OK : QN_EINVALID;
}

/* A point of a graph input may stand between the nodes of a loop. */
static qn_status
end(copy *c)
{
	qn_graph_copy_outputs(c->dst, c->g, c->map);
	QN_TRY(qn_loops_gather(&c->dst, c->m->scratch, NULL));
	qn_model_set_graph(c->m, c->dst);
	return QN_OK;
}

/* The name of the value, or with a number after it where a point has this key already. */
static const char *
new_key(qn_map *keys, qn_arena *a, const char *name)
{
	const char *key = name;

	for (int k = 1; qn_map_gets(keys, key) != NULL; k++) {
		qn_buf b;

		qn_buf_init(&b, a);
		qn_buff(&b, "%s_%d", name, k);
		key = qn_buf_str(&b);
	}
	qn_map_puts(keys, key, keys);
	return key;
}

static const char *
stats_name(qn_arena *a, const char *name)
{
	qn_buf b;

	qn_buf_init(&b, a);
	qn_buff(&b, "%s.stats", name);
	return qn_buf_str(&b);
}

qn_status
qn_instrument(qn_model *m, const qn_solver_opts *opts)
{
	copy c = begin(m);
	qn_points p;
	qn_map keys;

	QN_TRY(qn_solver_stage(m, "instrument"));
	QN_TRY(qn_points_find(m, c.g, opts, &p));
	qn_map_init(&keys, m->scratch);
	for (qn_id id = 1; id < c.g->n; id++)
		if (qn_graph_node(c.g, id)->op == QN_OP_stats_ref)
			qn_map_puts(&keys, qn_graph_node(c.g, id)->attr->stats_ref.key, &keys);
	for (qn_id id = 1; id < c.g->n; id++) {
		const qn_node *n = qn_graph_node(c.g, id);
		const qn_node *reader = p.reader[id] != 0 ? qn_graph_node(c.g, p.reader[id]) : NULL;
		qn_attrs a = {0};

		QN_TRY(copy_node(&c, id, NULL, n->op));
		if (!qn_point_wants_statistics(&p, id) ||
		    (reader != NULL && reader->op == QN_OP_stats_ref && p.uses[id] == 1))
			continue;
		qn_attrs_default(QN_ATTRS(stats_ref), &a);
		a.stats_ref.key = new_key(&keys, m->scratch, n->name);
		c.map[id] = qn_graph_op(c.dst, QN_OP_stats_ref, stats_name(m->scratch, n->name), 1,
					&c.map[id], &a, NULL);
		if (c.map[id] == 0)
			return QN_EINVALID;
	}
	return end(&c);
}

qn_status
qn_resolve_statistics(qn_model *m, const qn_found_range *observed)
{
	copy c = begin(m);

	for (qn_id id = 1; id < c.g->n; id++) {
		const qn_node *n = qn_graph_node(c.g, id);
		const qn_found_range *o = &observed[id];
		const double layer[2] = {o->lo, o->hi};
		qn_attrs a = {0};

		if (n->op != QN_OP_stats_ref || !o->seen) {
			QN_TRY(copy_node(&c, id, NULL, n->op));
			continue;
		}
		qn_attrs_default(QN_ATTRS(stats), &a);
		a.stats.layer = (qn_reals){2, layer};
		if (o->naxis > 0) {
			a.stats.axis_stats = (qn_reals){2 * o->naxis, o->axis};
			a.stats.axis = n->attr->stats_ref.axis;
		}
		QN_TRY(copy_node(&c, id, &a, QN_OP_stats));
	}
	return end(&c);
}
