/* SPDX-License-Identifier: Apache-2.0 */
/* random_unary.c - functions of one code, a power with a constant exponent, and prelu. */
#include "tests/e2e/random_maker.h"

static qn_id
add_unary(maker *m, qn_op op, uint32_t nin, const qn_id *in, double scale)
{
	const qn_type *type = qn_type_with_elem(&m->b->model.types, type_of(m, in[0]),
						code_elem(m, scale, false));
	qn_attrs a = build_attrs(op);
	qn_id id;

	if (op == QN_OP_leaky_relu)
		a.leaky_relu.alpha = factor(m, -0.5, 0.5);
	else if (op == QN_OP_elu)
		a.elu.alpha = factor(m, 0.1, 3);
	else if (op == QN_OP_celu)
		a.celu.alpha = factor(m, 0.1, 3);
	else if (op == QN_OP_swish)
		a.swish.alpha = factor(m, 0.1, 2);
	else if (op == QN_OP_shrink)
		a.shrink.lambd = factor(m, 0.1, 2);
	else if (op == QN_OP_gelu)
		a.gelu.approximate = (int32_t)pick(m, 0, 1);
	id = qn_graph_op(m->b->g, op, NULL, nin, in, &a, type);
	build_check(m->b, id != 0);
	return id;
}

/* A constant vector of n random codes. */
static qn_id
add_vector(maker *m, int64_t n, double scale)
{
	const qn_type *type = shaped(m, code_elem(m, scale, false), 1, &n);
	void *data;
	qn_tensor *x = qn_tensor_new(&m->b->arena, type, &data);
	int64_t i;
	qn_id id;

	for (i = 0; i < n; i++)
		qn_store_i64(data, type->elem->plain, i,
			     pick(m, type->elem->qmin, type->elem->qmax));
	id = qn_graph_const(m->b->g, NULL, x);
	build_check(m->b, id != 0);
	return id;
}

qn_id
random_unary(maker *m, qn_id x)
{
	qn_op op = (qn_op)pick(m, QN_OP_leaky_relu, QN_OP_square);

	return add_unary(m, op, 1, &x, factor(m, 0.005, 0.1));
}

qn_id
random_pow(maker *m, qn_id x)
{
	qn_id in[2] = {x, add_vector(m, 1, factor(m, 0.01, 1))};

	return add_unary(m, QN_OP_pow, 2, in, factor(m, 0.005, 0.5));
}

qn_id
random_prelu(maker *m, qn_id x)
{
	const qn_type *t = type_of(m, x);
	qn_id in[2] = {x, add_vector(m, t->dim[t->rank - 1], factor(m, 0.002, 0.01))};

	return add_unary(m, QN_OP_prelu, 2, in, scale_of(m, x, 0) * factor(m, 0.5, 2));
}
