/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_reduce.c - MEAN, SUM, REDUCE_MAX, REDUCE_MIN over axes that are an input, ARG_MAX. */
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
reduce(qn_tfl_op *o, qn_op op)
{
	qn_attrs a = {0};
	qn_id x = qn_tfl_moved(o, 0);

	if (!axes_of(o, &a.reduce.axes))
		return;
	a.reduce.keepdims = qn_tfl_flag(o, 0, 0) != 0;
	qn_tfl_give(o, 0, a.reduce.axes.n == 0 ? x : qn_tfl_op_of(o, op, 1, &x, &a));
}

#define REDUCE(name, op)                                                                           \
	static void name(qn_tfl_op *o)                                                             \
	{                                                                                          \
		reduce(o, op);                                                                     \
	}
REDUCE(mean, QN_OP_reduce_mean)
REDUCE(sum, QN_OP_reduce_sum)
REDUCE(reduce_max, QN_OP_reduce_max)
REDUCE(reduce_min, QN_OP_reduce_min)

static void
arg_max(qn_tfl_op *o)
{
	int64_t axis;
	int32_t at;
	qn_attrs a;

	qn_attrs_default(QN_ATTRS(argmax), &a);
	if (qn_tfl_ints(o, 1, 1, &axis) != 1 || !qn_tfl_axis(o, axis, qn_tfl_rank(o, 0), &at))
		return;
	a.argmax.axis = at;
	qn_tfl_give(o, 0, qn_tfl_op_of(o, QN_OP_argmax, 1, o->in, &a));
}

const qn_tfl_row qn_tfl_reduce_rows[] = {
	{QN_TFL_MEAN, mean, 2, 2, 1, 0},
	{QN_TFL_SUM, sum, 2, 2, 1, 0},
	{QN_TFL_REDUCE_MAX, reduce_max, 2, 2, 1, 0},
	{QN_TFL_REDUCE_MIN, reduce_min, 2, 2, 1, 0},
	{QN_TFL_ARG_MAX, arg_max, 2, 2, 1, 0},
	{QN_TFL_ADD, NULL, 0, 0, 0, 0},
};
