/* SPDX-License-Identifier: Apache-2.0 */
/* requantize_norm.c - a batch norm after a product of quantized values is folded into the scales of its
 * weights.
 *
 *   batch_norm(dequantize(conv2d(x, w, b)))  ->  dequantize(conv2d(x, w', b'))
 *
 * With f = gamma / sqrt(var + eps): w' has the values of w, where f is negative with the other sign, and
 * the scales s_w abs(f); b' = b f + beta - mean f in the new accumulator's steps.  A channel whose bias
 * would not fit gets a larger scale, and its weights are rounded to it.  A -128 that changes its sign is
 * 127 less a zero point of -1, which requantize_weights.c takes.
 *
 *   batch_norm(dequantize(x))                       ->  bias_add(conv2d(dequantize(x), w), b)     no product is before it
 *   layer_norm(x, w, dequantize(const i32))         ->  layer_norm(x, w, const)                    parameters in another form */
#include <math.h>

#include "passes/batch_norm.h"
#include "passes/requantize_gaps.h"

enum { BN_GAMMA = 1, BN_BETA, BN_MEAN, BN_VAR, BN_INPUTS };

/* Parameters of a normalization that a file stores in a form that its integer arithmetic does not take (an i32 bias; of
 * a batch norm all, for they go into weights) are constants in float, which get another one. */
qn_id
qn_rqz_norm_parameters(qn_rw *rw, const qn_match *m)
{
	const qn_node *n = qn_rw_node(rw, m->root);
	qn_model *model = qn_rw_model(rw);
	qn_id *in = qn_arena_copy(model->scratch, n->in, n->nin * sizeof *in);
	const bool all = n->op == QN_OP_batch_norm;
	const uint32_t nin = n->nin;
	bool any = false;

	for (uint32_t i = 1; i < nin; i++) {
		const qn_node *dq = qn_rw_node(rw, in[i]);
		const qn_type *real = dq->type;

		if (dq->op != QN_OP_dequantize || !qn_type_is_f32(real) ||
		    qn_rw_node(rw, dq->in[0])->op != QN_OP_const)
			continue;
		if (!all && qn_rqz_supports(qn_rw_node(rw, dq->in[0])->type->elem))
			continue;
		const qn_id stored = dq->in[0];
		in[i] = qn_rw_const(rw, qn_rw_name(rw, stored),
				    qn_tensor_dequantize(&model->types, model->arena,
							 qn_rw_node(rw, stored)->value, real));
		if (in[i] == 0)
			return 0;
		any = true;
	}
	return any ? again(rw, m->root, in)
		   : qn_rw_decline(rw, "its parameters are not constants stored in another form");
}

/* Without a layer before it, whose weights could take it in. */
static qn_id
alone(qn_rw *rw, qn_id id)
{
	const qn_node *bn = qn_rw_node(rw, id);
	const qn_type *t = bn->type;
	bool parameters = true;

	for (int i = BN_GAMMA; i < BN_INPUTS; i++)
		parameters = parameters && is_float_const(rw, bn->in[i]);
	if (!parameters || !fills(rw) || !qn_type_is_f32(t) || qn_type_count(t) <= 0 ||
	    qn_rqz_skipped(rw, id))
		return qn_rw_decline(
			rw, "no layer with constant weights and no other user is before it");
	return qn_batch_norm_conv(rw, id);
}

/* The layer before a batch norm whose weights and parameters are constants, without other readers; 0: none. */
static qn_id
layer_of(const qn_rw *rw, const qn_node *bn)
{
	const qn_node *dq = qn_rw_node(rw, bn->in[0]);
	const qn_node *acc = dq->op == QN_OP_dequantize ? qn_rw_node(rw, dq->in[0]) : NULL;

	for (int i = BN_GAMMA; i < BN_INPUTS; i++)
		if (qn_rw_node(rw, bn->in[i])->op != QN_OP_const ||
		    !qn_type_is_f32(qn_rw_node(rw, bn->in[i])->type))
			return 0;
	if (acc == NULL || qn_opinfo_of(acc)->behaviour != QN_ACC || acc->op == QN_OP_matmul ||
	    qn_rw_uses(rw, bn->in[0]) != 1 || qn_rw_node(rw, acc->in[1])->op != QN_OP_const ||
	    qn_rw_node(rw, acc->in[1])->type->elem->gran == QN_SUB_CHANNEL ||
	    (acc->nin > 2 && qn_rw_node(rw, acc->in[2])->op != QN_OP_const))
		return 0;
	return dq->in[0];
}

/* What becomes of one channel. */
typedef struct channel {
	double factor, bias, old, scale; /* scales of the weights before and after */
	int64_t zp;
} channel;

static channel *
channels_of(qn_rw *rw, const qn_node *bn, const qn_node *acc)
{
	const qn_types *t = &qn_rw_model(rw)->types;
	const qn_node *w = qn_rw_node(rw, acc->in[1]);
	const int bits = acc->type->elem->bits;
	const int64_t n = w->type->dim[0];
	channel *c = QN_NEW(qn_rw_model(rw)->scratch, channel, (size_t)n);
	const qn_tensor *v[BN_INPUTS];
	double sx, step;
	int64_t zp;

	for (int i = BN_GAMMA; i < BN_INPUTS; i++)
		v[i] = qn_rw_node(rw, bn->in[i])->value;
	qn_elem_param(t, qn_rw_node(rw, acc->in[0])->type->elem, 0, &sx, &zp);
	for (int64_t k = 0; k < n; k++) {
		const bool one = w->type->elem->gran == QN_PER_TENSOR;

		c[k].factor = qn_tensor_f64(v[BN_GAMMA], k) /
			      sqrt(qn_tensor_f64(v[BN_VAR], k) + bn->attr->batch_norm.epsilon);
		c[k].bias =
			qn_tensor_f64(v[BN_BETA], k) - qn_tensor_f64(v[BN_MEAN], k) * c[k].factor;
		qn_elem_param(t, acc->type->elem,
			      acc->type->elem->gran == QN_PER_TENSOR ? 0 : (size_t)k, &step, &zp);
		if (acc->nin > 2)
			c[k].bias += c[k].factor * step *
				     (double)qn_tensor_i64(qn_rw_node(rw, acc->in[2])->value, k);
		qn_elem_param(t, w->type->elem, one ? 0 : (size_t)k, &c[k].old, &zp);
		c[k].scale = fmax(c[k].old * fabs(c[k].factor),
				  qn_bias_min_weight_scale(c[k].bias, sx, bits));
		if (!(c[k].scale > 0x1p-100))
			c[k].scale = c[k].old;
		c[k].scale = qn_round_to(QN_PLAIN_f32, c[k].scale);
	}
	return c;
}

/* i8 with the channels' scales along axis 0, and their zero points if there are any. */
static const qn_elem *
scaled_elem(qn_rw *rw, const qn_elem *w, const channel *c, int64_t n)
{
	qn_types *t = &qn_rw_model(rw)->types;
	double *scale = QN_NEW(t->arena, double, (size_t)n);
	int64_t *zp = QN_NEW(t->arena, int64_t, (size_t)n);
	const qn_params *vec = NULL;
	const qn_elem *e = NULL;
	const int32_t axis = 0;
	qn_elem d = qn_elem_desc(8, true);
	bool any = false;

	for (int64_t k = 0; k < n; k++) {
		scale[k] = c[k].scale;
		zp[k] = c[k].zp;
		any = any || zp[k] != 0;
	}
	if (qn_params_intern(t, "weights", NULL, (size_t)n, 1, NULL, scale, any ? zp : NULL,
			     &vec) != QN_OK)
		return NULL;
	d.expressed = w->expressed;
	d.gran = QN_PER_AXIS;
	d.naxis = 1;
	d.axis = (int32_t *)(uintptr_t)&axis;
	d.scale = qn_scale_vec(t, vec);
	return qn_elem_make(t, "weights", &d, &e) == QN_OK ? e : NULL;
}

/* Weight i less its zero point, in steps of its channel's scale. */
static double
scaled_weight(const qn_node *w, const channel *k, int64_t i)
{
	return rint((double)qn_tensor_i64(w->value, i) * k->old * k->factor / k->scale);
}

/* Gives channels with a weight of 128 a zero point; false: one does not fit even so. */
static bool
make_room(const qn_node *w, channel *c)
{
	const int64_t n = w->type->dim[0], each = n > 0 ? qn_type_count(w->type) / n : 0;

	for (int64_t i = 0; i < n * each; i++) {
		const double code = scaled_weight(w, &c[i / each], i);

		if (!(code > -128.5 && code < 128.5))
			return false;
		if (code > 127.5)
			c[i / each].zp = -1;
	}
	for (int64_t i = 0; i < n * each; i++)
		if (c[i / each].zp != 0 && scaled_weight(w, &c[i / each], i) < -127.5)
			return false;
	return true;
}

static qn_tensor *
scaled_weights(qn_rw *rw, const qn_node *w, const qn_elem *e, const channel *c)
{
	qn_model *m = qn_rw_model(rw);
	const int64_t n = w->type->dim[0], each = n > 0 ? qn_type_count(w->type) / n : 0;
	void *data;
	qn_tensor *to = qn_tensor_new(m->arena, qn_type_with_elem(&m->types, w->type, e), &data);

	for (int64_t i = 0; i < n * each; i++)
		qn_store_i64(data, QN_PLAIN_i8, i,
			     (int64_t)scaled_weight(w, &c[i / each], i) + c[i / each].zp);
	return to;
}

qn_id
qn_rqz_batch_norm(qn_rw *rw, const qn_match *m)
{
	qn_model *model = qn_rw_model(rw);
	const qn_node *bn = qn_rw_node(rw, m->root);
	const char *name = qn_rw_name(rw, m->root);
	const qn_id id = layer_of(rw, bn);
	void *data;

	if (id == 0)
		return alone(rw, m->root);
	const qn_node *acc = qn_rw_node(rw, id), *w = qn_rw_node(rw, acc->in[1]);
	const int64_t n = w->type->dim[0];
	if (bn->type->rank < 1 || bn->type->dim[bn->type->rank - 1] != n || n < 1)
		return qn_rw_decline(rw, "its channels differ from those of the layer");
	channel *c = channels_of(rw, bn, acc);
	const qn_elem *scales = scaled_elem(rw, w->type->elem, c, n);
	const qn_elem *e =
		scales != NULL && make_room(w, c) ? scaled_elem(rw, w->type->elem, c, n) : NULL;
	if (e == NULL)
		return qn_rw_decline(rw, "a weight would have more than 8 bits");
	qn_tensor *weights = scaled_weights(rw, w, e, c);
	qn_tensor *bias = qn_tensor_new(model->arena,
					qn_type_plain(&model->types, QN_PLAIN_f32, 1, &n), &data);
	for (int64_t k = 0; k < n; k++)
		qn_store_f64(data, QN_PLAIN_f32, k, c[k].bias);
	qn_id in[3] = {acc->in[0], acc->in[1], 0};
	in[2] = qn_rqz_bias_const(rw, name, bias, qn_rw_node(rw, in[0])->type->elem, scales);
	in[1] = qn_rw_const(rw, qn_rw_name(rw, in[1]), weights);
	if (in[1] == 0 || !qn_rqz_weights(rw, qn_rw_node(rw, id), in))
		return qn_rw_decline(rw, "its weights cannot be duplicated");
	acc = qn_rw_node(rw, id);
	qn_id y = qn_rw_add(rw, acc->op, qn_rw_name(rw, id), 3, in, acc->attr, NULL);
	return y != 0 ? qn_rw_add(rw, QN_OP_dequantize, name, 1, &y, NULL, NULL) : 0;
}
