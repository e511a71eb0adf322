/* SPDX-License-Identifier: Apache-2.0 */
/* test_onnx_qdq_functions.c - networks of QuantizeLinear/DequantizeLinear pairs with functions and normalizations
 * between them, on their own and behind a convolution that has no range, become integer without samples. */
#include "tests/unit/onnx_qdq_run.h"

#include <stdio.h>

/* ---- functions: each returns the step of its output ---- */

static double
prelu(void)
{
	image();
	weights("s", "4,1,1", 0.01);
	onx_node(file, "PRelu", "d,s", "p");
	return ends("p", 0.02, 100);
}

/* A function of the input, with parameters that no arithmetic of a kernel prefers. */
static double
function(const char *op, double s, int z)
{
	onx_input(file, "x", ONX_FLOAT, "2,12");
	pair("x", "d", 0.02, ONX_UINT8, 128);
	onx_node(file, op, "d", "f");
	return ends("f", s, z);
}

static double
sigmoid(void)
{
	return function("Sigmoid", 0.0031, 3);
}

static double
hyperbolic_tangent(void)
{
	return function("Tanh", 0.0091, 100);
}

static double
softmax(void)
{
	return function("Softmax", 0.0011, 9);
}

static double
log_softmax(void)
{
	return function("LogSoftmax", 0.031, 240);
}

static double
l2_norm(void)
{
	return function("LpNormalization", 0.005, 120);
}

static double
silu(void)
{
	image();
	conv("d", "c");
	pair("c", "e", 0.05, ONX_UINT8, 110);
	onx_node(file, "Sigmoid", "e", "s");
	pair("s", "g", 1.0 / 255, ONX_UINT8, 0);
	onx_node(file, "Mul", "e,g", "m");
	return ends("m", 0.045, 7);
}

/* A function of a convolution's result that the file gives no range. */
static double
after_conv(const char *op)
{
	image();
	conv("d", "c");
	onx_node(file, op, "c", "f");
	return ends("f", 0.045, 20);
}

static double
conv_hard_swish(void)
{
	return after_conv("HardSwish");
}

static double
conv_leaky_relu(void)
{
	return after_conv("LeakyRelu");
}

/* One slope for all channels, a number and as quantized weights are: a leaky relu. */
static double
one_slope(void)
{
	image();
	onx_floats(file, "s", "1,1,1", (const float[]){0.2f});
	onx_node(file, "PRelu", "d,s", "p");
	return ends("p", 0.011, 128);
}

static double
one_quantized_slope(void)
{
	image();
	scalar("k", ONX_INT8, -7);
	scalar("ks", ONX_FLOAT, 0.0082);
	onx_node(file, "DequantizeLinear", "k,ks", "s");
	onx_node(file, "PRelu", "d,s", "p");
	return ends("p", 0.011, 0);
}

static double
conv_silu(void)
{
	image();
	conv("d", "c");
	onx_node(file, "Sigmoid", "c", "s");
	onx_node(file, "Mul", "c,s", "m");
	return ends("m", 0.045, 7);
}

/* 200 steps of 0.01f are 2 as an f32; just below 2, negative numbers would have no power. */
static double
stored_exponent(void)
{
	image();
	scalar("two_q", ONX_UINT8, 200);
	scalar("two_s", ONX_FLOAT, 0.01);
	onx_node(file, "DequantizeLinear", "two_q,two_s", "two");
	onx_node(file, "Pow", "d,two", "p");
	return ends("p", 0.02, 0);
}

static double
open_softmax(void)
{
	onx_input(file, "x", ONX_FLOAT, "2,12");
	pair("x", "d", 0.02, ONX_UINT8, 128);
	onx_node(file, "Softmax", "d", "y");
	onx_output(file, "y");
	return 1.0 / 256;
}

/* ---- normalizations ---- */

/* Weights of -128 that a batch normalization multiplies with a negative number. */
static double
negative_batch_norm(void)
{
	int8_t w[16];

	image();
	for (int i = 0; i < 16; i++)
		w[i] = (int8_t)(i % 3 == 0 ? -128 : pick(-127, 127));
	onx_tensor(file, "w_q", ONX_INT8, "4,4,1,1", w, sizeof w);
	scalar("w_s", ONX_FLOAT, 0.01);
	onx_node(file, "DequantizeLinear", "w_q,w_s", "w");
	onx_node(file, "Conv", "d,w", "c");
	onx_floats(file, "gamma", "4", (const float[]){1, -0.5f, -1.5f, 1.25f});
	onx_floats(file, "beta", "4", (const float[]){0.1f, 0, -0.3f, 0.2f});
	onx_floats(file, "mean", "4", (const float[]){0, 0.1f, 0.2f, -0.1f});
	onx_floats(file, "var", "4", (const float[]){1, 2, 0.5f, 1});
	onx_node(file, "BatchNormalization", "c,gamma,beta,mean,var", "n");
	return ends("n", 0.04, 120);
}

static double
conv_batch_norm_relu(void)
{
	image();
	conv("d", "c");
	onx_floats(file, "gamma", "4", (const float[]){1, -0.5f, 2, 1.25f});
	onx_floats(file, "beta", "4", (const float[]){0.1f, 0, -0.3f, 0.2f});
	onx_floats(file, "mean", "4", (const float[]){0, 0.1f, 0.2f, -0.1f});
	onx_floats(file, "var", "4", (const float[]){1, 2, 0.5f, 1});
	onx_node(file, "BatchNormalization", "c,gamma,beta,mean,var", "n");
	onx_node(file, "Relu", "n", "r");
	return ends("r", 0.05, 0);
}

/* Without a convolution that could take it in: the parameters as numbers, and as ONNX Runtime's quantizer stores them. */
static double
batch_norm_alone(void)
{
	image();
	onx_floats(file, "gamma", "4", (const float[]){1, -0.5f, 0.01f, 1.25f});
	onx_floats(file, "beta", "4", (const float[]){0.1f, 0, -0.3f, 0.2f});
	onx_floats(file, "mean", "4", (const float[]){0, 0.1f, 0.2f, -0.1f});
	onx_floats(file, "var", "4", (const float[]){1, 2, 0.5f, 1});
	onx_node(file, "BatchNormalization", "d,gamma,beta,mean,var", "n");
	onx_node(file, "Relu", "n", "r");
	pair("r", "e", 0.011, ONX_UINT8, 0);
	conv("e", "c");
	return ends("c", 0.05, 120);
}

static void
stored_bias(const char *name, const char *dims, double s)
{
	int32_t v[16];
	char stored[32], scale[32], in[80];
	const size_t n = onx_count(dims);

	for (size_t i = 0; i < n; i++)
		v[i] = (int32_t)pick(-2000, 2000);
	snprintf(stored, sizeof(stored), "%s_q", name);
	snprintf(scale, sizeof(scale), "%s_s", name);
	onx_tensor(file, stored, ONX_INT32, dims, v, 4 * n);
	scalar(scale, ONX_FLOAT, s);
	snprintf(in, sizeof(in), "%s,%s", stored, scale);
	onx_node(file, "DequantizeLinear", in, name);
}

static double
batch_norm_stored(void)
{
	image();
	weights("gamma", "4", 0.01);
	stored_bias("beta", "4", 0.0002);
	onx_floats(file, "mean", "4", (const float[]){0, 0.1f, 0.2f, -0.1f});
	onx_floats(file, "var", "4", (const float[]){1, 2, 0.5f, 1});
	onx_node(file, "BatchNormalization", "d,gamma,beta,mean,var", "n");
	return ends("n", 0.03, 120);
}

static double
layer_norm_stored(void)
{
	image();
	weights("gamma", "5", 0.01);
	stored_bias("beta", "5", 0.0002);
	onx_node(file, "LayerNormalization", "d,gamma,beta", "n");
	return ends("n", 0.03, 120);
}

static double
instance_norm_stored(void)
{
	image();
	weights("gamma", "4", 0.01);
	stored_bias("beta", "4", 0.0002);
	onx_node(file, "InstanceNormalization", "d,gamma,beta", "n");
	return ends("n", 0.03, 120);
}

static const network networks[] = {
	{"prelu", prelu},
	{"sigmoid", sigmoid},
	{"hyperbolic_tangent", hyperbolic_tangent},
	{"softmax", softmax},
	{"log_softmax", log_softmax},
	{"l2_norm", l2_norm},
	{"silu", silu},
	{"conv_hard_swish", conv_hard_swish},
	{"conv_leaky_relu", conv_leaky_relu},
	{"one_slope", one_slope},
	{"one_quantized_slope", one_quantized_slope},
	{"conv_silu", conv_silu},
	{"stored_exponent", stored_exponent},
	{"open_softmax", open_softmax},
	{"negative_batch_norm", negative_batch_norm},
	{"conv_batch_norm_relu", conv_batch_norm_relu},
	{"batch_norm_alone", batch_norm_alone},
	{"batch_norm_stored", batch_norm_stored},
	{"layer_norm_stored", layer_norm_stored},
	{"instance_norm_stored", instance_norm_stored},
};

static void
test_networks(void **state)
{
	(void)state;
	become_integer(networks, QN_COUNT(networks));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_networks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
