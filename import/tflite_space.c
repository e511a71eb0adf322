/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_space.c - between space and batch or channels, mirrored pads, reversed axes.
 *
 *   SPACE_TO_BATCH_ND  [N, b*H, C], block b      pad, reshape [N,H,b,C], transpose [b,N,H,C], reshape [b*N,H,C]
 *   BATCH_TO_SPACE_ND  the way back, then the crop */
#include "import/tflite.h"

enum { MOST_BLOCKS = 3 };

/* Block sizes and a pair for each of m dimensions after the batch. */
typedef struct blocks {
	int32_t m, rank;
	int64_t block[MOST_BLOCKS], pair[2 * MOST_BLOCKS], dim[QN_MAX_RANK];
} blocks;

static bool
read_blocks(qn_tfl_op *o, blocks *b)
{
	const qn_type *x = qn_importer_type(o->im, o->in[0]);
	int32_t n = qn_tfl_ints(o, 2, 2 * MOST_BLOCKS, b->pair);

	b->m = qn_tfl_ints(o, 1, MOST_BLOCKS, b->block);
	b->rank = x->rank;
	if (n < 0 || b->m < 0)
		return false;
	if (n != 2 * b->m || b->rank < 1 + b->m || b->rank + b->m > QN_MAX_RANK ||
	    qn_type_count(x) < 1)
		return qn_importer_refuse(o->im, "import.input",
					  "%d block sizes and %d widths for data of %d dimensions, "
					  "which must be known and not empty",
					  (int)b->m, (int)n, (int)b->rank) != 0;
	for (int32_t i = 0; i < b->rank; i++)
		b->dim[i] = x->dim[i];
	for (int32_t i = 0; i < b->m; i++)
		if (b->block[i] < 1 || b->block[i] > INT32_MAX || b->pair[2 * i] < 0 ||
		    b->pair[2 * i + 1] < 0)
			return qn_importer_refuse(o->im, "import.input", "block size %lld",
						  (long long)b->block[i]) != 0;
	return true;
}

static qn_id
padded(qn_tfl_op *o, qn_id x, blocks *b)
{
	qn_attrs a;
	int64_t any = 0;

	qn_attrs_default(QN_ATTRS(pad), &a);
	a.pad.before.n = a.pad.after.n = b->rank;
	for (int32_t i = 0; i < b->rank; i++)
		a.pad.before.v[i] = a.pad.after.v[i] = 0;
	for (int32_t i = 0; i < b->m; i++) {
		any |= a.pad.before.v[1 + i] = b->pair[2 * i];
		any |= a.pad.after.v[1 + i] = b->pair[2 * i + 1];
		b->dim[1 + i] += b->pair[2 * i] + b->pair[2 * i + 1];
		if (b->dim[1 + i] % b->block[i] != 0)
			return qn_importer_refuse(
				o->im, "import.input", "%lld elements of axis %d in blocks of %lld",
				(long long)b->dim[1 + i], 1 + (int)i, (long long)b->block[i]);
	}
	return any != 0 ? qn_importer_op(o->im, QN_OP_pad, 1, &x, &a, NULL) : x;
}

static void
space_to_batch(qn_tfl_op *o)
{
	blocks b;
	int64_t dim[QN_MAX_RANK], perm[QN_MAX_RANK];
	int32_t n = 1;

	if (!read_blocks(o, &b))
		return;
	qn_id x = padded(o, qn_tfl_moved(o, 0), &b);
	if (x == 0)
		return;
	dim[0] = b.dim[0];
	for (int32_t i = 0; i < b.m; i++) {
		perm[i] = 2 + 2 * i;           /* the positions inside blocks, first */
		perm[b.m + 1 + i] = 1 + 2 * i; /* after the batch the blocks */
		dim[n++] = b.dim[1 + i] / b.block[i];
		dim[n++] = b.block[i];
	}
	perm[b.m] = 0;
	for (int32_t i = 1 + b.m; i < b.rank; i++, n++) {
		perm[n] = n;
		dim[n] = b.dim[i];
	}
	x = qn_importer_reshape(o->im, x, n, dim);
	x = qn_importer_transpose(o->im, x, perm);
	for (int32_t i = 0; i < b.m; i++) {
		b.dim[0] *= b.block[i];
		b.dim[1 + i] /= b.block[i];
	}
	qn_tfl_set_result(o, 0, qn_importer_reshape(o->im, x, b.rank, b.dim));
}

static qn_id
cropped(qn_tfl_op *o, qn_id x, const blocks *b)
{
	qn_attrs a = {0};
	int64_t any = 0;

	a.slice.begin.n = a.slice.end.n = b->rank;
	for (int32_t i = 0; i < b->rank; i++)
		a.slice.end.v[i] = b->dim[i];
	for (int32_t i = 0; i < b->m; i++) {
		any |= a.slice.begin.v[1 + i] = b->pair[2 * i];
		any |= b->pair[2 * i + 1];
		a.slice.end.v[1 + i] -= b->pair[2 * i + 1];
		if (a.slice.end.v[1 + i] < a.slice.begin.v[1 + i])
			return qn_importer_refuse(o->im, "import.input",
						  "the crop of axis %d leaves nothing", 1 + (int)i);
	}
	return any != 0 ? qn_importer_op(o->im, QN_OP_slice, 1, &x, &a, NULL) : x;
}

static void
batch_to_space(qn_tfl_op *o)
{
	blocks b;
	int64_t dim[QN_MAX_RANK], perm[QN_MAX_RANK], all = 1;
	int32_t n = 0;

	if (!read_blocks(o, &b))
		return;
	for (int32_t i = 0; i < b.m; i++) {
		all *= all <= b.dim[0] ? b.block[i] : 1; /* both are below 2^31 */
		dim[n++] = b.block[i];
	}
	if (b.dim[0] % all != 0) {
		(void)qn_importer_refuse(o->im, "import.input", "a batch of %lld in blocks",
					 (long long)b.dim[0]);
		return;
	}
	b.dim[0] /= all;
	dim[n++] = b.dim[0];
	perm[0] = b.m;
	for (int32_t i = 0; i < b.m; i++) {
		perm[1 + 2 * i] = b.m + 1 + i;
		perm[2 + 2 * i] = i;
	}
	for (int32_t i = 1; i < b.rank; i++) {
		if (i > b.m)
			perm[n] = n;
		dim[n++] = b.dim[i];
	}
	qn_id x = qn_importer_reshape(o->im, qn_tfl_moved(o, 0), n, dim);
	x = qn_importer_transpose(o->im, x, perm);
	for (int32_t i = 0; i < b.m; i++)
		b.dim[1 + i] *= b.block[i];
	x = qn_importer_reshape(o->im, x, b.rank, b.dim);
	qn_tfl_set_result(o, 0, x != 0 ? cropped(o, x, &b) : 0);
}

static void
depth_to_space(qn_tfl_op *o)
{
	qn_attrs a = {.depth_to_space = {qn_tfl_option(o, 0, 0), QN_DEPTH_dcr}};
	qn_id x = qn_tfl_moved(o, 0);

	qn_tfl_set_result(o, 0, qn_importer_op(o->im, QN_OP_depth_to_space, 1, &x, &a, NULL));
}

static void
space_to_depth(qn_tfl_op *o)
{
	qn_attrs a = {.space_to_depth = {qn_tfl_option(o, 0, 0)}};
	qn_id x = qn_tfl_moved(o, 0);

	qn_tfl_set_result(o, 0, qn_importer_op(o->im, QN_OP_space_to_depth, 1, &x, &a, NULL));
}

static void
reverse(qn_tfl_op *o)
{
	qn_attrs a = {0};
	qn_id x = qn_tfl_moved(o, 0);

	a.axes.axes.n = qn_tfl_ints(o, 1, QN_MAX_RANK, a.axes.axes.v);
	if (a.axes.axes.n > 0)
		qn_tfl_set_result(o, 0, qn_importer_op(o->im, QN_OP_reverse, 1, &x, &a, NULL));
	else if (a.axes.axes.n == 0)
		qn_tfl_set_result(o, 0, x);
}

const qn_tfl_row qn_tfl_space_rows[] = {
	{QN_TFL_SPACE_TO_BATCH_ND, space_to_batch, 0, 3, 3, 1, 0},
	{QN_TFL_BATCH_TO_SPACE_ND, batch_to_space, 0, 3, 3, 1, 0},
	{QN_TFL_DEPTH_TO_SPACE, depth_to_space, 0, 1, 1, 1, 0},
	{QN_TFL_SPACE_TO_DEPTH, space_to_depth, 0, 1, 1, 1, 0},
	{QN_TFL_REVERSE_V2, reverse, 0, 2, 2, 1, 0},
	{0},
};
