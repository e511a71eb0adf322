/* SPDX-License-Identifier: Apache-2.0 */
/* test_e2e_tflite_ops.c - operators on codes give the bytes of TFLite's kernels: a file with many of
 * them, read, made integer, emitted.
 *
 *   x [1,4,4,2], z [2,3,4], v [5,4] ─file─▶ a result for each operator = the bytes that TFLite gave
 *
 * Those of ADD_N of three and REVERSE_SEQUENCE, of which TFLite has no kernel for such codes, are
 * computed by their definitions, that of SUM by integers alone, as TFLite's mean. */
#include "tests/e2e/e2e.h"

#include "import/import.h"
#include "passes/passes.h"
#include "tests/unit/tflite_writer.h"

enum { SAMPLES = 2, MOST = 32, VALUES = 96 };

#define I8 TFL_INT8
#define ONCE(...)                                                                                  \
	(const int32_t[])                                                                          \
	{                                                                                          \
		__VA_ARGS__                                                                        \
	}

typedef struct net {
	builder b;
	tfl_file *file;
	int x, z, v, nout;
	int32_t out[MOST];
} net;

static int
codes(net *n, const char *name, int rank, const int32_t *dim, float scale, int zp)
{
	return tfl_codes(n->file, name, I8, rank, dim, scale, zp, NULL, 0);
}

static int
ints(net *n, int rank, const int32_t *dim, const int32_t *v)
{
	int count = 1;

	for (int i = 0; i < rank; i++)
		count *= dim[i];
	v = qn_arena_copy(&n->b.arena, v, 4 * (size_t)count); /* until the file is written */
	return tfl_tensor(n->file, "n", TFL_INT32, rank, dim, v, 4 * count);
}

static int
list(net *n, int count, const int32_t *v)
{
	return ints(n, 1, ONCE(count), v);
}

/* An operator whose result the file gives out. */
static tfl_op_of *
result(net *n, int code, int nin, const int32_t *in, int y)
{
	assert_true(n->nout < MOST);
	n->out[n->nout++] = y;
	return tfl_op(n->file, code, nin, in, 1, &y);
}

/* ---- a function for each operator ---- */

static void
l2_normalization(net *n)
{
	result(n, QN_TFL_L2_NORMALIZATION, INTS(n->x),
	       codes(n, "l2", DIMS(1, 4, 4, 2), 0.0078125f, 0));
}

static void
reduce_prod(net *n)
{
	tfl_with(result(n, QN_TFL_REDUCE_PROD, INTS(n->z, list(n, 1, ONCE(1))),
			codes(n, "prod", DIMS(2, 1, 4), 2.5f, -7)),
		 0, 'b', 1);
}

static void
gather(net *n)
{
	tfl_op_of *o = result(n, QN_TFL_GATHER, INTS(n->z, ints(n, DIMS(2, 2), ONCE(3, 1, 0, 2))),
			      codes(n, "gather", DIMS(2, 3, 2), 0.05f, -3));

	tfl_with(o, 0, 'i', 2);
	tfl_with(o, 1, 'i', 1);
}

static void
embedding_lookup(net *n)
{
	result(n, QN_TFL_EMBEDDING_LOOKUP, INTS(list(n, 3, ONCE(4, 0, 4)), n->v),
	       codes(n, "rows", DIMS(3, 4), 0.02f, 0));
}

static void
dynamic_update_slice(net *n)
{
	static const int8_t update[] = {1, -2, 3, -4, 5, -6, 7, -8};
	int u = tfl_codes(n->file, "u", I8, DIMS(1, 2, 4, 1), 0.1f, 2, update, sizeof update);

	result(n, QN_TFL_DYNAMIC_UPDATE_SLICE, INTS(n->x, u, list(n, 4, ONCE(0, 5, -1, 1))),
	       codes(n, "slice", DIMS(1, 4, 4, 2), 0.1f, 2));
}

static void
sparse_to_dense(net *n)
{
	static const int8_t value[] = {100, -100}, rest[] = {9};
	int u = tfl_codes(n->file, "u", I8, DIMS(2), 0.1f, 2, value, 2);
	int r = tfl_codes(n->file, "r", I8, 0, NULL, 0.1f, 2, rest, 1);

	result(n, QN_TFL_SPARSE_TO_DENSE,
	       INTS(ints(n, DIMS(2, 2), ONCE(0, 2, 2, 1)), list(n, 2, ONCE(3, 4)), u, r),
	       codes(n, "dense", DIMS(3, 4), 0.1f, 2));
}

static void
scatter_nd(net *n)
{
	result(n, QN_TFL_SCATTER_ND,
	       INTS(ints(n, DIMS(2, 1), ONCE(2, 0)), n->z, list(n, 3, ONCE(3, 3, 4))),
	       codes(n, "scatter", DIMS(3, 3, 4), 0.05f, -3));
}

static void
matrix_diag(net *n)
{
	result(n, QN_TFL_MATRIX_DIAG, INTS(n->z), codes(n, "diag", DIMS(2, 3, 4, 4), 0.05f, -3));
}

static void
matrix_set_diag(net *n)
{
	static const int8_t diag[] = {1, 2, 3, 4, 5, 6};
	int d = tfl_codes(n->file, "d", I8, DIMS(2, 3), 0.05f, -3, diag, sizeof diag);

	result(n, QN_TFL_MATRIX_SET_DIAG, INTS(n->z, d),
	       codes(n, "set_diag", DIMS(2, 3, 4), 0.05f, -3));
}

static void
select_v2(net *n)
{
	static const uint8_t choose[] = {1, 0, 0, 1};
	static const int8_t one[] = {77};
	int c = tfl_tensor(n->file, "c", TFL_BOOL, DIMS(4, 1), choose, 4);
	int k = tfl_codes(n->file, "k", I8, DIMS(1), 0.1f, 2, one, 1);

	result(n, QN_TFL_SELECT_V2, INTS(c, n->x, k),
	       codes(n, "select", DIMS(1, 4, 4, 2), 0.1f, 2));
}

static void
select_rows(net *n)
{
	static const uint8_t choose[] = {0, 1};
	static const int8_t rest[24] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
	int c = tfl_tensor(n->file, "c", TFL_BOOL, DIMS(2), choose, 2);
	int k = tfl_codes(n->file, "k", I8, DIMS(2, 3, 4), 0.05f, -3, rest, sizeof rest);

	result(n, QN_TFL_SELECT, INTS(c, n->z, k), codes(n, "rows2", DIMS(2, 3, 4), 0.05f, -3));
}

static void
batch_matmul(net *n)
{
	tfl_with(result(n, QN_TFL_BATCH_MATMUL, INTS(n->z, n->z),
			codes(n, "zzt", DIMS(2, 3, 3), 0.37f, 5)),
		 1, 'b', 1);
}

static void
batch_matmul_adj(net *n)
{
	tfl_with(result(n, QN_TFL_BATCH_MATMUL, INTS(n->z, n->z),
			codes(n, "ztz", DIMS(2, 4, 4), 0.29f, -5)),
		 0, 'b', 1);
}

static void
one_hot(net *n)
{
	static const int8_t on[] = {99}, off[] = {-99};
	int at = tfl_tensor(n->file, "at", TFL_INT32, DIMS(2, 3), NULL, 0);
	int a = tfl_codes(n->file, "on", I8, 0, NULL, 0.1f, 2, on, 1);
	int b = tfl_codes(n->file, "off", I8, 0, NULL, 0.1f, 2, off, 1);
	int last = ints(n, 0, NULL, ONCE(2)), depth = ints(n, 0, NULL, ONCE(4));

	tfl_with(tfl_op(n->file, QN_TFL_ARG_MAX, INTS(n->z, last), INTS(at)), 0, 'b', TFL_INT32);
	tfl_with(result(n, QN_TFL_ONE_HOT, INTS(at, depth, a, b),
			codes(n, "hot", DIMS(2, 3, 4), 0.1f, 2)),
		 0, 'i', -1);
}

/* Weights that are computed, with a bias. */
static void
fully_connected(net *n)
{
	static const int32_t bias[] = {100, -2000, 30, 4, 5000};
	int b = tfl_codes(n->file, "b", TFL_INT32, DIMS(5), 0.05f * 0.02f, 0, bias, sizeof bias);

	result(n, QN_TFL_FULLY_CONNECTED, INTS(n->z, n->v, b),
	       codes(n, "fc", DIMS(6, 5), 0.11f, 3));
}

static void
cast(net *n)
{
	result(n, QN_TFL_CAST, INTS(n->z),
	       tfl_tensor(n->file, "i", TFL_INT32, DIMS(2, 3, 4), NULL, 0));
}

static void
mirror_pad(net *n)
{
	tfl_with(result(n, QN_TFL_MIRROR_PAD,
			INTS(n->z, ints(n, DIMS(3, 2), ONCE(0, 0, 1, 2, 2, 1))),
			codes(n, "mirror", DIMS(2, 6, 7), 0.05f, -3)),
		 0, 'b', 0);
}

static void
sum(net *n)
{
	result(n, QN_TFL_SUM, INTS(n->z, list(n, 2, ONCE(0, 2))),
	       codes(n, "sum", DIMS(3), 0.31f, -11));
}

/* ---- of which TFLite has no such kernel ---- */

static void
add_n(net *n)
{
	int y = codes(n, "sum3", DIMS(2, 3, 4), 0.1f, 4);

	result(n, QN_TFL_ADD_N, INTS(n->z, n->z, n->z), y);
}

static void
reverse_sequence(net *n)
{
	tfl_op_of *o = result(n, QN_TFL_REVERSE_SEQUENCE, INTS(n->z, list(n, 4, ONCE(2, 1, 0, 2))),
			      codes(n, "reverse", DIMS(2, 3, 4), 0.05f, -3));

	tfl_with(o, 0, 'i', 0);
	tfl_with(o, 1, 'i', 2);
}

#define ROW(name, ...)                                                                             \
	{                                                                                          \
#name, name,                                                                       \
		{                                                                                  \
			__VA_ARGS__                                                                \
		}                                                                                  \
	}
#define S(...)                                                                                     \
	{                                                                                          \
		__VA_ARGS__                                                                        \
	}

/* The results of both samples. */
static const struct row {
	const char *name;
	void (*make)(net *n);
	int8_t want[SAMPLES][VALUES];
} rows[] = {
	ROW(l2_normalization,
	    S(-128, 2, 108, 68, -121, 42, 68, -108, 71, 107, 85, -96, -20, -126, -125, -27, -21,
	      -126, 56, 115, 54, -116, -61, -113, -126, -22, -6, -128, 63, 111, 107, -70),
	    S(60, -113, -62, -112, 112, -62, -52, -117, -93, 88, -31, 124, -83, -98, 63, -111, -91,
	      90, -126, -24, -57, 114, -85, -95, 66, -110, -79, 100, -110, 65, -17, -127)),
	ROW(reduce_prod, S(-15, -4, -7, -12, -9, -63, -4, 0),
	    S(-6, 14, -35, -31, -71, 5, -14, -36)),
	ROW(gather, S(-14, -48, -93, -29, -113, 49, -53, 94, -63, -14, -14, -63),
	    S(-97, 124, 79, -112, 59, -34, 119, 11, 109, -97, -97, 109)),
	ROW(embedding_lookup, S(-115, 75, -66, -28, 24, -100, -45, -66, -115, 75, -66, -28),
	    S(57, -8, 106, -111, -59, 72, 127, 106, 57, -8, 106, -111)),
	ROW(dynamic_update_slice,
	    S(-127, 4, 59, 38, -59, 23, 29, -41, 68, 101, 58, -61, -1, -17, -109, -22, -11, 1, 38,
	      -2, 38, 3, -11, -4, -109, 5, -1, -6, 58, 7, 68, -8),
	    S(45, -79, -24, -45, 113, -60, -54, -124, -15, 18, -25, 111, -84, -100, 63, -105, -94,
	      1, -45, -2, -45, 3, -94, -4, 63, 5, -84, -6, -25, 7, -15, -8)),
	ROW(sparse_to_dense, S(9, 9, 100, 9, 9, 9, 9, 9, 9, -100, 9, 9),
	    S(9, 9, 100, 9, 9, 9, 9, 9, 9, -100, 9, 9)),
	ROW(scatter_nd,
	    S(-53, -69, 94, -74, -63, 127, -14, 24, -14, 127, -63, -74, 0, 0, 0, 0, 0, 0, 0, 0, 0,
	      0, 0, 0, 76, -48, 7, -14, -111, -29, -23, -93, 16, 49, 6, -113),
	    S(119, 103, 11, 98, 109, 44, -97, -59, -97, 44, 109, 98, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
	      0, 0, -7, 124, -76, -97, 61, -112, -106, 79, -67, -34, -77, 59)),
	ROW(matrix_diag,
	    S(76, 0, 0, 0, 0, -48, 0, 0, 0, 0, 7, 0, 0, 0, 0, -14, -111, 0, 0, 0, 0, -29, 0, 0, 0,
	      0, -23, 0, 0, 0, 0, -93, 16, 0, 0, 0, 0, 49, 0, 0, 0, 0, 6, 0, 0, 0, 0, -113, -53, 0,
	      0, 0, 0, -69, 0, 0, 0, 0, 94, 0, 0, 0, 0, -74, -63, 0, 0, 0, 0, 127, 0, 0, 0, 0, -14,
	      0, 0, 0, 0, 24, -14, 0, 0, 0, 0, 127, 0, 0, 0, 0, -63, 0, 0, 0, 0, -74),
	    S(-7, 0, 0, 0, 0, 124, 0, 0, 0, 0, -76, 0, 0, 0, 0, -97, 61, 0, 0, 0, 0, -112, 0, 0, 0,
	      0, -106, 0, 0, 0, 0, 79, -67, 0, 0, 0, 0, -34, 0, 0, 0, 0, -77, 0, 0, 0, 0, 59, 119,
	      0, 0, 0, 0, 103, 0, 0, 0, 0, 11, 0, 0, 0, 0, 98, 109, 0, 0, 0, 0, 44, 0, 0, 0, 0, -97,
	      0, 0, 0, 0, -59, -97, 0, 0, 0, 0, 44, 0, 0, 0, 0, 109, 0, 0, 0, 0, 98)),
	ROW(matrix_set_diag,
	    S(1, -48, 7, -14, -111, 2, -23, -93, 16, 49, 3, -113, 4, -69, 94, -74, -63, 5, -14, 24,
	      -14, 127, 6, -74),
	    S(1, 124, -76, -97, 61, 2, -106, 79, -67, -34, 3, 59, 4, 103, 11, 98, 109, 5, -97, -59,
	      -97, 44, 6, 98)),
	ROW(select_v2,
	    S(-127, 4, 77, 77, 77, 77, 29, -41, 68, 101, 77, 77, 77, 77, -109, -22, -11, -76, 77,
	      77, 77, 77, -11, -22, -109, -17, 77, 77, 77, 77, 68, -41),
	    S(45, -79, 77, 77, 77, 77, -54, -124, -15, 18, 77, 77, 77, 77, 63, -105, -94, 96, 77,
	      77, 77, 77, -94, -105, 63, -100, 77, 77, 77, 77, -15, -124)),
	ROW(select_rows,
	    S(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, -53, -69, 94, -74, -63, 127, -14, 24, -14, 127,
	      -63, -74),
	    S(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 119, 103, 11, 98, 109, 44, -97, -59, -97, 44,
	      109, 98)),
	ROW(batch_matmul,
	    S(62, -39, 8, -39, 127, 48, 8, 48, 108, 127, -53, -55, -53, 127, 115, -55, 115, 127),
	    S(127, -92, -23, -92, 127, 86, -23, 86, 102, 127, 84, 41, 84, 127, -128, 41, -128,
	      127)),
	ROW(batch_matmul_adj,
	    S(127, -3, 22, 53, -3, 42, 0, -30, 22, 0, 0, 1, 53, -30, 1, 127, 49, -56, -35, 18, -56,
	      127, -128, -14, -35, -128, 108, -30, 18, -14, -30, 88),
	    S(66, -52, -18, 9, -52, 127, 32, -128, -18, 32, 127, -58, 9, -128, -58, 127, 127, 114,
	      -128, -35, 114, 127, 15, 106, -128, 15, 127, 127, -35, 106, 127, 127)),
	ROW(one_hot,
	    S(99, -99, -99, -99, -99, -99, 99, -99, -99, 99, -99, -99, -99, -99, 99, -99, -99, 99,
	      -99, -99, -99, 99, -99, -99),
	    S(-99, 99, -99, -99, -99, -99, -99, 99, -99, -99, -99, 99, 99, -99, -99, -99, 99, -99,
	      -99, -99, -99, -99, 99, -99)),
	ROW(fully_connected,
	    S(65, 66, -35, -6, -68, 66, -128, -26, 127, 127, 23, -128, -98, 57, 87, 56, -128, -77,
	      127, 16, -128, -127, 46, -118, 127, -50, -128, -30, -71, 127),
	    S(-86, 2, -128, 47, 62, -128, -128, -94, 64, -92, -8, -96, 16, 3, -116, 121, 120, -128,
	      127, 16, -128, -64, -128, 105, 69, 127, 127, 127, -32, 2)),
	ROW(cast,
	    S(76, -48, 7, -14, -111, -29, -23, -93, 16, 49, 6, -113, -53, -69, 94, -74, -63, 127,
	      -14, 24, -14, 127, -63, -74),
	    S(-7, 124, -76, -97, 61, -112, -106, 79, -67, -34, -77, 59, 119, 103, 11, 98, 109, 44,
	      -97, -59, -97, 44, 109, 98)),
	ROW(mirror_pad,
	    S(-23, -29, -111, -29, -23, -93, -23, 7, -48, 76, -48, 7, -14, 7, -23, -29, -111, -29,
	      -23, -93, -23, 6, 49, 16, 49, 6, -113, 6, -23, -29, -111, -29, -23, -93, -23, 7, -48,
	      76, -48, 7, -14, 7, -14, 127, -63, 127, -14, 24, -14, 94, -69, -53, -69, 94, -74, 94,
	      -14, 127, -63, 127, -14, 24, -14, -63, 127, -14, 127, -63, -74, -63, -14, 127, -63,
	      127, -14, 24, -14, 94, -69, -53, -69, 94, -74, 94),
	    S(-106, -112, 61, -112, -106, 79, -106, -76, 124, -7, 124, -76, -97, -76, -106, -112,
	      61, -112, -106, 79, -106, -77, -34, -67, -34, -77, 59, -77, -106, -112, 61, -112,
	      -106, 79, -106, -76, 124, -7, 124, -76, -97, -76, -97, 44, 109, 44, -97, -59, -97, 11,
	      103, 119, 103, 11, 98, 11, -97, 44, 109, 44, -97, -59, -97, 109, 44, -97, 44, 109, 98,
	      109, -97, 44, 109, 44, -97, -59, -97, 11, 103, 119, 103, 11, 98, 11)),
	ROW(sum, S(-20, -37, -18), S(37, -20, -1)),
	ROW(add_n,
	    S(123, -63, 19, -12, -128, -35, -26, -128, 33, 82, 18, -128, -71, -95, 127, -102, -86,
	      127, -12, 45, -12, 127, -86, -102),
	    S(-2, 127, -105, -128, 100, -128, -128, 127, -92, -42, -107, 97, 127, 127, 25, 127, 127,
	      75, -128, -80, -128, 75, 127, 127)),
	ROW(reverse_sequence,
	    S(-53, -48, 7, -74, -63, -29, -23, 24, -14, 49, 6, -74, 76, -69, 94, -14, -111, 127,
	      -14, -93, 16, 127, -63, -113),
	    S(119, 124, -76, 98, 109, -112, -106, -59, -97, -34, -77, 98, -7, 103, 11, -97, 61, 44,
	      -97, 79, -67, 44, 109, 59)),
};

/* ---- the test ---- */

/* Element i of input `salt` of sample k: codes of all sizes, -127 … 127. */
static int8_t
element(int salt, int k, int64_t i)
{
	return (int8_t)((i * i * 31 + i * 97 + k * 61 + salt * 29) * 7 % 255 - 127);
}

static void
begin(net *n)
{
	memset(n, 0, sizeof *n);
	build_begin(&n->b, "tflite_ops", 5);
	n->b.model.stage = QN_STAGE_FLOAT;
	n->file = tfl_begin();
	n->x = codes(n, "x", DIMS(1, 4, 4, 2), 0.1f, 2);
	n->z = codes(n, "z", DIMS(2, 3, 4), 0.05f, -3);
	n->v = codes(n, "v", DIMS(5, 4), 0.02f, 0);
	for (size_t i = 0; i < QN_COUNT(rows); i++)
		rows[i].make(n);
}

static void
compare(net *n, const char *when)
{
	builder *b = &n->b;
	qn_interp *interp;

	build_check(b, qn_interp_new(b->g, &b->arena, &interp) == QN_OK);
	for (int k = 0; k < SAMPLES; k++) {
		const qn_tensor *in[3];

		for (size_t i = 0; i < 3; i++) {
			const qn_type *t = qn_graph_node(b->g, b->g->input[i])->type;
			void *data;

			in[i] = qn_tensor_new(&b->arena, t, &data);
			for (int64_t e = 0; e < qn_type_count(t); e++)
				((int8_t *)data)[e] = element((int)i, k, e);
		}
		build_check(b, qn_interp_run(interp, in, NULL, NULL) == QN_OK);
		for (size_t i = 0; i < QN_COUNT(rows); i++) {
			const qn_tensor *y = qn_interp_output(interp, i);

			for (int64_t e = 0; e < qn_type_count(y->type); e++)
				if (qn_tensor_i64(y, e) != rows[i].want[k][e])
					fail_msg("%s, %s: element %d of sample %d is %d, not %d",
						 rows[i].name, when, (int)e, k,
						 (int)qn_tensor_i64(y, e), rows[i].want[k][e]);
		}
	}
}

static void
operators(void **state)
{
	const qn_import_how how = {0};
	const uint8_t *bytes;
	size_t size;
	net n;

	(void)state;
	begin(&n);
	bytes = tfl_end(n.file, INTS(n.x, n.z, n.v), n.nout, n.out, &size);
	build_check(&n.b, qn_tflite_read(&n.b.model, "ops.tflite", bytes, size, &how) == QN_OK);
	build_check(&n.b, qn_model_verify(&n.b.model) == QN_OK);
	n.b.g = qn_model_entry(&n.b.model);
	compare(&n, "as it was read");
	build_check(&n.b, qn_requantize(&n.b.model, &(qn_requant_opts){0}) == QN_OK);
	build_check(&n.b, qn_legalize(&n.b.model) == QN_OK);
	n.b.g = qn_model_entry(&n.b.model);
	compare(&n, "as integers");
	e2e_check(&n.b, 4);
	build_end(&n.b);
	free(n.file);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(operators)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
