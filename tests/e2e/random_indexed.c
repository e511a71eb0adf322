/* SPDX-License-Identifier: Apache-2.0 */
/* random_indexed.c - random ops that find elements by indices, and moves that turn or blank elements,
 * for random_ops.c. */
#include "tests/e2e/random_maker.h"

/* A constant of indices for places on axes of `dim`, ndim in turn. */
static qn_id
indices(maker *m, int32_t rank, const int64_t *shape, const int64_t *dim, int32_t ndim)
{
	qn_plain plain = chance(m, 50) ? QN_PLAIN_i32 : QN_PLAIN_i64;
	const qn_type *type = qn_type_plain(&m->b->model.types, plain, rank, shape);
	void *data;
	qn_tensor *x = qn_tensor_new(&m->b->arena, type, &data);

	for (int64_t i = 0; i < qn_type_count(type); i++)
		qn_store_i64(data, plain, i, pick(m, -dim[i % ndim], dim[i % ndim] - 1));
	qn_id id = qn_graph_const(m->b->g, NULL, x);
	build_check(m->b, id != 0);
	return id;
}

/* gather_elements or scatter_elements, for indices of any shape inside that of x. */
qn_id
random_elements(maker *m, qn_id x)
{
	bool scatters = chance(m, 50);
	qn_op op = scatters ? QN_OP_scatter_elements : QN_OP_gather_elements;
	qn_attrs a = build_attrs(op);
	const qn_type *t = type_of(m, x);
	int32_t axis = (int32_t)pick(m, 0, t->rank - 1);
	int64_t shape[QN_MAX_RANK];
	qn_id in[3] = {x, 0, 0};

	if (t->rank > 6)
		return 0;
	for (int32_t i = 0; i < t->rank; i++)
		shape[i] = pick(m, 1, t->dim[i]);
	in[1] = indices(m, t->rank, shape, &t->dim[axis], 1);
	if (!scatters) {
		a.gather.axis = axis - t->rank;
		return add_op(m, op, 2, in, &a, NULL);
	}
	a.scatter_elements.axis = axis;
	if (chance(m, 50))
		a.scatter_elements.reduction = (int32_t)pick(m, QN_REDUCTION_max, QN_REDUCTION_min);
	in[2] = add_codes_const(m, t->elem, t->rank, shape);
	return add_op(m, op, 3, in, &a, NULL);
}

/* gather_nd or scatter_nd of some runs of x. */
qn_id
random_tuples(maker *m, qn_id x)
{
	bool scatters = chance(m, 50);
	qn_op op = scatters ? QN_OP_scatter_nd : QN_OP_gather_nd;
	qn_attrs a = build_attrs(op);
	const qn_type *t = type_of(m, x);
	int64_t shape[2] = {pick(m, 1, 3), pick(m, 1, t->rank)}, result[QN_MAX_RANK];
	int32_t length = (int32_t)shape[1], rank = 1;
	qn_id in[3] = {x, indices(m, 2, shape, t->dim, length), 0};

	result[0] = shape[0];
	for (int32_t i = length; i < t->rank; i++)
		result[rank++] = t->dim[i];
	if (!scatters)
		return qn_type_count(t) * shape[0] > MOST_ELEMENTS
			       ? 0
			       : add_op(m, op, 2, in, NULL, NULL);
	if (chance(m, 50))
		a.scatter_nd.reduction = (int32_t)pick(m, QN_REDUCTION_max, QN_REDUCTION_min);
	in[2] = add_codes_const(m, t->elem, rank, result);
	return add_op(m, op, 3, in, &a, NULL);
}

/* Codes on where x is largest, along another axis. */
qn_id
random_one_hot(maker *m, qn_id x)
{
	static const int64_t two[1] = {2};
	qn_attrs a = build_attrs(QN_OP_argmax), h = build_attrs(QN_OP_one_hot);
	const qn_type *t = type_of(m, x);
	qn_id in[2];

	a.argmax.axis = pick(m, 0, t->rank - 1);
	h.one_hot.depth = pick(m, 1, 5);
	h.one_hot.axis = pick(m, -t->rank, t->rank - 1);
	if (qn_type_count(t) * h.one_hot.depth > MOST_ELEMENTS)
		return 0;
	in[0] = add_op(m, QN_OP_argmax, 1, &x, &a, NULL);
	in[1] = add_codes_const(m, t->elem, 1, two);
	return add_op(m, QN_OP_one_hot, 2, in, &h, NULL);
}

qn_id
random_trilu(maker *m, qn_id x)
{
	qn_attrs a = build_attrs(QN_OP_trilu);

	if (type_of(m, x)->rank < 2)
		return 0;
	a.trilu.k = pick(m, -3, 3);
	a.trilu.upper = pick(m, 0, 1);
	return add_op(m, QN_OP_trilu, 1, &x, &a, NULL);
}

qn_id
random_reverse(maker *m, qn_id x)
{
	qn_attrs a = build_attrs(QN_OP_reverse);
	int32_t rank = type_of(m, x)->rank;

	for (int32_t i = 0; i < rank; i++)
		if (chance(m, 40))
			a.axes.axes.v[a.axes.axes.n++] = chance(m, 50) ? i : i - rank;
	return add_op(m, QN_OP_reverse, 1, &x, &a, NULL);
}

/* The elements of a top_k, or its places as codes, with what stands there. */
qn_id
random_top_k(maker *m, qn_id x)
{
	qn_attrs a = build_attrs(QN_OP_top_k), get = build_attrs(QN_OP_get);
	const qn_type *t = type_of(m, x);
	int32_t axis = (int32_t)pick(m, 0, t->rank - 1);

	if (t->rank > 6)
		return 0;
	a.top_k.axis = axis - t->rank;
	a.top_k.k = pick(m, 1, t->dim[axis]);
	a.top_k.largest = pick(m, 0, 1);
	x = add_op(m, QN_OP_top_k, 1, &x, &a, NULL);
	return add_op(m, QN_OP_get, 1, &x, &get, NULL);
}
