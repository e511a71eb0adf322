/* SPDX-License-Identifier: Apache-2.0 */
/* sweep.c - copies what is alive.  Graph inputs stay, used or not: they are the signature.  What has come
 * between the nodes of a loop without being part of it goes before or after them. */
#include "ir/loops.h"
#include "patterns/rewrite.h"

static void
mark(const qn_graph *g, bool *live)
{
	for (size_t i = 0; i < g->noutput; i++)
		live[g->output[i].value] = true;
	for (qn_id id = g->n - 1; id > 0; id--) {
		const qn_node *n = qn_graph_node(g, id);

		if (n->op == QN_OP_input)
			live[id] = true;
		for (uint32_t i = 0; live[id] && i < n->nin; i++)
			live[n->in[i]] = true;
	}
}

qn_status
qn_graph_sweep(qn_model *m, const qn_graph *g, const char *const *names, qn_graph **out)
{
	qn_graph *dst = qn_graph_new(m, g->name);
	bool *live = QN_NEW(m->scratch, bool, g->n);
	qn_id *map = QN_NEW(m->scratch, qn_id, g->n);

	const qn_id *order = qn_loops_order(g, m->scratch);

	qn_graph_copy_facts(dst, g);
	mark(g, live);
	for (qn_id at = 1; at < g->n; at++) {
		const qn_id id = order != NULL ? order[at - 1] : at;

		if (!live[id])
			continue;
		qn_node n = *qn_graph_node(g, id);
		qn_id *in = QN_NEW(m->scratch, qn_id, n.nin);

		for (uint32_t i = 0; i < n.nin; i++)
			in[i] = map[n.in[i]];
		n.in = in;
		n.name = names != NULL ? names[id] : n.name;
		map[id] = qn_graph_add(dst, &n);
		if (map[id] == 0)
			return QN_EINTERNAL;
	}
	qn_graph_copy_outputs(dst, g, map);
	*out = dst;
	return QN_OK;
}

void
qn_model_set_graph(qn_model *m, qn_graph *g)
{
	m->ngraph = 0;
	qn_model_add_graph(m, g);
}
