/* SPDX-License-Identifier: Apache-2.0 */
/* fixed_point_nodes.c - nodes of fixed-point arithmetic on plain integers. */
#include "passes/fixed_point_nodes.h"

static const qn_type *
plain_like(qn_rw *rw, const qn_type *shape, qn_plain p)
{
	qn_types *t = &qn_rw_model(rw)->types;

	return qn_type_with_elem(t, shape, qn_elem_plain(t, p));
}

qn_id
qn_fp_numbers(qn_rw *rw, qn_plain p, int32_t n, const int64_t *v, int32_t axis, int32_t rank)
{
	qn_model *m = qn_rw_model(rw);
	int64_t dim[QN_MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
	void *data;

	dim[0] = n;
	qn_tensor *c = qn_tensor_new(
		m->arena, qn_type_plain(&m->types, p, axis < 0 ? 0 : rank - axis, dim), &data);
	for (int32_t i = 0; i < n; i++)
		qn_store_i64(data, p, i, v[i]);
	return qn_rw_const(rw, NULL, c);
}

qn_id
qn_fp_with_number(qn_rw *rw, qn_op op, qn_id x, int64_t v)
{
	qn_id in[2] = {x, qn_fp_numbers(rw, qn_rw_node(rw, x)->type->elem->plain, 1, &v, -1, 0)};

	return qn_rw_add(rw, op, NULL, 2, in, NULL, NULL);
}

qn_id
qn_fp_minus(qn_rw *rw, qn_id x, int64_t zp)
{
	return zp != 0 ? qn_fp_with_number(rw, QN_OP_sub, x, zp) : x;
}

qn_id
qn_fp_shifted(qn_rw *rw, qn_id x, int64_t bits)
{
	return bits != 0 ? qn_fp_with_number(rw, QN_OP_shift_left, x, bits) : x;
}

qn_id
qn_fp_divided(qn_rw *rw, qn_id x, int64_t exponent)
{
	qn_attrs a;

	qn_attrs_default(QN_ATTRS(divide_by_pot), &a);
	a.divide_by_pot.exponent = exponent;
	return exponent != 0 ? qn_rw_add(rw, QN_OP_rounding_divide_by_pot, NULL, 1, &x, &a, NULL)
			     : x;
}

/* A constant's quantized values as integers of another width. */
static qn_id
constant_as(qn_rw *rw, const qn_node *n, qn_plain p)
{
	void *data;
	qn_tensor *c = qn_tensor_new(qn_rw_model(rw)->arena, plain_like(rw, n->type, p), &data);

	for (int64_t i = 0; i < qn_type_count(n->type); i++)
		qn_store_i64(data, p, i, qn_tensor_i64(n->value, i));
	return qn_rw_const(rw, NULL, c);
}

qn_id
qn_fp_widened(qn_rw *rw, qn_id x, qn_plain p)
{
	const qn_node *n = qn_rw_node(rw, x);
	const qn_type *stored = plain_like(rw, n->type, n->type->elem->plain);

	if (n->op == QN_OP_const)
		return constant_as(rw, n, p);
	if (n->op == QN_OP_scast && qn_rw_node(rw, n->in[0])->type == stored)
		x = n->in[0];
	else
		x = qn_rw_add(rw, QN_OP_scast, NULL, 1, &x, NULL, stored);
	if (stored->elem->plain == p)
		return x;
	return qn_rw_add(rw, QN_OP_cast, NULL, 1, &x, NULL, plain_like(rw, stored, p));
}

qn_id
qn_fp_stored_as(qn_rw *rw, qn_id root, qn_id x)
{
	const qn_type *type = qn_rw_node(rw, root)->type;
	const qn_type *stored = plain_like(rw, type, type->elem->plain);

	if (qn_rw_node(rw, x)->type != stored)
		x = qn_rw_add(rw, QN_OP_cast, NULL, 1, &x, NULL, stored);
	return qn_rw_add(rw, QN_OP_scast, qn_rw_name(rw, root), 1, &x, NULL, type);
}

static qn_id
multiplied(qn_rw *rw, qn_id x, int32_t axis, int32_t n, const int32_t *mult, const int8_t *shift,
	   int32_t mode)
{
	qn_arena *tmp = qn_rw_model(rw)->scratch;
	int64_t *m = QN_NEW(tmp, int64_t, (size_t)n);
	int64_t *s = QN_NEW(tmp, int64_t, (size_t)n);
	qn_attrs a;

	for (int32_t i = 0; i < n; i++) {
		m[i] = mult[i];
		s[i] = shift[i];
	}
	qn_attrs_default(QN_ATTRS(fixed_multiply), &a);
	a.fixed_multiply = (qn_attrs_fixed_multiply){.multiplier = {(size_t)n, m},
						     .shift = {(size_t)n, s},
						     .axis = axis,
						     .rounding = mode};
	return qn_rw_add(rw, QN_OP_fixed_multiply, NULL, 1, &x, &a, NULL);
}

qn_id
qn_fp_by_one(qn_rw *rw, qn_id x, int32_t mult, int32_t shift, int32_t mode)
{
	const int8_t s = (int8_t)shift;

	return multiplied(rw, x, -1, 1, &mult, &s, mode);
}

qn_id
qn_fp_limited_sum(qn_rw *rw, qn_id x, qn_id y, int64_t lo, int64_t hi)
{
	qn_id in[2] = {x, y};
	qn_attrs a;

	qn_attrs_default(QN_ATTRS(saturating_add), &a);
	a.saturating_add = (qn_attrs_saturating_add){lo, hi};
	return qn_rw_add(rw, QN_OP_saturating_add, NULL, 2, in, &a, NULL);
}

qn_id
qn_fp_rescaled(qn_rw *rw, qn_id root, qn_id x, const qn_fp_rescale *r)
{
	const qn_type *type = qn_rw_node(rw, root)->type;
	const qn_plain p = qn_rw_node(rw, x)->type->elem->plain;
	int64_t *zo = QN_NEW(qn_rw_model(rw)->scratch, int64_t, (size_t)r->nzo);

	for (int32_t i = 0; i < r->nzo; i++)
		zo[i] = r->zo[i];
	x = multiplied(rw, x, r->axis, r->n, r->mult, r->shift, r->mode);
	const qn_id z = qn_fp_numbers(rw, p, r->nzo, zo, r->nzo > 1 ? r->axis : -1, type->rank);
	return qn_fp_stored_as(rw, root, qn_fp_limited_sum(rw, x, z, r->lo, r->hi));
}
