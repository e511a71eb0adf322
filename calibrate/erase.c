/* SPDX-License-Identifier: Apache-2.0 */
/* erase.c - the float graph of a symbolic one.
 *
 *   dequantize(dense(quantize(x): $fc.x, quantize(w): $fc.w))   ->   dense(x, w)
 *   dequantize(scast(x))                                        ->   dequantize(scast(x))      integers of known parameters */
#include "calibrate/calibrate.h"
#include "ir/diag.h"

/* Where parameters are fixed, only those with symbols are removed, and rounding to scales of run time. */
static bool
vanishes(const qn_graph *g, const qn_node *n, bool all)
{
	if (n->op == QN_OP_dynamic_fake_quant)
		return true;
	if (n->op != QN_OP_quantize && n->op != QN_OP_dequantize && n->op != QN_OP_requantize)
		return false;
	return all || qn_elem_has_symbol(n->type->elem) ||
	       qn_elem_has_symbol(qn_graph_node(g, n->in[0])->type->elem);
}

/* A float type in place of a quantized one. */
static const qn_type *
real_type(qn_model *m, const qn_type *t)
{
	if (t->is_tuple || !qn_elem_is_quant(t->elem))
		return t;
	return qn_type_with_elem(&m->types, t, qn_elem_plain(&m->types, t->elem->expressed));
}

/* Integers that are read as quantized values, or the other way round, between floats. */
static qn_id
reread(qn_graph *dst, const qn_graph *g, const qn_node *n, qn_id x)
{
	const qn_type *from = qn_graph_node(g, n->in[0])->type;
	const bool quantized = qn_elem_is_quant(n->type->elem);

	if (!quantized)
		x = qn_graph_op(dst, QN_OP_quantize, NULL, 1, &x, NULL, from);
	x = x != 0 ? qn_graph_op(dst, QN_OP_scast, n->name, 1, &x, NULL, n->type) : 0;
	return x != 0 && quantized ? qn_graph_op(dst, QN_OP_dequantize, NULL, 1, &x, NULL, NULL)
				   : x;
}

qn_status
qn_erase_quantization(qn_model *m, const qn_graph *g, bool all, qn_graph **out, qn_id **map_out)
{
	qn_graph *dst = qn_graph_new_in(m, g->name, m->scratch);
	qn_id *map = QN_NEW(m->scratch, qn_id, g->n);

	for (qn_id id = 1; id < g->n; id++) {
		qn_node n = *qn_graph_node(g, id);
		qn_id *in = QN_NEW(m->scratch, qn_id, n.nin);

		for (uint32_t i = 0; i < n.nin; i++)
			in[i] = map[n.in[i]];
		n.in = in;
		if (vanishes(g, qn_graph_node(g, id), all)) {
			map[id] = in[0];
			continue;
		}
		if (all && n.op == QN_OP_scast) {
			map[id] = reread(dst, g, qn_graph_node(g, id), in[0]);
			if (map[id] == 0)
				return QN_EINVALID;
			continue;
		}
		if (all && n.op == QN_OP_const && qn_elem_is_quant(n.type->elem)) {
			if (qn_elem_has_symbol(n.type->elem))
				return qn_report(
					m->env, QN_EINVALID, "calibrate.codes",
					qn_node_place(g, &n),
					"constant '%s' has quantized values of an unknown scale",
					n.name);
			n.value = qn_tensor_dequantize(&m->types, m->scratch, n.value,
						       real_type(m, n.type));
		}
		if (all && n.type->is_tuple)
			n.type = NULL; /* it follows */
		else if (all || (!n.type->is_tuple && qn_elem_has_symbol(n.type->elem)))
			n.type = real_type(m, n.type);
		map[id] = qn_graph_add(dst, &n);
		if (map[id] == 0)
			return QN_EINVALID;
	}
	qn_graph_copy_outputs(dst, g, map);
	*out = dst;
	*map_out = map;
	return QN_OK;
}

qn_status
qn_float_reference(qn_model *m, const qn_graph *g, const qn_graph **out, const qn_id **map_out)
{
	qn_graph *real = NULL;
	qn_id *map = NULL;

	if (m->nrepaired > 0 && m->unrepaired == NULL)
		return qn_report(
			m->env, QN_EINVALID, "repair.unknown", m->name,
			"the model was repaired before it was saved, and its file does not "
			"hold the float weights to compare with; start from the float model");
	QN_TRY(qn_erase_quantization(m, g, true, &real, &map));
	for (qn_id id = 1; id < g->n && m->unrepaired != NULL; id++)
		/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): set where there was no error */
		if (map[id] != 0)
			map[id] = qn_graph_find(m->unrepaired, qn_graph_node(real, map[id])->name);
	*out = m->unrepaired != NULL ? m->unrepaired : real;
	*map_out = map;
	return QN_OK;
}
