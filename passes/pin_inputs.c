/* SPDX-License-Identifier: Apache-2.0 */
/* pin_inputs.c - inputs of the entry graph become constants that the caller fixes them at.
 *
 *   graph @main(%x: …, %sr: tensor<1xi64>)     sr = 16000     ->     graph @main(%x: …)   const %sr = {16000}
 *
 * requires: any graph whose types have no symbols where inputs are fixed.   leaves: the same graph with fewer inputs; what
 * depends on constants alone is folded by the clean pass, as any other constant. */
#include "ir/diag.h"
#include "passes/passes.h"

/* The constant of an input; 0: it stays an input; false after a report. */
static bool
pinned(qn_model *m, const qn_node *n, size_t number, size_t npin, qn_pin *pin, const char *place,
       qn_graph *to, qn_id *out)
{
	const qn_pin *p = qn_pin_find(npin, pin, n->name, number);

	*out = 0;
	if (p == NULL)
		return true;
	const qn_tensor *x = qn_pin_tensor(&m->types, m->arena, place, p, n->type);
	*out = x != NULL ? qn_graph_const(to, n->name, x) : 0;
	return *out != 0;
}

qn_status
qn_pin_inputs(qn_model *m, const char *place, size_t n, qn_pin *pin)
{
	qn_graph *g = qn_model_entry(m);
	qn_graph *to = qn_graph_new(m, g->name);
	const char **names = QN_NEW(m->scratch, const char *, g->ninput + 1);
	qn_id *map = QN_NEW(m->scratch, qn_id, g->n);
	bool ok = true;

	if (n == 0)
		return QN_OK;
	for (size_t i = 0; i < g->ninput; i++) {
		const qn_node *x = qn_graph_node(g, g->input[i]);

		names[i] = x->name;
		ok = pinned(m, x, i, n, pin, place, to, &map[g->input[i]]) && ok;
	}
	QN_TRY(qn_pin_check(m->env, m->scratch, place, n, pin, g->ninput, names));
	if (!ok)
		return QN_EUSAGE;
	qn_graph_copy_facts(to, g);
	if (!qn_graph_copy_nodes(to, g, NULL, NULL, map))
		return QN_EINVALID;
	qn_graph_copy_outputs(to, g, map);
	m->graph[m->ngraph - 1] = to;
	return QN_OK;
}
