/* SPDX-License-Identifier: Apache-2.0 */
/* net_qdq_more.c - more steps between DequantizeLinear and QuantizeLinear: PRelu, BatchNormalization, linear Resize,
 * reductions, Min and Max, functions of one value, softmax. */
#include <math.h>

#include "tests/networks/net_qdq.h"

/* Channel of element i of a value with channels along axis 1. */
static int64_t
channel_of(const net_val *x, int64_t i)
{
	return i % x->count / (x->dim[2] * x->dim[3]);
}

/* Stored integers v, dequantized. */
static net_val *
stored_numbers(net *n, int type, int rank, const int64_t *dim, const double *v, double scale)
{
	net_val *stored = net_const(n, type, rank, dim, v), *real = net_hidden(n, rank, dim);

	for (int64_t i = 0; i < real->count; i++)
		real->lo[i] = real->hi[i] = v[i] * scale;
	net_val *step = net_scalar(n, ONX_FLOAT, scale), *zp = net_scalar(n, type, 0);
	net_node(n, "DequantizeLinear", 3, (net_val *[]){stored, step, zp}, 1, &real);
	return real;
}

/* Numbers of the file, one for each channel: real ones, or 8 bits after a DequantizeLinear. */
static net_val *
channels(net *n, int64_t count, double lo, double hi, bool stored, double *v)
{
	const double scale = net_coarse((fabs(lo) > fabs(hi) ? fabs(lo) : fabs(hi)) / 127);
	double code[NET_CHANNELS];

	for (int64_t i = 0; i < count; i++) {
		v[i] = net_real(n, lo, hi);
		code[i] = net_even(v[i] / scale);
		v[i] = stored ? code[i] * scale : v[i];
	}
	return stored ? stored_numbers(n, ONX_INT8, 1, &count, code, scale)
		      : net_const(n, ONX_FLOAT, 1, &count, v);
}

/* (x - mean) / sqrt(variance + epsilon) * scale + bias of y, whose channels are sums of steps each[c].  It goes into
 * weights, whose scales it multiplies, and into the bias, which is rounded to a step of the sum. */
static net_val *
normalized(net *n, net_val *y, const double *each)
{
	double g[NET_CHANNELS], b[NET_CHANNELS], mean[NET_CHANNELS], var[NET_CHANNELS], most = 0;
	const int64_t count = y->dim[1];
	const double least = net_chance(n, 20) ? -1.5 : 0.3;
	const bool stored = net_chance(n, 40); /* as ONNX Runtime's quantizer leaves them */
	net_val *in[5] = {y};

	in[1] = channels(n, count, least, 1.5, stored, g);
	in[2] = channels(n, count, -0.5, 0.5, stored, b);
	in[3] = channels(n, count, -0.5, 0.5, false, mean);
	in[4] = channels(n, count, 0.3, 3, false, var);
	net_val *z = net_real_like(n, y);
	for (int64_t i = 0; i < NET_SAMPLES * y->count; i++) {
		const int64_t c = channel_of(y, i);
		const double by = g[c] / sqrt(var[c] + 1e-5);
		const double p = (y->lo[i] - mean[c]) * by + b[c],
			     q = (y->hi[i] - mean[c]) * by + b[c];
		const double step = fabs(by) * each[c];

		z->lo[i] = p < q ? p : q;
		z->hi[i] = p < q ? q : p;
		most = step > most ? step : most;
	}
	net_node(n, "BatchNormalization", 5, in, 1, &z);
	net_widen(n, z, 0.5 * most, NET_BIAS);
	return z;
}

net_val *
net_batch_norm(net *n, net_val *y, const net_val *x, const net_weights *w)
{
	double each[NET_CHANNELS];

	for (int64_t c = 0; c < y->dim[1]; c++)
		each[c] = w->each[w->per_channel ? c : 0] * x->q.scale;
	return normalized(n, y, each);
}

/* Of a value that no convolution has just given, as in networks that normalize before they convolve. */
net_val *
net_norm_step(net *n, net_val *x)
{
	double each[NET_CHANNELS];

	if (x->rank != 4 || x->dim[1] > NET_CHANNELS)
		return NULL;
	for (int64_t c = 0; c < x->dim[1]; c++)
		each[c] = x->q.scale / 127;
	return net_stored(n, net_activation(n, normalized(n, x, each)), x);
}

/* A slope for each channel, or one: real numbers, or 8 bits after a DequantizeLinear. */
net_val *
net_prelu_step(net *n, net_val *x)
{
	double v[NET_CHANNELS], lo, hi, least = 0, most = 0;
	const int64_t dim[3] = {net_chance(n, 70) ? x->dim[1] : 1, 1, 1};
	const bool quantized = net_chance(n, 40);
	const double scale = net_coarse(net_real(n, 0.001, 0.01));

	if (x->rank != 4 || x->dim[1] > NET_CHANNELS)
		return NULL;
	for (int64_t i = 0; i < dim[0]; i++) {
		v[i] = quantized ? (double)net_draw(n, -20, 100)
				 : net_real(n, net_chance(n, 20) ? -0.2 : 0, 0.4);
		const double slope = quantized ? v[i] * scale : v[i];

		least = slope < least ? slope : least;
		most = slope > most ? slope : most;
	}
	net_val *slope = quantized ? stored_numbers(n, ONX_INT8, 3, dim, v, scale)
				   : net_const(n, ONX_FLOAT, 3, dim, v);
	net_val *y = net_real_like(n, x);
	for (int64_t i = 0; i < NET_SAMPLES * x->count; i++) {
		const double by = slope->lo[dim[0] == 1 ? 0 : channel_of(x, i)];
		const double p = x->lo[i] < 0 ? x->lo[i] * by : x->lo[i],
			     q = x->hi[i] < 0 ? x->hi[i] * by : x->hi[i];

		y->lo[i] = p < q ? p : q;
		y->hi[i] = p < q ? q : p;
	}
	net_node2(n, "PRelu", x, slope, y);
	net_range(x, &lo, &hi);
	if (!quantized && dim[0] > 1 && lo < 0)
		net_widen(n, y, -lo * (most - least) / 510, NET_CONST);
	return net_stored(n, y, x);
}

net_val *
net_resize_step(net *n, net_val *x)
{
	net_val *y = net_resize_linear(n, x);

	if (y == NULL)
		return NULL;
	net_widen(n, y, 0.5 * x->q.scale, NET_MEAN);
	return net_chance(n, 50) ? net_pair(n, y, x->q) : net_stored(n, y, x);
}

net_val *
net_reduce_step(net *n, net_val *x)
{
	const char op = "mm><"[net_draw(n, 0, 3)];
	net_val *y = net_reduce(n, x, op);

	if (y == NULL || op == 'm')
		return y == NULL ? NULL : net_stored(n, y, x);
	return net_chance(n, 50) ? net_pair(n, y, x->q) : net_stored(n, y, x);
}

/* Of two values, or of one and a number. */
net_val *
net_choose_step(net *n, net_val *x)
{
	const bool larger = net_chance(n, 50);
	double lo, hi;

	net_range(x, &lo, &hi);
	net_val *b = net_chance(n, 60) ? net_partner(n, x)
				       : net_scalar(n, ONX_FLOAT, net_real(n, lo / 2, hi / 2));
	net_val *y = net_binary(n, x, b, larger ? '>' : '<');
	net_node2(n, larger ? "Max" : "Min", x, b, y);
	net_widen(n, y, 0.5 * (b->q.scale > x->q.scale ? b->q.scale : x->q.scale), NET_MERGED);
	return net_stored(n, y, x);
}

/* ---- functions of one value ---- */

net_val *
net_simple(net *n, const char *op, net_val *x, net_fn *fn, double arg)
{
	net_val *y = net_map_any(n, x, fn, arg);

	net_node1(n, op, x, y);
	return y;
}

static double
hard_sigmoid(double x, double arg)
{
	double y = x / 6 + 0.5;

	(void)arg;
	return y < 0 ? 0 : y > 1 ? 1 : y;
}

static double
hard_swish(double x, double arg)
{
	return x * hard_sigmoid(x, arg);
}

static double
square(double x, double arg)
{
	(void)arg;
	return x * x;
}

/* x to the power of 2, which may be 200 steps of 0.01. */
static net_val *
squared(net *n, net_val *x)
{
	const double code = 200;
	net_val *two = net_chance(n, 50)
			       ? stored_numbers(n, ONX_UINT8, 0, NULL, &code, (double)0.01f)
			       : net_scalar(n, ONX_FLOAT, 2);
	net_val *y = net_map_any(n, x, square, 0);

	net_node2(n, "Pow", x, two, y);
	return y;
}

net_val *
net_unary_step(net *n, net_val *x)
{
	net_val *y;

	switch (net_draw(n, 0, 7)) {
	case 0:
		y = net_simple(n, "Sigmoid", x, net_sigmoid, 0);
		break;
	case 1:
		y = net_simple(n, "Tanh", x, net_tanh, 0);
		break;
	case 2:
		y = net_simple(n, "HardSwish", x, hard_swish, 0);
		break;
	case 3:
		onx_real(&n->file, "alpha", 1.0f / 6);
		y = net_simple(n, "HardSigmoid", x, hard_sigmoid, 0);
		break;
	case 4:
		onx_real(&n->file, "alpha", 0.25f);
		y = net_simple(n, "LeakyRelu", x, net_leaky, 0.25);
		break;
	case 5:
		y = squared(n, x);
		break;
	default:
		y = net_simple(n, "Relu", x, net_relu, 0);
		net_widen(n, y, 0.5 * x->q.scale, NET_MERGED);
	}
	return net_stored(n, y, x);
}

/* x * sigmoid(x), the sigmoid stored too. */
net_val *
net_silu_step(net *n, net_val *x)
{
	net_val *s = net_stored(n, net_simple(n, "Sigmoid", x, net_sigmoid, 0), x),
		*y = net_binary(n, x, s, '*');

	net_node2(n, "Mul", x, s, y);
	return net_stored(n, y, x);
}

net_val *
net_softmax_step(net *n, net_val *x)
{
	int axis = x->rank - 1;

	if (x->dim[axis] < 2 || x->dim[axis] > 40)
		return NULL;
	net_val *y = net_softmax(n, x, axis);
	onx_int(&n->file, "axis", net_chance(n, 50) ? -1 : axis);
	net_node1(n, "Softmax", x, y);
	n->reason[NET_SOFTMAX] = true;
	return net_stored(n, y, x);
}
