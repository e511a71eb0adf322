/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_binary.c - operators of two values, element by element, and selection. */
#include "import/tflite.h"

/* Both operands quantized if the result is, else in f32; two of one plain integer type as they
 * are. */
static qn_id
of_two(qn_tfl_op *o)
{
	const qn_elem *a = qn_importer_type(o->im, o->in[0])->elem;

	if (!qn_tfl_result_is_quantized(o) && a->kind == QN_ELEM_PLAIN && !qn_elem_is_float(a))
		return qn_tfl_op_of(o, o->op, 2, o->in, NULL);
	return qn_tfl_node(o, o->op, NULL);
}

static void
plain(qn_tfl_op *o)
{
	qn_tfl_set_result(o, 0, of_two(o));
}

static void
active(qn_tfl_op *o)
{
	qn_tfl_set_activated(o, of_two(o), qn_tfl_flag(o, 0, QN_TFL_ACT_NONE));
}

/* Results of the larger or smaller have the file's parameters, which the operands get first. */
static void
extreme(qn_tfl_op *o)
{
	qn_id in[2] = {o->in[0], o->in[1]};

	for (uint32_t i = 0; i < 2 && qn_tfl_result_is_quantized(o); i++) {
		const qn_elem *e = qn_tfl_result(o, 0);

		if (qn_importer_type(o->im, in[i])->elem != e)
			in[i] = qn_tfl_requantized(o, 0, in[i], e->qmin, e->qmax);
	}
	if (qn_tfl_result_is_quantized(o))
		qn_tfl_set_result(o, 0, qn_tfl_op_of(o, o->op, 2, in, NULL));
	else
		plain(o);
}

/* TFLite rounds both sides of 8 bits to 1/256; a scale of 1 or more is more than its kernel takes. */
static bool
is_rounded(qn_tfl_op *o)
{
	for (uint32_t i = 0; i < 2; i++) {
		const qn_elem *e = qn_importer_type(o->im, o->in[i])->elem;
		double scale = 1.0;
		int64_t zp;

		if (e->bits != 8 || e->gran != QN_PER_TENSOR)
			return false;
		qn_elem_param(&o->im->m->types, e, 0, &scale, &zp);
		if (scale >= 1.0)
			return false;
	}
	return true;
}

/* Comparisons give bool: their operands say what they work on. */
static void
compare(qn_tfl_op *o)
{
	bool quantized = qn_tfl_is_quantized(o, o->in[0]) && qn_tfl_is_quantized(o, o->in[1]);
	qn_id in[2] = {o->in[0], o->in[1]};
	qn_attrs a = {.compare = {quantized && is_rounded(o) ? 8 : 0}};

	for (uint32_t i = 0; i < 2 && !quantized; i++)
		if (qn_elem_is_float(qn_importer_type(o->im, in[1 - i])->elem) ||
		    qn_tfl_is_quantized(o, in[i]))
			in[i] = qn_tfl_real(o, i);
	qn_tfl_set_result(o, 0, qn_importer_op(o->im, o->op, 2, in, &a, NULL));
}

/* The sum of quantized values along a new axis.  (TFLite Micro, which alone quantizes this op, starts it
 * at the integer 0 instead of the zero point: if that is not 0, its sum is off by it.) */
static qn_id
sum_of_quantized(qn_tfl_op *o)
{
	qn_id part[QN_TFL_MOST_INPUTS];
	const qn_elem *first = qn_importer_type(o->im, o->in[0])->elem;
	qn_attrs a = {.reduce = {.axes = {1, {0}}}};

	for (uint32_t i = 0; i < o->nin; i++) {
		if (qn_importer_type(o->im, o->in[i])->elem != first)
			return qn_importer_refuse(o->im, "import.type",
						  "input %u has other parameters than input 0; "
						  "they must be equal",
						  i);
		part[i] = qn_importer_expand_dim(o->im, o->in[i], 0);
	}
	const qn_attrs along = {.axis = {0}};
	qn_id x = qn_importer_op(o->im, QN_OP_concat, o->nin, part, &along, NULL);
	return qn_tfl_op_of(o, QN_OP_reduce_sum, 1, &x, &a);
}

/* Sums from left to right; two values are added as ADD does. */
static void
add_n(qn_tfl_op *o)
{
	if (qn_tfl_result_is_quantized(o) && qn_tfl_is_quantized(o, o->in[0]) && o->nin >= 2) {
		qn_tfl_set_result(
			o, 0, o->nin == 2 ? qn_tfl_node(o, QN_OP_add, NULL) : sum_of_quantized(o));
		return;
	}
	qn_id sum = qn_tfl_real(o, 0);

	for (uint32_t i = 1; i < o->nin; i++)
		sum = qn_importer_binary(o->im, QN_OP_add, sum, qn_tfl_real(o, i));
	qn_tfl_set_result(o, 0, sum);
}

/* What the condition chooses from, under the result's parameters. */
static void
choices(qn_tfl_op *o, qn_id in[3])
{
	const qn_elem *e = qn_tfl_result(o, 0);

	in[0] = o->in[0];
	for (uint32_t i = 1; i < 3; i++) {
		in[i] = o->in[i];
		if (qn_elem_is_float(e))
			in[i] = qn_tfl_real(o, i);
		else if (qn_tfl_result_is_quantized(o) && qn_importer_type(o->im, in[i])->elem != e)
			in[i] = qn_tfl_requantized(o, 0, in[i], e->qmin, e->qmax);
	}
}

static void
select_v2(qn_tfl_op *o)
{
	qn_id in[3];

	choices(o, in);
	qn_tfl_set_result(o, 0, qn_importer_op(o->im, QN_OP_where, 3, in, NULL, NULL));
}

/* A vector of conditions chooses whole rows. */
static void
select_v1(qn_tfl_op *o)
{
	const qn_type *c = qn_importer_type(o->im, o->in[0]);
	const qn_type *x = qn_importer_type(o->im, o->in[1]);
	int64_t dim[QN_MAX_RANK];

	for (int32_t i = 0; i < x->rank; i++)
		dim[i] = i == 0 ? x->dim[0] : 1;
	if (c->rank == 1 && x->rank > 1 && c->dim[0] == x->dim[0])
		o->in[0] = qn_importer_reshape(o->im, o->in[0], x->rank, dim);
	select_v2(o);
}

const qn_tfl_row qn_tfl_binary_rows[] = {
	{QN_TFL_ADD, active, QN_OP_add, 2, 2, 1, 0},
	{QN_TFL_SUB, active, QN_OP_sub, 2, 2, 1, 0},
	{QN_TFL_MUL, active, QN_OP_mul, 2, 2, 1, 0},
	{QN_TFL_DIV, active, QN_OP_div, 2, 2, 1, 0},
	{QN_TFL_MAXIMUM, extreme, QN_OP_maximum, 2, 2, 1, 0},
	{QN_TFL_MINIMUM, extreme, QN_OP_minimum, 2, 2, 1, 0},
	{QN_TFL_EQUAL, compare, QN_OP_equal, 2, 2, 1, 0},
	{QN_TFL_NOT_EQUAL, compare, QN_OP_not_equal, 2, 2, 1, 0},
	{QN_TFL_LESS, compare, QN_OP_less, 2, 2, 1, 0},
	{QN_TFL_LESS_EQUAL, compare, QN_OP_less_equal, 2, 2, 1, 0},
	{QN_TFL_GREATER, compare, QN_OP_greater, 2, 2, 1, 0},
	{QN_TFL_GREATER_EQUAL, compare, QN_OP_greater_equal, 2, 2, 1, 0},
	{QN_TFL_POW, plain, QN_OP_pow, 2, 2, 1, 0},
	{QN_TFL_SQUARED_DIFFERENCE, plain, QN_OP_squared_difference, 2, 2, 1, 0},
	{QN_TFL_ADD_N, add_n, 0, 1, QN_TFL_MOST_INPUTS, 1, 0},
	{QN_TFL_SELECT, select_v1, 0, 3, 3, 1, 0},
	{QN_TFL_SELECT_V2, select_v2, 0, 3, 3, 1, 0},
	{0},
};
