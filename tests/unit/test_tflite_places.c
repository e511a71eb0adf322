/* SPDX-License-Identifier: Apache-2.0 */
/* test_tflite_places.c - operators of TFLite files that put values at places or take them from there,
 * products of two computed values, and what is refused, each with its reason. */
#include "tests/unit/tflite_rig.h"

#define F32 TFL_FLOAT32

static int
ints(int rank, const int32_t *dim, const int32_t *v)
{
	int n = 1;

	for (int i = 0; i < rank; i++)
		n *= dim[i];
	v = qn_arena_copy(&rg->arena, v, 4 * (size_t)n);
	return tfl_tensor(file, "n", TFL_INT32, rank, dim, v, 4 * n);
}

static int
value(const char *name, int rank, const int32_t *dim)
{
	return tfl_tensor(file, name, F32, rank, dim, NULL, 0);
}

/* data [2,2,3], one index for each of both batches, along the last axis */
static void
test_gather_batches(void **state)
{
	(void)state;
	int x = value("x", DIMS(2, 2, 3)), y = value("y", DIMS(2, 2));
	int at = ints(DIMS(2), (const int32_t[]){2, 0});

	tfl_with(tfl_with(tfl_op(file, QN_TFL_GATHER, INTS(x, at), INTS(y)), 0, 'i', -1), 1, 'i',
		 1);
	import(INTS(x), INTS(y));
	GIVES(V(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11), 2, 5, 6, 9);
}

static void
test_gather_batches_refused(void **state)
{
	(void)state;
	int x = value("x", DIMS(2, 3)), y = value("y", DIMS(2, 3));

	tfl_with(tfl_op(file, QN_TFL_GATHER, INTS(x, ints(DIMS(2), (const int32_t[]){0, 0})),
			INTS(y)),
		 1, 'i', 1);
	import_fails(INTS(x), INTS(y), "import.attr", "batch_dims is 1");
}

/* Sequences along axis 1, batches along axis 0, of lengths 3 and 1. */
static void
test_reverse_sequence(void **state)
{
	(void)state;
	int x = value("x", DIMS(2, 3)), y = value("y", DIMS(2, 3));
	int n = ints(DIMS(2), (const int32_t[]){3, 1});

	tfl_with(tfl_with(tfl_op(file, QN_TFL_REVERSE_SEQUENCE, INTS(x, n), INTS(y)), 0, 'i', 1), 1,
		 'i', 0);
	import(INTS(x), INTS(y));
	GIVES(V(1, 2, 3, 4, 5, 6), 3, 2, 1, 4, 5, 6);
}

/* Rows 1 and 3 of x, which a constant mask names. */
static void
test_where_constant(void **state)
{
	(void)state;
	static const uint8_t mask[] = {0, 1, 0, 1};
	int x = value("x", DIMS(4, 2)), y = value("y", DIMS(2, 2));
	int m = tfl_tensor(file, "m", TFL_BOOL, DIMS(4), mask, 4);
	int at = tfl_tensor(file, "at", TFL_INT64, DIMS(-1, 1), NULL, 0);

	tfl_op(file, QN_TFL_WHERE, INTS(m), INTS(at));
	tfl_op(file, QN_TFL_GATHER_ND, INTS(x, at), INTS(y));
	import(INTS(x), INTS(y));
	GIVES(V(1, 2, 3, 4, 5, 6, 7, 8), 3, 4, 7, 8);
}

static void
test_where_refused(void **state)
{
	(void)state;
	int x = tfl_tensor(file, "x", TFL_BOOL, DIMS(4), NULL, 0);
	int y = tfl_tensor(file, "y", TFL_INT64, DIMS(-1, 1), NULL, 0);

	tfl_op(file, QN_TFL_WHERE, INTS(x), INTS(y));
	import_fails(INTS(x), INTS(y), "import.op", "depends on the data");
}

static void
test_sparse_scalar(void **state)
{
	(void)state;
	static const float nought = -1;
	int x = value("x", 0, NULL), y = value("y", DIMS(2, 3));
	int at = ints(DIMS(2, 2), (const int32_t[]){0, 1, 1, 2});
	int rest = tfl_tensor(file, "r", F32, 0, NULL, &nought, 4);

	tfl_op(file, QN_TFL_SPARSE_TO_DENSE,
	       INTS(at, ints(DIMS(2), (const int32_t[]){2, 3}), x, rest), INTS(y));
	import(INTS(x), INTS(y));
	GIVES(V(7), -1, 7, -1, -1, -1, 7);
}

/* Places that are computed would have to be clamped while the model runs. */
static void
test_update_refused(void **state)
{
	(void)state;
	int x = value("x", DIMS(4)), y = value("y", DIMS(4));
	int u = value("u", DIMS(2)), at = tfl_tensor(file, "at", TFL_INT32, DIMS(1), NULL, 0);

	tfl_op(file, QN_TFL_DYNAMIC_UPDATE_SLICE, INTS(x, u, at), INTS(y));
	import_fails(INTS(x, u, at), INTS(y), "import.input", "must be a constant");
}

static void
test_segment_sum(void **state)
{
	(void)state;
	int x = value("x", DIMS(4, 2)), y = value("y", DIMS(3, 2));
	int id = ints(DIMS(4), (const int32_t[]){0, 0, 2, 2});

	tfl_op(file, QN_TFL_SEGMENT_SUM, INTS(x, id), INTS(y));
	import(INTS(x), INTS(y));
	GIVES(V(1, 2, 3, 4, 5, 6, 7, 8), 4, 6, 0, 0, 12, 14);
}

static void
test_segment_sum_refused(void **state)
{
	(void)state;
	int x = value("x", DIMS(2)), y = value("y", DIMS(2));

	tfl_op(file, QN_TFL_SEGMENT_SUM, INTS(x, ints(DIMS(2), (const int32_t[]){1, 0})), INTS(y));
	import_fails(INTS(x), INTS(y), "import.input", "in ascending order");
}

/* Codes have no sums: two updates of one place are refused. */
static void
test_scatter_codes_refused(void **state)
{
	(void)state;
	int x = tfl_codes(file, "x", TFL_INT8, DIMS(2), 0.1f, 0, NULL, 0);
	int y = tfl_codes(file, "y", TFL_INT8, DIMS(4), 0.1f, 0, NULL, 0);
	int at = ints(DIMS(2, 1), (const int32_t[]){3, 3});

	tfl_op(file, QN_TFL_SCATTER_ND, INTS(at, x, ints(DIMS(1), (const int32_t[]){4})), INTS(y));
	import_fails(INTS(x), INTS(y), "import.input", "all differ");
}

/* Which places differ is not asked again and again: all nodes together compare a bounded number. */
static void
test_scatter_codes_budget(void **state)
{
	enum { N = 4096, NODES = 9 };
	static int32_t place[N];

	(void)state;
	for (int i = 0; i < N; i++)
		place[i] = i;
	int x = tfl_codes(file, "x", TFL_INT8, DIMS(N), 0.1f, 0, NULL, 0);
	int at = ints(DIMS(N, 1), place), dim = ints(DIMS(1), (const int32_t[]){N}), y = 0;
	for (int k = 0; k < NODES; k++) {
		y = tfl_codes(file, "y", TFL_INT8, DIMS(N), 0.1f, 0, NULL, 0);
		tfl_op(file, QN_TFL_SCATTER_ND, INTS(at, x, dim), INTS(y));
	}
	import_fails(INTS(x), INTS(y), "import.size", "2^26");
}

/* Columns more than rows, and rows more than columns. */
static void
test_set_diag(void **state)
{
	(void)state;
	int x = value("x", DIMS(2, 3)), y = value("y", DIMS(2, 3));
	int d = tfl_tensor(file, "d", F32, DIMS(2), (const float[]){10, 20}, 8);

	tfl_op(file, QN_TFL_MATRIX_SET_DIAG, INTS(x, d), INTS(y));
	import(INTS(x), INTS(y));
	GIVES(V(1, 2, 3, 4, 5, 6), 10, 2, 3, 4, 20, 6);
}

static void
test_set_diag_tall(void **state)
{
	(void)state;
	int x = value("x", DIMS(3, 2)), y = value("y", DIMS(3, 2));
	int d = tfl_tensor(file, "d", F32, DIMS(2), (const float[]){10, 20}, 8);

	tfl_op(file, QN_TFL_MATRIX_SET_DIAG, INTS(x, d), INTS(y));
	import(INTS(x), INTS(y));
	GIVES(V(1, 2, 3, 4, 5, 6), 10, 2, 3, 20, 5, 6);
}

/* x (w - 3)^T in steps of 0.5 * 0.25, computed weights with a zero point: (2 * 1 - 3 * 2) / 8 = -0.5 */
static void
test_computed_weights(void **state)
{
	(void)state;
	int x = tfl_codes(file, "x", TFL_INT8, DIMS(1, 2), 0.5f, 0, NULL, 0);
	int w = tfl_codes(file, "w", TFL_INT8, DIMS(2, 2), 0.25f, 3, NULL, 0);
	int v = tfl_codes(file, "v", TFL_INT8, DIMS(2, 2), 0.25f, 3, NULL, 0);
	int y = tfl_codes(file, "y", TFL_INT8, DIMS(1, 2), 0.0625f, 1, NULL, 0);
	const double a[] = {2, -3}, b[] = {4, 5, 6, 7};
	const double want[] = {2 * (2 * 1 - 3 * 2) + 1, 2 * (2 * 3 - 3 * 4) + 1};

	tfl_op(file, QN_TFL_RESHAPE, INTS(w), INTS(v));
	tfl_op(file, QN_TFL_FULLY_CONNECTED, INTS(x, v), INTS(y));
	import(INTS(x, w), INTS(y));
	near(want, run((const double *[]){a, b}), 2, 0);
}

/* 16 bits: only a product of two values takes them; (2 * 4 - 3 * 5) / 8 */
static void
test_computed_weights_of_i16(void **state)
{
	(void)state;
	int x = tfl_codes(file, "x", TFL_INT16, DIMS(1, 2), 0.5f, 0, NULL, 0);
	int w = tfl_codes(file, "w", TFL_INT16, DIMS(2, 2), 0.25f, 0, NULL, 0);
	int y = tfl_codes(file, "y", TFL_INT16, DIMS(1, 2), 0.0625f, 0, NULL, 0);
	const double a[] = {2, -3}, b[] = {4, 5, 6, 7};
	const double want[] = {2 * (2 * 4 - 3 * 5), 2 * (2 * 6 - 3 * 7)};

	tfl_op(file, QN_TFL_FULLY_CONNECTED, INTS(x, w), INTS(y));
	import(INTS(x, w), INTS(y));
	near(want, run((const double *[]){a, b}), 2, 0);
}

/* In float it is a product too: of a dense layer, compile would ask for constant weights. */
static void
test_computed_weights_in_float(void **state)
{
	(void)state;
	static const float bias[] = {1, 20};
	int x = value("x", DIMS(1, 2)), w = value("w", DIMS(2, 2)), y = value("y", DIMS(1, 2));
	int b = tfl_tensor(file, "b", F32, DIMS(2), bias, 8);
	const double a[] = {2, -3}, v[] = {4, 5, 6, 7};
	const double want[] = {0, 11};

	tfl_with(tfl_op(file, QN_TFL_FULLY_CONNECTED, INTS(x, w, b), INTS(y)), 0, 'b',
		 QN_TFL_ACT_RELU);
	import(INTS(x, w), INTS(y));
	near(want, run((const double *[]){a, v}), 2, 0);
	for (qn_id i = 1; i < rg->g->n; i++)
		assert_int_not_equal(qn_graph_node(rg->g, i)->op, QN_OP_dense);
}

static void
test_computed_weights_refused(void **state)
{
	(void)state;
	static const int32_t bias[] = {1, 2};
	int x = tfl_codes(file, "x", TFL_INT8, DIMS(1, 2), 0.5f, 0, NULL, 0);
	int w = tfl_codes(file, "w", TFL_INT8, DIMS(2, 2), 0.25f, 3, NULL, 0);
	int b = tfl_codes(file, "b", TFL_INT32, DIMS(2), 0.125f, 0, bias, 8);
	int y = tfl_codes(file, "y", TFL_INT8, DIMS(1, 2), 0.0625f, 1, NULL, 0);

	tfl_op(file, QN_TFL_FULLY_CONNECTED, INTS(x, w, b), INTS(y));
	import_fails(INTS(x, w), INTS(y), "import.input",
		     "have no bias; quantize the model again with --from-float");
}

/* Weights, and what is reshaped, may not be left out where nothing stands after them either. */
static void
test_left_out(void **state)
{
	static const int codes[] = {QN_TFL_FULLY_CONNECTED, QN_TFL_CONV_2D, QN_TFL_RESHAPE};

	for (size_t i = 0; i < QN_COUNT(codes); i++) {
		tflite_teardown(state);
		tflite_setup(state);
		int x = value("x", DIMS(1, 2)), y = value("y", DIMS(1, 2));
		const int32_t in[] = {codes[i] == QN_TFL_RESHAPE ? -1 : x, -1};

		tfl_op(file, codes[i], codes[i] == QN_TFL_RESHAPE ? 1 : 2, in, INTS(y));
		import_fails(INTS(x), INTS(y), "import.input", "is missing");
	}
}

/* What is packed has one shape; a vector beside a matrix has not. */
static void
test_pack_ranks(void **state)
{
	(void)state;
	int x = value("x", DIMS(2, 2)), v = value("v", DIMS(2)), y = value("y", DIMS(2, 2, 2));

	tfl_with(tfl_op(file, QN_TFL_PACK, INTS(x, v), INTS(y)), 1, 'i', 2);
	import_fails(INTS(x, v), INTS(y), "import.input", "the same shape");
}

/* The code, not the real number that it stands for; the same into codes. */
static void
test_cast_codes(void **state)
{
	(void)state;
	int x = tfl_codes(file, "x", TFL_INT8, DIMS(3), 0.25f, 3, NULL, 0);
	int i = tfl_tensor(file, "i", TFL_INT16, DIMS(3), NULL, 0);
	int u = tfl_codes(file, "u", TFL_UINT8, DIMS(3), 0.5f, 9, NULL, 0), y = value("y", DIMS(3));

	tfl_op(file, QN_TFL_CAST, INTS(x), INTS(i));
	tfl_op(file, QN_TFL_CAST, INTS(i), INTS(u));
	tfl_op(file, QN_TFL_CAST, INTS(u), INTS(y));
	import(INTS(x), INTS(y));
	GIVES(V(7, 0, -1), 7, 0, 255);
}

/* The sparse rows 0 5 0 6 and 7 0 0 0, written out in front of the layer that reads them. */
static void
test_densify(void **state)
{
	(void)state;
	int x = value("x", DIMS(1, 4)), y = value("y", DIMS(1, 2)), d = value("d", DIMS(2, 4));
	int w = tfl_tensor(file, "w", F32, DIMS(2, 4), (const float[]){5, 6, 7}, 12);

	file->tensor[w].segments = (const int32_t[]){0, 2, 3};
	file->tensor[w].indices = (const int32_t[]){1, 3, 0};
	file->tensor[w].nindices = 3;
	tfl_op(file, QN_TFL_DENSIFY, INTS(w), INTS(d));
	tfl_op(file, QN_TFL_FULLY_CONNECTED, INTS(x, d), INTS(y));
	import(INTS(x), INTS(y));
	GIVES(V(1, 10, 100, 1000), 6050, 7);
}

static void
test_no_form(void **state)
{
	static const struct {
		int code;
		const char *why;
	} rows[] = {
		{QN_TFL_UNIQUE, "the number of its results"},
		{QN_TFL_RANDOM_STANDARD_NORMAL, "random numbers"},
		{QN_TFL_RANDOM_UNIFORM, "random numbers"},
		{QN_TFL_MULTINOMIAL, "random numbers"},
		{QN_TFL_SKIP_GRAM, "not implemented"},
	};

	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		tflite_teardown(state);
		tflite_setup(state);
		int x = value("x", DIMS(3)), y = value("y", DIMS(3));
		tfl_op(file, rows[i].code, INTS(x), INTS(y));
		import_fails(INTS(x), INTS(y), "import.op", rows[i].why);
	}
}

int
main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, tflite_setup, tflite_teardown)
	const struct CMUnitTest tests[] = {
		T(test_gather_batches),
		T(test_gather_batches_refused),
		T(test_reverse_sequence),
		T(test_where_constant),
		T(test_where_refused),
		T(test_sparse_scalar),
		T(test_update_refused),
		T(test_segment_sum),
		T(test_segment_sum_refused),
		T(test_scatter_codes_refused),
		T(test_scatter_codes_budget),
		T(test_set_diag),
		T(test_set_diag_tall),
		T(test_computed_weights),
		T(test_computed_weights_of_i16),
		T(test_computed_weights_in_float),
		T(test_computed_weights_refused),
		T(test_left_out),
		T(test_pack_ranks),
		T(test_cast_codes),
		T(test_densify),
		T(test_no_form),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
