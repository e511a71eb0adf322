/* SPDX-License-Identifier: Apache-2.0 */
/* align.c - rounds all scales to few bits, so that integers replace multipliers.
 *
 *   %y = add %a, %b                             %y = add %a, %b {align=8}
 *   a: scale 5.000000e-02        ->             a: scale 5.004883e-02 = 205 * 2^-12
 *   b: scale 3.000000e-01                       b: scale 3.007813e-01 = 154 * 2^-9
 *
 * Quantized activations stay and stand for a little more or less, at most by 2^-BITS; constants are
 * rounded again, to the nearest.  Sums of two aligned operands are exact integers.
 *
 * requires: a calibrated graph, as requantize leaves it.   leaves: a calibrated graph. */
#include <math.h>

#include "ir/diag.h"
#include "passes/passes.h"
#include "patterns/rewrite.h"
#include "runtime/align.h"

/* x quantized with the parameters of the type `to`. */
static const qn_tensor *
recode(qn_model *m, const qn_tensor *x, const qn_type *to)
{
	const qn_types *t = &m->types;
	const qn_elem *e = to->elem;
	int64_t idx[QN_MAX_RANK] = {0};
	void *data;
	qn_tensor *out = qn_tensor_new(m->arena, to, &data);

	for (int64_t i = 0; i < qn_type_count(to); i++) {
		size_t k = e->gran == QN_PER_TENSOR ? 0 : qn_type_param_index(to, idx);
		int64_t code = qn_tensor_i64(x, i), zp;
		double was, is;

		qn_elem_param(t, x->type->elem, k, &was, &zp);
		qn_elem_param(t, e, k, &is, &zp);
		if (was < is || was > is)
			code = qn_quantize_value(qn_dequantize_value(code, was, false, zp), is,
						 false, zp, e->qmin, e->qmax);
		qn_store_i64(data, e->plain, i, code);
		for (int32_t d = to->rank - 1; d >= 0 && ++idx[d] == to->dim[d]; d--)
			idx[d] = 0;
	}
	return out;
}

/* Whether a requantize brings quantized values, maybe of several scales, to one scale. */
static bool
aligns(const qn_graph *dst, const qn_node *n)
{
	const qn_types *t = &dst->model->types;
	const qn_type *in = n->op == QN_OP_requantize ? qn_graph_node(dst, n->in[0])->type : NULL;

	return in != NULL && in->elem->bits <= 16 && qn_elem_is_shifted(t, in->elem) &&
	       in->elem->gran <= QN_PER_AXIS && qn_elem_is_shifted(t, n->type->elem) &&
	       n->type->elem->gran == QN_PER_TENSOR && qn_type_count(n->type) >= 0;
}

/* Says how many bits of the finest channel are shifted out. */
static void
warn_of_channels(const qn_graph *g, const qn_node *n, qn_id x, int32_t bits)
{
	const qn_type *type = qn_graph_node(g, x)->type;
	const int32_t count = (int32_t)qn_elem_nparams(type->elem);
	int32_t *table = QN_NEW(g->model->scratch, int32_t, 3 * (size_t)count);
	const qn_align_channels to = qn_align_type(g, type, bits, count, table);

	if (to.loss > 0)
		qn_warn(g->model->env, "align.loss", qn_node_place(g, n),
			"%s '%s': the scales of the channels of '%s' are so far apart that the "
			"smallest loses %d bits; use fewer bits (--align)",
			qn_opinfo_of(n)->name, n->name, qn_graph_node(g, x)->name, (int)to.loss);
}

static bool
is_fixed_quantized(const qn_graph *g, qn_id id, int32_t bits)
{
	const qn_type *type = qn_graph_node(g, id)->type;
	double scale;
	int64_t zp;

	if (type->is_tuple || type->elem->kind != QN_ELEM_UNIFORM ||
	    type->elem->gran != QN_PER_TENSOR || !qn_elem_in_family(&g->model->types, type->elem))
		return false;
	qn_elem_param(&g->model->types, type->elem, 0, &scale, &zp);
	return qn_is_fixed(scale, bits);
}

/* Says when one operand is so much smaller than the other that bits of it are shifted out. */
static void
warn_of_loss(const qn_graph *g, const qn_node *n, const qn_id *in, int32_t bits)
{
	double scale[2];
	int64_t zp;

	for (int i = 0; i < 2; i++)
		qn_elem_param(&g->model->types, qn_graph_node(g, in[i])->type->elem, 0, &scale[i],
			      &zp);
	const qn_align to = qn_align_scales(scale[0], scale[1], bits,
					    qn_family_of(qn_graph_node(g, in[0])->type->elem));
	if (to.loss > 0)
		qn_warn(g->model->env, "align.loss", qn_node_place(g, n),
			"%s '%s': the scales %g and %g are so far apart that the smaller operand "
			"loses %d bits; use fewer bits (--align)",
			qn_opinfo_of(n)->name, n->name, scale[0], scale[1], (int)to.loss);
}

/* A requantize whose types have become equal. */
static bool
is_idle(const qn_graph *dst, const qn_node *n, const qn_id *in, const qn_type *type)
{
	qn_attrs defaults;

	if (n->op != QN_OP_requantize || qn_graph_node(dst, in[0])->type != type)
		return false;
	qn_attrs_default(QN_ATTRS(requantize), &defaults);
	return qn_attrs_equal(QN_ATTRS(requantize), n->attr, &defaults);
}

/* Scales of blocks stay: requantize has made them integers of one power of two for each channel, which the accumulator
 * has as its unit. */
static const qn_type *
fixed_type(qn_types *t, const qn_graph *g, const qn_node *n, int32_t bits)
{
	if (!n->type->is_tuple && n->type->elem->gran == QN_SUB_CHANNEL)
		return n->type;
	return qn_type_fix(t, qn_node_place(g, n), n->type, bits);
}

/* Node n of g for the new graph.  0 after an error. */
static qn_id
copy(qn_graph *dst, const qn_graph *g, const qn_node *n, const qn_id *map, int32_t bits)
{
	qn_model *m = g->model;
	qn_node like = *n;
	qn_id *in = QN_NEW(m->scratch, qn_id, n->nin);
	qn_attrs attr;

	for (uint32_t i = 0; i < n->nin; i++)
		if ((in[i] = map[n->in[i]]) == 0)
			return 0;
	like.in = in;
	like.type = fixed_type(&m->types, g, n, bits);
	if (like.type == NULL)
		return 0;
	if (is_idle(dst, n, in, like.type))
		return in[0];
	if (n->op == QN_OP_const && like.type != n->type)
		like.value = recode(m, n->value, like.type);
	if (qn_opinfo_of(n)->attrs == QN_ATTRS(sum) && is_fixed_quantized(dst, in[0], bits) &&
	    is_fixed_quantized(dst, in[1], bits) && like.type->elem->gran == QN_PER_TENSOR) {
		attr.sum.align = bits;
		like.attr = &attr;
		warn_of_loss(dst, n, in, bits);
	}
	if (aligns(dst, &like)) {
		attr.requantize = n->attr->requantize;
		attr.requantize.align = bits;
		like.attr = &attr;
		warn_of_channels(dst, n, in[0], bits);
	}
	return qn_graph_add(dst, &like);
}

qn_status
qn_align_model(qn_model *m, int32_t bits)
{
	const qn_graph *g = qn_model_entry(m);
	qn_graph *dst = qn_graph_new_in(m, g->name, m->scratch); /* swept at the end */
	qn_id *map = QN_NEW(m->scratch, qn_id, g->n);
	qn_status status = QN_OK;

	if (m->stage != QN_STAGE_CALIBRATED)
		return qn_report(m->env, QN_EINVALID, "pass.stage", m->name,
				 "align takes a calibrated graph; this one is %s",
				 qn_stage_names[m->stage]);
	for (qn_id id = 1; id < g->n; id++)
		if ((map[id] = copy(dst, g, qn_graph_node(g, id), map, bits)) == 0)
			status = QN_EINVALID;
	QN_TRY(status);
	qn_graph_copy_outputs(dst, g, map);
	QN_TRY(qn_graph_sweep(m, dst, NULL, &dst));
	qn_model_set_graph(m, dst);
	return QN_OK;
}
