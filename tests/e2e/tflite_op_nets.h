/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_op_nets.h - operators on quantized values in a TFLite file, a function for each.
 *
 *   net n;  x [1,4,4,2], z [2,3,4], v [5,4]
 *   sum(&n);                       the file gives out its result too */
#ifndef QN_TESTS_TFLITE_OP_NETS_H
#define QN_TESTS_TFLITE_OP_NETS_H

#include "tests/e2e/e2e.h"

#include "tests/unit/tflite_writer.h"

enum { MOST = 32 };

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

static inline int
codes(net *n, const char *name, int rank, const int32_t *dim, float scale, int zp)
{
	return tfl_codes(n->file, name, I8, rank, dim, scale, zp, NULL, 0);
}

static inline int
ints(net *n, int rank, const int32_t *dim, const int32_t *v)
{
	int count = 1;

	for (int i = 0; i < rank; i++)
		count *= dim[i];
	v = qn_arena_copy(&n->b.arena, v, 4 * (size_t)count); /* until the file is written */
	return tfl_tensor(n->file, "n", TFL_INT32, rank, dim, v, 4 * count);
}

static inline int
list(net *n, int count, const int32_t *v)
{
	return ints(n, 1, ONCE(count), v);
}

/* An operator whose result the file gives out. */
static inline tfl_op_of *
result(net *n, int code, int nin, const int32_t *in, int y)
{
	assert_true(n->nout < MOST);
	n->out[n->nout++] = y;
	return tfl_op(n->file, code, nin, in, 1, &y);
}

/* ---- a function for each operator ---- */

static inline void
l2_normalization(net *n)
{
	result(n, QN_TFL_L2_NORMALIZATION, INTS(n->x),
	       codes(n, "l2", DIMS(1, 4, 4, 2), 0.0078125f, 0));
}

static inline void
reduce_prod(net *n)
{
	tfl_with(result(n, QN_TFL_REDUCE_PROD, INTS(n->z, list(n, 1, ONCE(1))),
			codes(n, "prod", DIMS(2, 1, 4), 2.5f, -7)),
		 0, 'b', 1);
}

static inline void
gather(net *n)
{
	tfl_op_of *o = result(n, QN_TFL_GATHER, INTS(n->z, ints(n, DIMS(2, 2), ONCE(3, 1, 0, 2))),
			      codes(n, "gather", DIMS(2, 3, 2), 0.05f, -3));

	tfl_with(o, 0, 'i', 2);
	tfl_with(o, 1, 'i', 1);
}

static inline void
embedding_lookup(net *n)
{
	result(n, QN_TFL_EMBEDDING_LOOKUP, INTS(list(n, 3, ONCE(4, 0, 4)), n->v),
	       codes(n, "rows", DIMS(3, 4), 0.02f, 0));
}

static inline void
dynamic_update_slice(net *n)
{
	static const int8_t update[] = {1, -2, 3, -4, 5, -6, 7, -8};
	int u = tfl_codes(n->file, "u", I8, DIMS(1, 2, 4, 1), 0.1f, 2, update, sizeof update);

	result(n, QN_TFL_DYNAMIC_UPDATE_SLICE, INTS(n->x, u, list(n, 4, ONCE(0, 5, -1, 1))),
	       codes(n, "slice", DIMS(1, 4, 4, 2), 0.1f, 2));
}

static inline void
sparse_to_dense(net *n)
{
	static const int8_t value[] = {100, -100}, rest[] = {9};
	int u = tfl_codes(n->file, "u", I8, DIMS(2), 0.1f, 2, value, 2);
	int r = tfl_codes(n->file, "r", I8, 0, NULL, 0.1f, 2, rest, 1);

	result(n, QN_TFL_SPARSE_TO_DENSE,
	       INTS(ints(n, DIMS(2, 2), ONCE(0, 2, 2, 1)), list(n, 2, ONCE(3, 4)), u, r),
	       codes(n, "dense", DIMS(3, 4), 0.1f, 2));
}

static inline void
scatter_nd(net *n)
{
	result(n, QN_TFL_SCATTER_ND,
	       INTS(ints(n, DIMS(2, 1), ONCE(2, 0)), n->z, list(n, 3, ONCE(3, 3, 4))),
	       codes(n, "scatter", DIMS(3, 3, 4), 0.05f, -3));
}

static inline void
matrix_diag(net *n)
{
	result(n, QN_TFL_MATRIX_DIAG, INTS(n->z), codes(n, "diag", DIMS(2, 3, 4, 4), 0.05f, -3));
}

static inline void
matrix_set_diag(net *n)
{
	static const int8_t diag[] = {1, 2, 3, 4, 5, 6};
	int d = tfl_codes(n->file, "d", I8, DIMS(2, 3), 0.05f, -3, diag, sizeof diag);

	result(n, QN_TFL_MATRIX_SET_DIAG, INTS(n->z, d),
	       codes(n, "set_diag", DIMS(2, 3, 4), 0.05f, -3));
}

static inline void
select_v2(net *n)
{
	static const uint8_t choose[] = {1, 0, 0, 1};
	static const int8_t one[] = {77};
	int c = tfl_tensor(n->file, "c", TFL_BOOL, DIMS(4, 1), choose, 4);
	int k = tfl_codes(n->file, "k", I8, DIMS(1), 0.1f, 2, one, 1);

	result(n, QN_TFL_SELECT_V2, INTS(c, n->x, k),
	       codes(n, "select", DIMS(1, 4, 4, 2), 0.1f, 2));
}

static inline void
select_rows(net *n)
{
	static const uint8_t choose[] = {0, 1};
	static const int8_t rest[24] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
	int c = tfl_tensor(n->file, "c", TFL_BOOL, DIMS(2), choose, 2);
	int k = tfl_codes(n->file, "k", I8, DIMS(2, 3, 4), 0.05f, -3, rest, sizeof rest);

	result(n, QN_TFL_SELECT, INTS(c, n->z, k), codes(n, "rows2", DIMS(2, 3, 4), 0.05f, -3));
}

static inline void
batch_matmul(net *n)
{
	tfl_with(result(n, QN_TFL_BATCH_MATMUL, INTS(n->z, n->z),
			codes(n, "zzt", DIMS(2, 3, 3), 0.37f, 5)),
		 1, 'b', 1);
}

static inline void
batch_matmul_adj(net *n)
{
	tfl_with(result(n, QN_TFL_BATCH_MATMUL, INTS(n->z, n->z),
			codes(n, "ztz", DIMS(2, 4, 4), 0.29f, -5)),
		 0, 'b', 1);
}

static inline void
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
static inline void
fully_connected(net *n)
{
	static const int32_t bias[] = {100, -2000, 30, 4, 5000};
	int b = tfl_codes(n->file, "b", TFL_INT32, DIMS(5), 0.05f * 0.02f, 0, bias, sizeof bias);

	result(n, QN_TFL_FULLY_CONNECTED, INTS(n->z, n->v, b),
	       codes(n, "fc", DIMS(6, 5), 0.11f, 3));
}

static inline void
cast(net *n)
{
	result(n, QN_TFL_CAST, INTS(n->z),
	       tfl_tensor(n->file, "i", TFL_INT32, DIMS(2, 3, 4), NULL, 0));
}

static inline void
mirror_pad(net *n)
{
	tfl_with(result(n, QN_TFL_MIRROR_PAD,
			INTS(n->z, ints(n, DIMS(3, 2), ONCE(0, 0, 1, 2, 2, 1))),
			codes(n, "mirror", DIMS(2, 6, 7), 0.05f, -3)),
		 0, 'b', 0);
}

static inline void
sum(net *n)
{
	result(n, QN_TFL_SUM, INTS(n->z, list(n, 2, ONCE(0, 2))),
	       codes(n, "sum", DIMS(3), 0.31f, -11));
}

/* ---- of which TFLite has no such kernel ---- */

static inline void
add_n(net *n)
{
	int y = codes(n, "sum3", DIMS(2, 3, 4), 0.1f, 4);

	result(n, QN_TFL_ADD_N, INTS(n->z, n->z, n->z), y);
}

static inline void
reverse_sequence(net *n)
{
	tfl_op_of *o = result(n, QN_TFL_REVERSE_SEQUENCE, INTS(n->z, list(n, 4, ONCE(2, 1, 0, 2))),
			      codes(n, "reverse", DIMS(2, 3, 4), 0.05f, -3));

	tfl_with(o, 0, 'i', 0);
	tfl_with(o, 1, 'i', 2);
}

#endif
