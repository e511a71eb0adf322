/* SPDX-License-Identifier: Apache-2.0 */
/* test_onnx_qdq.c - small networks with QuantizeLinear/DequantizeLinear pairs around their nodes become integer
 * without samples: convolutions, sums, averages and moves. */
#include "tests/unit/onnx_qdq_run.h"

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

/* Channels of zeros, which pruning leaves, have a scale of 0, or one next to it, and a bias of floats or integers. */
static double
zero_channels(void)
{
	int8_t w[4 * 4 * 9] = {0};

	image();
	for (size_t i = 0; i < sizeof(w); i++)
		w[i] = (int8_t)(i < 72 ? pick(-127, 127) : i < 108 ? 3 : 0);
	onx_tensor(file, "w_q", ONX_INT8, "4,4,3,3", w, sizeof(w));
	onx_floats(file, "w_s", "4", (const float[]){0.01f, 0.02f, 0, 1.2e-38f});
	onx_int(file, "axis", 0);
	onx_node(file, "DequantizeLinear", "w_q,w_s", "w");
	onx_floats(file, "b", "4", (const float[]){0.5f, -0.25f, 1, -0.75f});
	onx_list(file, "pads", 4, (const int64_t[]){1, 1, 1, 1});
	onx_node(file, "Conv", "d,w,b", "c");
	pair("c", "e", 0.05, ONX_UINT8, 120);
	weights("v", "4,4,1,1", 0.01);
	onx_tensor(file, "u_q", ONX_INT32, "4", (const int32_t[]){50, -20, 1, 0}, 16);
	scalar("u_s", ONX_FLOAT, 0.0);
	onx_node(file, "DequantizeLinear", "u_q,u_s", "u");
	onx_node(file, "Conv", "e,v,u", "f");
	return ends("f", 0.06, 128);
}

/* Three functions of x, side by side. */
static double
functions(const char *x, const char *const op[3], double step)
{
	static const char *const y[] = {"f", "r", "c"}, *const paired[] = {"f1", "r1", "c1"};

	for (int i = 0; i < 3; i++) {
		onx_node(file, op[i], x, y[i]);
		pair(y[i], paired[i], step, ONX_UINT8, 100);
	}
	onx_int(file, "axis", 0);
	onx_node(file, "Concat", "f1,r1,c1", "a");
	return ends("a", step, 100);
}

/* 50 * 0.02 is 1 in f32. */
static double
whole_numbers(void)
{
	image();
	return functions("d", (const char *const[]){"Floor", "Round", "Ceil"}, 0.05);
}

/* So is 10 * 0.1, the end of a domain. */
static double
ends_of_domains(void)
{
	image();
	onx_node(file, "Sin", "d", "s");
	pair("s", "p", 0.1, ONX_INT8, 0);
	return functions("p", (const char *const[]){"Asin", "Acos", "Shrink"}, 0.02);
}

/* A layer whose weights are computed, with a bias. */
static double
computed_weights_times(float alpha)
{
	image();
	onx_ints64(file, "rows", "2", (const int64_t[]){3, 40});
	onx_node(file, "Reshape", "d,rows", "a");
	onx_node(file, "Tanh", "a", "t");
	pair("t", "w", 1.0 / 127, ONX_INT8, 0);
	onx_floats(file, "b", "3", (const float[]){0.5f, -0.25f, 1});
	onx_real(file, "alpha", alpha);
	onx_int(file, "transB", 1);
	onx_node(file, "Gemm", "a,w,b", "g");
	return ends("g", 0.3, 128);
}

static double
computed_weights(void)
{
	return computed_weights_times(1.0f);
}

static double
half_of_computed_weights(void)
{
	return computed_weights_times(0.5f);
}

/* A Tile along more axes than kernels copy along. */
static double
tiled(void)
{
	image();
	onx_ints64(file, "apart", "5", (const int64_t[]){1, 2, 2, 6, 5});
	onx_ints64(file, "times", "5", (const int64_t[]){1, 2, 3, 2, 2});
	onx_node(file, "Reshape", "d,apart", "r");
	onx_node(file, "Tile", "r,times", "t");
	return ends("t", 0.02, 128);
}

/* Transposed convolutions of weights of u8, of a channel each, and of three axes. */
static double
spread(void)
{
	uint8_t w[4 * 4];

	image();
	for (size_t i = 0; i < sizeof(w); i++)
		w[i] = (uint8_t)pick(0, 255);
	onx_tensor(file, "w_q", ONX_UINT8, "4,1,2,2", w, sizeof(w));
	scalar("w_s", ONX_FLOAT, 0.01);
	scalar("w_z", ONX_UINT8, 100);
	onx_node(file, "DequantizeLinear", "w_q,w_s,w_z", "w");
	onx_list(file, "strides", 2, (const int64_t[]){2, 2});
	onx_int(file, "group", 4);
	onx_node(file, "ConvTranspose", "d,w", "c");
	return ends("c", 0.05, 128);
}

static double
spread_volume(void)
{
	int8_t w[4 * 2 * 8];

	onx_input(file, "x", ONX_FLOAT, "1,4,2,3,2");
	pair("x", "d", 0.02, ONX_UINT8, 128);
	for (size_t i = 0; i < sizeof(w); i++)
		w[i] = (int8_t)pick(-127, 127);
	onx_tensor(file, "w_q", ONX_INT8, "4,2,2,2,2", w, sizeof(w));
	onx_floats(file, "w_s", "2", (const float[]){0.01f, 0.02f});
	onx_int(file, "axis", 1);
	onx_node(file, "DequantizeLinear", "w_q,w_s", "w");
	onx_list(file, "strides", 3, (const int64_t[]){2, 2, 2});
	onx_node(file, "ConvTranspose", "d,w", "c");
	return ends("c", 0.05, 128);
}

static const network networks[] = {
	{"one_conv", one_conv},
	{"residual", residual},
	{"global_average", global_average},
	{"average", average},
	{"resize", resize},
	{"channel_shuffle", channel_shuffle},
	{"moved_ends", moved_ends},
	{"equal_concat", equal_concat},
	{"shared_moves", shared_moves},
	{"by_hand", by_hand},
	{"by_hand_in_integers", by_hand_in_integers},
	{"conv_sum", conv_sum},
	{"constants", constants},
	{"stored_pad_value", stored_pad_value},
	{"zero_channels", zero_channels},
	{"whole_numbers", whole_numbers},
	{"ends_of_domains", ends_of_domains},
	{"computed_weights", computed_weights},
	{"half_of_computed_weights", half_of_computed_weights},
	{"tiled", tiled},
	{"spread", spread},
	{"spread_volume", spread_volume},
};

static void
test_networks(void **state)
{
	(void)state;
	become_integer(networks, QN_COUNT(networks));
}

/* A value whose scale is 0 is 0: the sum is its other operand, in the steps of the result. */
static void
is_zero(void (*pair_of)(void))
{
	image();
	conv("d", "c");
	pair_of();
	onx_node(file, "Add", "e,d", "a");
	const double step = ends("a", 0.06, 128);
	assert_int_equal(import_from(NULL, 20), QN_OK);
	assert_int_equal(rg->diags.n, 1);
	assert_string_equal(rg->diags.item[0].id, "import.zero-scale");
	assert_non_null(strstr(rg->diags.item[0].place, "'e'"));
	qn_diags_clear(&rg->env, &rg->diags);
	const qn_type *in = qn_graph_node(rg->g, rg->g->input[0])->type;
	double *x = qn_arena_alloc(&rg->arena, (size_t)elements(in), sizeof *x);
	for (int64_t i = 0; i < elements(in); i++)
		x[i] = real();
	near(x, run1(x), elements(in), step);
	lower("zero_data");
}

static void
one_scale(void)
{
	pair("c", "e", 0.0, ONX_UINT8, 100);
}

static void
channels(float third)
{
	onx_floats(file, "e_s", "4", (const float[]){0, 0, third, 0});
	onx_tensor(file, "e_z", ONX_INT8, "4", (const int8_t[4]){0}, 4);
	onx_int(file, "axis", 1);
	onx_node(file, "QuantizeLinear", "c,e_s,e_z", "e_q");
	onx_int(file, "axis", 1);
	onx_node(file, "DequantizeLinear", "e_q,e_s,e_z", "e");
}

static void
all_channels(void)
{
	channels(0);
}

static void
test_zero_data(void **state)
{
	(void)state;
	is_zero(one_scale);
}

static void
test_zero_channels(void **state)
{
	(void)state;
	is_zero(all_channels);
}

static void
test_one_channel(void **state)
{
	(void)state;
	image();
	conv("d", "c");
	channels(0.02f);
	ends("e", 0.06, 128);
	assert_int_equal(import_from(NULL, 20), QN_OK);
	no_errors();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_networks),
		TEST(test_zero_data),
		TEST(test_zero_channels),
		TEST(test_one_channel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
