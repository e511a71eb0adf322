/* SPDX-License-Identifier: Apache-2.0 */
/* test_tflite_quantized.c - operators of TFLite files on quantized values: what their parameters mean. */
#include "tests/unit/tflite_op_rig.h"

/* ---- codes ---- */

/* The relu of codes to other parameters: MultiplyByQuantizedMultiplier, then the clamp. */
static void
test_relu_codes(void **state)
{
	(void)state;
	int x = tfl_codes(file, "x", TFL_INT8, DIMS(3), 0.5f, 0, NULL, 0);
	int y = tfl_codes(file, "y", TFL_INT8, DIMS(3), 0.25f, -10, NULL, 0);

	tfl_op(file, QN_TFL_RELU, INTS(x), INTS(y));
	import(INTS(x), INTS(y));
	GIVES(V(-4, 3, 100), -10, -4, 127);
}

static void
test_leaky_codes(void **state)
{
	(void)state;
	int x = tfl_codes(file, "x", TFL_INT8, DIMS(1, 3), 0.5f, 1, NULL, 0);
	int y = tfl_codes(file, "y", TFL_INT8, DIMS(1, 3), 0.5f, -2, NULL, 0);

	tfl_with(tfl_op(file, QN_TFL_LEAKY_RELU, INTS(x), INTS(y)), 0, 'f', 0.25);
	import(INTS(x), INTS(y));
	GIVES(V(-7, 1, 9), -4, -2, 6);
}

/* Parts with parameters of their own get those of the result. */
static void
test_concat_codes(void **state)
{
	(void)state;
	int x = tfl_codes(file, "x", TFL_INT8, DIMS(2), 0.5f, 0, NULL, 0);
	int c = tfl_codes(file, "c", TFL_INT8, DIMS(1), 1.0f, 1, (const int8_t[]){5}, 1);
	int y = tfl_codes(file, "y", TFL_INT8, DIMS(3), 1.0f, 0, NULL, 0);

	tfl_op(file, QN_TFL_CONCATENATION, INTS(x, c), INTS(y));
	import(INTS(x), INTS(y));
	GIVES(V(8, -3), 4, -1, 4); /* -1.5: halves go up at shift 0 */
}

static void
test_pad_code(void **state)
{
	(void)state;
	int x = tfl_codes(file, "x", TFL_INT8, DIMS(1), 0.5f, 7, NULL, 0);
	int y = tfl_codes(file, "y", TFL_INT8, DIMS(3), 0.5f, 7, NULL, 0);
	int w = tfl_tensor(file, "w", TFL_INT32, DIMS(1, 2), (const int32_t[]){1, 1}, 8);

	tfl_op(file, QN_TFL_PAD, INTS(x, w), INTS(y));
	import(INTS(x), INTS(y));
	GIVES(V(1), 7, 1, 7);
}

/* QUANTIZE rounds halves away from 0. */
static void
test_quantize_halves(void **state)
{
	(void)state;
	int x = real_x(DIMS(4));
	int n = tfl_tensor(file, "n", F32, DIMS(4), NULL, 0);
	int y = tfl_codes(file, "y", TFL_INT8, DIMS(4), 1.0f, 0, NULL, 0);

	tfl_op(file, QN_TFL_NEG, INTS(x), INTS(n));
	tfl_op(file, QN_TFL_QUANTIZE, INTS(n), INTS(y));
	import(INTS(x), INTS(y));
	GIVES(V(-0.5, -1.5, 2.5, 0.25), 1, 2, -3, 0);
}

/* A channel with the scale 0 is 0, whatever its weights and its bias: 2 and 3 by {1, 2} and {100, 100}, biases 4 and 5000. */
static void
test_scale_of_0(void **state)
{
	(void)state;
	static const int8_t weights[] = {1, 2, 100, 100};
	static const int32_t bias[] = {4, 5000};
	int x = tfl_codes(file, "x", TFL_INT8, DIMS(1, 2), 0.5f, 0, NULL, 0);
	int w = tfl_codes(file, "w", TFL_INT8, DIMS(2, 2), 0.25f, 0, weights, 4);
	int b = tfl_codes(file, "b", TFL_INT32, DIMS(2), 0.125f, 0, bias, 8);
	int y = tfl_codes(file, "y", TFL_INT8, DIMS(1, 2), 0.125f, 7, NULL, 0);

	file->tensor[w].nscale = file->tensor[b].nscale = 2; /* scale[1] is 0 */
	tfl_op(file, QN_TFL_FULLY_CONNECTED, INTS(x, w, b), INTS(y));
	import(INTS(x), INTS(y));
	GIVES(V(2, 3), 2 + 6 + 4 + 7, 7);
}

/* u8 data, u8 weights around a zero point: TFLite's formula with the f32 product of the scales. */
static void
check_u8(int rank, const int32_t *xd, const int32_t *wd, const int32_t *yd, int code)
{
	static const uint8_t weights[] = {0, 255, 130, 7, 200, 100, 255, 1};
	static const int32_t bias[] = {100, -50};
	static const double x[] = {3, 250, 128, 77};
	double want[2];
	int in = tfl_codes(file, "x", TFL_UINT8, rank, xd, 0.05f, 128, NULL, 0);
	int w = tfl_codes(file, "w", TFL_UINT8, rank, wd, 0.02f, 0, weights, 8);
	int b = tfl_codes(file, "b", TFL_INT32, DIMS(2), 0.05f * 0.02f, 0, bias, 8);
	int y = tfl_codes(file, "y", TFL_UINT8, rank, yd, 0.5f, 100, NULL, 0);
	tfl_op_of *o = tfl_op(file, code, INTS(in, w, b), INTS(y));

	if (code != QN_TFL_FULLY_CONNECTED)
		tfl_with(tfl_with(tfl_with(o, 0, 'b', 1), 1, 'i', 1), 2, 'i', 1);
	for (int c = 0; c < 2; c++) {
		double acc = bias[c];

		for (int k = 0; k < 4; k++)
			acc += (x[k] - 128) * weights[c * 4 + k];
		acc = acc * (double)(float)(0.05f * 0.02f) / 0.5 + 100;
		want[c] = acc < 0 ? 0 : acc > 255 ? 255 : (double)(int)(acc + 0.5);
	}
	import(INTS(in), INTS(y));
	gives(x, 2, want);
}

static void
test_u8_dense(void **state)
{
	(void)state;
	check_u8(2, (const int32_t[]){1, 4}, (const int32_t[]){2, 4}, (const int32_t[]){1, 2},
		 QN_TFL_FULLY_CONNECTED);
}

static void
test_u8_conv(void **state)
{
	(void)state;
	check_u8(4, (const int32_t[]){1, 1, 2, 2}, (const int32_t[]){2, 1, 2, 2},
		 (const int32_t[]){1, 1, 1, 2}, QN_TFL_CONV_2D);
}

/* ---- 16 bits ---- */

/* i16 data, i8 weights, i64 bias: the accumulator has 64 bits. */
static void
test_codes_16(void **state)
{
	(void)state;
	static const int64_t bias[] = {400};
	int x = tfl_codes(file, "x", TFL_INT16, DIMS(1, 2), 0.5f, 0, NULL, 0);
	int w = tfl_codes(file, "w", TFL_INT8, DIMS(1, 2), 0.5f, 0, (const int8_t[]){3, -4}, 2);
	int b = tfl_codes(file, "b", TFL_INT64, DIMS(1), 0.25f, 0, bias, 8);
	int y = tfl_codes(file, "y", TFL_INT16, DIMS(1, 1), 1.0f, 0, NULL, 0);

	tfl_op(file, QN_TFL_FULLY_CONNECTED, INTS(x, w, b), INTS(y));
	import(INTS(x), INTS(y));
	GIVES(V(1000, -2000), 2850); /* (3000 + 8000 + 400) / 4 */
}

/* A product of a quantized and a plain value has no scale. */
static void
test_half_quantized(void **state)
{
	static const struct {
		int code;
		const char *id, *words;
	} rows[] = {
		{QN_TFL_BATCH_MATMUL, "import.input",
		 "one operand is quantized and the other is not"},
		{QN_TFL_FULLY_CONNECTED, "import.type", "weights or the result are not"},
	};
	static const int8_t weights[] = {3, -4, 1, 2};

	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		if (i > 0) {
			(void)tflite_teardown(state);
			(void)tflite_setup(state);
		}
		int x = tfl_codes(file, "x", TFL_INT8, DIMS(2, 2), 0.5f, 0, NULL, 0);
		int w = tfl_tensor(file, "w", TFL_INT8, DIMS(2, 2), weights, sizeof weights);
		int y = tfl_codes(file, "y", TFL_INT8, DIMS(2, 2), 1.0f, 0, NULL, 0);
		tfl_op(file, rows[i].code, INTS(x, w), INTS(y));
		import_fails(INTS(x), INTS(y), rows[i].id, rows[i].words);
	}
}

int
main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, tflite_setup, tflite_teardown)
	const struct CMUnitTest tests[] = {
		T(test_scale_of_0),     T(test_relu_codes), T(test_leaky_codes),
		T(test_concat_codes),   T(test_pad_code),   T(test_quantize_halves),
		T(test_u8_dense),       T(test_u8_conv),    T(test_codes_16),
		T(test_half_quantized),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
