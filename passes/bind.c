/* SPDX-License-Identifier: Apache-2.0 */
/* bind.c - puts the values that calibration found into the types.
 *
 *   %a = dense %x, %w : tensor<1x4x!quant.uniform<i32:f32:1, $fc.w*$fc.x>>
 *   -> tensor<1x4x!quant.uniform<i32:f32:1, 1.000000e-02*{3.000000e-02,…}>>
 *
 * requires: a symbolic graph whose symbols are bound.   leaves: a calibrated graph. */
#include "ir/diag.h"
#include "passes/passes.h"
#include "patterns/rewrite.h"

static qn_status
report_scale(qn_model *m, const qn_scale *s)
{
	if (s->kind == QN_SCALE_SYM && !s->sym->bound)
		return qn_report(m->env, QN_EINVALID, "bind.unbound", m->name,
				 "symbol $%s has no value; calibrate the model first",
				 s->sym->name);
	qn_status a = s->a != NULL ? report_scale(m, s->a) : QN_OK;
	qn_status b = s->b != NULL ? report_scale(m, s->b) : QN_OK;

	return a != QN_OK ? a : b;
}

/* Names the symbols of a type that have no value. */
static qn_status
report_unbound(qn_model *m, const qn_type *t)
{
	qn_status status = QN_OK;

	for (uint32_t i = 0; t->is_tuple && i < t->nfield; i++)
		if (report_unbound(m, t->field[i]) != QN_OK)
			status = QN_EINVALID;
	if (!t->is_tuple && t->elem->kind == QN_ELEM_UNIFORM)
		status = report_scale(m, t->elem->scale);
	return status;
}

qn_status
qn_bind(qn_model *m)
{
	const qn_graph *g = qn_model_entry(m);
	qn_graph *dst;
	qn_status status = QN_OK;

	if (m->stage != QN_STAGE_SYMBOLIC)
		return qn_report(m->env, QN_EINVALID, "pass.stage", m->name,
				 "bind takes a symbolic graph; this one is %s",
				 qn_stage_names[m->stage]);
	for (qn_id id = 1; id < g->n; id++)
		if (report_unbound(m, qn_graph_node(g, id)->type) != QN_OK)
			status = QN_EINVALID;
	QN_TRY(status);
	QN_TRY(qn_graph_bind(g, m->graphs, &dst));
	dst->parts = NULL; /* of no use once all symbols have values */
	qn_model_set_graph(m, dst);
	m->stage = QN_STAGE_CALIBRATED;
	return QN_OK;
}
