/* SPDX-License-Identifier: Apache-2.0 */
/* test_onnx_forms.c - element types, empty dimensions and forms of ONNX operators that few models have, with numbers
 * computed by hand. */
#include "tests/unit/onnx_rig.h"

#include <math.h>

#include "passes/passes.h"

/* ---- integers of 2 bits ---- */

/* 0x39: 01 10 11 00 from the lowest bits on. */
static void
two_bits(int type, bool in_list)
{
	static const uint8_t packed[] = {0x39, 0xfe};

	onx_make_tensor(file, "w", type, "5", in_list ? NULL : packed, sizeof packed);
	for (size_t i = 0; in_list && i < sizeof packed; i++)
		onx_number(&file->tensor, 5, packed[i]);
	onx_field(&file->graph, 5, file->tensor.data, file->tensor.n);
	onx_int(file, "to", ONX_FLOAT);
	onx_node(file, "Cast", "w", "y");
	onx_output(file, "y");
	import(25);
}

static void
test_two_bits(void **state)
{
	(void)state;
	for (int in_list = 0; in_list < 2; in_list++) {
		another_file();
		two_bits(ONX_INT2, in_list != 0);
		GIVES(V(0), 0, 1, -2, -1, 0, -2);
		another_file();
		two_bits(ONX_UINT2, in_list != 0);
		GIVES(V(0), 0, 1, 2, 3, 0, 2);
	}
}

/* Toward zero, then the low bits, as integers are cast. */
static void
test_cast_to_two_bits(void **state)
{
	static const struct {
		int type;
		double y[5];
	} rows[] = {
		{ONX_INT2, {1, -2, -1, 1, -2}},
		{ONX_UINT2, {1, 2, 3, 1, 2}},
		{ONX_INT4, {-3, 2, -1, 1, 6}},
	};

	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		(void)state;
		another_file();
		onx_input(file, "x", ONX_FLOAT, "5");
		onx_int(file, "to", rows[i].type);
		onx_node(file, "Cast", "x", "n");
		onx_int(file, "to", ONX_INT8);
		onx_node(file, "Cast", "n", "y");
		onx_output(file, "y");
		import(25);
		near(rows[i].y, run1(V(-3.75, 2, -1, 1.5, 22)), 5, 0);
	}
}

static void
test_quantize_to_two_bits(void **state)
{
	(void)state;
	onx_input(file, "x", ONX_FLOAT, "4");
	onx_floats(file, "s", "", (const float[]){0.5f});
	onx_tensor(file, "z", ONX_INT2, "", "\3", 1); /* -1 */
	onx_node(file, "QuantizeLinear", "x,s,z", "q");
	onx_node(file, "DequantizeLinear", "q,s,z", "y");
	onx_output(file, "y");
	import(25);
	/* codes -2 -1 0 1 */
	GIVES(V(-5, 0.125, 0.375, 9), 0, -0.5, 0, 0.5, 1);
}

/* Weights of 2 bits become integer: rows 1 -2 -1 0 of scale 1, -1 0 1 -2 of scale 2; steps of 0.5 around. */
static void
test_weights_of_two_bits(void **state)
{
	(void)state;
	onx_input(file, "x", ONX_FLOAT, "1,4");
	onx_floats(file, "s", "", (const float[]){0.5f});
	onx_tensor(file, "z", ONX_UINT8, "", "\0", 1);
	onx_tensor(file, "z2", ONX_UINT8, "", "\200", 1);
	onx_tensor(file, "w", ONX_INT2, "2,4", "\x39\x93", 2);
	onx_floats(file, "ws", "2", (const float[]){1, 2});
	onx_node(file, "QuantizeLinear", "x,s,z", "xq");
	onx_node(file, "DequantizeLinear", "xq,s,z", "xd");
	onx_int(file, "axis", 0);
	onx_node(file, "DequantizeLinear", "w,ws", "wd");
	onx_int(file, "transB", 1);
	onx_node(file, "Gemm", "xd,wd", "p");
	onx_node(file, "QuantizeLinear", "p,s,z2", "pq");
	onx_node(file, "DequantizeLinear", "pq,s,z2", "y");
	onx_output(file, "y");
	import(25);
	GIVES(V(1, 2, 3, 4), 0, -6, -12);
	assert_int_equal(qn_requantize(&rg->m, &(qn_requant_opts){.require_int = true}), QN_OK);
	assert_int_equal(qn_legalize(&rg->m), QN_OK);
	rg->g = qn_model_entry(&rg->m);
	GIVES(V(2, 4, 6, 8), 0, 128 - 12, 128 - 24);
}

/* ---- no elements ---- */

static void
test_extremes_of_nothing(void **state)
{
	(void)state;
	onx_input(file, "x", ONX_FLOAT, "2,0");
	onx_ints64(file, "a", "1", (const int64_t[]){1});
	onx_node(file, "ReduceMax", "x,a", "y");
	onx_output(file, "y");
	import(20);
	output_is("tensor<2x1xf32>");
	const double *y = run1(V(0));
	assert_true(isinf(y[0]) && y[0] < 0 && isinf(y[1]) && y[1] < 0);
	another_file();
	onx_input(file, "x", ONX_INT8, "0,3");
	onx_ints64(file, "a", "1", (const int64_t[]){0});
	onx_int(file, "keepdims", 0);
	onx_node(file, "ReduceMin", "x,a", "y");
	onx_output(file, "y");
	import(20);
	output_is("tensor<3xi8>");
	GIVES(V(0), 0, 127, 127, 127);
}

static void
test_tile_no_times(void **state)
{
	(void)state;
	onx_input(file, "x", ONX_FLOAT, "2,3");
	onx_ints64(file, "n", "2", (const int64_t[]){0, 2});
	onx_node(file, "Tile", "x,n", "y");
	onx_output(file, "y");
	import(13);
	output_is("tensor<0x6xf32>");
}

/* ---- integers ---- */

/* Functions of integers are computed with real numbers and cut off: sqrt(3^2 + 4^2 + 1) = 5.09, log(8) = 2.07. */
static void
test_norms_of_integers(void **state)
{
	(void)state;
	onx_input(file, "x", ONX_INT64, "3");
	onx_node(file, "ReduceL2", "x", "y");
	onx_output(file, "y");
	import(13);
	output_is("tensor<1xi64>");
	GIVES(V(3, -4, 1), 0, 5);
	another_file();
	onx_input(file, "x", ONX_INT64, "3");
	onx_node(file, "ReduceLogSum", "x", "y");
	onx_output(file, "y");
	import(13);
	GIVES(V(3, 4, 1), 0, 2);
}

static void
test_prelu_of_integers(void **state)
{
	(void)state;
	onx_input(file, "x", ONX_INT8, "2,2");
	onx_tensor(file, "s", ONX_INT8, "2", "\2\3", 2);
	onx_node(file, "PRelu", "x,s", "y");
	onx_output(file, "y");
	import(16);
	GIVES(V(-5, -5, 4, 0), 0, -10, -15, 4, 0);
}

/* Whether a float is a truth is a comparison, which has integer arithmetic; a truth that was a number is what it was. */
static void
test_floats_as_truths(void **state)
{
	(void)state;
	onx_input(file, "x", ONX_FLOAT, "4");
	onx_int(file, "to", ONX_BOOL);
	onx_node(file, "Cast", "x", "y");
	onx_output(file, "y");
	import(13);
	assert_int_equal(qn_graph_node(rg->g, rg->g->output[0].value)->op, QN_OP_not_equal);
	GIVES(V(0, -2, 0.25, -0.0), 0, 0, 1, 1, 0);
	another_file();
	onx_input(file, "x", ONX_BOOL, "2");
	onx_int(file, "to", ONX_FLOAT);
	onx_node(file, "Cast", "x", "f");
	onx_int(file, "to", ONX_BOOL);
	onx_node(file, "Cast", "f", "y");
	onx_output(file, "y");
	import(13);
	assert_int_equal(rg->g->output[0].value, rg->g->input[0]);
}

/* ---- places ---- */

/* Before set 11 a smaller result takes what lies above its place: 1 / 0.6 = 1.67. */
static void
test_old_resize(void **state)
{
	(void)state;
	onx_input(file, "x", ONX_FLOAT, "1,1,1,4");
	onx_floats(file, "s", "4", (const float[]){1, 1, 1, 0.6f});
	onx_node(file, "Resize", "x,s", "y");
	onx_output(file, "y");
	import(10);
	GIVES(V(1, 2, 3, 4), 0, 1, 3);
}

/* Rows, their length times a scale. */
static void
resized_rows(const char *shape, float scale, const char *places)
{
	another_file();
	onx_input(file, "x", ONX_FLOAT, shape);
	onx_floats(file, "s", "4", (const float[]){1, 1, 1, scale});
	onx_string(file, "coordinate_transformation_mode", places);
	onx_string(file, "nearest_mode", "floor");
	onx_node(file, "Resize", "x,,s", "y");
	onx_output(file, "y");
}

/* Lengths and places are computed in f32: 10 * 2.3 is 23, and 8 / 1.6 is 5 there, but not in double. */
static void
test_places_in_f32(void **state)
{
	(void)state;
	resized_rows("1,1,1,10", 2.3f, "asymmetric");
	import(13);
	output_is("tensor<1x1x1x23xf32>");
	resized_rows("1,1,1,10", 1.6f, "asymmetric");
	import(13);
	GIVES(V(0, 1, 2, 3, 4, 5, 6, 7, 8, 9), 0, 0, 0, 1, 1, 2, 3, 3, 4, 5, 5, 6, 6, 7, 8, 8, 9);
}

/* Corners are aligned for scale * in, and what other tools do is told: they align 4 * 1.4 = 5.6 for 5. */
static void
test_fractional_corners(void **state)
{
	(void)state;
	resized_rows("1,1,1,4", 1.5f, "align_corners");
	import(13);
	assert_int_equal(rg->diags.n, 0);
	resized_rows("1,1,1,4", 1.4f, "align_corners");
	assert_int_equal(import_from(NULL, 13), QN_OK);
	assert_int_equal(rg->diags.n, 1);
	assert_string_equal(rg->diags.item[0].id, "import.corners");
	qn_diags_clear(&rg->env, &rg->diags);
}

/* Of an odd difference more is at the end: 1 too few, 3 too many, 3 too few. */
static void
test_center(void **state)
{
	(void)state;
	onx_input(file, "x", ONX_FLOAT, "1,5,1");
	onx_ints64(file, "n", "2", (const int64_t[]){2, 2});
	onx_list(file, "axes", 2, (const int64_t[]){-1, 1});
	onx_node(file, "CenterCropPad", "x,n", "y");
	onx_output(file, "y");
	import(18);
	output_is("tensor<1x2x2xf32>");
	GIVES(V(1, 2, 3, 4, 5), 0, 2, 0, 3, 0);
	another_file();
	onx_input(file, "x", ONX_FLOAT, "2");
	onx_ints64(file, "n", "1", (const int64_t[]){5});
	onx_node(file, "CenterCropPad", "x,n", "y");
	onx_output(file, "y");
	import(18);
	GIVES(V(1, 2), 0, 0, 1, 2, 0, 0);
	another_file();
	onx_input(file, "x", ONX_FLOAT, "2");
	onx_ints64(file, "n", "2", (const int64_t[]){5, 5});
	onx_node(file, "CenterCropPad", "x,n", "y");
	onx_output(file, "y");
	import_fails(18, "import.input", "2 lengths for 1 axes");
	another_file();
	onx_input(file, "x", ONX_FLOAT, "2");
	onx_ints64(file, "n", "1", (const int64_t[]){INT64_MIN});
	onx_node(file, "CenterCropPad", "x,n", "y");
	onx_output(file, "y");
	import_fails(18, "import.input", "a length of");
}

/* ---- batches ---- */

/* Channel 0: 1 3, mean 2, variance 1; channel 1: 2 -6, mean -2, variance 16. */
static void
batch(const char *output)
{
	onx_input(file, "x", ONX_FLOAT, "2,2");
	onx_floats(file, "s", "2", (const float[]){1, 2});
	onx_floats(file, "b", "2", (const float[]){0, 10});
	onx_floats(file, "m", "2", (const float[]){4, 4});
	onx_floats(file, "v", "2", (const float[]){1, 8});
	onx_int(file, "training_mode", 1);
	onx_real(file, "momentum", 0.75f);
	onx_real(file, "epsilon", 0);
	onx_node(file, "BatchNormalization", "x,s,b,m,v", "y,mean,var");
	onx_output(file, output);
	import(15);
}

static void
test_batch_statistics(void **state)
{
	(void)state;
	batch("y");
	GIVES(V(1, 2, 3, -6), 1e-5, -1, 12, 1, 8);
	another_file();
	batch("mean");
	output_is("tensor<2xf32>");
	GIVES(V(1, 2, 3, -6), 1e-6, 3.5, 2.5);
	another_file();
	batch("var");
	GIVES(V(1, 2, 3, -6), 1e-6, 1, 10);
}

/* ---- sequences ---- */

static void
cells(const char *in)
{
	static const char *const names[] = {"Affine", "LeakyRelu"};

	onx_input(file, "x", ONX_FLOAT, "2,2,1");
	onx_floats(file, "w", "2,1,1", (const float[]){1, -1});
	onx_floats(file, "r", "2,1,1", (const float[]){1, 1});
	onx_ints64(file, "n", "2", (const int64_t[]){1, 2});
	onx_int(file, "hidden_size", 1);
	onx_string(file, "direction", "bidirectional");
	onx_attr_begin(file, "activations");
	for (size_t i = 0; i < QN_COUNT(names); i++)
		onx_text(&file->work, 9, names[i]);
	onx_number(&file->work, 20, 8);
	onx_attr_end(file);
	onx_reals(file, "activation_alpha", 2, (const float[]){0.5f, 0.125f});
	onx_reals(file, "activation_beta", 1, (const float[]){0.25f});
	onx_node(file, "RNN", in, "y,h");
}

/* x of the first sequence: 1 3, of the second: 2 4.  Forwards 0.5 (x + h) + 0.25, backwards (h - x) / 8. */
static void
test_parameters_of_activations(void **state)
{
	(void)state;
	cells("x,w,r");
	onx_output(file, "y");
	import(14);
	output_is("tensor<2x2x2x1xf32>");
	GIVES(V(1, 2, 3, 4), 1e-6, 0.75, 1.25, -0.171875, -0.3125, 2.125, 2.875, -0.375, -0.5);
}

/* The first sequence has one step: no result behind it, and its state stays. */
static void
test_lengths_of_sequences(void **state)
{
	(void)state;
	cells("x,w,r,,n");
	onx_output(file, "y");
	import(14);
	GIVES(V(1, 2, 3, 4), 1e-6, 0.75, 1.25, -0.125, -0.3125, 0, 2.875, 0, -0.5);
	another_file();
	cells("x,w,r,,n");
	onx_output(file, "h");
	import(14);
	output_is("tensor<2x2x1xf32>");
	GIVES(V(1, 2, 3, 4), 1e-6, 0.75, 2.875, -0.125, -0.3125);
	another_file();
	onx_input(file, "x", ONX_FLOAT, "2,2,1");
	onx_floats(file, "w", "1,1,1", (const float[]){1});
	onx_ints64(file, "n", "2", (const int64_t[]){1, 3});
	onx_int(file, "hidden_size", 1);
	onx_node(file, "RNN", "x,w,w,,n", "y");
	onx_output(file, "y");
	import_fails(14, "import.input", "one length per sequence");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_two_bits),
		TEST(test_cast_to_two_bits),
		TEST(test_quantize_to_two_bits),
		TEST(test_weights_of_two_bits),
		TEST(test_extremes_of_nothing),
		TEST(test_tile_no_times),
		TEST(test_norms_of_integers),
		TEST(test_prelu_of_integers),
		TEST(test_floats_as_truths),
		TEST(test_old_resize),
		TEST(test_places_in_f32),
		TEST(test_fractional_corners),
		TEST(test_center),
		TEST(test_batch_statistics),
		TEST(test_parameters_of_activations),
		TEST(test_lengths_of_sequences),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
