/* SPDX-License-Identifier: Apache-2.0 */
/* random_ops.c - adds a random op to a value: attributes, constants and the result's type are
 * random too.  Scales are chosen so that results use much of their range; some saturate. */
#include "tests/e2e/random_maker.h"
#include "tests/e2e/random_reduce.h"

/* One function an op; 0: the op does not suit x. */

qn_id
random_conv2d(maker *m, qn_id x)
{
	qn_attrs a = build_attrs(QN_OP_conv2d);
	const int64_t *d = type_of(m, x = with_rank(m, x, 4))->dim;
	int64_t w[4];
	int i;

	a.conv2d.groups = chance(m, 40) ? d[3] : divisor(m, d[3]);
	w[0] = a.conv2d.groups * pick(m, 1, a.conv2d.groups > 3 ? 1 : 4);
	w[3] = d[3] / a.conv2d.groups;
	if (w[0] > 40 || d[0] * d[1] * d[2] * w[0] > MOST_ELEMENTS)
		return 0;
	a.conv2d.padding = (int32_t)pick(m, QN_PADDING_explicit, QN_PADDING_valid);
	for (i = 0; i < 2; i++) {
		int64_t need;

		w[1 + i] = pick(m, 1, 3);
		a.conv2d.stride[i] = pick(m, 1, 3);
		a.conv2d.dilation[i] = pick(m, 1, 2);
		need = (w[1 + i] - 1) * a.conv2d.dilation[i] + 1 - d[1 + i];
		if (a.conv2d.padding == QN_PADDING_valid && need > 0)
			w[1 + i] = 1;
		if (a.conv2d.padding != QN_PADDING_explicit)
			continue;
		a.conv2d.pad[2 * i] = pick(m, 0, 2);
		a.conv2d.pad[2 * i + 1] = pick(m, need > 0 ? need : 0, need > 2 ? need : 2);
	}
	return add_weighted(m, QN_OP_conv2d, x, 4, w, &a);
}

static qn_id
do_dense(maker *m, qn_id x)
{
	const int64_t *d = type_of(m, x = with_rank(m, x, 2))->dim;
	int64_t w[2] = {pick(m, 1, 19), d[1]};

	if (d[0] * w[0] > MOST_ELEMENTS)
		return 0;
	return add_weighted(m, QN_OP_dense, x, 2, w, NULL);
}

static qn_id
do_requantize(maker *m, qn_id x)
{
	const int32_t last = type_of(m, x)->rank - 1;
	const qn_elem *e = code_elem(m, scale_of(m, x, 0) * factor(m, 0.4, 2.5), false);

	if (chance(m, 20)) { /* by way of a scale for each index of the last axis */
		const qn_params *params = NULL;
		int64_t n = type_of(m, x)->dim[last], i;
		double *scale = QN_NEW(&m->b->arena, double, (size_t)n);
		qn_elem each = code_desc(m);

		for (i = 0; i < n; i++)
			scale[i] = (double)(float)(scale_of(m, x, 0) * factor(m, 0.5, 2));
		build_check(m->b, qn_params_intern(&m->b->model.types, "random", NULL, (size_t)n, 1,
						   NULL, scale, NULL, &params) == QN_OK);
		each.scale = qn_scale_vec(&m->b->model.types, params);
		each.gran = QN_PER_AXIS;
		each.naxis = 1;
		each.axis = &last;
		x = add_op(
			m, QN_OP_requantize, 1, &x, NULL,
			qn_type_with_elem(&m->b->model.types, type_of(m, x), make_elem(m, &each)));
	}
	return add_op(m, QN_OP_requantize, 1, &x, NULL,
		      qn_type_with_elem(&m->b->model.types, type_of(m, x), e));
}

static qn_id
do_add(maker *m, qn_id x)
{
	qn_id y = partner(m, x);
	double sx = scale_of(m, x, 0), sy = scale_of(m, y, 0);

	return add_pair(m, QN_OP_add, x, y, (sx > sy ? sx : sy) * factor(m, 0.6, 2));
}

static qn_id
do_mul(maker *m, qn_id x)
{
	qn_id y = partner(m, x);

	return add_pair(m, QN_OP_mul, x, y,
			scale_of(m, x, 0) * scale_of(m, y, 0) * factor(m, 20, 120));
}

static qn_id
do_bias_add(maker *m, qn_id x)
{
	const qn_type *t = type_of(m, x);
	qn_id b = add_codes_const(m, code_elem(m, scale_of(m, x, 0) * factor(m, 0.3, 2), false), 1,
				  &t->dim[t->rank - 1]);

	return add_pair(m, QN_OP_bias_add, x, b, scale_of(m, x, 0) * factor(m, 0.8, 2));
}

static qn_id
do_clamp(maker *m, qn_id x)
{
	static const qn_op ops[] = {QN_OP_clamp, QN_OP_clamp, QN_OP_relu, QN_OP_relu6, QN_OP_clip};
	qn_op op = ops[pick(m, 0, (int64_t)QN_COUNT(ops) - 1)];
	qn_attrs a = build_attrs(op);

	if (op == QN_OP_clamp) {
		a.clamp.lo = pick(m, -140, 20) * code_unit(m);
		a.clamp.hi = pick(m, 21, 140) * code_unit(m);
	} else if (op == QN_OP_clip) {
		a.clip.min = -factor(m, 0.1, 8);
		a.clip.max = factor(m, 0.1, 8);
	}
	return add_op(m, op, 1, &x, &a, NULL);
}

static qn_id
add_pool(maker *m, qn_op op, qn_id x)
{
	qn_attrs a = build_attrs(op);
	const int64_t *d = type_of(m, x = with_rank(m, x, 4))->dim;
	int i;

	a.pool.padding = (int32_t)pick(m, QN_PADDING_explicit, QN_PADDING_valid);
	a.pool.ceil_mode = chance(m, 30);
	a.pool.count_include_pad = op == QN_OP_avg_pool && chance(m, 30);
	for (i = 0; i < 2; i++) {
		a.pool.kernel[i] = pick(m, 1, d[1 + i] < 3 ? d[1 + i] : 3);
		a.pool.stride[i] = pick(m, 1, 3);
		if (d[1 + i] > 2 * (a.pool.kernel[i] - 1) && chance(m, 20))
			a.pool.dilation[i] = 2;
		if (a.pool.padding != QN_PADDING_explicit)
			continue;
		a.pool.pad[2 * i] = pick(m, 0, a.pool.kernel[i] - 1);
		a.pool.pad[2 * i + 1] = pick(m, 0, a.pool.kernel[i] - 1);
	}
	return add_op(m, op, 1, &x, &a, NULL);
}

qn_id
random_max_pool(maker *m, qn_id x)
{
	return add_pool(m, QN_OP_max_pool, x);
}

qn_id
random_avg_pool(maker *m, qn_id x)
{
	return add_pool(m, QN_OP_avg_pool, x);
}

static qn_id
do_global_avg_pool(maker *m, qn_id x)
{
	const int64_t *d = type_of(m, x = with_rank(m, x, 4))->dim;
	const int64_t y[4] = {d[0], 1, 1, d[3]};
	const qn_elem *e = code_elem(m, scale_of(m, x, 0) * factor(m, 0.2, 1), false);

	return add_op(m, QN_OP_global_avg_pool, 1, &x, NULL, shaped(m, e, 4, y));
}

static qn_id
do_softmax(maker *m, qn_id x)
{
	return add_op(
		m, QN_OP_softmax, 1, &x, NULL,
		qn_type_with_elem(&m->b->model.types, type_of(m, x), fixed_elem(m, QN_OP_softmax)));
}

static qn_id
do_reshape(maker *m, qn_id x)
{
	return reshaped(m, x, (int32_t)pick(m, 1, 5));
}

static qn_id
do_flatten(maker *m, qn_id x)
{
	return add_op(m, QN_OP_flatten, 1, &x, NULL, NULL);
}

static qn_id
do_trace(maker *m, qn_id x)
{
	qn_attrs a = build_attrs(QN_OP_trace);

	a.trace.key = "x";
	return add_op(m, QN_OP_trace, 1, &x, &a, NULL);
}

static qn_id
do_transpose(maker *m, qn_id x)
{
	qn_attrs a = build_attrs(QN_OP_transpose);
	int32_t rank = type_of(m, x)->rank, i;

	a.perm.perm.n = rank;
	for (i = 0; i < rank; i++)
		a.perm.perm.v[i] = i;
	for (i = rank - 1; i > 0; i--) {
		int32_t k = (int32_t)pick(m, 0, i);
		int64_t v = a.perm.perm.v[i];

		a.perm.perm.v[i] = a.perm.perm.v[k];
		a.perm.perm.v[k] = v;
	}
	return add_op(m, QN_OP_transpose, 1, &x, &a, NULL);
}

/* x, itself again or a constant of its parameters, on either side. */
static qn_id
do_concat(maker *m, qn_id x)
{
	qn_attrs a = build_attrs(QN_OP_concat);
	const qn_type *t = type_of(m, x);
	int32_t axis = (int32_t)pick(m, 0, t->rank - 1), i;
	int64_t dim[QN_MAX_RANK];
	qn_id in[3] = {x, x, x};

	if (qn_type_count(t) * 3 > MOST_ELEMENTS)
		return 0;
	for (i = 0; i < t->rank; i++)
		dim[i] = i == axis ? pick(m, 1, 3) : t->dim[i];
	a.axis.axis = chance(m, 50) ? axis : axis - t->rank;
	qn_id constant = add_codes_const(m, t->elem, t->rank, dim);
	in[pick(m, 0, 1)] = constant;
	return add_op(m, QN_OP_concat, (uint32_t)pick(m, 2, 3), in, &a, NULL);
}

static qn_id
do_pad(maker *m, qn_id x)
{
	qn_attrs a = build_attrs(QN_OP_pad);
	const qn_type *t = type_of(m, x);
	int64_t count = 1;
	int32_t i;

	if (t->rank > 5)
		return 0;
	a.pad.before.n = a.pad.after.n = t->rank;
	for (i = 0; i < t->rank; i++) {
		a.pad.before.v[i] = chance(m, 50) ? pick(m, 0, 2) : 0;
		a.pad.after.v[i] = chance(m, 50) ? pick(m, 0, 2) : 0;
		count *= t->dim[i] + a.pad.before.v[i] + a.pad.after.v[i];
	}
	a.pad.code = chance(m, 60) ? t->elem->zp : pick(m, t->elem->qmin, t->elem->qmax);
	return count <= MOST_ELEMENTS ? add_op(m, QN_OP_pad, 1, &x, &a, NULL) : 0;
}

qn_id
random_scast(maker *m, qn_id x)
{
	qn_types *t = &m->b->model.types;
	qn_id codes = add_op(m, QN_OP_scast, 1, &x, NULL,
			     qn_type_with_elem(t, type_of(m, x), qn_elem_plain(t, m->code)));

	return add_op(
		m, QN_OP_scast, 1, &codes, NULL,
		qn_type_with_elem(t, type_of(m, x), code_elem(m, factor(m, 0.01, 0.2), true)));
}

/* clang-format off */
random_op *const random_ops[] = {
	random_conv2d, random_conv2d, random_conv2d, do_dense, do_dense, do_requantize, do_add, do_add,
	/* reductions */
	random_reduce, random_reduce, random_argmax, random_cumsum, random_l2_norm, random_log_softmax, random_norm,
	/* others */
	/* view, split, gather, resize, pad */
	random_slice, random_dims, random_repeat, random_depth, random_split, random_gather,
	random_resize, random_pad_copy, random_expand,
	random_elements, random_tuples, random_one_hot, random_trilu, random_reverse, random_top_k,
	random_conv3d, random_pool3d, random_channels,
	do_mul, do_bias_add, do_clamp, random_max_pool, random_avg_pool, do_global_avg_pool, do_softmax,
	/* family unary */
	random_unary, random_unary, random_pow, random_prelu,
	do_reshape, do_flatten, do_transpose, do_concat, do_pad, random_scast, do_trace,
	/* random_binary.c */
	do_sub, do_squared_difference, do_minmax, do_div, do_compare, do_where, do_matmul, do_conv1d, do_conv2d_transpose,
};
/* clang-format on */

const size_t random_nops = QN_COUNT(random_ops);
