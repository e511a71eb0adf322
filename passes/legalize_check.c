/* SPDX-License-Identifier: Apache-2.0 */
/* legalize_check.c - whether each node of a legalized graph has an integer implementation for its types and shapes;
 * an error for each that has none. */
#include "ir/diag.h"
#include "passes/legalize.h"
#include "runtime/impls.h"

/* Whether the shapes of the node's values are known: kernels have their sizes as constants.  Reports
 * the first value of which nothing follows from another one that was reported. */
static bool
has_shapes(const qn_graph *g, const qn_node *n)
{
	const qn_node *v = n;
	qn_buf type;

	for (uint32_t i = 0; i < n->nin && v == n; i++) {
		const qn_node *x = qn_graph_node(g, n->in[i]);

		v = x->type->is_tuple || qn_type_count(x->type) >= 0 ? v : x;
	}
	if (v == n && (n->type->is_tuple || qn_type_count(n->type) >= 0))
		return true;
	if (v != n && v->op != QN_OP_input)
		return false;
	qn_buf_init(&type, g->model->scratch);
	type.decimal = true;
	qn_type_print(&type, v->type);
	(void)qn_report(
		g->model->env, QN_EUNSUPPORTED, "int.unsupported", qn_node_place(g, n),
		"unsupported in integer arithmetic: %s, node '%s', the size of '%s' is unknown or "
		"beyond 2^40 elements: %s; set the lengths of all inputs",
		qn_opinfo_of(n)->name, n->name, v->name, qn_buf_str(&type));
	return false;
}

/* Inputs of less than 8 bits, which no kernel reads: the way out. */
static void
report_narrow_inputs(qn_model *m, const qn_graph *g)
{
	for (size_t i = 0; i < g->ninput; i++) {
		const qn_node *n = qn_graph_node(g, g->input[i]);
		const qn_elem *e = n->type->is_tuple ? NULL : n->type->elem;

		if (e != NULL && e->kind == QN_ELEM_PLAIN && e->plain != QN_PLAIN_bool &&
		    qn_plain_table[e->plain].bits < 8)
			(void)qn_report(m->env, QN_EUNSUPPORTED, "int.unsupported",
					qn_node_place(g, n),
					"input '%s' is a tensor of %s, which emitted code does not "
					"read; make it a tensor of 8 bits in the file, or a float "
					"tensor with QuantizeLinear to %s after it",
					n->name, qn_plain_table[e->plain].name,
					qn_plain_table[e->plain].name);
	}
}

qn_status
qn_legalize_check(qn_model *m, const qn_graph *g)
{
	qn_status status = QN_OK;

	for (qn_id id = 1; id < g->n; id++) {
		const qn_node *n = qn_graph_node(g, id);
		const qn_int_impl *form = qn_int_impl_of(g, n);

		if (n->op == QN_OP_input || n->op == QN_OP_const || n->op == QN_OP_get ||
		    n->op == QN_OP_tuple)
			continue;
		if (form == NULL)
			status = qn_report(m->env, QN_EUNSUPPORTED, "int.unsupported",
					   qn_node_place(g, n),
					   "unsupported in integer arithmetic: %s, node '%s', the "
					   "op has no integer implementation",
					   qn_opinfo_of(n)->name, n->name);
		else if (!has_shapes(g, n) || form->prepare(g, n, m->scratch) == NULL)
			status = QN_EUNSUPPORTED;
	}
	if (status != QN_OK)
		report_narrow_inputs(m, g);
	return status;
}
