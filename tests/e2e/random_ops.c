/* SPDX-License-Identifier: Apache-2.0 */
/* random_ops.c - adds a random op to a value: attributes, constants and the result's type are
 * random too.  Scales are chosen so that results use much of their range; some saturate. */
#include "tests/e2e/random_maker.h"
#include "tests/e2e/random_reduce.h"

#include <math.h>

/* ---- types and nodes ---- */

/* Weights of n output channels: a scale for each or one for all; terms: products in a sum. */
const qn_elem *
weight_elem(maker *m, int64_t n)
{
	const int32_t axis = 0;
	const qn_params *params = NULL;
	qn_elem e = qn_elem_desc(m->weight_bits, true);
	double scale[64];
	int64_t i;

	e.qmin = chance(m, 50) ? -e.qmax : -e.qmax - 1;
	e.scale = qn_scale_const(&m->b->model.types, (double)(float)factor(m, 0.002, 0.05));
	if (chance(m, 70)) {
		for (i = 0; i < n; i++)
			scale[i] = (double)(float)factor(m, 0.001, 0.06);
		build_check(m->b, qn_params_intern(&m->b->model.types, "random", NULL, (size_t)n, 1,
						   NULL, scale, NULL, &params) == QN_OK);
		e.scale = qn_scale_vec(&m->b->model.types, params);
		e.gran = QN_PER_AXIS;
		e.naxis = 1;
		e.axis = &axis;
	}
	return make_elem(m, &e);
}

/* The type of a bias that is added to sums of x times w. */
static const qn_type *
bias_type(maker *m, const qn_elem *x, const qn_elem *w, int64_t n)
{
	const int32_t axis = 0;
	qn_elem e = qn_elem_desc(m->code == QN_PLAIN_i16 ? 64 : 32, true);

	e.scale = qn_scale_op(&m->b->model.types, QN_SCALE_MUL, x->scale, w->scale);
	e.gran = w->gran;
	e.naxis = w->naxis;
	e.axis = w->gran == QN_PER_AXIS ? &axis : NULL;
	return shaped(m, make_elem(m, &e), 1, &n);
}

qn_id
add_op(maker *m, qn_op op, uint32_t nin, const qn_id *in, const qn_attrs *attr, const qn_type *type)
{
	qn_id id = qn_graph_op(m->b->g, op, NULL, nin, in, attr, type);

	build_check(m->b, id != 0);
	return id;
}

/* A constant of random codes; lo and hi are among them where there is room. */
static qn_id
add_const(maker *m, const qn_type *type, int64_t lo, int64_t hi)
{
	int64_t count = qn_type_count(type), i;
	void *data;
	qn_tensor *x = qn_tensor_new(&m->b->arena, type, &data);
	qn_id id;

	for (i = 0; i < count; i++)
		qn_store_i64(data, type->elem->plain, i,
			     i == 1   ? lo
			     : i == 2 ? hi
				      : pick(m, lo, hi));
	id = qn_graph_const(m->b->g, NULL, x);
	build_check(m->b, id != 0);
	return id;
}

qn_id
add_codes_const(maker *m, const qn_elem *e, int32_t rank, const int64_t *dim)
{
	return add_const(m, shaped(m, e, rank, dim), e->qmin, e->qmax);
}

/* Splits count into rank dims. */
static void
split(maker *m, int64_t count, int32_t rank, int64_t *dim)
{
	int32_t i;

	for (i = 0; i < rank - 1; i++) {
		int64_t d = pick(m, 1, count < 9 ? count : 9);

		while (count % d != 0)
			d--;
		dim[i] = d;
		count /= d;
	}
	dim[rank - 1] = count;
}

static qn_id
reshape(maker *m, qn_id x, int32_t rank)
{
	qn_attrs a = build_attrs(QN_OP_reshape);

	a.shape.shape.n = rank;
	split(m, qn_type_count(type_of(m, x)), rank, a.shape.shape.v);
	if (chance(m, 30))
		a.shape.shape.v[pick(m, 0, rank - 1)] = -1;
	return add_op(m, QN_OP_reshape, 1, &x, &a, NULL);
}

/* x, in another shape unless it has this rank. */
qn_id
with_rank(maker *m, qn_id x, int32_t rank)
{
	if (type_of(m, x)->rank == rank)
		return x;
	if (rank == 2 && chance(m, 50))
		return add_op(m, QN_OP_flatten, 1, &x, NULL, NULL);
	return reshape(m, x, rank);
}

/* The requantize of a sum of `terms` products; one in ten saturates or vanishes. */
qn_id
requantize_sum(maker *m, qn_id sum, int64_t terms)
{
	qn_attrs a = build_attrs(QN_OP_requantize);
	double wide = (m->weight_bits == 4 ? 4.0 : 60.0) * sqrt((double)terms);
	double scale = scale_of(m, sum, 0) *
		       (chance(m, 10) ? factor(m, 0.4, 4000) : wide * factor(m, 0.4, 2));
	const int64_t unit = code_unit(m);

	change_storage(m);
	scale *= (double)unit / (double)code_unit(m);
	if (chance(m, 30)) {
		a.clamp.lo = pick(m, -140, 0) * code_unit(m);
		a.clamp.hi = pick(m, 1, 140) * code_unit(m);
	}
	if (chance(m, 15))
		m->sum = sum;
	return add_op(
		m, QN_OP_requantize, 1, &sum, &a,
		qn_type_with_elem(&m->b->model.types, type_of(m, sum), code_elem(m, scale, false)));
}

qn_id
add_weighted(maker *m, qn_op op, qn_id x, const qn_type *w, const qn_attrs *attr)
{
	qn_id in[3] = {x, add_const(m, w, w->elem->qmin, w->elem->qmax), 0};
	uint32_t nin = 2;
	int64_t terms = qn_type_count(w) / w->dim[0];

	if (chance(m, 70))
		in[nin++] = add_const(m, bias_type(m, type_of(m, x)->elem, w->elem, w->dim[0]),
				      -30000 * code_unit(m), 30000 * code_unit(m));
	return requantize_sum(m, add_op(m, op, nin, in, attr, NULL), terms);
}

/* ---- one function an op; 0: the op does not suit x ---- */

int64_t
divisor(maker *m, int64_t n)
{
	int64_t d = pick(m, 1, n);

	while (n % d != 0)
		d--;
	return d;
}

static qn_id
do_conv2d(maker *m, qn_id x)
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
	return add_weighted(m, QN_OP_conv2d, x, shaped(m, weight_elem(m, w[0]), 4, w), &a);
}

static qn_id
do_dense(maker *m, qn_id x)
{
	const int64_t *d = type_of(m, x = with_rank(m, x, 2))->dim;
	int64_t w[2] = {pick(m, 1, 19), d[1]};

	if (d[0] * w[0] > MOST_ELEMENTS)
		return 0;
	return add_weighted(m, QN_OP_dense, x, shaped(m, weight_elem(m, w[0]), 2, w), NULL);
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

/* Whether y can be repeated to the shape of x. */
static bool
fits(const qn_type *x, const qn_type *y)
{
	int32_t i;

	if (x->elem->plain != y->elem->plain)
		return false;
	for (i = 0; i < y->rank; i++)
		if (y->rank > x->rank ||
		    (y->dim[i] != 1 && y->dim[i] != x->dim[i + x->rank - y->rank]))
			return false;
	return true;
}

/* A second operand: an older value, x itself, or a constant with some dims of x 1 or left out. */
qn_id
partner(maker *m, qn_id x)
{
	const qn_type *type = type_of(m, x);
	int64_t dim[QN_MAX_RANK];
	int32_t cut, i;
	size_t k = (size_t)pick(m, 0, (int64_t)m->n - 1);

	if (chance(m, 60) && fits(type, type_of(m, m->value[k])))
		return m->value[k];
	if (chance(m, 15))
		return x;
	cut = type->rank > 1 && chance(m, 40) ? (int32_t)pick(m, 1, type->rank - 1) : 0;
	for (i = cut; i < type->rank; i++)
		dim[i - cut] = type->rank <= 4 && chance(m, 40) ? 1 : type->dim[i];
	return add_codes_const(m, code_elem(m, factor(m, 0.01, 0.2), false), type->rank - cut, dim);
}

qn_id
add_pair(maker *m, qn_op op, qn_id x, qn_id y, double scale)
{
	qn_id in[2] = {x, y};
	qn_attrs a = {0};

	if (qn_opinfo_get(op)->attrs == QN_ATTRS(sum))
		a.sum.align = m->align;
	if (op != QN_OP_bias_add && chance(m, 40)) {
		in[0] = y;
		in[1] = x;
	}
	return add_op(
		m, op, 2, in, &a,
		qn_type_with_elem(&m->b->model.types, type_of(m, x), code_elem(m, scale, false)));
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

static qn_id
do_max_pool(maker *m, qn_id x)
{
	return add_pool(m, QN_OP_max_pool, x);
}

static qn_id
do_avg_pool(maker *m, qn_id x)
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
	return reshape(m, x, (int32_t)pick(m, 1, 5));
}

static qn_id
do_flatten(maker *m, qn_id x)
{
	return add_op(m, QN_OP_flatten, 1, &x, NULL, NULL);
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

static qn_id
do_scast(maker *m, qn_id x)
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
	do_conv2d, do_conv2d, do_conv2d, do_dense, do_dense, do_requantize, do_add, do_add,
	/* reductions */
	random_reduce, random_reduce, random_argmax, random_cumsum, random_log_softmax, random_norm,
	/* others */
	/* view, split, gather, resize, pad */
	random_slice, random_dims, random_repeat, random_depth, random_split, random_gather,
	random_resize, random_pad_copy, random_expand,
	random_elements, random_tuples, random_one_hot, random_trilu, random_reverse,
	do_mul, do_bias_add, do_clamp, do_max_pool, do_avg_pool, do_global_avg_pool, do_softmax,
	/* family unary */
	random_unary, random_unary, random_pow, random_prelu,
	do_reshape, do_flatten, do_transpose, do_concat, do_pad, do_scast,
	/* random_binary.c */
	do_sub, do_squared_difference, do_minmax, do_div, do_compare, do_where, do_matmul, do_conv1d, do_conv2d_transpose,
};
/* clang-format on */

const size_t random_nops = QN_COUNT(random_ops);
