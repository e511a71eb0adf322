/* SPDX-License-Identifier: Apache-2.0 */
/* test_tflite_moves.c - operators of TFLite files that move elements, take parts of a tensor, or compute shapes. */
#include "tests/unit/tflite_op_rig.h"

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

/* ---- truth values, indices ---- */

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
		T(test_shape_arithmetic), T(test_range_fill),       T(test_gather_nd),
		T(test_scatter_adds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
