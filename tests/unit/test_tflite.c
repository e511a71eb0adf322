/* SPDX-License-Identifier: Apache-2.0 */
/* test_tflite.c - reading TFLite files: floats, codes with their parameters, hybrid models. */
#include "tests/unit/tflite_rig.h"

#include "passes/passes.h"
#include "runtime/impl_args.h"
#include "runtime/impls.h"

static const qn_node *
only(qn_op op)
{
	const qn_node *found = NULL;

	for (qn_id id = 1; id < rg->g->n; id++)
		if (qn_graph_node(rg->g, id)->op == op) {
			assert_null(found);
			found = qn_graph_node(rg->g, id);
		}
	assert_non_null(found);
	return found;
}

static void
has_type(const qn_node *n, const char *want)
{
	qn_buf b;

	qn_buf_init(&b, &rg->arena);
	qn_type_print(&b, n->type);
	assert_string_equal(qn_buf_str(&b), want);
}

/* ---- floats ---- */

static void
test_dense_relu(void **state)
{
	(void)state;
	int x = tfl_tensor(file, "x", TFL_FLOAT32, DIMS(1, 2), NULL, 0);
	int w = tfl_tensor(file, "w", TFL_FLOAT32, DIMS(2, 2), (const float[]){1, 2, 3, -4}, 16);
	int b = tfl_tensor(file, "b", TFL_FLOAT32, DIMS(2), (const float[]){0.5f, 0}, 8);
	int y = tfl_tensor(file, "layer;Relu", TFL_FLOAT32, DIMS(1, 2), NULL, 0);

	tfl_with(tfl_op(file, QN_TFL_FULLY_CONNECTED, INTS(x, w, b), INTS(y)), 0, 'b', 1);
	import(INTS(x), INTS(y));
	assert_int_equal(rg->m.stage, QN_STAGE_FLOAT);
	assert_string_equal(only(QN_OP_dense)->name, "layer");
	GIVES(V(1, 1), 3.5, 0);
}

/* Biases whose quantized_dimension is that of the weights: their scales lie along the one axis they have. */
static void
test_axis_of_bias(void **state)
{
	for (int rank = 1; rank < 3; rank++) {
		static const int8_t weights[] = {1, 2, 3, 4};
		static const int32_t bias[] = {10, -20};
		const int32_t dims[2][2] = {{2}, {1, 2}};

		(void)tflite_teardown(state);
		(void)tflite_setup(state);
		int x = tfl_codes(file, "x", TFL_INT8, DIMS(1, 1, 1, 2), 0.5f, 0, NULL, 0);
		int w = tfl_codes(file, "w", TFL_INT8, DIMS(2, 1, 1, 2), 0.25f, 0, weights, 4);
		int b = tfl_codes(file, "b", TFL_INT32, rank, dims[rank - 1], 0.125f, 0, bias, 8);
		int y = tfl_codes(file, "y", TFL_INT8, DIMS(1, 1, 1, 2), 1.0f, 0, NULL, 0);

		file->tensor[w].nscale = file->tensor[b].nscale = 2;
		file->tensor[w].scale[1] = 0.5f;
		file->tensor[b].scale[1] = 0.25f;
		file->tensor[b].axis = 3;
		tfl_with(tfl_with(tfl_op(file, QN_TFL_CONV_2D, INTS(x, w, b), INTS(y)), 1, 'i', 1),
			 2, 'i', 1);
		reading.from_float = rank == 1;
		import(INTS(x), INTS(y));
		if (rank == 1)
			GIVES(V(1, 2), 0.25 + 1 + 1.25, 1.5 + 4 - 5);
		else /* sums of 15 * 0.125 and -9 * 0.25, in steps of 1 */
			GIVES(V(1, 2), 2, -2);
	}
}

/* [1,kh,kw,O] becomes one group a channel, 2 results each. */
static void
test_depthwise(void **state)
{
	(void)state;
	int x = tfl_tensor(file, "x", TFL_FLOAT32, DIMS(1, 1, 2, 2), NULL, 0);
	const float weights[] = {1, 10, 100, 1000, 2, 20, 200, 2000}; /* two columns of 4 results */
	int w = tfl_tensor(file, "w", TFL_FLOAT32, DIMS(1, 1, 2, 4), weights, 32);
	int y = tfl_tensor(file, "y", TFL_FLOAT32, DIMS(1, 1, 1, 4), NULL, 0);
	tfl_op_of *o = tfl_op(file, QN_TFL_DEPTHWISE_CONV_2D, INTS(x, w, -1), INTS(y));

	tfl_with(tfl_with(tfl_with(o, 0, 'b', 1), 1, 'i', 1), 2, 'i', 1);
	import(INTS(x), INTS(y));
	assert_int_equal(only(QN_OP_conv2d)->attr->conv2d.groups, 2);
	/* columns (1, 2) and (3, 4) of channels 0, 1 */
	GIVES(V(1, 2, 3, 4), 7, 70, 1000, 10000);
}

/* int8 weights under a float operator are real weights. */
static void
test_hybrid(void **state)
{
	(void)state;
	int x = tfl_tensor(file, "x", TFL_FLOAT32, DIMS(1, 2), NULL, 0);
	int w = tfl_codes(file, "w", TFL_INT8, DIMS(1, 2), 0.5f, 0, (const int8_t[]){3, -4}, 2);
	int y = tfl_tensor(file, "y", TFL_FLOAT32, DIMS(1, 1), NULL, 0);

	tfl_op(file, QN_TFL_FULLY_CONNECTED, INTS(x, w), INTS(y));
	import(INTS(x), INTS(y));
	assert_int_equal(rg->m.stage, QN_STAGE_FLOAT);
	GIVES(V(10, 1), 13);
}

/* fp16 weights behind a DEQUANTIZE. */
static void
test_half_weights(void **state)
{
	(void)state;
	int x = tfl_tensor(file, "x", TFL_FLOAT32, DIMS(2), NULL, 0);
	int h = tfl_tensor(file, "h", TFL_FLOAT16, DIMS(2), (const uint16_t[]){0x3c00, 0xc000}, 4);
	int w = tfl_tensor(file, "w", TFL_FLOAT32, DIMS(2), NULL, 0);
	int y = tfl_tensor(file, "y", TFL_FLOAT32, DIMS(2), NULL, 0);

	tfl_op(file, QN_TFL_DEQUANTIZE, INTS(h), INTS(w));
	tfl_op(file, QN_TFL_MUL, INTS(x, w), INTS(y));
	import(INTS(x), INTS(y));
	GIVES(V(3, 5), 3, -10);
}

/* ---- codes ---- */

/* y = dense of codes: x of scale sx, zero point zx; weights of scale sw; result of sy, zy. */
static void
dense_of_codes(float sx, int zx, float sw, float sy, int zy, int activation)
{
	static const int8_t weights[] = {1, 2, -3, 4};
	static const int32_t bias[] = {10, -20};
	int x = tfl_codes(file, "x", TFL_INT8, DIMS(1, 2), sx, zx, NULL, 0);
	int w = tfl_codes(file, "w", TFL_INT8, DIMS(2, 2), sw, 0, weights, 4);
	int b = tfl_codes(file, "b", TFL_INT32, DIMS(2), sx * sw, 0, bias, 8);
	int y = tfl_codes(file, "y", TFL_INT8, DIMS(1, 2), sy, zy, NULL, 0);

	tfl_with(tfl_op(file, QN_TFL_FULLY_CONNECTED, INTS(x, w, b), INTS(y)), 0, 'b', activation);
	import(INTS(x), INTS(y));
}

static void
test_codes(void **state)
{
	const char *const *layer;

	(void)state;
	dense_of_codes(0.5f, 3, 0.5f, 1.0f, -5, 0);
	assert_int_equal(rg->m.stage, QN_STAGE_CALIBRATED);
	has_type(only(QN_OP_dense),
		 "tensor<1x2x!quant.uniform<i32:f32, fmul(5.000000e-01,5.000000e-01)>>");
	assert_string_equal(only(QN_OP_requantize)->name, "y");
	assert_int_equal(qn_node_origin(only(QN_OP_dense), &layer), 1);
	assert_string_equal(layer[0], "y");
	/* acc = 10 + 7 + 2*7 = 31, -20 - 21 + 28 = -13; * 0.25 = 7.75, -3.25; - 5 */
	GIVES(V(10, 10), 3, -8);
}

/* relu: nothing below the code of 0. */
static void
test_codes_relu(void **state)
{
	(void)state;
	dense_of_codes(0.5f, 3, 0.5f, 1.0f, -5, 1);
	GIVES(V(10, 10), 3, -5);
}

/* 0.1 and 0.3 in f32: the f32 product is another number than the product in double, and so is the
 * multiplier; it is that of the f32 product (TFLite's fully connected with one scale). */
static void
test_f32_product(void **state)
{
	const float sx = 0.1f, sw = 0.3f, sy = 0.7f;
	int32_t want, other, shift, other_shift;

	(void)state;
	dense_of_codes(sx, 0, sw, sy, 0, 0);
	const qn_node *rq = only(QN_OP_requantize);
	const qn_requantize_args *args =
		qn_int_impl_get(QN_OP_requantize)->prepare(rg->g, rq, &rg->arena);
	assert_non_null(args);
	assert_true(qn_multiplier((double)(float)(sx * sw) / (double)sy, 0, &want, &shift));
	assert_true(qn_multiplier((double)sx * (double)sw / (double)sy, 0, &other, &other_shift));
	assert_int_not_equal(want, other);
	assert_int_equal(args->mult[0], want);
	assert_int_equal(args->shift[0], shift);
}

/* Weights with a scale for each of two columns of a depthwise convolution: along axis 3 in the file,
 * 0 here. */
static void
test_axis(void **state)
{
	(void)state;
	int x = tfl_codes(file, "x", TFL_INT8, DIMS(1, 1, 1, 2), 1.0f, 0, NULL, 0);
	int w = tfl_codes(file, "w", TFL_INT8, DIMS(1, 1, 1, 2), 0.5f, 0, (const int8_t[]){2, 3},
			  2);
	int y = tfl_codes(file, "y", TFL_INT8, DIMS(1, 1, 1, 2), 1.0f, 0, NULL, 0);
	tfl_op_of *o = tfl_op(file, QN_TFL_DEPTHWISE_CONV_2D, INTS(x, w), INTS(y));

	file->tensor[w].nscale = 2;
	file->tensor[w].scale[1] = 0.25f;
	file->tensor[w].axis = 3;
	tfl_with(tfl_with(o, 1, 'i', 1), 2, 'i', 1);
	import(INTS(x), INTS(y));
	GIVES(V(10, 100), 10, 75);
}

static void
test_from_float(void **state)
{
	(void)state;
	reading.from_float = true;
	dense_of_codes(0.5f, 3, 0.5f, 1.0f, -5, 1);
	assert_int_equal(rg->m.stage, QN_STAGE_FLOAT);
	/* weights 0.5 1, -1.5 2; bias 2.5 -5 */
	GIVES(V(1, 10), 13, 13.5);
}

static void
test_four_bits(void **state)
{
	(void)state;
	int x = tfl_tensor(file, "x", TFL_FLOAT32, DIMS(1, 3), NULL, 0);
	int w = tfl_codes(file, "w", TFL_INT4, DIMS(1, 3), 1.0f, 0, (const uint8_t[]){0xf7, 0x08},
			  2);
	int y = tfl_tensor(file, "y", TFL_FLOAT32, DIMS(1, 1), NULL, 0);

	tfl_op(file, QN_TFL_FULLY_CONNECTED, INTS(x, w), INTS(y));
	import(INTS(x), INTS(y));
	GIVES(V(1, 10, 100), 7 - 10 - 800);
}

/* Real values in and out: compiling makes codes of them, nothing is calibrated. */
static void
test_float_edges(void **state)
{
	(void)state;
	int x = tfl_tensor(file, "x", TFL_FLOAT32, DIMS(1, 2), NULL, 0);
	int q = tfl_codes(file, "q", TFL_INT8, DIMS(1, 2), 0.5f, 3, NULL, 0);
	int w = tfl_codes(file, "w", TFL_INT8, DIMS(1, 2), 0.5f, 0, (const int8_t[]){3, -4}, 2);
	int p = tfl_codes(file, "p", TFL_INT8, DIMS(1, 1), 0.5f, 0, NULL, 0);
	int y = tfl_tensor(file, "y", TFL_FLOAT32, DIMS(1, 1), NULL, 0);

	tfl_op(file, QN_TFL_QUANTIZE, INTS(x), INTS(q));
	tfl_op(file, QN_TFL_FULLY_CONNECTED, INTS(q, w), INTS(p));
	tfl_op(file, QN_TFL_DEQUANTIZE, INTS(p), INTS(y));
	import(INTS(x), INTS(y));
	GIVES(V(10, 1), 13);
	assert_int_equal(qn_requantize(&rg->m, &(qn_requant_opts){0}), QN_OK);
	assert_int_equal(qn_legalize(&rg->m), QN_OK);
	no_errors();
	rg->g = qn_model_entry(&rg->m);
	GIVES(V(23, 5), 26);
}

/* A convolution and a QUANTIZE to a narrower range behind it: rounded twice, as TFLite does it. */
static void
test_rounded_twice(void **state)
{
	(void)state;
	int x = tfl_codes(file, "x", TFL_INT8, DIMS(1, 1), 0.25f, 0, NULL, 0);
	int w = tfl_codes(file, "w", TFL_INT8, DIMS(1, 1), 1.0f, 0, (const int8_t[]){1}, 1);
	int p = tfl_codes(file, "p", TFL_INT8, DIMS(1, 1), 1.0f, 0, NULL, 0);
	int y = tfl_codes(file, "y", TFL_INT8, DIMS(1, 1), 0.25f, 0, NULL, 0);

	tfl_op(file, QN_TFL_FULLY_CONNECTED, INTS(x, w), INTS(p));
	tfl_op(file, QN_TFL_QUANTIZE, INTS(p), INTS(y));
	import(INTS(x), INTS(y));
	GIVES(V(7), 8); /* 1.75 is 2 */
	assert_int_equal(qn_requantize(&rg->m, &(qn_requant_opts){0}), QN_OK);
	assert_int_equal(qn_legalize(&rg->m), QN_OK);
	rg->g = qn_model_entry(&rg->m);
	GIVES(V(7), 8);
}

static void
test_outside_data(void **state)
{
	(void)state;
	int x = tfl_tensor(file, "x", TFL_FLOAT32, DIMS(2), NULL, 0);
	int w = tfl_tensor(file, "w", TFL_FLOAT32, DIMS(2), (const float[]){3, -4}, 8);
	int y = tfl_tensor(file, "y", TFL_FLOAT32, DIMS(2), NULL, 0);

	file->tensor[w].is_outside = 1;
	tfl_op(file, QN_TFL_MUL, INTS(x, w), INTS(y));
	import(INTS(x), INTS(y));
	GIVES(V(10, 1), 30, -4);
}

int
main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, tflite_setup, tflite_teardown)
	const struct CMUnitTest tests[] = {
		T(test_dense_relu),    T(test_axis_of_bias), T(test_depthwise),
		T(test_hybrid),        T(test_half_weights), T(test_codes),
		T(test_codes_relu),    T(test_f32_product),  T(test_axis),
		T(test_from_float),    T(test_four_bits),    T(test_float_edges),
		T(test_rounded_twice), T(test_outside_data),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
