/* SPDX-License-Identifier: Apache-2.0 */
/* random_reduce.c - reductions, argmax, log_softmax and normalizations for random graphs. */
#include "tests/e2e/random_reduce.h"

#include <math.h>

static qn_id
add(maker *m, qn_op op, uint32_t nin, const qn_id *in, const qn_attrs *attr, const qn_type *type)
{
	qn_id id = qn_graph_op(m->b->g, op, NULL, nin, in, attr, type);

	build_check(m->b, id != 0);
	return id;
}

/* A constant of random codes. */
static qn_id
codes(maker *m, double scale, int32_t rank, const int64_t *dim)
{
	const qn_type *type = shaped(m, code_elem(m, scale, false), rank, dim);
	void *data;
	qn_tensor *x = qn_tensor_new(&m->b->arena, type, &data);
	qn_id id;

	for (int64_t i = 0; i < qn_type_count(type); i++)
		qn_store_i64(data, type->elem->plain, i,
			     pick(m, type->elem->qmin, type->elem->qmax));
	id = qn_graph_const(m->b->g, NULL, x);
	build_check(m->b, id != 0);
	return id;
}

qn_id
random_reduce(maker *m, qn_id x)
{
	static const qn_op ops[] = {QN_OP_reduce_mean, QN_OP_reduce_sum, QN_OP_reduce_max,
				    QN_OP_reduce_min, QN_OP_reduce_prod};
	qn_op op = ops[pick(m, 0, (int64_t)QN_COUNT(ops) - 1)];
	qn_attrs a = build_attrs(op);
	const qn_type *t = type_of(m, x);
	int64_t dim[QN_MAX_RANK], n = 1;
	int32_t rank = 0;

	a.reduce.keepdims = pick(m, 0, 1);
	for (int32_t i = 0; i < t->rank; i++) {
		bool over = chance(m, 40);

		if (over) {
			a.reduce.axes.v[a.reduce.axes.n++] = chance(m, 50) ? i : i - t->rank;
			n *= t->dim[i];
		}
		if (!over || a.reduce.keepdims != 0)
			dim[rank++] = over ? 1 : t->dim[i];
	}
	if (a.reduce.axes.n == 0 || rank == 0)
		return 0;
	if (op == QN_OP_reduce_max || op == QN_OP_reduce_min)
		return add(m, op, 1, &x, &a, NULL);
	double scale = scale_of(m, x, 0) * factor(m, 0.3, 1.2);
	if (op == QN_OP_reduce_sum)
		scale *= sqrt((double)n);
	if (op == QN_OP_reduce_prod && n > 8)
		return 0;
	for (int64_t i = 1; op == QN_OP_reduce_prod && i < n; i++)
		scale *= scale_of(m, x, 0) * 60;
	/* Products of products soon leave what a scale of f32 can say. */
	if (!(scale > 1e-9 && scale < 1e9))
		return 0;
	return add(m, op, 1, &x, &a, shaped(m, code_elem(m, scale, false), rank, dim));
}

/* The places become codes again: i32 under a scale, then a requantize. */
qn_id
random_argmax(maker *m, qn_id x)
{
	qn_op op = chance(m, 50) ? QN_OP_argmax : QN_OP_argmin;
	qn_attrs a = build_attrs(op);
	const qn_type *t = type_of(m, x);
	qn_types *types = &m->b->model.types;
	qn_elem e = qn_elem_desc(32, true);

	a.argmax.axis = pick(m, -t->rank, t->rank - 1);
	a.argmax.keepdims = 1;
	a.argmax.select_last_index = pick(m, 0, 1);
	qn_id y = add(m, op, 1, &x, &a, NULL);
	e.scale = qn_scale_const(types, 0.125);
	y = add(m, QN_OP_scast, 1, &y, NULL,
		qn_type_with_elem(types, type_of(m, y), make_elem(m, &e)));
	return add(
		m, QN_OP_requantize, 1, &y, NULL,
		qn_type_with_elem(types, type_of(m, y), code_elem(m, factor(m, 0.01, 0.2), false)));
}

qn_id
random_cumsum(maker *m, qn_id x)
{
	qn_attrs a = build_attrs(QN_OP_cumsum);
	const qn_type *t = type_of(m, x);
	int32_t axis = (int32_t)pick(m, 0, t->rank - 1);
	double scale = scale_of(m, x, 0) * sqrt((double)t->dim[axis]) * factor(m, 0.5, 1.5);

	a.cumsum.axis = chance(m, 50) ? axis : axis - t->rank;
	a.cumsum.exclusive = pick(m, 0, 1);
	a.cumsum.reverse = pick(m, 0, 1);
	return add(m, QN_OP_cumsum, 1, &x, &a,
		   qn_type_with_elem(&m->b->model.types, t, code_elem(m, scale, false)));
}

qn_id
random_log_softmax(maker *m, qn_id x)
{
	return add(m, QN_OP_log_softmax, 1, &x, NULL,
		   qn_type_with_elem(&m->b->model.types, type_of(m, x),
				     fixed_elem(m, QN_OP_log_softmax)));
}

/* l2_norm has no form in 16 bits. */
qn_id
random_l2_norm(maker *m, qn_id x)
{
	qn_attrs a = build_attrs(QN_OP_l2_norm);
	const qn_type *t = type_of(m, x);

	if (m->code == QN_PLAIN_i16)
		return 0;
	a.l2_norm.axis = pick(m, -t->rank, t->rank - 1);
	return add(m, QN_OP_l2_norm, 1, &x, &a,
		   qn_type_with_elem(&m->b->model.types, t, fixed_elem(m, QN_OP_l2_norm)));
}

qn_id
random_norm(maker *m, qn_id x)
{
	const qn_type *t = type_of(m, x);
	qn_op other = chance(m, 30) ? QN_OP_rms_norm : QN_OP_layer_norm;
	qn_op op = t->rank == 4 && chance(m, 50) ? QN_OP_instance_norm : other;
	qn_attrs a = build_attrs(op);
	int32_t axis = t->rank - 1;
	qn_id in[3] = {x, 0, 0};

	if (op != QN_OP_instance_norm) {
		axis = (int32_t)pick(m, 0, t->rank - 1);
		a.layer_norm.axis = axis;
		a.layer_norm.epsilon = chance(m, 20) ? 0 : factor(m, 0, 0.01);
	}
	in[1] = codes(m, factor(m, 0.002, 0.02), t->rank - axis, t->dim + axis);
	in[2] = codes(m, factor(m, 0.002, 0.02), t->rank - axis, t->dim + axis);
	return add(m, op, op == QN_OP_rms_norm ? 2 : 3, in, &a,
		   qn_type_with_elem(&m->b->model.types, t,
				     code_elem(m, factor(m, 0.01, 0.05), false)));
}
