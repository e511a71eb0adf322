/* SPDX-License-Identifier: Apache-2.0 */
/* random_binary.c - random ops with two operands, products and selection.  Comparisons and casts
 * give plain values, so each of them comes with what makes codes of it again. */
#include <math.h>

#include "tests/e2e/random_maker.h"

qn_id
do_sub(maker *m, qn_id x)
{
	qn_id y = partner(m, x);
	double sx = scale_of(m, x, 0), sy = scale_of(m, y, 0);

	return add_pair(m, QN_OP_sub, x, y, (sx > sy ? sx : sy) * factor(m, 0.6, 2));
}

qn_id
do_squared_difference(maker *m, qn_id x)
{
	qn_id y = partner(m, x);
	double sx = scale_of(m, x, 0), sy = scale_of(m, y, 0), s = sx > sy ? sx : sy;

	return add_pair(m, QN_OP_squared_difference, x, y, s * s * factor(m, 1, 300));
}

qn_id
do_div(maker *m, qn_id x)
{
	qn_id y = partner(m, x);

	return add_pair(m, QN_OP_div, x, y,
			scale_of(m, x, 0) / scale_of(m, y, 0) * factor(m, 0.005, 0.5));
}

/* A constant with the parameters of x, some dims of which are 1. */
static qn_id
like(maker *m, qn_id x)
{
	const qn_type *t = type_of(m, x);
	int64_t dim[QN_MAX_RANK];
	int32_t i;

	for (i = 0; i < t->rank; i++)
		dim[i] = t->rank <= 4 && chance(m, 40) ? 1 : t->dim[i];
	return add_codes_const(m, t->elem, t->rank, dim);
}

qn_id
do_minmax(maker *m, qn_id x)
{
	qn_id y = like(m, x);
	const qn_id in[2] = {x, y}, turned[2] = {y, x};

	return add_op(m, chance(m, 50) ? QN_OP_minimum : QN_OP_maximum, 2,
		      chance(m, 50) ? in : turned, NULL, NULL);
}

/* A condition of the shape of x. */
static qn_id
condition(maker *m, qn_id x)
{
	static const qn_op ops[] = {QN_OP_equal,      QN_OP_not_equal, QN_OP_less,
				    QN_OP_less_equal, QN_OP_greater,   QN_OP_greater_equal};
	qn_op op = ops[pick(m, 0, (int64_t)QN_COUNT(ops) - 1)];
	qn_id y = chance(m, 50) ? partner(m, x) : like(m, x);
	const qn_id in[2] = {x, y}, turned[2] = {y, x};

	return add_op(m, op, 2, chance(m, 50) ? in : turned, NULL, NULL);
}

/* One or two of them. */
static qn_id
any_condition(maker *m, qn_id x)
{
	static const qn_op ops[] = {QN_OP_logical_and, QN_OP_logical_or, QN_OP_logical_xor};
	qn_id c = condition(m, x);

	if (chance(m, 30))
		c = add_op(m, QN_OP_logical_not, 1, &c, NULL, NULL);
	if (chance(m, 40)) {
		const qn_id in[2] = {c, condition(m, x)};

		c = add_op(m, ops[pick(m, 0, 2)], 2, in, NULL, NULL);
	}
	return c;
}

/* The condition as a code's integer, by way of a wider type at times, then as codes. */
qn_id
do_compare(maker *m, qn_id x)
{
	static const qn_plain wide[] = {QN_PLAIN_i16, QN_PLAIN_u32, QN_PLAIN_i64, QN_PLAIN_u8};
	qn_types *t = &m->b->model.types;
	const qn_type *type = type_of(m, x);
	qn_id y = any_condition(m, x);

	if (chance(m, 60)) {
		qn_plain p = wide[pick(m, 0, (int64_t)QN_COUNT(wide) - 1)];

		y = add_op(m, QN_OP_cast, 1, &y, NULL,
			   qn_type_with_elem(t, type, qn_elem_plain(t, p)));
	}
	y = add_op(m, QN_OP_cast, 1, &y, NULL,
		   qn_type_with_elem(t, type, qn_elem_plain(t, m->code)));
	return add_op(m, QN_OP_scast, 1, &y, NULL,
		      qn_type_with_elem(t, type, code_elem(m, factor(m, 0.01, 0.2), true)));
}

qn_id
do_where(maker *m, qn_id x)
{
	qn_id c = any_condition(m, x), y = like(m, x);
	const qn_id in[3] = {c, x, y}, turned[3] = {c, y, x};

	return add_op(m, QN_OP_where, 3, chance(m, 50) ? in : turned, NULL, NULL);
}

static qn_id
requantize_product(maker *m, const qn_id *in, const qn_attrs *a, int64_t terms)
{
	const double scales = scale_of(m, in[0], 0) * scale_of(m, in[1], 0);

	return requantize_sum(m, add_op(m, QN_OP_matmul, 2, in, a, NULL),
			      scales * 60 * (double)code_unit(m) * sqrt((double)terms));
}

/* x, or its last two axes turned, times a constant; or x times x turned. */
qn_id
do_matmul(maker *m, qn_id x)
{
	qn_attrs a = build_attrs(QN_OP_matmul);
	const qn_type *t = type_of(m, x = type_of(m, x)->rank < 2 ? with_rank(m, x, 2) : x);
	int32_t rank = t->rank, cut = (int32_t)pick(m, 0, rank - 2), i;
	int64_t rows = t->dim[rank - 2], terms = t->dim[rank - 1], dim[QN_MAX_RANK];
	qn_id in[2] = {x, x};

	if (qn_type_count(t) / terms * rows <= MOST_ELEMENTS && chance(m, 30)) {
		a.matmul.transpose_b = 1;
		return requantize_product(m, in, &a, terms);
	}
	a.matmul.transpose_a = chance(m, 40);
	a.matmul.transpose_b = chance(m, 40);
	if (a.matmul.transpose_a != 0) {
		terms = rows;
		rows = t->dim[rank - 1];
	}
	for (i = cut; i < rank - 2; i++)
		dim[i - cut] = rank <= 4 && chance(m, 50) ? 1 : t->dim[i];
	dim[rank - cut - (a.matmul.transpose_b != 0 ? 1 : 2)] = terms;
	dim[rank - cut - (a.matmul.transpose_b != 0 ? 2 : 1)] = pick(m, 1, 7);
	if (qn_type_count(t) / terms * 7 > MOST_ELEMENTS || rank > 5)
		return 0;
	in[1] = add_codes_const(m, code_elem(m, factor(m, 0.002, 0.05), false), rank - cut, dim);
	return requantize_product(m, in, &a, terms);
}

qn_id
do_conv1d(maker *m, qn_id x)
{
	qn_attrs a = build_attrs(QN_OP_conv1d);
	const int64_t *d = type_of(m, x = with_rank(m, x, 3))->dim;
	int64_t w[3], need;

	a.conv1d.groups = chance(m, 30) ? d[2] : divisor(m, d[2]);
	w[0] = a.conv1d.groups * pick(m, 1, a.conv1d.groups > 3 ? 1 : 4);
	w[1] = pick(m, 1, 4);
	w[2] = d[2] / a.conv1d.groups;
	if (w[0] > 40 || d[0] * (d[1] + 4) * w[0] > MOST_ELEMENTS)
		return 0;
	a.conv1d.stride = pick(m, 1, 3);
	a.conv1d.dilation = pick(m, 1, 2);
	a.conv1d.padding = (int32_t)pick(m, QN_PADDING_explicit, QN_PADDING_valid);
	need = (w[1] - 1) * a.conv1d.dilation + 1 - d[1];
	if (a.conv1d.padding == QN_PADDING_valid && need > 0)
		w[1] = 1;
	if (a.conv1d.padding == QN_PADDING_explicit) {
		a.conv1d.pad[0] = pick(m, 0, 2);
		a.conv1d.pad[1] = pick(m, need > 0 ? need : 0, need > 2 ? need : 2);
	}
	return add_weighted(m, QN_OP_conv1d, x, 3, w, &a);
}

qn_id
do_conv2d_transpose(maker *m, qn_id x)
{
	qn_attrs a = build_attrs(QN_OP_conv2d_transpose);
	const int64_t *d = type_of(m, x = with_rank(m, x, 4))->dim;
	int64_t w[4], count;
	int i;

	a.conv2d_transpose.groups = divisor(m, d[3]);
	w[0] = a.conv2d_transpose.groups * pick(m, 1, a.conv2d_transpose.groups > 3 ? 1 : 3);
	w[3] = d[3] / a.conv2d_transpose.groups;
	count = d[0] * w[0];
	a.conv2d_transpose.padding = (int32_t)pick(m, QN_PADDING_explicit, QN_PADDING_valid);
	for (i = 0; i < 2; i++) {
		int64_t stride = a.conv2d_transpose.stride[i] = pick(m, 1, 3), size;
		if (chance(m, 20))
			a.conv2d_transpose.dilation[i] = 2;

		w[1 + i] = pick(m, 1, 4);
		if (a.conv2d_transpose.padding != QN_PADDING_same)
			a.conv2d_transpose.output_padding[i] = pick(m, 0, stride - 1);
		size = (d[1 + i] - 1) * stride + w[1 + i] + stride;
		count *= size;
		if (a.conv2d_transpose.padding == QN_PADDING_explicit && w[1 + i] > 2) {
			a.conv2d_transpose.pad[2 * i] = pick(m, 0, 1);
			a.conv2d_transpose.pad[2 * i + 1] = pick(m, 0, 1);
		}
	}
	if (w[0] > 40 || count > MOST_ELEMENTS)
		return 0;
	return add_weighted(m, QN_OP_conv2d_transpose, x, 4, w, &a);
}
