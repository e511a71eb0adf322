/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_norm.c - normalizations.
 *
 *   LayerNormalization(x, s, b)           layer_norm; mean and 1/deviation too if they are outputs
 *   GroupNormalization(x [N,C,…]) {g}     x as [N,g,C/g * …], normalized over the last axis
 *   Softmax before version 13             over all axes from `axis` on, as one */
#include "import/onnx_write_op.h"

static bool
rank_ok(qn_onnx *o, qn_id x, int32_t least)
{
	if (qn_onnx_type(o, x)->rank >= least)
		return true;
	(void)qn_importer_refuse(&o->im, "import.rank",
				 "its input has %d dimensions, not %d or more",
				 (int)qn_onnx_type(o, x)->rank, (int)least);
	return false;
}

/* ---- pieces ---- */

static qn_id
same_shape(qn_onnx *o, qn_id x, qn_id like)
{
	if (x == 0 || like == 0)
		return 0;
	return qn_importer_reshape(&o->im, x, qn_onnx_type(o, like)->rank,
				   qn_onnx_type(o, like)->dim);
}

typedef struct centred {
	qn_id mean, x, rdev; /* x - mean, 1 / sqrt(variance + epsilon) */
} centred;

/* Over axes of the front, kept as ones.  centre false: the mean is taken as 0. */
static centred
centre(qn_onnx *o, qn_id x, int32_t naxes, const int64_t *axes, double epsilon, bool centred_too)
{
	qn_importer *im = &o->im;
	centred c = {.x = x};

	if (centred_too) {
		c.mean = qn_importer_reduce(im, QN_OP_reduce_mean, x, naxes, axes, true);
		c.x = qn_importer_binary(im, QN_OP_sub, x, c.mean);
	}
	qn_id v = qn_importer_binary(im, QN_OP_mul, c.x, c.x);
	v = qn_importer_reduce(im, QN_OP_reduce_mean, v, naxes, axes, true);
	v = qn_importer_binary(im, QN_OP_add, v, qn_importer_f32(im, epsilon));
	c.rdev = qn_importer_unary(im, QN_OP_rsqrt, v);
	return c;
}

/* x * scale + bias, where they are given. */
static qn_id
scaled(qn_onnx *o, qn_id x, qn_id scale, qn_id bias)
{
	if (scale != 0)
		x = qn_importer_binary(&o->im, QN_OP_mul, x, scale);
	return bias != 0 ? qn_importer_binary(&o->im, QN_OP_add, x, bias) : x;
}

/* ---- over channels ---- */

static void
instance_norm(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	qn_attrs a = {0};
	int64_t axes[QN_MAX_RANK];
	double epsilon = qn_onnx_float(o, n, "epsilon", 1e-5);

	if (!qn_onnx_need(o, n, 3) || !rank_ok(o, n->in[0], 3))
		return;
	int32_t rank = qn_onnx_type(o, n->in[0])->rank;
	if (rank == 4) {
		a.instance_norm.epsilon = epsilon;
		qn_id in[] = {qn_importer_channels_last(&o->im, n->in[0]), n->in[1], n->in[2]};
		qn_id y = qn_importer_op(&o->im, QN_OP_instance_norm, 3, in, &a, NULL);
		out[0] = qn_importer_channels_first(&o->im, y);
		return;
	}
	for (int32_t i = 2; i < rank; i++)
		axes[i - 2] = i;
	centred c = centre(o, n->in[0], rank - 2, axes, epsilon, true);
	out[0] = scaled(o, qn_importer_binary(&o->im, QN_OP_mul, c.x, c.rdev),
			qn_onnx_along_channels(o, n->in[1], rank),
			qn_onnx_along_channels(o, n->in[2], rank));
}

/* ---- over the last axes ---- */

static int32_t
from_axis(qn_onnx *o, const qn_onnx_node *n, int64_t *axes, int32_t *first)
{
	int32_t rank = qn_onnx_type(o, n->in[0])->rank, count = 0;

	if (!qn_onnx_axis(o, qn_onnx_int(o, n, "axis", -1), rank, first))
		return -1;
	for (int32_t i = *first; i < rank; i++)
		axes[count++] = i;
	return count;
}

/* Whether the vector of scale or bias has exactly the dims that are normalized. */
static bool
fits(const qn_onnx *o, qn_id x, const qn_type *t, int32_t first)
{
	const qn_type *s = x != 0 ? qn_onnx_type(o, x) : NULL;

	if (s == NULL || s->rank != t->rank - first)
		return false;
	for (int32_t i = 0; i < s->rank; i++)
		if (s->dim[i] != t->dim[first + i])
			return false;
	return true;
}

static void
layer_norm(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	qn_attrs a = {0};
	int64_t axes[QN_MAX_RANK];
	int32_t first;
	double epsilon = qn_onnx_float(o, n, "epsilon", 1e-5);

	if (!qn_onnx_need(o, n, 2))
		return;
	const qn_type *t = qn_onnx_type(o, n->in[0]);
	int32_t count = from_axis(o, n, axes, &first);
	qn_id scale = n->in[1], bias = qn_onnx_in(n, 2);
	if (count < 0)
		return;
	if (n->nout == 1 && fits(o, scale, t, first) && (bias == 0 || fits(o, bias, t, first))) {
		a.layer_norm.axis = first;
		a.layer_norm.epsilon = epsilon;
		if (bias == 0)
			bias = qn_importer_binary(&o->im, QN_OP_mul, scale,
						  qn_importer_f32(&o->im, 0));
		qn_id in[] = {n->in[0], scale, bias};
		out[0] = qn_importer_op(&o->im, QN_OP_layer_norm, 3, in, &a, NULL);
		return;
	}
	centred c = centre(o, n->in[0], count, axes, epsilon, true);
	out[0] = scaled(o, qn_importer_binary(&o->im, QN_OP_mul, c.x, c.rdev), scale, bias);
	if (n->nout > 1)
		out[1] = c.mean;
	if (n->nout > 2)
		out[2] = c.rdev;
}

/* A constant scale that repeats over the dims that are normalized, written out; 0: a scale of 1; any other x itself. */
static qn_id
whole_scale(qn_onnx *o, qn_id x, const qn_type *t, int32_t first)
{
	qn_attrs a = {0};
	const qn_type *s = x != 0 ? qn_onnx_type(o, x) : NULL;

	if (s != NULL && (qn_importer_known(&o->im, x) == NULL || s->rank > t->rank - first))
		return x;
	for (int32_t i = 0; s != NULL && i < s->rank; i++)
		if (s->dim[i] != 1 && s->dim[i] != t->dim[t->rank - s->rank + i])
			return x;
	if (x == 0)
		x = qn_importer_f32(&o->im, 1);
	a.shape.shape.n = t->rank - first;
	for (int32_t i = first; i < t->rank; i++)
		a.shape.shape.v[i - first] = t->dim[i];
	return qn_importer_op(&o->im, QN_OP_expand, 1, &x, &a, NULL);
}

qn_id
qn_onnx_rms(qn_onnx *o, qn_id x, qn_id scale, int32_t first, double epsilon)
{
	qn_attrs a = {0};
	int64_t axes[QN_MAX_RANK];
	const qn_type *t = qn_onnx_type(o, x);

	scale = whole_scale(o, scale, t, first);
	if (scale == 0)
		return 0;
	if (fits(o, scale, t, first)) {
		a.layer_norm.axis = first;
		a.layer_norm.epsilon = epsilon;
		return qn_importer_op(&o->im, QN_OP_rms_norm, 2, (qn_id[]){x, scale}, &a, NULL);
	}
	for (int32_t i = first; i < t->rank; i++)
		axes[i - first] = i;
	centred c = centre(o, x, t->rank - first, axes, epsilon, false);
	return scaled(o, qn_importer_binary(&o->im, QN_OP_mul, c.x, c.rdev), scale, 0);
}

static void
rms_norm(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	int32_t first;

	if (qn_onnx_need(o, n, 2) &&
	    qn_onnx_axis(o, qn_onnx_int(o, n, "axis", -1), qn_onnx_type(o, n->in[0])->rank, &first))
		out[0] = qn_onnx_rms(o, n->in[0], n->in[1], first,
				     qn_onnx_float(o, n, "epsilon", 1e-5));
}

/* ---- over given axes ---- */

static void
mean_variance(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	int64_t axes[QN_MAX_RANK] = {0, 2, 3};
	int32_t count = 3, axis;

	if (!qn_onnx_need(o, n, 1))
		return;
	if (qn_onnx_has(o, n, "axes"))
		count = qn_onnx_ints(o, n, "axes", QN_MAX_RANK, axes);
	if (count < 0)
		return;
	for (int32_t i = 0; i < count; i++) {
		if (!qn_onnx_axis(o, axes[i], qn_onnx_type(o, n->in[0])->rank, &axis))
			return;
		axes[i] = axis;
	}
	/* The deviation is added to 1e-9, not the variance. */
	centred c = centre(o, n->in[0], count, axes, 1e-18, true);
	out[0] = qn_importer_binary(&o->im, QN_OP_mul, c.x, c.rdev);
}

static void
lp_norm(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	qn_importer *im = &o->im;
	qn_attrs a = qn_importer_attrs(QN_OP_l2_norm);
	int32_t axis;

	if (!qn_onnx_need(o, n, 1) ||
	    !qn_onnx_axis(o, qn_onnx_int(o, n, "axis", -1), qn_onnx_type(o, n->in[0])->rank, &axis))
		return;
	int64_t over = axis, p = qn_onnx_int(o, n, "p", 2);
	a.l2_norm.axis = axis;
	if (p == 2)
		out[0] = qn_importer_op(im, QN_OP_l2_norm, 1, n->in, &a, NULL);
	else if (p != 1)
		(void)qn_importer_refuse(im, "import.attr", "p is %lld, not 1 or 2", (long long)p);
	if (p != 1)
		return;
	qn_id sum = qn_importer_unary(im, QN_OP_abs, n->in[0]);
	sum = qn_importer_reduce(im, QN_OP_reduce_sum, sum, 1, &over, true);
	/* 0 / 0 is to be 0. */
	sum = qn_importer_binary(im, QN_OP_maximum, sum, qn_importer_f32(im, 1e-30));
	out[0] = qn_importer_binary(im, QN_OP_div, n->in[0], sum);
}

static void
local_response(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	qn_attrs a = qn_importer_attrs(QN_OP_lrn);

	if (!qn_onnx_need(o, n, 1) || !rank_ok(o, n->in[0], 2))
		return;
	a.lrn.size = qn_onnx_int(o, n, "size", 0);
	a.lrn.alpha = qn_onnx_float(o, n, "alpha", 1e-4);
	a.lrn.beta = qn_onnx_float(o, n, "beta", 0.75);
	a.lrn.bias = qn_onnx_float(o, n, "bias", 1);
	qn_id x = qn_importer_channels_last(&o->im, n->in[0]);
	out[0] = qn_importer_channels_first(&o->im,
					    qn_importer_op(&o->im, QN_OP_lrn, 1, &x, &a, NULL));
}

/* ---- softmax ---- */

static void
softmax(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	qn_attrs a = {0};
	int32_t axis;
	bool flat = n->version < 13;

	if (!qn_onnx_need(o, n, 1))
		return;
	const qn_type *t = qn_onnx_type(o, n->in[0]);
	if (!qn_onnx_axis(o, qn_onnx_int(o, n, "axis", flat ? 1 : -1), t->rank, &axis))
		return;
	flat = flat && axis != t->rank - 1;
	a.axis.axis = flat ? 1 : axis;
	qn_id x = flat ? qn_importer_matrix(&o->im, n->in[0], axis) : n->in[0];
	qn_id y = qn_importer_op(&o->im, (qn_op)n->arg, 1, &x, &a, NULL);
	out[0] = flat ? same_shape(o, y, n->in[0]) : y;
}

const qn_onnx_row qn_onnx_norm[] = {
	QN_ONNX_BOTH("BatchNormalization", 1, qn_onnx_batch_norm, qn_onnx_write_by_channel, 0,
		     FIRST, QN_OP_batch_norm),
	QN_ONNX_BOTH("InstanceNormalization", 1, instance_norm, qn_onnx_write_by_channel, 0, FIRST,
		     QN_OP_instance_norm),
	QN_ONNX_BOTH("LayerNormalization", 1, layer_norm, qn_onnx_write_layer_norm, 17, PLAIN,
		     QN_OP_layer_norm),
	QN_ONNX_READ("", "RMSNormalization", 1, rms_norm, 0),
	QN_ONNX_READ("", "MeanVarianceNormalization", 1, mean_variance, 0),
	QN_ONNX_READ("", "LpNormalization", 1, lp_norm, 0),
	QN_ONNX_BOTH("LRN", 1, local_response, qn_onnx_write_by_channel, 0, FIRST, QN_OP_lrn),
	QN_ONNX_BOTH("Softmax", 1, softmax, qn_onnx_write_along, 0, ANY, QN_OP_softmax),
	QN_ONNX_BOTH("LogSoftmax", 1, softmax, qn_onnx_write_along, 0, ANY, QN_OP_log_softmax),
	{0},
};
