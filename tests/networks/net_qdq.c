/* SPDX-License-Identifier: Apache-2.0 */
/* net_qdq.c - networks of real operators between DequantizeLinear and QuantizeLinear, as PyTorch's exporter and ONNX
 * Runtime's static quantization write them.
 *
 *   x -> Q -> DQ -> Conv(DQ(w), DQ(b)) -> Relu -> Q -> DQ -> Transpose -> Q -> DQ -> y
 *
 * Steps take and give what a DequantizeLinear gave. */
#include <math.h>

#include "tests/networks/net_qdq.h"

/* 16 bits around another number than 0: the steps of what Quern stores are up to twice as large. */
static bool
off_middle(const net_params *q)
{
	return (q->type == ONX_UINT16 && q->zp != 32768) || (q->type == ONX_INT16 && q->zp != 0);
}

net_val *
net_pair(net *n, net_val *x, net_params q)
{
	net_val *y = net_dequantize(n, net_quantize(n, x, q));

	y->stored = true;
	if (off_middle(&q))
		net_widen(n, y, 1.5 * q.scale, NET_WIDTH);
	return y;
}

/* With parameters of its own. */
net_val *
net_stored(net *n, net_val *x, const net_val *like)
{
	net_val *y = net_pair(n, x, net_calibrate(n, x, like->q.type));

	if (net_qmax(y->q.type) - net_qmin(y->q.type) > 255)
		net_widen(n, y, 2 * y->q.scale * (off_middle(&y->q) ? 2 : 1), NET_WIDTH);
	return y;
}

/* A value x that nothing quantizes has 16 bits and twice the range that the samples have: half a step is the 32767th part
 * of what can matter to the result, which is at most `times` as wide as x. */
void
net_fill_gap(net *n, net_val *y, const net_val *x, double times)
{
	double lo, hi;

	net_range(x, &lo, &hi);
	net_widen(n, y, times * (fabs(lo) > fabs(hi) ? fabs(lo) : fabs(hi)) / INT16_MAX, NET_GAP);
}

/* What stands between an operator and its QuantizeLinear. */
net_val *
net_activation(net *n, net_val *x)
{
	switch (net_draw(n, 0, 9)) {
	case 0:
	case 1:
	case 2:
		return net_simple(n, "Relu", x, net_relu, 0);
	case 3: {
		net_val *y = net_clamped(n, x, 0, 6);

		net_node(n, "Clip", 3,
			 (net_val *[]){x, net_scalar(n, ONX_FLOAT, 0), net_scalar(n, ONX_FLOAT, 6)},
			 1, &y);
		return y;
	}
	case 4: {
		onx_real(&n->file, "alpha", 0.125f);
		return net_simple(n, "LeakyRelu", x, net_leaky, 0.125);
	}
	default:
		return x;
	}
}

/* ---- products ---- */

/* The weights behind a DequantizeLinear. */
static net_val *
real_weights(net *n, const net_weights *w, int axis)
{
	onx_int(&n->file, "axis", axis);
	net_node(n, "DequantizeLinear", 3, (net_val *[]){w->codes, w->scale, w->zp}, 1,
		 (net_val *[]){w->real});
	return w->real;
}

/* The bias as i32 behind a DequantizeLinear, or as it is. */
static net_val *
real_bias(net *n, const net_val *x, const net_weights *w, int64_t count)
{
	double scale[NET_CHANNELS];
	net_val *real, *codes;

	if (net_chance(n, 40)) {
		for (int64_t i = 0; i < count; i++)
			scale[i] = net_real(n, -0.5, 0.5);
		return net_const(n, ONX_FLOAT, 1, &count, scale);
	}
	for (int64_t i = 0; i < count; i++)
		scale[i] = x->q.scale * w->each[w->per_channel ? i : 0];
	codes = net_draw_bias(n, x, w, count, &real);
	onx_int(&n->file, "axis", 0);
	net_node2(n, "DequantizeLinear", codes,
		  w->per_channel ? net_const(n, ONX_FLOAT, 1, &count, scale)
				 : net_scalar(n, ONX_FLOAT, scale[0]),
		  real);
	real->q.scale = -1; /* no real numbers of the file's */
	return real;
}

/* y has the bias b; one of real numbers is among the initializers. */
static void
round_bias(net *n, net_val *y, const net_val *b, const net_val *x, const net_weights *w)
{
	double most = 0;

	if (b == NULL || !b->constant || b->q.scale < 0)
		return;
	for (int i = 0; i < (w->per_channel ? NET_CHANNELS : 1); i++)
		most = w->each[i] > most ? w->each[i] : most;
	net_widen(n, y, 0.5 * most * x->q.scale, NET_BIAS);
}

static net_val *
conv(net *n, net_val *x)
{
	net_window at;
	net_weights w;

	if (x->rank != 4 || x->dim[1] > 12 || x->count > 500)
		return NULL;
	net_draw_window(n, x, false, &at);
	if (net_chance(n, 25))
		at.group = x->dim[1];
	int64_t outs = at.group > 1 ? at.group : net_draw(n, 1, 8);
	int64_t dim[4] = {outs, x->dim[1] / at.group, at.kernel[0], at.kernel[1]};
	net_draw_weights(n, 4, dim, 0, true, 0.5, x->q.type == ONX_UINT8, &w);
	net_val *b = net_chance(n, 60) ? real_bias(n, x, &w, outs) : NULL,
		*wr = real_weights(n, &w, 0);
	net_val *y = net_conv(n, x, wr, b, &at);
	net_window_attrs(n, &at, false);
	net_node(n, "Conv", 3, (net_val *[]){x, wr, b}, 1, &y);
	round_bias(n, y, b, x, &w);
	if (net_chance(n, 20))
		y = net_batch_norm(n, y, x, &w);
	return net_stored(n, net_activation(n, y), x);
}

static net_val *
matmul(net *n, net_val *x)
{
	net_weights w;
	int64_t dim[2] = {x->dim[x->rank - 1], net_draw(n, 2, 10)};

	if (dim[0] > 40 || dim[0] < 2)
		return NULL;
	net_draw_weights(n, 2, dim, 1, true, 0.5, x->q.type == ONX_UINT8, &w);
	net_val *wr = real_weights(n, &w, 1), *y = net_matmul(n, x, wr);
	net_node2(n, "MatMul", x, wr, y);
	if (net_chance(n, 40)) {
		net_val *b = real_bias(n, x, &w, dim[1]), *sum = net_binary(n, y, b, '+');

		net_node2(n, "Add", y, b, sum);
		y = sum;
		round_bias(n, y, b, x, &w);
	}
	return net_stored(n, net_activation(n, y), x);
}

static net_val *
gemm(net *n, net_val *x)
{
	net_weights w;

	if (x->count > 200 || x->rank != 4)
		return NULL;
	x = net_pair(n, net_flat(n, x), x->q);
	int64_t dim[2] = {x->dim[1], net_draw(n, 2, 10)};
	net_draw_weights(n, 2, dim, 1, true, 0.3, x->q.type == ONX_UINT8, &w);
	net_val *b = net_chance(n, 60) ? real_bias(n, x, &w, dim[1]) : NULL,
		*wr = real_weights(n, &w, 1);
	net_val *y = net_matmul(n, x, wr);
	if (b != NULL)
		y = net_binary(n, y, b, '+');
	net_node(n, "Gemm", 3, (net_val *[]){x, wr, b}, 1, &y);
	round_bias(n, y, b, x, &w);
	return net_stored(n, net_activation(n, y), x);
}

/* ---- several operands ---- */

/* An earlier value of the same shape, else x. */
net_val *
net_partner(net *n, net_val *x)
{
	for (int trial = 0; trial < 12; trial++) {
		net_val *y = &n->val[net_draw(n, 0, n->nval - 1)];

		if (!y->constant && y != x && y->type == ONX_FLOAT && y->q.scale > 0 &&
		    net_same_shape(x, y))
			return y;
	}
	return x;
}

static net_val *
binary(net *n, net_val *x)
{
	static const char *const names[] = {"Add", "Add", "Mul", "Sub"};
	int64_t kind = net_draw(n, 0, 3);
	net_val *b = net_partner(n, x), *y = net_binary(n, x, b, "++*-"[kind]);

	net_node2(n, names[kind], x, b, y);
	for (int i = 0; i < 2; i++) {
		const net_val *a = i == 0 ? x : b, *other = i == 0 ? b : x;
		double lo, hi;

		net_range(other, &lo, &hi);
		if (!a->stored)
			net_fill_gap(n, y, a,
				     kind == 2 ? 12 * (fabs(lo) > fabs(hi) ? fabs(lo) : fabs(hi))
					       : 12);
	}
	return net_stored(n, net_activation(n, y), x);
}

static net_val *
concat(net *n, net_val *x)
{
	net_val *b = net_partner(n, x);

	if (b == x || 2 * x->count > 600)
		return NULL;
	net_val *two[2] = {x, b}, *y = net_joined(n, 2, two, 1);
	onx_int(&n->file, "axis", 1);
	net_node(n, "Concat", 2, two, 1, &y);
	net_widen(n, y, 0.5 * (x->q.scale > b->q.scale ? x->q.scale : b->q.scale), NET_MERGED);
	return net_stored(n, y, x);
}

/* ---- means ---- */

static net_val *
average(net *n, net_val *x)
{
	net_window w;
	bool pads = net_chance(n, 50);

	if (x->rank != 4 || x->dim[2] < 2 || x->dim[3] < 2)
		return NULL;
	net_draw_window(n, x, true, &w);
	net_val *y = net_pool(n, x, &w, pads ? 'p' : 'm');
	net_window_attrs(n, &w, true);
	onx_int(&n->file, "count_include_pad", pads);
	net_node1(n, "AveragePool", x, y);
	net_widen(n, y, 0.5 * x->q.scale, NET_MEAN);
	return net_stored(n, y, x);
}

static net_val *
global_average(net *n, net_val *x)
{
	if (x->rank != 4 || x->dim[2] * x->dim[3] < 2)
		return NULL;
	net_val *y = net_mean_space(n, x);
	net_node1(n, "GlobalAveragePool", x, y);
	return net_stored(n, y, x);
}

/* ---- what leaves the parameters ---- */

static net_val *
moved(net *n, net_val *x)
{
	net_val *y = net_chance(n, 20)   ? net_max_pool(n, x)
		     : net_chance(n, 15) ? net_resize(n, x)
					 : net_move(n, x);

	return y == NULL || y == x ? NULL : net_pair(n, y, x->q);
}

/* [1, 2, C/2, …] turned to [1, C/2, 2, …], each step stored. */
static net_val *
shuffle(net *n, net_val *x)
{
	if (x->rank != 4 || x->dim[1] % 2 != 0)
		return NULL;
	const int64_t c = x->dim[1], h = x->dim[2], w = x->dim[3];
	net_val *y = net_pair(n, net_reshaped(n, x, 5, (const int64_t[]){1, 2, c / 2, h, w}), x->q);
	y = net_pair(n, net_transposed(n, y, (const int64_t[]){0, 2, 1, 3, 4}), x->q);
	return net_pair(n, net_reshaped(n, y, 4, (const int64_t[]){1, c, h, w}), x->q);
}

static const net_row rows[] = {
	{"Conv", 10, conv},
	{"MatMul", 3, matmul},
	{"Gemm", 3, gemm},
	{"binary", 6, binary},
	{"Concat", 3, concat},
	{"AveragePool", 2, average},
	{"GlobalAveragePool", 2, global_average},
	{"unary", 4, net_unary_step},
	{"SiLU", 2, net_silu_step},
	{"Softmax", 1, net_softmax_step},
	{"moved", 7, moved},
	{"shuffle", 2, shuffle},
	{"BatchNormalization", 2, net_norm_step},
	{"PRelu", 2, net_prelu_step},
	{"Resize", 2, net_resize_step},
	{"Reduce", 2, net_reduce_step},
	{"Min", 2, net_choose_step},
	{0},
};

/* What 16 bits have, too: no tables, no averages of windows. */
static const net_row rows16[] = {
	{"Conv", 8, conv},
	{"MatMul", 3, matmul},
	{"Gemm", 3, gemm},
	{"binary", 4, binary},
	{"Concat", 2, concat},
	{"GlobalAveragePool", 2, global_average},
	{"moved", 7, moved},
	{"shuffle", 2, shuffle},
	{"Reduce", 2, net_reduce_step},
	{0},
};

void
net_make_qdq(net *n)
{
	const bool wide = net_chance(n, 10);
	const int type = net_chance(n, 50) ? (wide ? ONX_UINT16 : ONX_UINT8)
			 : wide            ? ONX_INT16
					   : ONX_INT8;
	int64_t steps = net_draw(n, 1, 5);

	if (wide)
		n->version = 21;
	net_val *x = net_pair(n, n->input, net_calibrate(n, n->input, type));

	for (int64_t i = 0; i < steps; i++) {
		x = net_any(n, wide ? rows16 : rows, x);
		if (i + 1 < steps && net_chance(n, 8))
			net_give(n, x);
	}
	if (net_chance(
		    n,
		    15)) { /* a tail of real numbers that only moves them, and puts others beside them */
		const net_params q = x->q;

		x = net_move(n, x);
		net_fill_gap(n, x, x, 1.5);
		if (wide)
			net_widen(n, x, q.scale * (off_middle(&q) ? 2 : 1), NET_WIDTH);
	}
	net_give(n, x);
}
