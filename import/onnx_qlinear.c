/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_qlinear.c - operators on quantized values with their parameters as inputs, as the float operator between
 * dequantize and quantize, which requantizing the model makes an integer operator again.
 *
 *   QLinearConv(x, xs, xz, w, ws, wz, ys, yz, b)    quantize(Conv(dequantize(x), dequantize(w), dequantize(b)))
 *   QLinearAdd(a, as, az, b, bs, bz, ys, yz)        quantize(Add(dequantize(a), dequantize(b))) */
#include "import/onnx_quant.h"

enum { MOST_INPUTS = 32 };

/* Inputs i, i + 1, i + 2 of the node as a float value. */
static qn_id
real_at(qn_onnx *o, const qn_onnx_node *n, uint32_t i, int64_t axis)
{
	const qn_onnx_params p = {
		.scale = qn_onnx_in(n, i + 1), .zp = qn_onnx_in(n, i + 2), .axis = axis};

	return qn_onnx_dequantize(o, n->in[i], &p);
}

/* The result with the parameters of inputs i and i + 1. */
static void
give(qn_onnx *o, const qn_onnx_node *n, uint32_t i, qn_plain storage, qn_id *out)
{
	const qn_onnx_params p = {.scale = qn_onnx_in(n, i), .zp = qn_onnx_in(n, i + 1), .axis = 1};

	if (out[0] != 0)
		out[0] = qn_onnx_quantize(o, out[0], &p, storage);
}

/* The i32 bias at input i, of scale xs * ws: as float values. */
static qn_id
bias_at(qn_onnx *o, const qn_onnx_node *n, uint32_t i, uint32_t ws)
{
	const qn_id w = qn_importer_cast(&o->im, n->in[ws], QN_PLAIN_f32);
	const qn_id x = qn_importer_cast(&o->im, n->in[1], QN_PLAIN_f32);
	const qn_onnx_params p = {.scale = qn_importer_binary(&o->im, QN_OP_mul, x, w), .axis = -1};

	if (p.scale == 0 || n->in[i] == 0)
		return 0;
	return qn_onnx_dequantize(o, n->in[i], &p);
}

static void
qlinear_conv(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	qn_id in[3] = {0};
	const bool biased = qn_onnx_in(n, 8) != 0,
		   last = qn_onnx_int(o, n, "channels_last", 0) != 0;

	if (!qn_onnx_need(o, n, 8))
		return;
	in[0] = real_at(o, n, 0, 1);
	if (last) /* data and result; weights are those of Conv */
		in[0] = qn_importer_channels_first(&o->im, in[0]);
	in[1] = real_at(o, n, 3, 0);
	in[2] = biased ? bias_at(o, n, 8, 4) : 0;
	if (in[0] == 0 || in[1] == 0 || (biased && in[2] == 0))
		return;
	qn_onnx_run_as(o, n, "Conv", 11, biased ? 3 : 2, in, out);
	if (last)
		out[0] = qn_importer_channels_last(&o->im, out[0]);
	give(o, n, 6, qn_onnx_plain(o, n->in[0]), out);
}

static void
qlinear_matmul(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	if (!qn_onnx_need(o, n, 8))
		return;
	qn_id in[2] = {real_at(o, n, 0, -2), real_at(o, n, 3, -1)};
	if (in[0] == 0 || in[1] == 0)
		return;
	qn_onnx_run_as(o, n, "MatMul", 13, 2, in, out);
	give(o, n, 6, qn_onnx_plain(o, n->in[0]), out);
}

/* The node with alpha in the scale of its weights, which C has too: alpha * (A B + C). */
static bool
with_alpha(qn_onnx *o, qn_onnx_node *n)
{
	const double alpha = qn_onnx_float(o, n, "alpha", 1);
	qn_id *in = QN_NEW(o->im.scratch, qn_id, n->nin);

	if (!(alpha > 0))
		return qn_importer_refuse(&o->im, "import.attr",
					  "alpha is %g (expected a number above 0)", alpha) != 0;
	for (uint32_t i = 0; i < n->nin; i++)
		in[i] = n->in[i];
	if (alpha != 1) {
		in[4] = qn_importer_cast(&o->im, in[4], QN_PLAIN_f32);
		in[4] = qn_importer_binary(&o->im, QN_OP_mul, in[4],
					   qn_importer_f32(&o->im, alpha));
	}
	n->in = in;
	n->proto = qn_onnx_without(o, n, "alpha");
	return in[4] != 0;
}

/* A, its parameters, B, its parameters, C (i32), parameters of the result, without which it is float. */
static void
qgemm(qn_onnx *o, const qn_onnx_node *given, qn_id *out)
{
	qn_onnx_node node = *given;
	const qn_onnx_node *n = &node;
	qn_id in[3] = {0};

	if (!qn_onnx_need(o, n, 5) || !with_alpha(o, &node))
		return;
	const bool turned = qn_onnx_int(o, n, "transB", 0) != 0, biased = qn_onnx_in(n, 6) != 0;
	in[0] = real_at(o, n, 0, 1);
	in[1] = real_at(o, n, 3, turned ? 0 : 1);
	in[2] = biased ? bias_at(o, n, 6, 4) : 0;
	if (in[0] == 0 || in[1] == 0 || (biased && in[2] == 0))
		return;
	qn_onnx_run_as(o, n, "Gemm", 13, biased ? 3 : 2, in, out);
	if (qn_onnx_in(n, 7) != 0)
		give(o, n, 7, qn_onnx_plain(o, n->in[0]), out);
}

/* ---- operators of com.microsoft ---- */

static const char *const plain_name[] = {"Add",     "Mul",       "GlobalAveragePool", "AveragePool",
					 "Sigmoid", "LeakyRelu", "Softmax",           "ReduceMean"};

enum { ADD, MUL, GLOBAL_AVERAGE, AVERAGE, SIGMOID, LEAKY, SOFTMAX, MEAN };

/* Pools read N,C,H,W, or with channels_last N,H,W,C. */
static bool
is_channels_last(qn_onnx *o, const qn_onnx_node *n)
{
	return (n->arg == GLOBAL_AVERAGE || n->arg == AVERAGE) &&
	       qn_onnx_int(o, n, "channels_last", 0) != 0;
}

/* Zero points may be left out, other inputs not. */
static bool
has(qn_onnx *o, const qn_onnx_node *n, uint32_t i)
{
	return qn_onnx_in(n, i) != 0 ||
	       qn_importer_refuse(&o->im, "import.input", "input %u is missing", i) != 0;
}

static void
qlinear(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	uint32_t operands = n->arg <= MUL ? 2 : 1;
	bool last = is_channels_last(o, n);
	int64_t version = n->arg == SOFTMAX ? qn_onnx_int(o, n, "opset", 13) : 13;
	qn_id in[2] = {0};

	for (uint32_t i = 0; i < operands; i++) {
		if (!has(o, n, 3 * i) || !has(o, n, 3 * i + 1) || !has(o, n, 3 * operands))
			return;
		in[i] = real_at(o, n, 3 * i, 1);
		if (last)
			in[i] = qn_importer_channels_first(&o->im, in[i]);
		if (in[i] == 0)
			return;
	}
	qn_onnx_run_as(o, n, plain_name[n->arg], version, operands, in, out);
	if (last)
		out[0] = qn_importer_channels_last(&o->im, out[0]);
	give(o, n, 3 * operands, qn_onnx_plain(o, n->in[0]), out);
}

/* The result's parameters come first, then each operand with its own. */
static void
qlinear_concat(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	qn_id in[MOST_INPUTS];
	uint32_t operands = n->nin < 2 ? 0 : (n->nin - 2) / 3;

	if (operands == 0 || operands > MOST_INPUTS || n->nin != 2 + 3 * operands) {
		(void)qn_importer_refuse(
			&o->im, "import.input",
			"%u inputs; 1 to %d operands with scale and zero point are supported",
			n->nin, (int)MOST_INPUTS);
		return;
	}
	if (!qn_onnx_need(o, n, n->nin))
		return;
	for (uint32_t i = 0; i < operands; i++)
		if ((in[i] = real_at(o, n, 2 + 3 * i, 1)) == 0)
			return;
	qn_onnx_run_as(o, n, "Concat", 13, operands, in, out);
	give(o, n, 0, qn_onnx_plain(o, n->in[2]), out);
}

/* A condition, which is a bool, and two operands with their parameters. */
static void
qlinear_where(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	for (uint32_t i = 0; i < 8; i++)
		if (i != 3 && i != 6 && !has(o, n, i))
			return;
	qn_id in[3] = {n->in[0], real_at(o, n, 1, 1), real_at(o, n, 4, 1)};
	if (in[1] == 0 || in[2] == 0)
		return;
	qn_onnx_run_as(o, n, "Where", 16, 3, in, out);
	give(o, n, 7, qn_onnx_plain(o, n->in[1]), out);
}

/* MaxPool of N,H,W,C, as ONNX Runtime's optimizer writes it for integers. */
static void
nhwc_max_pool(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	const qn_id x = qn_importer_channels_first(&o->im, n->in[0]);

	if (x == 0)
		return;
	qn_onnx_run_as(o, n, "MaxPool", 12, 1, &x, out);
	out[0] = qn_importer_channels_last(&o->im, out[0]);
}

const qn_onnx_row qn_onnx_qlinear[] = {
	QN_ONNX_READ("", "QLinearConv", 10, qlinear_conv, 0),
	QN_ONNX_READ("com.microsoft", "QLinearConv", 1, qlinear_conv, 0),
	QN_ONNX_READ("com.microsoft", "NhwcMaxPool", 1, nhwc_max_pool, 0),
	QN_ONNX_READ("", "QLinearMatMul", 10, qlinear_matmul, 0),
	QN_ONNX_READ("com.microsoft", "QGemm", 1, qgemm, 0),
	QN_ONNX_READ("com.microsoft", "QLinearAdd", 1, qlinear, ADD),
	QN_ONNX_READ("com.microsoft", "QLinearMul", 1, qlinear, MUL),
	QN_ONNX_READ("com.microsoft", "QLinearGlobalAveragePool", 1, qlinear, GLOBAL_AVERAGE),
	QN_ONNX_READ("com.microsoft", "QLinearAveragePool", 1, qlinear, AVERAGE),
	QN_ONNX_READ("com.microsoft", "QLinearSigmoid", 1, qlinear, SIGMOID),
	QN_ONNX_READ("com.microsoft", "QLinearLeakyRelu", 1, qlinear, LEAKY),
	QN_ONNX_READ("com.microsoft", "QLinearSoftmax", 1, qlinear, SOFTMAX),
	QN_ONNX_READ("com.microsoft", "QLinearReduceMean", 1, qlinear, MEAN),
	QN_ONNX_READ("com.microsoft", "QLinearConcat", 1, qlinear_concat, 0),
	QN_ONNX_READ("com.microsoft", "QLinearWhere", 1, qlinear_where, 0),
	{0},
};
