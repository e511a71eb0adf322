/* SPDX-License-Identifier: Apache-2.0 */
/* cut.c - the entry graph ends where the caller says.
 *
 *   graph @main(%x: …, %y: …)            graph @main(%x: …)
 *     %a = relu %x                         %a = relu %x
 *     %b = add %a, %y          ->
 *     return %b                            return %a                              cut: a
 *
 * requires: any graph.   leaves: what the new outputs and the states need; inputs that only served the rest are gone. */
#include <string.h>

#include "ir/diag.h"
#include "ir/nearest.h"
#include "passes/passes.h"

/* The value of an output, or of a node, of this name; 0 after a report. */
static qn_id
find(const qn_graph *g, const char *place, const char *name)
{
	for (size_t i = 0; i < qn_graph_given(g); i++)
		if (strcmp(g->output[i].name, name) == 0)
			return g->output[i].value;
	const qn_id id = qn_graph_find(g, name);
	if (id == 0)
		(void)qn_report(g->model->env, QN_EUSAGE, "import.cut", place,
				"no value is called '%s'" QN_DID_YOU_MEAN, name,
				QN_SUGGEST(qn_nearest_value(g, name)));
	else if (qn_graph_node(g, id)->type->is_tuple)
		(void)qn_report(g->model->env, QN_EUSAGE, "import.cut", place,
				"'%s' has several results; name the one of them that is wanted",
				name);
	else
		return id;
	return 0;
}

static void
mark_needed(const qn_graph *g, bool *need)
{
	for (qn_id id = g->n - 1; id > 0; id--)
		for (uint32_t i = 0; need[id] && i < qn_graph_node(g, id)->nin; i++)
			need[qn_graph_node(g, id)->in[i]] = true;
}

/* States stay, with what their next values need. */
static void
mark_states(const qn_graph *g, bool *need)
{
	for (size_t i = qn_graph_fed(g); i < g->ninput; i++)
		need[g->input[i]] = true;
	for (size_t i = qn_graph_given(g); i < g->noutput; i++)
		need[g->output[i].value] = true;
}

qn_status
qn_cut(qn_model *m, const char *place, size_t n, const char *const *name)
{
	qn_graph *g = qn_model_entry(m), *to;
	bool *need = QN_NEW(m->scratch, bool, g->n);
	qn_id *map = QN_NEW(m->scratch, qn_id, g->n), *value = QN_NEW(m->scratch, qn_id, n + 1);
	bool ok = true;

	if (n == 0)
		return QN_OK;
	for (size_t i = 0; i < n; i++) {
		value[i] = find(g, place, name[i]);
		need[value[i]] = true;
		ok = ok && value[i] != 0;
		for (size_t k = 0; k < i; k++)
			if (strcmp(name[k], name[i]) == 0)
				return qn_report(m->env, QN_EUSAGE, "import.cut", place,
						 "'%s' is there twice", name[i]);
	}
	if (!ok)
		return QN_EUSAGE;
	mark_states(g, need);
	mark_needed(g, need);
	to = qn_graph_new(m, g->name);
	qn_graph_copy_facts(to, g);
	if (!qn_graph_copy_nodes(to, g, NULL, need, map))
		return QN_EINVALID;
	for (size_t i = 0; i < n; i++)
		qn_graph_output(to, name[i], map[value[i]]);
	for (size_t i = qn_graph_given(g); i < g->noutput; i++)
		qn_graph_output(to, g->output[i].name, map[g->output[i].value]);
	qn_graph_copy_states(to, g);
	m->graph[m->ngraph - 1] = to;
	return QN_OK;
}
