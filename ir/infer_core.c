/* SPDX-License-Identifier: Apache-2.0 */
/* infer_core.c - types of the nodes that compute nothing: input, const, call, tuple, get.
 *
 * Tuples do not nest and do not cross a graph's border: a call of a graph with several outputs
 * makes one, `get` selects a field. */
#include "ir/infer.h"

const qn_type *
qn_infer_input(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	if (declared == NULL)
		(void)qn_infer_error(g, n, "type.needed", "an input needs a type");
	else if (declared->is_tuple)
		(void)qn_infer_error(
			g, n, "type.tuple",
			"an input must be a tensor, not a tuple; make one input per field");
	else if (qn_infer_size(g, n, declared->rank, declared->dim))
		return declared;
	return NULL;
}

const qn_type *
qn_infer_const(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	(void)declared;
	if (n->value == NULL)
		(void)qn_infer_error(g, n, "const.value", "a constant needs a value");
	else if (n->value->type->is_tuple || qn_type_count(n->value->type) < 0)
		(void)qn_infer_error(g, n, "const.type", "%s is not a tensor of known shape",
				     qn_infer_type_text(g, n->value->type));
	else if (qn_infer_size(g, n, n->value->type->rank, n->value->type->dim))
		return n->value->type;
	return NULL;
}

static bool
arguments_ok(const qn_graph *g, const qn_node *n)
{
	const qn_graph *callee = n->callee;
	bool ok = true;

	if (n->nin != callee->ninput)
		return qn_infer_error(g, n, "op.arity", "@%s has %zu inputs, the call passes %u",
				      callee->name, callee->ninput, n->nin);
	for (uint32_t i = 0; i < n->nin; i++) {
		const qn_node *want = qn_graph_node(callee, callee->input[i]);
		const qn_type *have = qn_infer_in(g, n, i);

		if (have != want->type)
			ok = qn_infer_error(g, n, "type.mismatch",
					    "input %u of @%s ('%s') is %s, the call passes %s", i,
					    callee->name, want->name,
					    qn_infer_type_text(g, want->type),
					    qn_infer_type_text(g, have));
	}
	return ok;
}

/* One output: its type.  More: a tuple of theirs. */
const qn_type *
qn_infer_call(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	const qn_graph *callee = n->callee;

	(void)declared;
	if (callee == NULL || callee->noutput == 0) {
		(void)qn_infer_error(g, n, "op.callee",
				     "a call needs a graph that returns something");
		return NULL;
	}
	if (!arguments_ok(g, n))
		return NULL;
	const qn_type **field = QN_NEW(g->model->scratch, const qn_type *, callee->noutput);
	for (size_t i = 0; i < callee->noutput; i++) {
		field[i] = qn_graph_node(callee, callee->output[i].value)->type;
		if (field[i]->is_tuple) {
			(void)qn_infer_error(g, n, "type.tuple",
					     "@%s returns the tuple '%s'; return its fields",
					     callee->name, callee->output[i].name);
			return NULL;
		}
	}
	if (callee->noutput == 1)
		return field[0];
	return qn_type_tuple(&g->model->types, (uint32_t)callee->noutput, field);
}

const qn_type *
qn_infer_tuple(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	const qn_type **field = QN_NEW(g->model->scratch, const qn_type *, n->nin);

	(void)declared;
	for (uint32_t i = 0; i < n->nin; i++) {
		field[i] = qn_infer_in(g, n, i);
		if (field[i]->is_tuple) {
			(void)qn_infer_error(g, n, "type.tuple",
					     "input %u ('%s') is a tuple; tuples do not nest", i,
					     qn_graph_node(g, n->in[i])->name);
			return NULL;
		}
	}
	return qn_type_tuple(&g->model->types, n->nin, field);
}

const qn_type *
qn_infer_get(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	const qn_type *t = qn_infer_in(g, n, 0);
	int64_t index = n->attr->get.index;

	(void)declared;
	if (!t->is_tuple)
		(void)qn_infer_error(g, n, "type.tuple", "input '%s' is %s, not a tuple",
				     qn_graph_node(g, n->in[0])->name, qn_infer_type_text(g, t));
	else if (index < 0 || index >= t->nfield)
		(void)qn_infer_error(g, n, "attr.value", "index is %lld, the tuple has %u fields",
				     (long long)index, t->nfield);
	else
		return t->field[index];
	return NULL;
}
