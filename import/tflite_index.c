/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_index.c - elements at indices: GATHER, GATHER_ND, EMBEDDING_LOOKUP,
 * REVERSE_SEQUENCE, WHERE.
 *
 *   GATHER [B,K,N,C], indices [B,M], axis 2, batch_dims 1
 *       transpose [B,N,K,C], gather_nd {batch_dims=1} at indices [B,M,1]: [B,M,K,C], transpose [B,K,M,C] */
#include "import/tflite.h"

/* Axes of x in the order perm, which may be the one that they have. */
static qn_id
turned(qn_tfl_op *o, qn_id x, const int64_t *perm)
{
	return x != 0 ? qn_importer_transpose(o->im, x, perm) : 0;
}

/* Axis `from` at position `to`, the others in their order. */
static void
moved_axis(int32_t rank, int32_t from, int32_t to, int64_t *perm)
{
	int32_t n = 0;

	for (int32_t i = 0; i < rank; i++) {
		n += n == from;
		perm[i] = i == to ? from : n++;
	}
}

/* The first b axes are common to data and indices; the axes between them and the one that is
 * gathered come before those of the indices in the result. */
static qn_id
gather_of_batches(qn_tfl_op *o, qn_id x, int32_t axis, int32_t b)
{
	int32_t rank = qn_tfl_rank(o, 0), places = qn_tfl_rank(o, 1) - b, between = axis - b;
	const qn_attrs a = {.gather_nd = {b}};
	int64_t perm[2 * QN_MAX_RANK];

	moved_axis(rank, axis, b, perm);
	const qn_id in[2] = {turned(o, x, perm),
			     qn_importer_expand_dim(o->im, o->in[1], qn_tfl_rank(o, 1))};
	qn_id y = qn_importer_op(o->im, QN_OP_gather_nd, 2, in, &a, NULL);
	for (int32_t i = 0; i < rank - 1 + places; i++)
		perm[i] = i < b || i >= b + places + between ? i
			  : i < b + between                  ? i + places
							     : i - between;
	return turned(o, y, perm);
}

/* Input i; if its scales are not those of what is gathered along the axis, dequantized, for what is quantized again. */
static qn_id
table_of(qn_tfl_op *o, uint32_t i, int32_t axis)
{
	if (qn_elem_is_float(qn_tfl_result(o, 0)) ||
	    !qn_gather_own_scales(qn_importer_type(o->im, o->in[i]), axis))
		return qn_tfl_moved(o, i);
	return qn_importer_op_unfolded(o->im, QN_OP_dequantize, 1, &o->in[i], NULL, NULL);
}

static void
gather(qn_tfl_op *o)
{
	int64_t b = qn_tfl_option(o, 1, 0);
	int32_t rank = qn_tfl_rank(o, 1), axis;

	if (!qn_tfl_axis(o, qn_tfl_option(o, 0, 0), qn_tfl_rank(o, 0), &axis))
		return;
	b += b < 0 ? rank : 0;
	if (b < 0 || b > rank || b > axis || rank >= QN_MAX_RANK ||
	    qn_tfl_rank(o, 0) + rank > QN_MAX_RANK + 1 + b) {
		(void)qn_importer_refuse(o->im, "import.attr",
					 "batch_dims is %lld, of %d dimensions of indices and axis "
					 "%d",
					 (long long)b, (int)rank, (int)axis);
		return;
	}
	const qn_attrs a = {.gather = {axis}};
	const qn_id in[2] = {table_of(o, 0, axis), o->in[1]};
	qn_tfl_set_result(o, 0,
			  b == 0 ? qn_importer_op(o->im, QN_OP_gather, 2, in, &a, NULL)
				 : gather_of_batches(o, in[0], axis, (int32_t)b));
}

static void
gather_nd(qn_tfl_op *o)
{
	qn_attrs a = {.gather_nd = {0}};
	qn_id in[2] = {qn_tfl_moved(o, 0), o->in[1]};

	qn_tfl_set_result(o, 0, qn_importer_op(o->im, QN_OP_gather_nd, 2, in, &a, NULL));
}

/* Rows of a table; those of a quantized one are dequantized if the result is float. */
static void
embedding_lookup(qn_tfl_op *o)
{
	qn_attrs a = {.gather = {0}};
	qn_id in[2] = {table_of(o, 1, 0), o->in[0]};

	qn_tfl_set_result(o, 0, qn_importer_op(o->im, QN_OP_gather, 2, in, &a, NULL));
}

/* ---- REVERSE_SEQUENCE ---- */

/* [batches, steps, 1]: where element j of sequence i comes from. */
static qn_id
reversed_places(qn_tfl_op *o, int64_t batches, int64_t steps)
{
	const qn_tensor *length = qn_importer_known(o->im, o->in[1]);
	const qn_type *type =
		qn_type_plain(&o->im->m->types, QN_PLAIN_i32, 3, (int64_t[]){batches, steps, 1});
	void *data;

	if (length == NULL || qn_type_count(length->type) != batches)
		return qn_importer_refuse(o->im, "import.input",
					  "the lengths must be constants, one per sequence (%lld)",
					  (long long)batches);
	if (!qn_importer_take_type(o->im, type))
		return 0;
	qn_tensor *at = qn_tensor_new(o->im->m->arena, type, &data);
	for (int64_t i = 0; i < batches * steps; i++) {
		int64_t n = qn_tensor_i64(length, i / steps), k = i % steps;

		if (n < 0 || n > steps)
			return qn_importer_refuse(o->im, "import.input",
						  "a length of %lld of %lld elements", (long long)n,
						  (long long)steps);
		qn_store_i64(data, QN_PLAIN_i32, i, k < n ? n - 1 - k : k);
	}
	return qn_importer_const(o->im, NULL, at);
}

/* The first elements of each sequence reversed, as many as its length says. */
static void
reverse_sequence(qn_tfl_op *o)
{
	const qn_attrs a = {.gather_nd = {1}};
	const qn_type *x = qn_importer_type(o->im, o->in[0]);
	int64_t perm[QN_MAX_RANK], back[QN_MAX_RANK];
	int32_t seq, batch, n = 2;

	if (!qn_tfl_axis(o, qn_tfl_option(o, 0, 0), x->rank, &seq) ||
	    !qn_tfl_axis(o, qn_tfl_option(o, 1, 0), x->rank, &batch))
		return;
	if (seq == batch || qn_type_count(x) < 1) {
		(void)qn_importer_refuse(o->im, "import.attr",
					 "sequences along axis %d, batches along axis %d; they "
					 "must differ, and the dimensions be known",
					 (int)seq, (int)batch);
		return;
	}
	perm[0] = batch;
	perm[1] = seq;
	for (int32_t i = 0; i < x->rank; i++)
		if (i != batch && i != seq)
			perm[n++] = i;
	for (int32_t i = 0; i < x->rank; i++)
		back[perm[i]] = i;
	const qn_id in[2] = {turned(o, qn_tfl_moved(o, 0), perm),
			     reversed_places(o, x->dim[batch], x->dim[seq])};
	qn_id y = qn_importer_op(o->im, QN_OP_gather_nd, 2, in, &a, NULL);
	qn_tfl_set_result(o, 0, turned(o, y, back));
}

/* ---- WHERE ---- */

/* The indices of what is not 0, [n, rank]; of a constant, as otherwise n depends on the data. */
static void
where(qn_tfl_op *o)
{
	const qn_tensor *x = qn_importer_known(o->im, o->in[0]);
	int64_t n = 0, rank = qn_tfl_rank(o, 0);
	void *data;

	if (x == NULL || rank < 1) {
		(void)qn_importer_refuse(
			o->im, "import.op",
			"the number of its results depends on the data; it is only supported for "
			"constants: use a mask instead (SELECT_V2)");
		return;
	}
	int64_t count = qn_type_count(x->type);
	for (int64_t i = 0; i < count; i++)
		n += qn_tensor_f64(x, i) != 0.0;
	const qn_type *type =
		qn_type_plain(&o->im->m->types, QN_PLAIN_i64, 2, (int64_t[]){n, rank});
	if (!qn_importer_take_type(o->im, type))
		return;
	qn_tensor *at = qn_tensor_new(o->im->m->arena, type, &data);
	for (int64_t i = 0, to = 0; i < count; i++) {
		int64_t left = i;

		if (qn_tensor_f64(x, i) == 0.0)
			continue;
		for (int64_t k = rank - 1; k >= 0; k--) {
			qn_store_i64(data, QN_PLAIN_i64, to * rank + k, left % x->type->dim[k]);
			left /= x->type->dim[k];
		}
		to++;
	}
	qn_tfl_set_result(o, 0, qn_importer_const(o->im, o->im->node, at));
}

const qn_tfl_row qn_tfl_index_rows[] = {
	{QN_TFL_GATHER, gather, 0, 2, 2, 1, 0},
	{QN_TFL_GATHER_ND, gather_nd, 0, 2, 2, 1, 0},
	{QN_TFL_EMBEDDING_LOOKUP, embedding_lookup, 0, 2, 2, 1, 0},
	{QN_TFL_REVERSE_SEQUENCE, reverse_sequence, 0, 2, 2, 1, 0},
	{QN_TFL_WHERE, where, 0, 1, 1, 1, 0},
	{0},
};
