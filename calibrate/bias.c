/* SPDX-License-Identifier: Apache-2.0 */
/* bias.c - weight scales that leave room for the bias.
 *
 *   bias 0.5 with scale(x) = 1e-5 and scale(w)[3] = 1e-6: 5e10 does not fit i32; scale(w)[3] becomes 0.5 / (2^30 * 1e-5) = 4.66e-5 */
#include "calibrate/calibrate.h"

/* The quantize node of a weight that a bias shares its units with: the symbol in the product
 * that has no zero point and belongs to a constant. */
static qn_symbol *
weight_symbol(const qn_types *t, const qn_scale *s, const qn_symbol *data)
{
	const qn_scale *w = s->a->kind == QN_SCALE_SYM && s->a->sym != data ? s->a : s->b;

	return w->kind == QN_SCALE_SYM ? qn_symbol_find(t, w->sym->name) : NULL;
}

qn_status
qn_widen_bias_scales(qn_model *m, const qn_graph *g, const qn_graph *real, const qn_id *map)
{
	for (qn_id id = 1; id < g->n; id++) {
		const qn_node *n = qn_graph_node(g, id);
		qn_behaviour behaviour = qn_opinfo_of(n)->behaviour;

		if (behaviour != QN_ACC || n->nin != 3)
			continue;
		const qn_node *x = qn_graph_node(g, n->in[0]);
		const qn_node *q = qn_graph_node(g, n->in[2]);
		const qn_node *bias = qn_graph_node(real, map[n->in[2]]);
		if (q->op != QN_OP_quantize || bias->op != QN_OP_const ||
		    q->type->elem->scale->kind != QN_SCALE_MUL ||
		    x->type->elem->scale->kind != QN_SCALE_SYM || !x->type->elem->scale->sym->bound)
			continue;
		const qn_symbol *data = x->type->elem->scale->sym;
		qn_symbol *w = weight_symbol(&m->types, q->type->elem->scale, data);
		if (w == NULL || !w->bound)
			continue;
		size_t len = w->len > 0 ? (size_t)w->len : 1;
		double *scale = QN_NEW(m->scratch, double, len);
		for (size_t k = 0; k < len; k++)
			scale[k] = w->len > 0 ? w->vec->scale[k] : w->scale;
		if (qn_bias_raise_weight_scales(bias->value, q->type->elem->bits, data->scale, len,
						scale)) {
			w->bound = false; /* bound again, with the raised scales */
			QN_TRY(qn_symbol_bind(&m->types, q->name, w->name, len, scale, NULL));
		}
	}
	return QN_OK;
}
