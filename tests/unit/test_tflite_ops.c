/* SPDX-License-Identifier: Apache-2.0 */
/* test_tflite_ops.c - operators of TFLite files by family: what their options and inputs mean. */
#include "tests/unit/tflite_rig.h"

#define F32 TFL_FLOAT32

static int
ints(const char *name, int n, const int32_t *v)
{
	return tfl_tensor(file, name, TFL_INT32, 1, &n, v, 4 * n);
}

static int
one(const char *name, int32_t v)
{
	static int32_t kept[TFL_MOST];

	kept[file->ntensor] = v;
	return tfl_tensor(file, name, TFL_INT32, 0, NULL, &kept[file->ntensor], 4);
}

static int
real_x(int rank, const int32_t *dim)
{
	return tfl_tensor(file, "x", F32, rank, dim, NULL, 0);
}

static int
real_y(int rank, const int32_t *dim)
{
	return tfl_tensor(file, "y", F32, rank, dim, NULL, 0);
}

/* ---- moves ---- */

static void
test_reshape_open(void **state)
{
	(void)state;
	int x = real_x(DIMS(2, 3)), y = real_y(DIMS(3, 2));

	tfl_op(file, QN_TFL_RESHAPE, INTS(x, ints("s", DIMS(3, -1))), INTS(y));
	import(INTS(x), INTS(y));
	assert_int_equal(qn_graph_node(rg->g, rg->g->output[0].value)->type->dim[1], 2);
	GIVES(V(1, 2, 3, 4, 5, 6), 1, 2, 3, 4, 5, 6);
}

static void
test_transpose(void **state)
{
	(void)state;
	int x = real_x(DIMS(2, 3)), y = real_y(DIMS(3, 2));

	tfl_op(file, QN_TFL_TRANSPOSE, INTS(x, ints("p", DIMS(1, 0))), INTS(y));
	import(INTS(x), INTS(y));
	GIVES(V(1, 2, 3, 4, 5, 6), 1, 4, 2, 5, 3, 6);
}

static void
test_concat_pack(void **state)
{
	(void)state;
	int x = real_x(DIMS(1, 2)), y = real_y(DIMS(1, 4)),
	    z = tfl_tensor(file, "z", F32, DIMS(1, 4, 2), NULL, 0);

	tfl_with(tfl_op(file, QN_TFL_CONCATENATION, INTS(x, x), INTS(y)), 0, 'i', -1);
	tfl_with(tfl_op(file, QN_TFL_PACK, INTS(y, y), INTS(z)), 1, 'i', 2);
	import(INTS(x), INTS(z));
	GIVES(V(1, 2), 1, 1, 2, 2, 1, 1, 2, 2);
}

static void
test_pad_value(void **state)
{
	(void)state;
	static const float nine = 9;
	int x = real_x(DIMS(2)), y = real_y(DIMS(5));
	int w = tfl_tensor(file, "w", TFL_INT32, DIMS(1, 2), (const int32_t[]){1, 2}, 8);
	int v = tfl_tensor(file, "v", F32, 0, NULL, &nine, 4);

	tfl_op(file, QN_TFL_PADV2, INTS(x, w, v), INTS(y));
	import(INTS(x), INTS(y));
	GIVES(V(1, 2), 9, 1, 2, 9, 9);
}

static void
test_mirror(void **state)
{
	(void)state;
	int x = real_x(DIMS(3)), y = real_y(DIMS(6));
	int w = tfl_tensor(file, "w", TFL_INT32, DIMS(1, 2), (const int32_t[]){2, 1}, 8);

	tfl_op(file, QN_TFL_MIRROR_PAD, INTS(x, w), INTS(y));
	import(INTS(x), INTS(y));
	GIVES(V(1, 2, 3), 3, 2, 1, 2, 3, 2);
}

/* An image of 2 rows and 4 columns becomes 4 of 1 x 2. */
static void
test_space_batch(void **state)
{
	(void)state;
	int x = real_x(DIMS(1, 2, 4, 1)), y = real_y(DIMS(4, 1, 2, 1));
	int b = ints("b", DIMS(2, 2));
	int c = tfl_tensor(file, "c", TFL_INT32, DIMS(2, 2), (const int32_t[]){0, 0, 0, 0}, 16);

	tfl_op(file, QN_TFL_SPACE_TO_BATCH_ND, INTS(x, b, c), INTS(y));
	import(INTS(x), INTS(y));
	GIVES(V(1, 2, 3, 4, 5, 6, 7, 8), 1, 3, 2, 4, 5, 7, 6, 8);
}

static void
test_space_batch_back(void **state)
{
	(void)state;
	int x = real_x(DIMS(4, 1, 2, 1)), y = real_y(DIMS(1, 2, 3, 1));
	int b = ints("b", DIMS(2, 2));
	int c = tfl_tensor(file, "c", TFL_INT32, DIMS(2, 2), (const int32_t[]){0, 0, 1, 0}, 16);

	tfl_op(file, QN_TFL_BATCH_TO_SPACE_ND, INTS(x, b, c), INTS(y));
	import(INTS(x), INTS(y));
	GIVES(V(1, 3, 2, 4, 5, 7, 6, 8), 2, 3, 4, 6, 7, 8);
}

static void
test_reverse(void **state)
{
	(void)state;
	int x = real_x(DIMS(2, 2)), y = real_y(DIMS(2, 2));

	tfl_op(file, QN_TFL_REVERSE_V2, INTS(x, ints("a", DIMS(-1))), INTS(y));
	import(INTS(x), INTS(y));
	GIVES(V(1, 2, 3, 4), 2, 1, 4, 3);
}

/* ---- parts ---- */

static void
strided(int b, int e, int s, const int *mask, const double *want, int n)
{
	int x = 0, y = real_y(DIMS(1)); /* x is the first tensor */
	tfl_op_of *o;

	o = tfl_op(file, QN_TFL_STRIDED_SLICE, INTS(x, b, e, s), INTS(y));
	for (uint32_t i = 0; i < 5; i++)
		tfl_with(o, i, 'i', mask[i]);
	import(INTS(x), INTS(y));
	gives(V(1, 2, 3, 4, 5, 6), n, want);
}

#define STRIDED(name, left, begin, end, step, masks, ...)                                          \
	static void name(void **state)                                                             \
	{                                                                                          \
		(void)state;                                                                       \
		int x = real_x(DIMS(2, 3));                                                        \
		int b = ints("b", begin), e = ints("e", end), s = ints("s", step);                 \
		(void)x;                                                                           \
		const double want[] = {__VA_ARGS__};                                               \
		strided(b, e, s, (const int[])masks, want, (int)QN_COUNT(want));                   \
		assert_int_equal(qn_graph_node(rg->g, rg->g->output[0].value)->type->rank, left);  \
	}
#define M(...)                                                                                     \
	{                                                                                          \
		__VA_ARGS__                                                                        \
	}
/* x[0:2, ::-2] */
STRIDED(test_strided_back, 2, DIMS(0, -1), DIMS(2, -9), DIMS(1, -2), M(0, 0, 0, 0, 0), 3, 1, 6, 4)
/* x[1] */
STRIDED(test_strided_row, 1, DIMS(-1), DIMS(0), DIMS(1), M(0, 0, 0, 0, 1), 4, 5, 6)
/* x[..., 1:] with masks in place of numbers */
STRIDED(test_strided_ellipsis, 2, DIMS(0, 1), DIMS(0, 0), DIMS(1, 1), M(0, 2, 1, 0, 0), 2, 3, 5, 6)
/* x[newaxis, :, 2] */
STRIDED(test_strided_new, 2, DIMS(0, 0, 2), DIMS(0, 0, 3), DIMS(1, 1, 1), M(2, 2, 0, 1, 4), 3, 6)

static void
test_slice_rest(void **state)
{
	(void)state;
	int x = real_x(DIMS(2, 3)), y = real_y(DIMS(1, 2));

	tfl_op(file, QN_TFL_SLICE, INTS(x, ints("b", DIMS(1, 1)), ints("n", DIMS(1, -1))), INTS(y));
	import(INTS(x), INTS(y));
	GIVES(V(1, 2, 3, 4, 5, 6), 5, 6);
}

static void
test_split_v_unpack(void **state)
{
	(void)state;
	int x = real_x(DIMS(2, 3)), y = real_y(DIMS(2));
	int p = tfl_tensor(file, "p", F32, DIMS(2, 1), NULL, 0);
	int q = tfl_tensor(file, "q", F32, DIMS(2, 2), NULL, 0);
	int r = tfl_tensor(file, "r", F32, DIMS(2), NULL, 0);

	tfl_op(file, QN_TFL_SPLIT_V, INTS(x, ints("n", DIMS(1, -1)), one("a", 1)), INTS(p, q));
	tfl_with(tfl_op(file, QN_TFL_UNPACK, INTS(q), INTS(r, y)), 1, 'i', 1);
	import(INTS(x), INTS(y));
	GIVES(V(1, 2, 3, 4, 5, 6), 3, 6);
}

static void
test_gather(void **state)
{
	(void)state;
	int x = real_x(DIMS(2, 3)), y = real_y(DIMS(2, 2));

	tfl_with(tfl_op(file, QN_TFL_GATHER, INTS(x, ints("i", DIMS(2, 0))), INTS(y)), 0, 'i', 1);
	import(INTS(x), INTS(y));
	GIVES(V(1, 2, 3, 4, 5, 6), 3, 1, 6, 4);
}

/* ---- shapes as values ---- */

/* reshape(x, [shape(x)[1], shape(x)[0]]): all of it is known while reading. */
static void
test_shape_arithmetic(void **state)
{
	(void)state;
	int x = real_x(DIMS(2, 3)), y = real_y(DIMS(3, 2));
	int s = tfl_tensor(file, "s", TFL_INT32, DIMS(2), NULL, 0);
	int r = tfl_tensor(file, "r", TFL_INT32, DIMS(2), NULL, 0);

	tfl_op(file, QN_TFL_SHAPE, INTS(x), INTS(s));
	tfl_op(file, QN_TFL_REVERSE_V2, INTS(s, ints("a", DIMS(0))), INTS(r));
	tfl_op(file, QN_TFL_RESHAPE, INTS(x, r), INTS(y));
	import(INTS(x), INTS(y));
	assert_int_equal(rg->g->n, 3); /* the unused, x, reshape */
	GIVES(V(1, 2, 3, 4, 5, 6), 1, 2, 3, 4, 5, 6);
}

static void
test_range_fill(void **state)
{
	(void)state;
	static const float two = 2;
	int x = real_x(DIMS(3)), y = real_y(DIMS(3)),
	    v = tfl_tensor(file, "v", F32, 0, NULL, &two, 4);
	int f = tfl_tensor(file, "f", F32, DIMS(3), NULL, 0);
	int g = tfl_tensor(file, "g", TFL_INT32, DIMS(3), NULL, 0);
	int c = tfl_tensor(file, "c", F32, DIMS(3), NULL, 0);
	int s = tfl_tensor(file, "s", F32, DIMS(3), NULL, 0);

	tfl_op(file, QN_TFL_FILL, INTS(ints("n", DIMS(3)), v), INTS(f));
	tfl_op(file, QN_TFL_RANGE, INTS(one("0", 0), one("6", 6), one("2", 2)), INTS(g));
	tfl_op(file, QN_TFL_CAST, INTS(g), INTS(c));
	tfl_op(file, QN_TFL_ADD, INTS(f, c), INTS(s));
	tfl_op(file, QN_TFL_MUL, INTS(x, s), INTS(y));
	import(INTS(x), INTS(y));
	GIVES(V(1, 1, 1), 2, 4, 6);
}

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
test_gather_nd(void **state)
{
	(void)state;
	int x = real_x(DIMS(2, 3)), y = real_y(DIMS(2));
	int i = tfl_tensor(file, "i", TFL_INT32, DIMS(2, 2), (const int32_t[]){1, 0, 0, 2}, 16);

	tfl_op(file, QN_TFL_GATHER_ND, INTS(x, i), INTS(y));
	import(INTS(x), INTS(y));
	GIVES(V(1, 2, 3, 4, 5, 6), 4, 3);
}

static void
test_scatter_adds(void **state)
{
	(void)state;
	int x = real_x(DIMS(3)), y = real_y(DIMS(4));
	int i = tfl_tensor(file, "i", TFL_INT32, DIMS(3, 1), (const int32_t[]){1, 3, 1}, 12);

	tfl_op(file, QN_TFL_SCATTER_ND, INTS(i, x, ints("s", DIMS(4))), INTS(y));
	import(INTS(x), INTS(y));
	GIVES(V(1, 2, 5), 0, 6, 0, 2);
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
		T(test_reshape_open),     T(test_transpose),        T(test_concat_pack),
		T(test_pad_value),        T(test_mirror),           T(test_space_batch),
		T(test_space_batch_back), T(test_reverse),          T(test_strided_back),
		T(test_strided_row),      T(test_strided_ellipsis), T(test_strided_new),
		T(test_slice_rest),       T(test_split_v_unpack),   T(test_gather),
		T(test_shape_arithmetic), T(test_range_fill),       T(test_reductions),
		T(test_select_rows),      T(test_softmax_beta),     T(test_prelu),
		T(test_relu_codes),       T(test_leaky_codes),      T(test_concat_codes),
		T(test_pad_code),         T(test_quantize_halves),  T(test_u8_dense),
		T(test_u8_conv),          T(test_bad_axis),         T(test_logic),
		T(test_gather_nd),        T(test_scatter_adds),     T(test_one_hot),
		T(test_floor_mod),        T(test_floor_div),        T(test_logical_or),
		T(test_bitwise_xor),      T(test_right_shift),      T(test_top_k),
		T(test_conv_3d),          T(test_l2_normalization), T(test_lstm),
		T(test_lstm_refused),     T(test_codes_16),         T(test_half_quantized),
		T(test_sparse),           T(test_sparse_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
