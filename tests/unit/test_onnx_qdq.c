/* SPDX-License-Identifier: Apache-2.0 */
/* test_onnx_qdq.c - small networks with QuantizeLinear/DequantizeLinear pairs around their nodes become integer
 * without samples.  Each is run as it stands in the file, which is ONNX's definition, and as integers: results are
 * within one step. */
#include "tests/unit/onnx_qdq.h"

#include <math.h>
#include <stdio.h>

#include "passes/passes.h"

enum { SAMPLES = 8 };

/* ---- the networks: each returns the step of its output ---- */

static double
one_conv(void)
{
	image();
	conv("d", "c");
	return ends("c", 0.05, 120);
}

static double
residual(void)
{
	image();
	conv("d", "c");
	pair("c", "e", 0.05, ONX_UINT8, 100);
	onx_node(file, "Add", "e,d", "a");
	return ends("a", 0.06, 128);
}

static double
global_average(void)
{
	image();
	onx_node(file, "GlobalAveragePool", "d", "g");
	return ends("g", 0.01, 120);
}

static double
average(void)
{
	image();
	onx_list(file, "kernel_shape", 2, (const int64_t[]){2, 2});
	onx_node(file, "AveragePool", "d", "g");
	return ends("g", 0.02, 128);
}

static double
prelu(void)
{
	image();
	weights("s", "4,1,1", 0.01);
	onx_node(file, "PRelu", "d,s", "p");
	return ends("p", 0.02, 100);
}

static double
resize(void)
{
	image();
	onx_floats(file, "by", "4", (const float[]){1, 1, 2, 2});
	onx_string(file, "mode", "linear");
	onx_node(file, "Resize", "d,,by", "r");
	return ends("r", 0.02, 128);
}

static double
channel_shuffle(void)
{
	image();
	onx_ints64(file, "apart", "5", (const int64_t[]){1, 2, 2, 6, 5});
	onx_ints64(file, "back", "4", (const int64_t[]){1, 4, 6, 5});
	onx_node(file, "Reshape", "d,apart", "r");
	onx_list(file, "perm", 5, (const int64_t[]){0, 2, 1, 3, 4});
	onx_node(file, "Transpose", "r", "t");
	onx_node(file, "Reshape", "t,back", "s");
	conv("s", "c");
	return ends("c", 0.05, 128);
}

static double
moved_ends(void)
{
	onx_input(file, "x", ONX_FLOAT, "1,5,6,4");
	onx_list(file, "perm", 4, (const int64_t[]){0, 3, 2, 1});
	onx_node(file, "Transpose", "x", "t");
	pair("t", "d", 0.02, ONX_UINT8, 128);
	conv("d", "c");
	pair("c", "e", 0.05, ONX_UINT8, 120);
	onx_node(file, "Flatten", "e", "y");
	onx_output(file, "y");
	return 0.05;
}

static double
equal_concat(void)
{
	image();
	conv("d", "c");
	pair("c", "e", 0.02, ONX_UINT8, 128);
	onx_int(file, "axis", 1);
	onx_node(file, "Concat", "d,e", "y");
	onx_output(file, "y");
	return 0.02;
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

/* A chain of moves whose result is quantized, and read as it is by a sum. */
static double
shared_moves(void)
{
	image();
	onx_list(file, "kernel_shape", 2, (const int64_t[]){2, 2});
	onx_node(file, "MaxPool", "d", "m");
	pair("m", "e", 0.02, ONX_UINT8, 128);
	onx_int(file, "axis", 1);
	onx_node(file, "Concat", "e,m", "k");
	pair("k", "f", 0.014, ONX_UINT8, 114);
	onx_node(file, "Add", "f,k", "a");
	return ends("a", 0.037, 114);
}

static void
quantized_image(void)
{
	onx_input(file, "x", ONX_FLOAT, "1,4,6,5");
	scalar("xs", ONX_FLOAT, 0.02);
	scalar("xz", ONX_UINT8, 128);
	onx_node(file, "QuantizeLinear", "x,xs,xz", "q");
}

/* 8 bits that Cast, Sub and Mul dequantize, after a Cast there and back. */
static double
by_hand(void)
{
	quantized_image();
	onx_int(file, "to", ONX_FLOAT);
	onx_node(file, "Cast", "q", "f");
	onx_int(file, "to", ONX_UINT8);
	onx_node(file, "Cast", "f", "b");
	onx_int(file, "to", ONX_FLOAT);
	onx_node(file, "Cast", "b", "g");
	scalar("zp", ONX_FLOAT, 128);
	scalar("scale", ONX_FLOAT, 0.02);
	onx_node(file, "Sub", "g,zp", "h");
	onx_node(file, "Mul", "h,scale", "d");
	conv("d", "c");
	return ends("c", 0.05, 120);
}

/* The same with the zero point subtracted in i32. */
static double
by_hand_in_integers(void)
{
	quantized_image();
	onx_int(file, "to", ONX_INT32);
	onx_node(file, "Cast", "q", "i");
	scalar("zp", ONX_INT32, 128);
	onx_node(file, "Sub", "i,zp", "j");
	onx_int(file, "to", ONX_FLOAT);
	onx_node(file, "Cast", "j", "h");
	scalar("scale", ONX_FLOAT, 0.02);
	onx_node(file, "Mul", "h,scale", "d");
	conv("d", "c");
	return ends("c", 0.05, 120);
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

/* The sum of a convolution's result, which has no range, and a quantized value. */
static double
conv_sum(void)
{
	image();
	conv("d", "c");
	onx_node(file, "Add", "c,d", "a");
	onx_node(file, "Relu", "a", "r");
	return ends("r", 0.05, 0);
}

static double
constants(void)
{
	image();
	onx_floats(file, "k", "4,1,1", (const float[]){0.5f, -1.5f, 0.25f, 1});
	scalar("two", ONX_FLOAT, 2.5);
	onx_node(file, "Mul", "d,k", "m");
	pair("m", "e", 0.02, ONX_UINT8, 120);
	onx_node(file, "Sub", "two,e", "s");
	return ends("s", 0.03, 50);
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

/* The value of a Pad after a DequantizeLinear, and after a pair. */
static double
stored_pad_value(void)
{
	image();
	onx_ints64(file, "by", "8", (const int64_t[]){0, 0, 1, 0, 0, 0, 0, 2});
	scalar("v_q", ONX_UINT8, 90);
	scalar("v_s", ONX_FLOAT, 0.02);
	scalar("v_z", ONX_UINT8, 128);
	onx_node(file, "DequantizeLinear", "v_q,v_s,v_z", "v");
	onx_node(file, "Pad", "d,by,v", "p");
	pair("p", "e", 0.02, ONX_UINT8, 128);
	scalar("u", ONX_FLOAT, 0.31);
	pair("u", "w", 0.02, ONX_UINT8, 128);
	onx_node(file, "Pad", "e,by,w", "r");
	return ends("r", 0.02, 128);
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

static const struct {
	const char *name;
	double (*build)(void);
} networks[] = {
	{"one_conv", one_conv},
	{"residual", residual},
	{"global_average", global_average},
	{"average", average},
	{"prelu", prelu},
	{"resize", resize},
	{"channel_shuffle", channel_shuffle},
	{"moved_ends", moved_ends},
	{"equal_concat", equal_concat},
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
	{"negative_batch_norm", negative_batch_norm},
	{"shared_moves", shared_moves},
	{"by_hand", by_hand},
	{"by_hand_in_integers", by_hand_in_integers},
	{"conv_silu", conv_silu},
	{"conv_batch_norm_relu", conv_batch_norm_relu},
	{"conv_sum", conv_sum},
	{"constants", constants},
	{"batch_norm_alone", batch_norm_alone},
	{"batch_norm_stored", batch_norm_stored},
	{"layer_norm_stored", layer_norm_stored},
	{"instance_norm_stored", instance_norm_stored},
	{"stored_exponent", stored_exponent},
	{"stored_pad_value", stored_pad_value},
	{"open_softmax", open_softmax},
};

/* ---- running them ---- */

static int64_t
elements(const qn_type *t)
{
	return qn_type_count(t);
}

/* The floats as the quantized values that input k takes. */
static double *
quantized(const double *x, const qn_type *t)
{
	double *q = qn_arena_alloc(&rg->arena, (size_t)elements(t), sizeof *q), scale;
	int64_t zp;

	for (int64_t i = 0; i < elements(t); i++) {
		qn_elem_param(&rg->m.types, t->elem, 0, &scale, &zp);
		const double v = rint((double)((float)x[i] / (float)scale)) + (double)zp;
		q[i] = fmin(fmax(v, (double)t->elem->qmin), (double)t->elem->qmax);
	}
	return q;
}

static void
dequantize(double *y, const qn_type *t)
{
	double scale;
	int64_t zp;

	for (int64_t i = 0; i < elements(t); i++) {
		qn_elem_param(&rg->m.types, t->elem, 0, &scale, &zp);
		y[i] = (y[i] - (double)zp) * scale;
	}
}

static void
lower(const char *name)
{
	qn_status status = qn_axes(&rg->m);

	if (status == QN_OK)
		status = qn_requantize(&rg->m, NULL);
	if (status == QN_OK)
		status = qn_legalize(&rg->m);
	if (status == QN_OK)
		status = qn_model_verify(&rg->m);
	if (status != QN_OK)
		print_message("%s:\n", name);
	no_errors();
	assert_int_equal(status, QN_OK);
	rg->g = qn_model_entry(&rg->m);
}

static void
test_networks(void **state)
{
	(void)state;
	for (size_t k = 0; k < QN_COUNT(networks); k++) {
		double *x[SAMPLES], *want[SAMPLES], off = 0;

		another_file();
		const double step = networks[k].build();
		import(20);
		assert_int_equal(rg->m.stage, QN_STAGE_CALIBRATED);
		const qn_type *in = qn_graph_node(rg->g, rg->g->input[0])->type;
		for (int s = 0; s < SAMPLES; s++) {
			x[s] = qn_arena_alloc(&rg->arena, (size_t)elements(in), sizeof *x[s]);
			for (int64_t i = 0; i < elements(in); i++)
				x[s][i] = 1.4 * real();
			want[s] = run1(x[s]);
		}
		lower(networks[k].name);
		in = qn_graph_node(rg->g, rg->g->input[0])->type;
		const qn_type *out = qn_graph_node(rg->g, rg->g->output[0].value)->type;
		assert_true(qn_elem_is_quant(in->elem) && qn_elem_is_quant(out->elem));
		for (int s = 0; s < SAMPLES; s++) {
			double *have = run1(quantized(x[s], in));

			dequantize(have, out);
			for (int64_t i = 0; i < elements(out); i++)
				off = fmax(off, fabs(have[i] - want[s][i]));
		}
		if (!(off < 1.01 * step))
			fail_msg("%s: %g steps off", networks[k].name, off / step);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_networks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
