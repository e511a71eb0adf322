/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_move.c - operators that move whole values: RESHAPE, TRANSPOSE, CONCATENATION, PACK, pads,
 * TILE, BROADCAST_TO. */
#include "import/tflite.h"

/* One dim may be -1: what is left. */
static bool
full_shape(qn_tfl_op *o, int64_t count, int32_t n, int64_t *dim)
{
	int64_t known = 1;
	int32_t open = -1;

	for (int32_t i = 0; i < n; i++) {
		if (dim[i] == -1 && open < 0)
			open = i;
		else if (dim[i] < 0 || (dim[i] > 0 && known > INT32_MAX / dim[i]))
			return qn_importer_refuse(o->im, "import.input", "dimension %d is %lld",
						  (int)i, (long long)dim[i]) != 0;
		else
			known *= dim[i];
	}
	if (open < 0)
		return true;
	if (known == 0 || count < 0 || count % known != 0)
		return qn_importer_refuse(o->im, "import.input",
					  "%lld elements do not fill dimension %d",
					  (long long)count, (int)open) != 0;
	dim[open] = count / known;
	return true;
}

/* Where the caller gave inputs another batch, a shape that was written for the file's has it in front. */
static void
other_batch(int64_t count, int32_t n, int64_t *dim)
{
	int64_t inner = 1;

	for (int32_t i = 1; i < n; i++) {
		if (dim[i] == 0 || inner > INT32_MAX / dim[i])
			return;
		inner *= dim[i];
	}
	if (n > 0 && count > 0 && count % inner == 0)
		dim[0] = count / inner;
}

/* The shape is an input, or an option of old files; without either it is the result's. */
static void
reshape(qn_tfl_op *o)
{
	qn_id x = qn_tfl_moved(o, 0);
	qn_flat_vector option = qn_flat_vector_in(&o->options, 0, 4);
	int64_t dim[QN_MAX_RANK];
	int32_t n = 0;

	if (o->nin > 1 && o->from[1] != NULL) {
		n = qn_tfl_dims(o, 1, 0, QN_MAX_RANK, dim);
	} else if (option.n > 0) {
		for (; n < (int32_t)option.n && n < QN_MAX_RANK; n++)
			dim[n] = qn_flat_int_at(&option, (size_t)n, QN_FLAT_I32);
	} else {
		for (; n < o->to[0]->rank; n++)
			dim[n] = o->to[0]->dim[n];
	}
	if (n < 0 || x == 0)
		return;
	int64_t count = qn_type_count(qn_importer_type(o->im, x));
	if (!full_shape(o, count, n, dim))
		return;
	if (o->im->how->ndim > 0)
		other_batch(count, n, dim);
	qn_tfl_set_result(o, 0, qn_importer_reshape(o->im, x, n, dim));
}

/* Axes of length 1 go away: those that the option names, or all. */
static void
squeeze(qn_tfl_op *o)
{
	qn_id x = qn_tfl_moved(o, 0);
	qn_flat_vector named = qn_flat_vector_in(&o->options, 0, 4);
	const qn_type *type = qn_importer_type(o->im, o->in[0]);
	uint32_t gone = 0;
	int64_t dim[QN_MAX_RANK];
	int32_t n = 0, axis;

	for (size_t i = 0; i < named.n && i < QN_MAX_RANK; i++) {
		if (!qn_tfl_axis(o, qn_flat_int_at(&named, i, QN_FLAT_I32), type->rank, &axis))
			return;
		gone |= 1U << axis;
	}
	for (int32_t i = 0; i < type->rank; i++)
		if ((named.n > 0 && (gone >> i & 1U) == 0) || type->dim[i] != 1)
			dim[n++] = type->dim[i];
	qn_tfl_set_result(o, 0, qn_importer_reshape(o->im, x, n, dim));
}

static void
expand_dims(qn_tfl_op *o)
{
	int64_t axis;
	int32_t at;

	if (qn_tfl_ints(o, 1, 1, &axis) == 1 && qn_tfl_axis(o, axis, qn_tfl_rank(o, 0) + 1, &at))
		qn_tfl_set_result(o, 0, qn_importer_expand_dim(o->im, qn_tfl_moved(o, 0), at));
}

static void
transpose(qn_tfl_op *o)
{
	int64_t perm[QN_MAX_RANK];
	int32_t rank = qn_tfl_rank(o, 0), n = qn_tfl_ints(o, 1, QN_MAX_RANK, perm);

	for (int32_t i = 0; i < n; i++)
		perm[i] += perm[i] < 0 ? rank : 0;
	if (n >= 0 && n != rank)
		(void)qn_importer_refuse(o->im, "import.input", "%d axes of %d are given", (int)n,
					 (int)rank);
	else if (n >= 0)
		qn_tfl_set_result(o, 0, qn_importer_transpose(o->im, qn_tfl_moved(o, 0), perm));
}

static void
concatenation(qn_tfl_op *o)
{
	qn_id in[QN_TFL_MOST_INPUTS];
	int32_t axis;

	if (!qn_tfl_axis(o, qn_tfl_option(o, 0, 0), qn_tfl_rank(o, 0), &axis))
		return;
	for (uint32_t i = 0; i < o->nin; i++)
		in[i] = qn_tfl_moved(o, i);
	qn_tfl_set_activated(o, qn_tfl_joined(o, o->nin, in, axis),
			     qn_tfl_flag(o, 1, QN_TFL_ACT_NONE));
}

static void
pack(qn_tfl_op *o)
{
	qn_id in[QN_TFL_MOST_INPUTS];
	int32_t axis;

	if (!qn_tfl_axis(o, qn_tfl_option(o, 1, 0), qn_tfl_rank(o, 0) + 1, &axis))
		return;
	for (uint32_t i = 0; i < o->nin; i++) {
		if (qn_tfl_rank(o, i) != qn_tfl_rank(o, 0)) {
			(void)qn_importer_refuse(o->im, "import.input",
						 "input %u has rank %d, input 0 has %d; all must "
						 "have the same shape",
						 i, (int)qn_tfl_rank(o, i), (int)qn_tfl_rank(o, 0));
			return;
		}
		in[i] = qn_importer_expand_dim(o->im, qn_tfl_moved(o, i), axis);
	}
	qn_tfl_set_result(o, 0, qn_tfl_joined(o, o->nin, in, axis));
}

/* Pairs before, after for each dimension. */
static bool
pad_widths(qn_tfl_op *o, qn_attrs *a)
{
	int64_t v[2 * QN_MAX_RANK];
	int32_t n = qn_tfl_ints(o, 1, 2 * QN_MAX_RANK, v), rank = qn_tfl_rank(o, 0);

	qn_attrs_default(QN_ATTRS(pad), a);
	if (n < 0)
		return false;
	if (n != 2 * rank)
		return qn_importer_refuse(o->im, "import.input", "%d widths for %d dimensions",
					  (int)n, (int)rank) != 0;
	a->pad.before.n = a->pad.after.n = rank;
	for (int32_t i = 0; i < rank; i++) {
		a->pad.before.v[i] = v[2 * i];
		a->pad.after.v[i] = v[2 * i + 1];
	}
	return true;
}

static void
give_padded(qn_tfl_op *o, const qn_attrs *a)
{
	qn_id x = qn_tfl_moved(o, 0);

	qn_tfl_set_result(o, 0, qn_importer_op(o->im, QN_OP_pad, 1, &x, a, NULL));
}

static void
pad(qn_tfl_op *o)
{
	qn_attrs a;

	if (pad_widths(o, &a))
		give_padded(o, &a);
}

/* With a value, which is a quantized one for quantized data. */
static void
pad_v2(qn_tfl_op *o)
{
	const qn_tensor *value = qn_importer_known(o->im, o->in[2]);
	qn_attrs a;

	if (!pad_widths(o, &a))
		return;
	if (value == NULL || qn_type_count(value->type) != 1) {
		(void)qn_importer_refuse(o->im, "import.input",
					 "the value must be one constant number");
		return;
	}
	if (qn_elem_is_quant(value->type->elem))
		a.pad.code = qn_tensor_i64(value, 0);
	else
		a.pad.value = qn_tensor_f64(value, 0);
	give_padded(o, &a);
}

static void
tile(qn_tfl_op *o)
{
	int64_t repeats[QN_MAX_RANK];
	qn_id x = qn_tfl_moved(o, 0);
	const int32_t n = qn_tfl_ints(o, 1, QN_MAX_RANK, repeats);

	if (n >= 0)
		qn_tfl_set_result(o, 0, qn_importer_tile(o->im, x, n, repeats));
}

static void
broadcast_to(qn_tfl_op *o)
{
	qn_attrs a = {0};
	qn_id x = qn_tfl_moved(o, 0);

	a.shape.shape.n = qn_tfl_dims(o, 1, 0, QN_MAX_RANK, a.shape.shape.v);
	if (a.shape.shape.n >= 0)
		qn_tfl_set_result(o, 0, qn_importer_op(o->im, QN_OP_expand, 1, &x, &a, NULL));
}

/* The edge itself is not repeated (REFLECT), or is (SYMMETRIC). */
static void
mirror_pad(qn_tfl_op *o)
{
	qn_attrs a;

	if (!pad_widths(o, &a))
		return;
	a.pad.mode = qn_tfl_flag(o, 0, 0) != 0 ? QN_PAD_symmetric : QN_PAD_reflect;
	give_padded(o, &a);
}

const qn_tfl_row qn_tfl_move_rows[] = {
	{QN_TFL_RESHAPE, reshape, 0, 1, 2, 1, 1},
	{QN_TFL_SQUEEZE, squeeze, 0, 1, 1, 1, 0},
	{QN_TFL_EXPAND_DIMS, expand_dims, 0, 2, 2, 1, 0},
	{QN_TFL_TRANSPOSE, transpose, 0, 2, 2, 1, 0},
	{QN_TFL_CONCATENATION, concatenation, 0, 1, QN_TFL_MOST_INPUTS, 1, 0},
	{QN_TFL_PACK, pack, 0, 1, QN_TFL_MOST_INPUTS, 1, 0},
	{QN_TFL_PAD, pad, 0, 2, 2, 1, 0},
	{QN_TFL_PADV2, pad_v2, 0, 3, 3, 1, 0},
	{QN_TFL_TILE, tile, 0, 2, 2, 1, 0},
	{QN_TFL_BROADCAST_TO, broadcast_to, 0, 2, 2, 1, 0},
	{QN_TFL_MIRROR_PAD, mirror_pad, 0, 2, 2, 1, 0},
	{0},
};
