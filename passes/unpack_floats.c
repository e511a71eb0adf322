/* SPDX-License-Identifier: Apache-2.0 */
/* unpack_floats.c - constants that are stored as floats of 8 or 4 bits become f32.
 *
 *   dequantize(const <f8E4M3FN:f32:0, {…}>)   ->   const f32, exactly
 *
 * requires: a graph whose types the verifier accepts: nothing but dequantize reads such a constant.
 * leaves: the same stage, the same values. */
#include "passes/passes.h"
#include "patterns/rewrite.h"

enum { ROOT, X };

static qn_id
unpack(qn_rw *rw, const qn_match *m)
{
	qn_model *model = qn_rw_model(rw);
	const qn_node *c = qn_rw_node(rw, m->at[X]);

	if (c->type->elem->small == QN_SMALL_NONE)
		return qn_rw_decline(rw, "its values are integers");
	return qn_rw_const(rw, qn_rw_name(rw, m->at[X]),
			   qn_tensor_dequantize(&model->types, model->arena, c->value,
						qn_rw_node(rw, m->root)->type));
}

static const qn_rule rules[] = {
	{"unpack-floats", QN_P_OP(dequantize, ROOT, QN_P_ARGS(QN_P_CONST(X))), unpack},
};

qn_status
qn_unpack_floats(qn_model *m, qn_graph *g, qn_graph **out)
{
	bool any = false;

	*out = g;
	for (qn_id id = 1; id < g->n; id++) {
		const qn_node *n = qn_graph_node(g, id);

		any = any || (n->op == QN_OP_const && n->type->elem->small != QN_SMALL_NONE);
	}
	return any ? qn_rewrite(m, g, rules, QN_COUNT(rules), NULL, out) : QN_OK;
}
