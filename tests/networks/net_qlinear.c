/* SPDX-License-Identifier: Apache-2.0 */
/* net_qlinear.c - operators with scales and zero points as inputs: QLinearConv, QLinearMatMul, QGemm, QLinearAdd … as
 * ONNX Runtime's quantizer writes them. */
#include "tests/networks/net_qoperator.h"

static net_val *
scale_of(net *n, net_params q)
{
	return net_scalar(n, ONX_FLOAT, q.scale);
}

static net_val *
zero_of(net *n, net_params q)
{
	return net_scalar(n, q.type, (double)q.zp);
}

/* u8 or i8; what a node takes and gives has one type in ONNX Runtime. */
static net_val *
quantized(net *n, net_val *x, net_val *real, double slack)
{
	return net_codes_of(n, real, net_calibrate(n, real, x->type), slack);
}

/* ---- products ---- */

static net_val *
conv(net *n, net_val *x)
{
	net_window at;
	net_weights w;
	net_val *real_bias = NULL, *bias = NULL;

	if (x->rank != 4 || x->dim[1] > 12 || x->count > 500)
		return NULL;
	net_draw_window(n, x, false, &at);
	if (net_chance(n, 25))
		at.group = x->dim[1];
	int64_t outs = at.group > 1 ? at.group : net_draw(n, 1, 8);
	int64_t dim[4] = {outs, x->dim[1] / at.group, at.kernel[0], at.kernel[1]};
	net_draw_weights(n, 4, dim, 0, true, 0.5, x->type == ONX_UINT8, &w);
	if (net_chance(n, 60))
		bias = net_draw_bias(n, x, &w, outs, &real_bias);
	net_val *r = net_conv(n, net_real_of(n, x), w.real, real_bias, &at);
	net_val *y = quantized(n, x, r, 1e-4);
	net_window_attrs(n, &at, false);
	net_node(n, "QLinearConv", 9,
		 (net_val *[]){x, scale_of(n, x->q), zero_of(n, x->q), w.codes, w.scale, w.zp,
			       scale_of(n, y->q), zero_of(n, y->q), bias},
		 1, &y);
	return y;
}

static net_val *
matmul(net *n, net_val *x)
{
	net_weights w;
	int64_t dim[2] = {x->dim[x->rank - 1], net_draw(n, 1, 10)};

	if (dim[0] > 40 || dim[0] < 2)
		return NULL;
	net_draw_weights(n, 2, dim, 1, false, 0.5, x->type == ONX_UINT8, &w);
	net_val *y = quantized(n, x, net_matmul(n, net_real_of(n, x), w.real), 1e-4);
	net_node(n, "QLinearMatMul", 8,
		 (net_val *[]){x, scale_of(n, x->q), zero_of(n, x->q), w.codes, w.scale, w.zp,
			       scale_of(n, y->q), zero_of(n, y->q)},
		 1, &y);
	return y;
}

static net_val *
gemm(net *n, net_val *x)
{
	net_weights w;
	net_val *real_bias = NULL, *bias = NULL;

	if (x->count > 200 || (x->rank != 2 && (x->rank != 4 || net_chance(n, 70))))
		return NULL;
	if (x->rank != 2)
		x = net_flat(n, x);
	int64_t dim[2] = {x->dim[1], net_draw(n, 2, 10)};
	net_draw_weights(n, 2, dim, 1, true, 0.3, x->type == ONX_UINT8, &w);
	if (net_chance(n, 60))
		bias = net_draw_bias(n, x, &w, dim[1], &real_bias);
	net_val *r = net_matmul(n, net_real_of(n, x), w.real);
	if (bias != NULL)
		r = net_binary(n, r, real_bias, '+');
	net_val *y = quantized(n, x, r, 1e-4);
	net_microsoft(n);
	net_node(n, "QGemm", 9,
		 (net_val *[]){x, scale_of(n, x->q), zero_of(n, x->q), w.codes, w.scale, w.zp, bias,
			       scale_of(n, y->q), zero_of(n, y->q)},
		 1, &y);
	return y;
}

/* ---- two operands ---- */

/* An earlier value of the same shape and type, or a constant of one element or a channel each. */
static net_val *
partner(net *n, net_val *x)
{
	double v[64];
	int64_t dim[NET_RANK] = {1, 1, 1, 1, 1};

	for (int trial = 0; trial < 8; trial++) {
		net_val *y = &n->val[net_draw(n, 0, n->nval - 1)];

		if (!y->constant && y != x && y->type == x->type && y->q.scale > 0 &&
		    net_same_shape(x, y))
			return y;
	}
	if (x->rank == 4 && x->dim[1] < 40)
		dim[1] = x->dim[1];
	for (int64_t i = 0; i < dim[1]; i++)
		v[i] = (double)net_draw(n, net_qmin(x->type), net_qmax(x->type));
	net_val *c = net_const(n, x->type, x->rank, dim, v);
	const double hi = net_real(n, 0.5, 2),
		     lo = -net_real(n, 0.5, 2); /* in this order everywhere */

	c->q = net_params_for(n, lo, hi, x->type);
	return c;
}

static net_val *
binary(net *n, net_val *x, const char *op, char kind)
{
	net_val *b = partner(n, x);
	net_val *y =
		quantized(n, x, net_binary(n, net_real_of(n, x), net_real_of(n, b), kind), 1e-3);

	net_microsoft(n);
	net_node(n, op, 8,
		 (net_val *[]){x, scale_of(n, x->q), zero_of(n, x->q), b, scale_of(n, b->q),
			       zero_of(n, b->q), scale_of(n, y->q), zero_of(n, y->q)},
		 1, &y);
	return y;
}

static net_val *
add(net *n, net_val *x)
{
	return binary(n, x, "QLinearAdd", '+');
}

static net_val *
mul(net *n, net_val *x)
{
	return binary(n, x, "QLinearMul", '*');
}

static net_val *
concat(net *n, net_val *x)
{
	net_val *b = partner(n, x);

	if (!net_same_shape(x, b) || x->rank < 2 || 2 * x->count > 600)
		return NULL;
	net_val *real[2] = {net_real_of(n, x), net_real_of(n, b)};
	net_val *all = net_joined(n, 2, real, 1);
	net_widen(n, all, 0.5 * (x->q.scale > b->q.scale ? x->q.scale : b->q.scale), NET_MERGED);
	net_val *y = quantized(n, x, all, 1e-4);
	net_microsoft(n);
	onx_int(&n->file, "axis", 1);
	net_node(n, "QLinearConcat", 8,
		 (net_val *[]){scale_of(n, y->q), zero_of(n, y->q), x, scale_of(n, x->q),
			       zero_of(n, x->q), b, scale_of(n, b->q), zero_of(n, b->q)},
		 1, &y);
	return y;
}

/* ---- one operand ---- */

static net_val *
unary(net *n, net_val *x, const char *op, net_val *real, double slack)
{
	net_val *y = quantized(n, x, real, slack);

	net_microsoft(n);
	net_node(n, op, 5,
		 (net_val *[]){x, scale_of(n, x->q), zero_of(n, x->q), scale_of(n, y->q),
			       zero_of(n, y->q)},
		 1, &y);
	return y;
}

static net_val *
leaky_relu(net *n, net_val *x)
{
	double alpha = net_real(n, 0.01, 0.4);

	onx_real(&n->file, "alpha", (float)alpha);
	return unary(n, x, "QLinearLeakyRelu", net_map(n, net_real_of(n, x), net_leaky, alpha),
		     1e-4);
}

static net_val *
sigmoid(net *n, net_val *x)
{
	return unary(n, x, "QLinearSigmoid", net_map(n, net_real_of(n, x), net_sigmoid, 0), 1e-4);
}

static net_val *
softmax(net *n, net_val *x)
{
	if (x->dim[x->rank - 1] < 2)
		return NULL;
	n->reason[NET_SOFTMAX] = true;
	onx_int(&n->file, "axis", -1);
	onx_int(&n->file, "opset", 13);
	return unary(n, x, "QLinearSoftmax", net_softmax(n, net_real_of(n, x), x->rank - 1), 1e-3);
}

static net_val *
global_average(net *n, net_val *x)
{
	if (x->rank != 4 || x->dim[2] * x->dim[3] < 2)
		return NULL;
	return unary(n, x, "QLinearGlobalAveragePool", net_mean_space(n, net_real_of(n, x)), 1e-3);
}

static net_val *
average(net *n, net_val *x)
{
	net_window w;
	bool pads = net_chance(n, 50);

	if (x->rank != 4 || x->dim[2] < 2 || x->dim[3] < 2)
		return NULL;
	net_draw_window(n, x, true, &w);
	net_window_attrs(n, &w, true);
	onx_int(&n->file, "count_include_pad", pads);
	net_val *mean = net_pool(n, net_real_of(n, x), &w, pads ? 'p' : 'm');
	net_widen(n, mean, 0.5 * x->q.scale, NET_MEAN);
	return unary(n, x, "QLinearAveragePool", mean, 1e-3);
}

static const net_row rows[] = {
	{"QLinearConv", 10, conv},
	{"QLinearMatMul", 4, matmul},
	{"QGemm", 4, gemm},
	{"QLinearAdd", 4, add},
	{"QLinearMul", 3, mul},
	{"QLinearConcat", 3, concat},
	{"QLinearLeakyRelu", 2, leaky_relu},
	{"QLinearSigmoid", 2, sigmoid},
	{"QLinearSoftmax", 1, softmax},
	{"QLinearGlobalAveragePool", 2, global_average},
	{"QLinearAveragePool", 2, average},
	{0},
};

net_val *
net_qlinear(net *n, net_val *x)
{
	return net_any(n, rows, x);
}

void
net_make_qoperator(net *n)
{
	const net_row either[] = {{"", 50, net_qlinear}, {"", 50, net_plain}, {0}};
	int64_t steps = net_draw(n, 2, 6);
	net_val *x = n->input;

	if (x->type == ONX_FLOAT)
		x = net_quantize(n, x,
				 net_calibrate(n, x, net_chance(n, 60) ? ONX_UINT8 : ONX_INT8));
	for (int64_t i = 0; i < steps; i++) {
		x = net_any(n, either, x);
		if (i + 1 < steps && net_chance(n, 8))
			net_give(n, x);
	}
	if (net_chance(n, 60))
		/* a file without quantized operators is a float model, which is calibrated */
		x = net_chance(n, 15) && n->input->type == ONX_FLOAT ? net_real_by_hand(n, x)
								     : net_dequantize(n, x);
	net_give(n, x);
}
