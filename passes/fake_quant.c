/* SPDX-License-Identifier: Apache-2.0 */
/* fake_quant.c - const_fake_quant becomes the pair that it stands for.
 *
 *   %y = const_fake_quant %x {min=0.0, max=6.0}   ->   %q = quantize %x : …<u8:f32, 6/255>
 *                                                      %y = dequantize %q
 *
 * The pair stays: dequantize(quantize(x)) is not x.  requantize fuses it with its neighbours, as it does
 * with the pairs of a quantized file, whose parameters these are.
 *
 * requires: a float or calibrated graph.   leaves: a calibrated graph where there was one such node. */
#include "ir/fake_quant.h"
#include "passes/passes.h"
#include "patterns/rewrite.h"

enum { ROOT };

static qn_id
to_pair(qn_rw *rw, const qn_match *m)
{
	const qn_node *n = qn_rw_node(rw, m->root);
	qn_types *t = &qn_rw_model(rw)->types;
	const qn_elem *e = qn_fake_quant_elem(t, n);

	if (e == NULL) {
		qn_rw_fail(rw, QN_EINVALID);
		return 0;
	}
	const qn_id q = qn_rw_add(rw, QN_OP_quantize, NULL, 1, &n->in[0], NULL,
				  qn_type_with_elem(t, n->type, e));
	return q != 0 ? qn_rw_add(rw, QN_OP_dequantize, qn_rw_name(rw, m->root), 1, &q, NULL, NULL)
		      : 0;
}

static const qn_rule rules[] = {{"fake-quant", QN_P_OPN(const_fake_quant, ROOT), to_pair}};

bool
qn_has_op(const qn_model *m, qn_op op)
{
	for (size_t i = 0; i < m->ngraph; i++)
		for (qn_id id = 1; id < m->graph[i]->n; id++)
			if (qn_graph_node(m->graph[i], id)->op == op)
				return true;
	return false;
}

qn_status
qn_fake_quant(qn_model *m)
{
	if (!qn_has_op(m, QN_OP_const_fake_quant))
		return QN_OK;
	for (size_t i = 0; i < m->ngraph; i++)
		QN_TRY(qn_rewrite(m, m->graph[i], rules, QN_COUNT(rules), NULL, &m->graph[i]));
	if (m->stage == QN_STAGE_FLOAT)
		m->stage = QN_STAGE_CALIBRATED;
	return QN_OK;
}
