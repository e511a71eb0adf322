/* SPDX-License-Identifier: Apache-2.0 */
/* random_nodes.c - what random ops are made of: constants, other shapes, second operands. */
#include <math.h>

#include "tests/e2e/random_maker.h"

qn_id
add_op(maker *m, qn_op op, uint32_t nin, const qn_id *in, const qn_attrs *attr, const qn_type *type)
{
	qn_id id = qn_graph_op(m->b->g, op, NULL, nin, in, attr, type);

	build_check(m->b, id != 0);
	return id;
}

/* A constant of random codes; lo and hi are among them where there is room. */
qn_id
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

/* x in a random shape of this rank. */
qn_id
reshaped(maker *m, qn_id x, int32_t rank)
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
	return reshaped(m, x, rank);
}

int64_t
divisor(maker *m, int64_t n)
{
	int64_t d = pick(m, 1, n);

	while (n % d != 0)
		d--;
	return d;
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
		if (op == QN_OP_div) /* that of y / x, not of x / y */
			scale *= pow(scale_of(m, y, 0) / scale_of(m, x, 0), 2);
	}
	return add_op(
		m, op, 2, in, &a,
		qn_type_with_elem(&m->b->model.types, type_of(m, x), code_elem(m, scale, false)));
}
