/* SPDX-License-Identifier: Apache-2.0 */
/* lower_quant_params.c - the parameters of a quantized type as operands of plain arithmetic.
 *
 * Parameters of an axis are constants that broadcast; those of blocks are brought to the length of their
 * axes by gather.  In a tensor whose rank is not known, they have only the axes that the type lists, and
 * expand_dims_like gives them the tensor's rank:
 *
 *   tensor<*x!quant.uniform<i8:f32:1, {s,t}>>       %p = expand_dims_like {s,t}, %x {axes=[1]} */
#include "passes/lower_quant.h"

int64_t
qn_elem_params_along(const qn_elem *e, int32_t d)
{

	if (e->gran == QN_PER_TENSOR || (e->gran == QN_PER_AXIS && e->axis[0] != d))
		return 1;
	if (e->gran == QN_PER_AXIS)
		return (int64_t)qn_elem_nparams(e);
	const qn_params *p = qn_scale_params(e->scale);
	return p != NULL && d < p->rank ? p->shape[d] : 1;
}

bool
qn_elem_has_zero_points(const qn_types *t, const qn_elem *e)
{
	double scale;
	int64_t zp = 0;

	for (size_t i = 0; zp == 0 && i < qn_elem_nparams(e); i++)
		qn_elem_param(t, e, i, &scale, &zp);
	return zp != 0;
}

static const char *const parameter_names[] = {"scale", "zero_point", "least", "most"};

/* a - b, limited to int64. */
static int64_t
difference(int64_t a, int64_t b)
{
	if (b < 0 && a > INT64_MAX + b)
		return INT64_MAX;
	return b > 0 && a < INT64_MIN + b ? INT64_MIN : a - b;
}

static int64_t
integer_of(const qn_elem *e, qn_parameter what, int64_t zp)
{
	if (what == QN_PARAMETER_ZERO_POINT)
		return zp;
	return difference(what == QN_PARAMETER_LEAST ? e->qmin : e->qmax, zp);
}

/* Whether all elements have the same. */
static bool
is_one(const qn_types *t, const qn_elem *e, qn_parameter what)
{
	double s0, s;
	int64_t z0, z;

	qn_elem_param(t, e, 0, &s0, &z0);
	for (size_t i = 1; i < qn_elem_nparams(e); i++) {
		qn_elem_param(t, e, i, &s, &z);
		if (what == QN_PARAMETER_SCALE ? s < s0 || s > s0 : z != z0)
			return false;
	}
	return true;
}

/* The axes that parameters have: the tensor's; of a tensor without a rank, those that the type lists. */
static int32_t
param_axes(const qn_type *type, int32_t axis[QN_MAX_RANK])
{
	const qn_elem *e = type->elem;
	const int32_t n = type->rank >= 0 ? type->rank : e->naxis;

	for (int32_t i = 0; i < n; i++)
		axis[i] = type->rank >= 0 ? i : e->axis[i];
	return n;
}

/* The parameters, with one dim for each of their axes; of equal ones, a scalar. */
static qn_id
compact(const qn_lowering *l, qn_parameter what, bool *one)
{
	qn_model *m = qn_rw_model(l->rw);
	const qn_elem *e = l->type->elem;
	int32_t axis[QN_MAX_RANK];
	const int32_t rank = param_axes(l->type, axis);
	int64_t dim[QN_MAX_RANK] = {0};
	void *data;

	*one = is_one(&m->types, e, what);
	for (int32_t i = 0; i < rank; i++)
		dim[i] = qn_elem_params_along(e, axis[i]);
	const qn_type *type =
		qn_type_plain(&m->types, what == QN_PARAMETER_SCALE ? l->work : QN_PLAIN_i64,
			      *one ? 0 : rank, dim);
	qn_tensor *x = qn_tensor_new(m->arena, type, &data);
	for (int64_t i = 0; i < qn_type_count(type); i++) {
		double scale;
		int64_t zp;

		qn_elem_param(&m->types, e, (size_t)i, &scale, &zp);
		if (what == QN_PARAMETER_SCALE)
			qn_store_f64(data, l->work, i, scale);
		else
			qn_store_i64(data, QN_PLAIN_i64, i, integer_of(e, what, zp));
	}
	return qn_rw_const(l->rw, qn_rw_derived_name(l->rw, l->root, parameter_names[what]), x);
}

/* The block of each element along axis d: 0, 0, 0, 1, 1, 1, …; blocks are whole where the type has no rank. */
static qn_id
block_indices(qn_lowering *l, int32_t d, int64_t block)
{
	qn_model *m = qn_rw_model(l->rw);
	const int64_t n = l->type->rank >= 0 ? l->type->dim[d]
					     : block * qn_elem_params_along(l->type->elem, d);
	void *data;

	if (l->block[d] != 0)
		return l->block[d];
	qn_tensor *x =
		qn_tensor_new(m->arena, qn_type_plain(&m->types, QN_PLAIN_i64, 1, &n), &data);

	for (int64_t i = 0; i < n; i++)
		qn_store_i64(data, QN_PLAIN_i64, i, i / block);
	l->block[d] = qn_rw_const(l->rw, qn_rw_derived_name(l->rw, l->root, "block"), x);
	return l->block[d];
}

/* Parameters of blocks with one for each index of the axes. */
static qn_id
spread_blocks(qn_lowering *l, qn_parameter what, qn_id x)
{
	const qn_elem *e = l->type->elem;

	for (int32_t i = 0; i < e->naxis; i++) {
		const int32_t d = e->axis[i];
		qn_attrs attr;

		if (e->block[i] == 1 || qn_elem_params_along(e, d) == 1)
			continue;
		qn_attrs_default(QN_ATTRS(gather), &attr);
		attr.gather.axis = l->type->rank >= 0 ? d : i;
		const qn_id in[] = {x, block_indices(l, d, e->block[i])};
		x = qn_lowering_node(l, QN_OP_gather, parameter_names[what], 2, in, &attr, NULL);
	}
	return x;
}

qn_id
qn_lowering_operand(qn_lowering *l, qn_parameter what)
{
	const qn_elem *e = l->type->elem;
	bool one;
	qn_id x = compact(l, what, &one);
	qn_attrs attr;

	if (one)
		return x;
	if (e->gran == QN_SUB_CHANNEL)
		x = spread_blocks(l, what, x);
	if (l->type->rank >= 0)
		return x;
	qn_attrs_default(QN_ATTRS(axes), &attr);
	attr.axes.axes.n = e->naxis;
	for (int32_t i = 0; i < e->naxis; i++)
		attr.axes.axes.v[i] = e->axis[i];
	return qn_lowering_node(l, QN_OP_expand_dims_like, parameter_names[what], 2,
				(const qn_id[]){x, l->like}, &attr, NULL);
}
