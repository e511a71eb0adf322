/* SPDX-License-Identifier: Apache-2.0 */
/* operand_types.c - the element types that the behaviours under quantization require: of the operands together,
 * and of a result that follows from them. */
#include "ir/infer.h"

qn_operands
qn_infer_operands(const qn_graph *g, const qn_node *n)
{
	qn_operands all = QN_OPERANDS_BAD;

	for (uint32_t i = 0; i < n->nin; i++) {
		const qn_type *t = qn_infer_in(g, n, i);

		if (t->is_tuple) {
			(void)qn_infer_error(g, n, "type.tuple",
					     "input %u ('%s') is a tuple; take a field with `get`",
					     i, qn_graph_node(g, n->in[i])->name);
			return QN_OPERANDS_BAD;
		}
		qn_operands kind =
			qn_elem_is_float(t->elem) ? QN_OPERANDS_FLOAT : QN_OPERANDS_CODES;
		if (i > 0 && kind != all) {
			(void)qn_infer_error(g, n, "type.mixed",
					     "inputs '%s' (%s) and '%s' (%s) are not both float or "
					     "both quantized; quantize or dequantize one of them",
					     qn_graph_node(g, n->in[0])->name,
					     qn_infer_type_text(g, qn_infer_in(g, n, 0)),
					     qn_graph_node(g, n->in[i])->name,
					     qn_infer_type_text(g, t));
			return QN_OPERANDS_BAD;
		}
		all = kind;
	}
	return all;
}

/* A calibrated element stands for its float type. */
static const qn_elem *
float_elem(const qn_graph *g, const qn_elem *e)
{
	return e->kind == QN_ELEM_CALIBRATED ? qn_elem_plain(&g->model->types, e->expressed) : e;
}

const qn_elem *
qn_infer_float(const qn_graph *g, const qn_node *n)
{
	const qn_elem *first = float_elem(g, qn_infer_in(g, n, 0)->elem);

	for (uint32_t i = 1; i < n->nin; i++) {
		const qn_elem *e = float_elem(g, qn_infer_in(g, n, i)->elem);

		if (e != first) {
			(void)qn_infer_error(g, n, "type.mismatch",
					     "input %u ('%s') has %s elements, input 0 has %s", i,
					     qn_graph_node(g, n->in[i])->name,
					     qn_infer_elem_text(g, e),
					     qn_infer_elem_text(g, first));
			return NULL;
		}
	}
	return first;
}

const qn_elem *
qn_infer_real(const qn_graph *g, const qn_node *n)
{
	qn_operands kind = qn_infer_operands(g, n);

	if (kind == QN_OPERANDS_FLOAT)
		return qn_infer_float(g, n);
	bool quantized = false;
	for (uint32_t i = 0; kind == QN_OPERANDS_CODES && i < n->nin; i++)
		quantized = quantized || qn_elem_is_quant(qn_infer_in(g, n, i)->elem);
	if (kind == QN_OPERANDS_CODES && !quantized)
		(void)qn_infer_error(g, n, "type.element",
				     "%s does not support inputs of these types, the first ('%s') "
				     "is %s; cast them",
				     qn_opinfo_of(n)->name, qn_graph_node(g, n->in[0])->name,
				     qn_infer_type_text(g, qn_infer_in(g, n, 0)));
	else if (kind == QN_OPERANDS_CODES)
		(void)qn_infer_refuse(g, n, "unsupported.quantized",
				      "%s has no integer implementation; dequantize its inputs",
				      qn_opinfo_of(n)->name);
	return NULL;
}

const qn_elem *
qn_infer_same(const qn_graph *g, const qn_node *n)
{
	return qn_infer_operands(g, n) != QN_OPERANDS_BAD ? qn_infer_in(g, n, 0)->elem : NULL;
}

static bool
not_blocked(const qn_graph *g, const qn_node *n, uint32_t i)
{
	const qn_elem *e = qn_infer_in(g, n, i)->elem;

	return e->gran != QN_SUB_CHANNEL ||
	       qn_infer_refuse(
		       g, n, "unsupported.subchannel",
		       "%s does not support operands quantized in blocks: input %u ('%s') is %s",
		       qn_opinfo_of(n)->name, i, qn_graph_node(g, n->in[i])->name,
		       qn_infer_elem_text(g, e));
}

bool
qn_infer_uniform(const qn_graph *g, const qn_node *n, uint32_t i)
{
	const qn_elem *e = qn_infer_in(g, n, i)->elem;

	if (e->kind == QN_ELEM_UNIFORM)
		return not_blocked(g, n, i);
	return qn_infer_error(
		g, n, "type.element",
		"input %u ('%s') has %s elements (expected float or uniformly quantized elements)",
		i, qn_graph_node(g, n->in[i])->name, qn_infer_elem_text(g, e));
}

const qn_elem *
qn_infer_mix(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	qn_operands kind = qn_infer_operands(g, n);
	bool ok = kind != QN_OPERANDS_BAD;

	if (kind == QN_OPERANDS_FLOAT)
		return qn_infer_float(g, n);
	for (uint32_t i = 0; ok && i < n->nin; i++)
		ok = qn_infer_uniform(g, n, i);
	if (!ok)
		return NULL;
	if (declared == NULL) {
		(void)qn_infer_error(g, n, "type.needed",
				     "the result of %s on quantized inputs has its own parameters: "
				     "write its type",
				     qn_opinfo_of(n)->name);
		return NULL;
	}
	if (!declared->is_tuple && declared->elem->kind == QN_ELEM_UNIFORM)
		return declared->elem;
	(void)qn_infer_error(
		g, n, "type.mismatch",
		"the inputs are quantized, so the result must be quantized; it is declared %s",
		qn_infer_type_text(g, declared));
	return NULL;
}

bool
qn_infer_integers(const qn_graph *g, const qn_node *n, bool or_bool)
{
	const qn_type *first = qn_infer_in(g, n, 0);

	for (uint32_t i = 0; i < n->nin; i++) {
		const qn_type *t = qn_infer_in(g, n, i);

		if (t->is_tuple || t->elem != first->elem || t->elem->kind != QN_ELEM_PLAIN ||
		    qn_elem_is_float(t->elem) || (t->elem->plain == QN_PLAIN_bool && !or_bool))
			return false;
	}
	return n->nin > 0;
}

const qn_elem *
qn_infer_numbers(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	if (qn_infer_integers(g, n, false))
		return qn_infer_in(g, n, 0)->elem;
	return qn_infer_mix(g, n, declared);
}
