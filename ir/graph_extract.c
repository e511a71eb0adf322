/* SPDX-License-Identifier: Apache-2.0 */
/* graph_extract.c - copies of graphs: a part by itself, and types with the values of their symbols.
 *
 *   %a = relu %x      extract %c from %a      graph (%a) {
 *   %b = relu %a      ->                        %b = relu %a
 *   %c = add %a, %b                             %c = add %a, %b
 *                                               return %c } */
#include "ir/diag.h"
#include "ir/graph.h"

static const qn_type *
bound(const qn_graph *g, qn_id id, const void *user)
{
	const qn_node *n = qn_graph_node(g, id);

	(void)user;
	return qn_type_bind(&g->model->types, qn_node_place(g, n), n->type);
}

/* Adds a copy of node id to dst; retype: with the type that this makes of its own; NULL: as it is. */
static qn_id
copy(qn_graph *dst, const qn_graph *g, qn_id id, const qn_id *map, qn_retype_fn *retype,
     const void *user)
{
	qn_model *m = g->model;
	qn_node n = *qn_graph_node(g, id);
	qn_id *in = QN_NEW(dst->arena, qn_id, n.nin);

	for (uint32_t i = 0; i < n.nin; i++) {
		in[i] = map[n.in[i]];
		if (in[i] == 0)
			return 0;
	}
	n.in = in;
	if (retype != NULL)
		n.type = retype(g, id, user);
	if (n.type == NULL)
		return 0;
	if (n.op == QN_OP_const && n.type != n.value->type)
		n.value = qn_tensor_view(m->arena, n.type, n.value->data);
	return qn_graph_add(dst, &n);
}

qn_status
qn_graph_bind(const qn_graph *g, qn_arena *a, qn_graph **out)
{
	return qn_graph_retype(g, bound, NULL, a, out);
}

qn_status
qn_graph_retype(const qn_graph *g, qn_retype_fn *retype, const void *user, qn_arena *a,
		qn_graph **out)
{
	qn_graph *dst = qn_graph_new_in(g->model, g->name, a);
	qn_id *map = QN_NEW(a, qn_id, g->n);
	qn_status status = QN_OK;

	for (qn_id id = 1; id < g->n; id++)
		if ((map[id] = copy(dst, g, id, map, retype, user)) == 0)
			status = QN_EINVALID;
	QN_TRY(status);
	qn_graph_copy_facts(dst, g);
	qn_graph_copy_outputs(dst, g, map);
	*out = dst;
	return QN_OK;
}

/* Which values the outputs need; those of `in` end the search. */
static bool *
needed(const qn_graph *g, const qn_id *map, size_t nout, const qn_id *out, qn_arena *a)
{
	bool *need = QN_NEW(a, bool, g->n);

	for (size_t i = 0; i < nout; i++)
		need[out[i]] = true;
	for (qn_id id = g->n - 1; id > 0; id--)
		for (uint32_t i = 0; need[id] && map[id] == 0 && i < qn_graph_node(g, id)->nin; i++)
			need[qn_graph_node(g, id)->in[i]] = true;
	return need;
}

qn_status
qn_graph_extract(const qn_graph *g, size_t nin, const qn_id *in, size_t nout, const qn_id *out,
		 bool bind, qn_arena *a, qn_graph **part)
{
	qn_graph *dst = qn_graph_new_in(g->model, g->name, a);
	qn_id *map = QN_NEW(a, qn_id, g->n);

	for (size_t i = 0; i < nin; i++) {
		const qn_node *n = qn_graph_node(g, in[i]);
		const qn_type *type = n->type;

		if (bind)
			type = qn_type_bind(&g->model->types, qn_node_place(g, n), type);
		if (type == NULL)
			return QN_EINVALID;
		if (map[in[i]] == 0)
			map[in[i]] = qn_graph_input(dst, n->name, type);
	}
	const bool *need = needed(g, map, nout, out, a);
	for (qn_id id = 1; id < g->n; id++) {
		const qn_node *n = qn_graph_node(g, id);

		if (!need[id] || map[id] != 0)
			continue;
		if (n->op == QN_OP_input)
			return qn_report(g->model->env, QN_EINTERNAL, "graph.extract", n->name,
					 "the part needs this input, which is not given");
		map[id] = copy(dst, g, id, map, bind ? bound : NULL, NULL);
		if (map[id] == 0)
			return QN_EINVALID;
	}
	for (size_t i = 0; i < nout; i++)
		qn_graph_output(dst, qn_graph_node(g, out[i])->name, map[out[i]]);
	*part = dst;
	return QN_OK;
}
