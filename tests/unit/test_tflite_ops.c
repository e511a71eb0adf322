/* SPDX-License-Identifier: Apache-2.0 */
/* test_tflite_ops.c - operators of TFLite files that compute: what their options and inputs mean. */
#include "tests/unit/tflite_op_rig.h"

/* ---- arithmetic ---- */

static void
test_reductions(void **state)
{
	(void)state;
	int x = real_x(DIMS(2, 2)), y = real_y(DIMS(2, 1));

	tfl_with(tfl_op(file, QN_TFL_MEAN, INTS(x, ints("a", DIMS(-1))), INTS(y)), 0, 'b', 1);
	import(INTS(x), INTS(y));
	GIVES(V(1, 2, 3, 5), 1.5, 4);
}

static void
test_select_rows(void **state)
{
	(void)state;
	int x = real_x(DIMS(2, 2)), y = real_y(DIMS(2, 2));
	int c = tfl_tensor(file, "c", TFL_BOOL, DIMS(2), (const uint8_t[]){0, 1}, 2);
	int n = tfl_tensor(file, "n", F32, DIMS(2, 2), NULL, 0);

	tfl_op(file, QN_TFL_NEG, INTS(x), INTS(n));
	tfl_op(file, QN_TFL_SELECT, INTS(c, x, n), INTS(y));
	import(INTS(x), INTS(y));
	GIVES(V(1, 2, 3, 4), -1, -2, 3, 4);
}

static void
test_softmax_beta(void **state)
{
	(void)state;
	int x = real_x(DIMS(1, 2)), y = real_y(DIMS(1, 2));

	tfl_with(tfl_op(file, QN_TFL_SOFTMAX, INTS(x), INTS(y)), 0, 'f', 0.0);
	import(INTS(x), INTS(y));
	GIVES(V(1, 7), 0.5, 0.5);
}

static void
test_prelu(void **state)
{
	(void)state;
	int x = real_x(DIMS(1, 2, 2)), y = real_y(DIMS(1, 2, 2));
	int s = tfl_tensor(file, "s", F32, DIMS(1, 1, 2), (const float[]){0.5f, 2}, 8);

	tfl_op(file, QN_TFL_PRELU, INTS(x, s), INTS(y));
	import(INTS(x), INTS(y));
	GIVES(V(-1, -1, 1, 1), -0.5, -2, 1, 1);
}

/* ---- truth values, indices ---- */

/* where(not (x < 0 and x < -2), x, 0) */
static void
test_logic(void **state)
{
	(void)state;
	static const float nought = 0, two = -2;
	int x = real_x(DIMS(3)), y = real_y(DIMS(3));
	int zero = tfl_tensor(file, "0", F32, DIMS(1), &nought, 4);
	int low = tfl_tensor(file, "2", F32, DIMS(1), &two, 4);
	int a = tfl_tensor(file, "a", TFL_BOOL, DIMS(3), NULL, 0);
	int b = tfl_tensor(file, "b", TFL_BOOL, DIMS(3), NULL, 0);
	int c = tfl_tensor(file, "c", TFL_BOOL, DIMS(3), NULL, 0);
	int d = tfl_tensor(file, "d", TFL_BOOL, DIMS(3), NULL, 0);

	tfl_op(file, QN_TFL_LESS, INTS(x, zero), INTS(a));
	tfl_op(file, QN_TFL_LESS, INTS(x, low), INTS(b));
	tfl_op(file, QN_TFL_LOGICAL_AND, INTS(a, b), INTS(c));
	tfl_op(file, QN_TFL_LOGICAL_NOT, INTS(c), INTS(d));
	tfl_op(file, QN_TFL_SELECT_V2, INTS(d, x, zero), INTS(y));
	import(INTS(x), INTS(y));
	GIVES(V(-1, -3, 4), -1, 0, 4);
}

static void
test_one_hot(void **state)
{
	(void)state;
	static const float on = 5, off = 1;
	int x = tfl_tensor(file, "x", TFL_INT32, DIMS(2), NULL, 0), y = real_y(DIMS(2, 3));
	int a = tfl_tensor(file, "on", F32, 0, NULL, &on, 4);
	int b = tfl_tensor(file, "off", F32, 0, NULL, &off, 4);

	tfl_with(tfl_op(file, QN_TFL_ONE_HOT, INTS(x, one("d", 3), a, b), INTS(y)), 0, 'i', -1);
	import(INTS(x), INTS(y));
	GIVES(V(2, 0), 1, 1, 5, 5, 1, 1);
}

static void
test_floor_mod(void **state)
{
	(void)state;
	static const float three = 3;
	int x = real_x(DIMS(2)), y = real_y(DIMS(2)),
	    d = tfl_tensor(file, "d", F32, 0, NULL, &three, 4);

	tfl_op(file, QN_TFL_FLOOR_MOD, INTS(x, d), INTS(y));
	import(INTS(x), INTS(y));
	GIVES(V(-1, 4), 2, 1);
}

static void
integers(int code, int type, int32_t b, const double *x, int n, const double *want)
{
	static uint8_t bytes[4];
	int size = type == TFL_BOOL ? 1 : 4, in, y;

	memcpy(bytes, &b, 4);
	in = tfl_tensor(file, "x", type, 1, &n, NULL, 0);
	y = tfl_tensor(file, "y", type, 1, &n, NULL, 0);
	tfl_op(file, code, INTS(in, tfl_tensor(file, "b", type, 0, NULL, bytes, size)), INTS(y));
	import(INTS(in), INTS(y));
	gives(x, n, want);
}

static void
test_floor_div(void **state)
{
	(void)state;
	integers(QN_TFL_FLOOR_DIV, TFL_INT32, 3, V(-1, 7), 2, V(-1, 2));
}

static void
test_logical_or(void **state)
{
	(void)state;
	integers(QN_TFL_LOGICAL_OR, TFL_BOOL, 0, V(0, 1), 2, V(0, 1));
}

static void
test_bitwise_xor(void **state)
{
	(void)state;
	integers(QN_TFL_BITWISE_XOR, TFL_INT32, 6, V(5, -1), 2, V(3, -7));
}

static void
test_right_shift(void **state)
{
	(void)state;
	integers(QN_TFL_RIGHT_SHIFT, TFL_INT32, 2, V(13, 100), 2, V(3, 25));
}

static void
test_top_k(void **state)
{
	(void)state;
	int x = real_x(DIMS(2, 3)), v = real_y(DIMS(2, 2));
	int p = tfl_tensor(file, "p", TFL_INT32, DIMS(2, 2), NULL, 0);
	int c = tfl_tensor(file, "c", F32, DIMS(2, 2), NULL, 0);
	int y = tfl_tensor(file, "z", F32, DIMS(2, 2), NULL, 0);

	tfl_op(file, QN_TFL_TOPK_V2, INTS(x, one("k", 2)), INTS(v, p));
	tfl_op(file, QN_TFL_CAST, INTS(p), INTS(c));
	tfl_op(file, QN_TFL_ADD, INTS(v, c), INTS(y));
	import(INTS(x), INTS(y));
	GIVES(V(10, 30, 20, 60, 50, 40), 31, 22, 60, 51);
}

/* A kernel of two slices: I and O are the last axes in the file. */
static void
test_conv_3d(void **state)
{
	(void)state;
	int x = real_x(DIMS(1, 2, 1, 1, 1)), y = real_y(DIMS(1, 1, 1, 1, 2));
	const float weights[] = {1, 2, 10, 20};
	int w = tfl_tensor(file, "w", F32, DIMS(2, 1, 1, 1, 2), weights, 16);
	tfl_op_of *o = tfl_op(file, QN_TFL_CONV_3D, INTS(x, w), INTS(y));

	tfl_with(tfl_with(tfl_with(tfl_with(o, 0, 'b', 1), 1, 'i', 1), 2, 'i', 1), 3, 'i', 1);
	import(INTS(x), INTS(y));
	GIVES(V(3, 4), 43, 86);
}

static void
test_l2_normalization(void **state)
{
	(void)state;
	int x = real_x(DIMS(2, 2)), y = real_y(DIMS(2, 2));

	tfl_op(file, QN_TFL_L2_NORMALIZATION, INTS(x), INTS(y));
	import(INTS(x), INTS(y));
	near(V(0.6, 0.8, 0, 1), run1(V(3, 4, 0, 2)), 4, 1e-7);
}

/* 1 / sqrt(1 + (1 + 4) / 2), 2 / sqrt(1 + (1 + 4 + 9) / 2), 3 / sqrt(1 + (4 + 9) / 2) */
static void
test_local_response(void **state)
{
	(void)state;
	int x = real_x(DIMS(1, 1, 1, 3)), y = real_y(DIMS(1, 1, 1, 3));
	tfl_op_of *o = tfl_op(file, QN_TFL_LOCAL_RESPONSE_NORMALIZATION, INTS(x), INTS(y));

	tfl_with(tfl_with(tfl_with(tfl_with(o, 0, 'i', 1), 1, 'f', 1), 2, 'f', 0.5), 3, 'f', 0.5);
	import(INTS(x), INTS(y));
	near(V(0.5345225, 0.7071068, 1.0954451), run1(V(1, 2, 3)), 3, 1e-6);
}

/* ---- sequences ---- */

/* Two steps of one cell whose gates are all open (bias 100): c adds up its inputs, h is c. */
static void
test_lstm(void **state)
{
	static const float weight = 2, nought = 0, open = 100;
	int32_t in[20];

	(void)state;
	int x = real_x(DIMS(1, 2, 1)), y = real_y(DIMS(1, 2, 1));
	for (int i = 0; i < 20; i++)
		in[i] = -1;
	in[0] = x;
	for (int i = 0; i < 4; i++) {
		in[1 + i] = tfl_tensor(file, "w", F32, DIMS(1, 1), i == 2 ? &weight : &nought, 4);
		in[5 + i] = tfl_tensor(file, "r", F32, DIMS(1, 1), &nought, 4);
		in[12 + i] = tfl_tensor(file, "b", F32, DIMS(1), i == 2 ? &nought : &open, 4);
	}
	for (int i = 18; i < 20; i++) {
		in[i] = tfl_tensor(file, "s", F32, DIMS(1, 1), NULL, 0);
		file->tensor[in[i]].is_variable = 1;
	}
	tfl_op(file, QN_TFL_UNIDIRECTIONAL_SEQUENCE_LSTM, 20, in, INTS(y));
	import(INTS(x), INTS(y));
	GIVES(V(3, 4), 6, 14);
}

static void
test_lstm_refused(void **state)
{
	int32_t in[20];

	(void)state;
	int x = real_x(DIMS(1, 2, 1)), y = real_y(DIMS(1, 2, 1));
	for (int i = 0; i < 20; i++)
		in[i] = i == 0 ? x : -1;
	tfl_op(file, QN_TFL_UNIDIRECTIONAL_SEQUENCE_LSTM, 20, in, INTS(y));
	import_fails(INTS(x), INTS(y), "import.attr", "all four");
}

/* ---- sparse ---- */

/* Rows of [2,4] as a dense dimension and a compressed one: 5 at [0,1], 6 at [0,3], 7 at [1,0]. */
static void
test_sparse(void **state)
{
	(void)state;
	int x = real_x(DIMS(1, 4)), y = real_y(DIMS(1, 2));
	int w = tfl_tensor(file, "w", F32, DIMS(2, 4), (const float[]){5, 6, 7}, 12);

	file->tensor[w].segments = (const int32_t[]){0, 2, 3};
	file->tensor[w].indices = (const int32_t[]){1, 3, 0};
	file->tensor[w].nindices = 3;
	tfl_op(file, QN_TFL_FULLY_CONNECTED, INTS(x, w), INTS(y));
	import(INTS(x), INTS(y));
	GIVES(V(1, 10, 100, 1000), 6050, 7);
}

static void
test_sparse_damaged(void **state)
{
	(void)state;
	int x = real_x(DIMS(1, 4)), y = real_y(DIMS(1, 2));
	int w = tfl_tensor(file, "w", F32, DIMS(2, 4), (const float[]){5, 6, 7}, 12);

	file->tensor[w].segments = (const int32_t[]){0, 2, 9};
	file->tensor[w].indices = (const int32_t[]){1, 3, 0};
	file->tensor[w].nindices = 3;
	tfl_op(file, QN_TFL_FULLY_CONNECTED, INTS(x, w), INTS(y));
	import_fails(INTS(x), INTS(y), "import.type", "sparse storage");
}

static void
test_bad_axis(void **state)
{
	(void)state;
	int x = real_x(DIMS(2, 3)), y = real_y(DIMS(2));

	tfl_op(file, QN_TFL_MEAN, INTS(x, ints("a", DIMS(2))), INTS(y));
	import_fails(INTS(x), INTS(y), "import.attr", "axis 2 of 2");
}

int
main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, tflite_setup, tflite_teardown)
	const struct CMUnitTest tests[] = {
		T(test_reductions),     T(test_select_rows),    T(test_softmax_beta),
		T(test_prelu),          T(test_bad_axis),       T(test_logic),
		T(test_one_hot),        T(test_floor_mod),      T(test_floor_div),
		T(test_logical_or),     T(test_bitwise_xor),    T(test_right_shift),
		T(test_top_k),          T(test_conv_3d),        T(test_l2_normalization),
		T(test_local_response), T(test_lstm),           T(test_lstm_refused),
		T(test_sparse),         T(test_sparse_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
