/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_reduce.c - reductions over axes that are an input: MEAN, SUM, REDUCE_MAX …, and
 * ARG_MAX, ARG_MIN, CUMSUM. */
#include "import/tflite.h"

/* The axes, from the front, each once. */
static bool
axes_of(qn_tfl_op *o, qn_list *axes)
{
	int64_t v[64];
	int32_t n = qn_tfl_ints(o, 1, 64, v), rank = qn_tfl_rank(o, 0), axis;
	uint32_t seen = 0;

	axes->n = 0;
	for (int32_t i = 0; i < n; i++) {
		if (!qn_tfl_axis(o, v[i], rank, &axis))
			return false;
		if ((seen >> axis & 1U) == 0)
			axes->v[axes->n++] = axis;
		seen |= 1U << axis;
	}
	return n >= 0;
}

static void
reduce(qn_tfl_op *o)
{
	qn_attrs a = {0};
	qn_id x = qn_tfl_moved(o, 0);

	if (!axes_of(o, &a.reduce.axes))
		return;
	a.reduce.keepdims = qn_tfl_flag(o, 0, 0) != 0;
	qn_tfl_set_result(o, 0, a.reduce.axes.n == 0 ? x : qn_tfl_op_of(o, o->op, 1, &x, &a));
}

/* Of bool: the largest is whether any is true, the smallest whether all are. */
static void
reduce_bool(qn_tfl_op *o)
{
	qn_attrs a = {0};
	qn_id x = qn_importer_cast(o->im, o->in[0], QN_PLAIN_i32);

	if (!axes_of(o, &a.reduce.axes))
		return;
	a.reduce.keepdims = qn_tfl_flag(o, 0, 0) != 0;
	qn_tfl_set_result(o, 0,
			  a.reduce.axes.n == 0 ? x : qn_importer_op(o->im, o->op, 1, &x, &a, NULL));
}

static void
cumsum(qn_tfl_op *o)
{
	int64_t axis;
	int32_t at;
	qn_attrs a;
	qn_id x = qn_tfl_moved(o, 0);

	qn_attrs_default(QN_ATTRS(cumsum), &a);
	if (qn_tfl_ints(o, 1, 1, &axis) != 1 || !qn_tfl_axis(o, axis, qn_tfl_rank(o, 0), &at))
		return;
	a.cumsum.axis = at;
	a.cumsum.exclusive = qn_tfl_flag(o, 0, 0) != 0;
	a.cumsum.reverse = qn_tfl_flag(o, 1, 0) != 0;
	qn_tfl_set_result(o, 0, qn_tfl_op_of(o, QN_OP_cumsum, 1, &x, &a));
}

static void
extreme_place(qn_tfl_op *o)
{
	int64_t axis;
	int32_t at;
	qn_attrs a;

	qn_attrs_default(QN_ATTRS(argmax), &a);
	if (qn_tfl_ints(o, 1, 1, &axis) != 1 || !qn_tfl_axis(o, axis, qn_tfl_rank(o, 0), &at))
		return;
	a.argmax.axis = at;
	qn_tfl_set_result(o, 0, qn_tfl_op_of(o, o->op, 1, o->in, &a));
}

const qn_tfl_row qn_tfl_reduce_rows[] = {
	{QN_TFL_MEAN, reduce, QN_OP_reduce_mean, 2, 2, 1, 0},
	{QN_TFL_SUM, reduce, QN_OP_reduce_sum, 2, 2, 1, 0},
	{QN_TFL_REDUCE_MAX, reduce, QN_OP_reduce_max, 2, 2, 1, 0},
	{QN_TFL_REDUCE_MIN, reduce, QN_OP_reduce_min, 2, 2, 1, 0},
	{QN_TFL_REDUCE_PROD, reduce, QN_OP_reduce_prod, 2, 2, 1, 0},
	{QN_TFL_REDUCE_ANY, reduce_bool, QN_OP_reduce_max, 2, 2, 1, 0},
	{QN_TFL_REDUCE_ALL, reduce_bool, QN_OP_reduce_min, 2, 2, 1, 0},
	{QN_TFL_CUMSUM, cumsum, 0, 2, 2, 1, 0},
	{QN_TFL_ARG_MAX, extreme_place, QN_OP_argmax, 2, 2, 1, 0},
	{QN_TFL_ARG_MIN, extreme_place, QN_OP_argmin, 2, 2, 1, 0},
	{0},
};
