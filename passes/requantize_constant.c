/* SPDX-License-Identifier: Apache-2.0 */
/* requantize_constant.c - constants are quantized, and weights make room for their bias.
 *
 *   quantize(const)                               ->  quantized const
 *   dense(x, quantize(w), quantize(b)), |b| over 2^30 in units of scale(x) * scale(w)[o]
 *                                                 ->  the same with scale(w)[o] raised until it is 2^30
 *
 * Those that are quantized already keep theirs, unless the bias would not fit (requantize_room.c). */
#include <string.h>

#include "ir/diag.h"
#include "passes/requantize.h"
#include "runtime/interp.h"

/* Of 64 bits; beyond it quantization saturates (qn_quantize_value). */
#define MOST_BIAS (INT64_C(1) << 40)

/* quantize(const) -> const */
qn_id
qn_rqz_fold(qn_rw *rw, const qn_match *m)
{
	const qn_node *q = qn_rw_node(rw, m->root);
	const qn_node *c = qn_rw_node(rw, m->at[X]);
	const char *name = qn_rw_name(rw, m->at[X]) != NULL ? qn_rw_name(rw, m->at[X]) : "const";
	qn_model *model = qn_rw_model(rw);
	qn_tensor *quantized = qn_tensor_quantize(&model->types, model->arena, c->value, q->type);

	if (model->env->unneeded != NULL)
		model->env->unneeded(model->env, c->value->data, c->value->bytes);
	for (int64_t i = 0; q->type->elem->bits >= 32 && i < qn_type_count(q->type); i++) {
		int64_t code = qn_tensor_i64(quantized, i);
		bool wide = q->type->elem->bits > 32;

		if (code > (wide ? -MOST_BIAS : q->type->elem->qmin) &&
		    code < (wide ? MOST_BIAS : q->type->elem->qmax))
			continue;
		double step;
		int64_t zp;
		qn_elem_param(&model->types, q->type->elem,
			      qn_elem_nparams(q->type->elem) > 1 ? (size_t)i : 0, &step, &zp);
		qn_rw_fail(rw, qn_report(model->env, QN_EINVALID, "requantize.bias-range", name,
					 "bias '%s', element %lld = %g does not fit %d bits in "
					 "units of the accumulator's scale %g; "
					 "the weights of that channel are tiny, or the scale of "
					 "the data is: raise them, or remove the channel",
					 name, (long long)i, qn_tensor_f64(c->value, i),
					 wide ? 40 : 32, step));
		return 0;
	}
	return qn_rw_const(rw, name, quantized);
}

/* scast(const), clamp(const) -> const: weights that a file limits to fewer integers, as Brevitas does */
qn_id
qn_rqz_fold_integers(qn_rw *rw, const qn_match *m)
{
	qn_model *model = qn_rw_model(rw);
	const qn_node *n = qn_rw_node(rw, m->root);
	const qn_tensor *in = qn_rw_node(rw, m->at[X])->value;
	qn_tensor *value;

	if (n->op == QN_OP_clamp && n->type->elem->gran != QN_PER_TENSOR)
		return qn_rw_decline(rw, "its values have several scales");
	const qn_status status = qn_eval_node(qn_rw_graph(rw), n, &in, model->arena, &value);
	if (status != QN_OK) {
		qn_rw_fail(rw, status);
		return 0;
	}
	return qn_rw_const(rw, qn_rw_name(rw, m->root), value);
}

/* ---- room for the bias ---- */

static bool
is_quantized_const(const qn_graph *g, qn_id id)
{
	const qn_node *q = qn_graph_node(g, id);

	return q->op == QN_OP_quantize && qn_graph_node(g, q->in[0])->op == QN_OP_const;
}

/* The scales of the weights of accumulating node n that leave room for its bias; NULL when those
 * that they have do, or when they cannot be changed. */
static double *
roomy_scales(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	const qn_types *t = &g->model->types;
	double sx;
	int64_t zp;

	if (qn_opinfo_of(n)->behaviour != QN_ACC || n->nin != 3 ||
	    !is_quantized_const(g, n->in[1]) || !is_quantized_const(g, n->in[2]))
		return NULL;
	const qn_elem *x = qn_graph_node(g, n->in[0])->type->elem;
	const qn_elem *w = qn_graph_node(g, n->in[1])->type->elem;
	const qn_tensor *bias = qn_graph_node(g, qn_graph_node(g, n->in[2])->in[0])->value;
	const int bits = qn_graph_node(g, n->in[2])->type->elem->bits;
	if (x->gran != QN_PER_TENSOR || w->gran == QN_SUB_CHANNEL)
		return NULL;
	double *scale = QN_NEW(a, double, qn_elem_nparams(w));
	qn_elem_param(t, x, 0, &sx, &zp);
	for (size_t k = 0; k < qn_elem_nparams(w); k++)
		qn_elem_param(t, w, k, &scale[k], &zp);
	return qn_bias_raise_weight_scales(bias, bits, sx, qn_elem_nparams(w), scale) ? scale
										      : NULL;
}

const qn_elem *
qn_rqz_with_scales(qn_types *t, const qn_elem *w, double *scale)
{
	const qn_params *params = NULL;
	const qn_elem *made = NULL;
	qn_elem e = *w;
	size_t n = qn_elem_nparams(w);

	for (size_t k = 0; k < n; k++)
		scale[k] = qn_round_to(QN_PLAIN_f32, scale[k]);
	if (w->gran == QN_PER_TENSOR)
		e.scale = qn_scale_const(t, scale[0]);
	else if (qn_params_intern(t, "weights", NULL, n, 1, NULL, scale, NULL, &params) == QN_OK)
		e.scale = qn_scale_vec(t, params);
	else
		return NULL;
	return qn_elem_make(t, "weights", &e, &made) == QN_OK ? made : NULL;
}

/* dequantize(acc(x, quantize(w), quantize(b))) with larger weight scales */
static qn_id
widen(qn_rw *rw, const qn_match *m)
{
	qn_types *t = &qn_rw_model(rw)->types;
	const qn_node *acc = qn_rw_node(rw, m->at[OP]);
	qn_op op = acc->op;
	const qn_attrs *attr = acc->attr;
	double *scale = roomy_scales(qn_rw_graph(rw), acc, qn_rw_model(rw)->scratch);
	qn_id in[3];
	const qn_elem *b = NULL;

	if (scale == NULL)
		return 0;
	memcpy(in, acc->in, sizeof in);
	const qn_elem *x = qn_rw_node(rw, in[0])->type->elem;
	const qn_elem *w = qn_rqz_with_scales(t, qn_rw_node(rw, in[1])->type->elem, scale);
	qn_elem e = *qn_rw_node(rw, in[2])->type->elem;
	if (w != NULL)
		e.scale = qn_scale_op(t, QN_SCALE_MUL, x->scale, w->scale);
	if (w == NULL || qn_elem_make(t, "bias", &e, &b) != QN_OK) {
		qn_rw_fail(rw, QN_EINVALID);
		return 0;
	}
	in[1] = qn_rqz_quantize(rw, qn_rw_node(rw, in[1])->in[0], w, qn_rw_name(rw, in[1]));
	in[2] = qn_rqz_quantize(rw, qn_rw_node(rw, in[2])->in[0], b, qn_rw_name(rw, in[2]));
	qn_id y = qn_rw_add(rw, op, qn_rw_name(rw, m->at[OP]), 3, in, attr, NULL);
	return qn_rw_add(rw, QN_OP_dequantize, qn_rw_name(rw, m->root), 1, &y, NULL, NULL);
}

static const qn_rule rules[] = {
	{"bias-room", QN_P_OP(dequantize, ROOT, QN_P_ARGS(QN_P_CLASS(QN_ACC, OP))), widen},
};

qn_status
qn_rqz_raise_weight_scales(qn_model *m, qn_graph *g, qn_graph **out)
{
	bool narrow = false;

	for (qn_id id = 1; id < g->n && !narrow; id++)
		narrow = roomy_scales(g, qn_graph_node(g, id), m->scratch) != NULL;
	*out = g;
	return narrow ? qn_rewrite(m, g, rules, QN_COUNT(rules), NULL, out) : QN_OK;
}
