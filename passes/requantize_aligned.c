/* SPDX-License-Identifier: Apache-2.0 */
/* requantize_aligned.c - values with a scale for each channel where one scale is needed.
 *
 *   dense(dequantize {axis 1}(x), w)              ->  dense(dequantize(requantize {i16}(x)), w)
 *   quantize {axis 2}(layer_norm(dequantize(y)))  ->  requantize {axis 2}(layer_norm {i16}(…))
 *
 * All channels are brought to one scale of 16 bits, a power of two that holds the widest of them:
 * its step is at most 2^-14 of that range, whatever the channel. */
#include <math.h>

#include "passes/requantize.h"
#include "runtime/impls.h"

bool
qn_rqz_has_channels(const qn_elem *e)
{
	return e->kind == QN_ELEM_UNIFORM && e->bits <= 16 && e->gran == QN_PER_AXIS;
}

/* The largest absolute value that a type holds. */
static double
reach_of(const qn_types *t, const qn_elem *e)
{
	double reach = 0, scale;
	int64_t zp;

	for (size_t i = 0; i < qn_elem_nparams(e); i++) {
		qn_elem_param(t, e, i, &scale, &zp);
		reach = fmax(reach, scale * (double)(e->qmax - zp));
		reach = fmax(reach, scale * (double)(zp - e->qmin));
	}
	return reach;
}

const qn_elem *
qn_rqz_aligned_elem(qn_types *t, const qn_elem *e)
{
	/* fixed-point scales (align) are larger by up to 2^-8 */
	const double room = 1 + ldexp(1, -QN_FIX_LEAST);
	qn_elem d = qn_elem_desc(16, true);
	const qn_elem *made = NULL;
	int power;

	if (!qn_rqz_has_channels(e))
		return e;
	(void)frexp(reach_of(t, e) * room / (double)d.qmax, &power);
	d.expressed = e->expressed;
	d.scale = qn_scale_const(t, ldexp(1, power));
	return qn_elem_make(t, "aligned", &d, &made) == QN_OK ? made : NULL;
}

/* A constant in one scale. */
static qn_id
aligned_const(qn_rw *rw, qn_id x, const qn_type *to)
{
	qn_model *m = qn_rw_model(rw);
	const qn_tensor *from = qn_rw_node(rw, x)->value;
	const qn_type *real =
		qn_type_with_elem(&m->types, to, qn_elem_plain(&m->types, QN_PLAIN_f32));
	void *data, *back;
	qn_tensor *value = qn_tensor_new(m->scratch, real, &data);
	qn_tensor *y = qn_tensor_new(m->arena, to, &back);

	qn_dequantize_into(&m->types, from, QN_PLAIN_f32, data);
	qn_quantize_into(&m->types, value, to, back);
	return qn_rw_const(rw, qn_rw_name(rw, x), y);
}

qn_id
qn_rqz_aligned(qn_rw *rw, qn_id x)
{
	qn_types *t = &qn_rw_model(rw)->types;
	const qn_node *n = x != 0 ? qn_rw_node(rw, x) : NULL;

	if (n == NULL || !qn_rqz_has_channels(n->type->elem))
		return x;
	const qn_elem *e = qn_rqz_aligned_elem(t, n->type->elem);
	if (e == NULL)
		return 0;
	const qn_type *to = qn_type_with_elem(t, n->type, e);
	if (n->op == QN_OP_const && qn_type_count(to) >= 0)
		return aligned_const(rw, x, to);
	return qn_rw_add(rw, QN_OP_requantize, qn_rw_derived_name(rw, x, "aligned"), 1, &x, NULL,
			 to);
}

const qn_elem *
qn_rqz_unit_elem(qn_rw *rw, qn_id x, const qn_elem *e)
{
	qn_types *t = &qn_rw_model(rw)->types;
	qn_elem d = *e;
	const qn_elem *made = NULL;
	double scale;
	int64_t zp;

	if (!qn_rqz_has_channels(e) || qn_channel_from_end(qn_rw_node(rw, x)->type) > 1)
		return NULL;
	qn_elem_param(t, e, 0, &scale, &d.zp);
	for (size_t i = 1; i < qn_elem_nparams(e); i++) {
		qn_elem_param(t, e, i, &scale, &zp);
		if (zp != d.zp)
			return NULL;
	}
	d.scale = qn_scale_const(t, 1);
	d.gran = QN_PER_TENSOR;
	d.naxis = 0;
	d.axis = NULL;
	return qn_elem_make(t, "channels", &d, &made) == QN_OK ? made : NULL;
}

/* quantize {axis}(move(y)) -> requantize {axis}(quantize {i16}(move(y))), whose quantize moves up */
qn_id
qn_rqz_align_result(qn_rw *rw, const qn_match *m)
{
	const qn_node *q = qn_rw_node(rw, m->root);
	const qn_type *type = q->type;
	const qn_elem *e = qn_rqz_has_channels(type->elem)
				   ? qn_rqz_aligned_elem(&qn_rw_model(rw)->types, type->elem)
				   : NULL;

	if (e == NULL || !qn_rqz_ends(rw, m->at[OP]))
		return qn_rw_decline(rw, "one scale, or no quantized values are at the other end");
	qn_id y = qn_rqz_quantize(rw, m->at[OP], e, qn_rw_derived_name(rw, m->root, "aligned"));
	return y == 0 ? 0
		      : qn_rw_add(rw, QN_OP_requantize, qn_rw_name(rw, m->root), 1, &y, NULL, type);
}
