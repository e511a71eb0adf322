/* SPDX-License-Identifier: Apache-2.0 */
/* type_normalize.c - types with fewer or simpler parameters and the same meaning.
 *
 *   !quant.uniform<u8:f32:{}, {{1.0:200}}>         normalize  !quant.uniform<u8:f32, 1.0:200>
 *   !quant.super<u4:f32:{1:32}, u6 {1:256}, @w>    normalize  !quant.uniform<u4:f32:{1:32}, {@q0}>
 *   !quant.uniform<i8:f32:{0:2}, {{2.0},{3.0}}>    expand     !quant.uniform<i8:f32:0, {2.0,2.0,3.0,3.0}>, of 4 elements
 *   !quant.uniform<i8:f32:0, {2.0:1,2.0:1}>        collapse   !quant.uniform<i8:f32, 2.0:1> */
#include "ir/type_impl.h"

/* ---- the parameters of a description ---- */

typedef struct reshaping {
	int32_t rank; /* 0: the vector becomes its only scale */
	const int64_t *shape;
	int64_t times; /* above 1: repetitions of each parameter, `most` in all at most */
	int64_t most;
} reshaping;

static const qn_scale *
repeat(qn_types *t, const qn_params *p, const reshaping *to)
{
	const size_t n = (size_t)to->most;
	double *scale = QN_NEW(t->arena, double, n);
	int64_t *zp = p->zp != NULL ? QN_NEW(t->arena, int64_t, n) : NULL;
	const qn_params *out;

	for (size_t i = 0; i < n; i++) {
		scale[i] = p->scale[i / (size_t)to->times];
		if (zp != NULL)
			zp[i] = p->zp[i / (size_t)to->times];
	}
	if (qn_params_intern(t, "", NULL, n, 1, NULL, scale, zp, &out) != QN_OK)
		return NULL;
	return qn_scale_vec(t, out);
}

static const qn_scale *
reshape_leaf(qn_types *t, const qn_scale *leaf, void *user)
{
	const reshaping *to = user;

	if (leaf->kind != QN_SCALE_VEC)
		return leaf;
	if (to->times > 1)
		return repeat(t, leaf->vec, to);
	if (to->rank == 0)
		return qn_scale_const(t, leaf->vec->scale[0]);
	if (leaf->vec->rank == to->rank)
		return leaf;
	return qn_scale_vec(t, qn_params_reshape(t, leaf->vec, to->rank, to->shape));
}

/* e with other granularity, axes and shape of the parameters; e when the result breaks a rule,
 * which only zero points read with lax_zp can do. */
static const qn_elem *
remake(qn_types *t, const qn_elem *e, qn_elem *d, reshaping to)
{
	const qn_elem *out = e;
	qn_where w = qn_where_place(t, "");

	if (to.rank == 0 && e->scale->kind == QN_SCALE_VEC && e->zp_sym == NULL)
		d->zp = e->scale->vec->zp != NULL ? e->scale->vec->zp[0] : 0;
	d->scale = qn_scale_map(t, e->scale, reshape_leaf, &to);
	w.quiet = true;
	return d->scale != NULL && qn_elem_make_at(t, &w, d, &out) == QN_OK ? out : e;
}

/* The parameters of a type with blocks, or (also_axis) an axis, that are known and can be rewritten;
 * NULL: it has none. */
static const qn_params *
rewritable(const qn_elem *e, bool also_axis)
{
	if (e->kind != QN_ELEM_UNIFORM || e->gran == QN_PER_TENSOR || e->zp_fraction != 0 ||
	    (e->gran == QN_PER_AXIS && !also_axis) || qn_scale_has_symbol(e->scale) ||
	    (e->zp_sym != NULL && e->zp_sym->len > 0))
		return NULL;
	return qn_scale_params(e->scale);
}

/* Whether the dims of the parameters are those of the tensor: a vector that was a symbol's may be flat
 * still. */
static bool
has_shape(const qn_elem *e, const qn_params *p)
{
	return p->rank > 1 || e->naxis == 0 || (e->naxis == 1 && e->axis[0] == 0);
}

/* The number of dims along which the parameters vary, and the last of them. */
static int32_t
varying(const qn_params *p, int32_t *axis)
{
	int32_t n = 0;

	for (int32_t i = 0; i < p->rank; i++) {
		if (p->shape[i] != 1) {
			*axis = i;
			n++;
		}
	}
	return n;
}

static const qn_elem *
per_tensor(qn_types *t, const qn_elem *e)
{
	qn_elem d = *e;

	d.gran = QN_PER_TENSOR;
	d.naxis = 0;
	return remake(t, e, &d, (reshaping){.rank = 0});
}

/* ---- normalize, expand, collapse ---- */

/* Super-blocks as plain blocks: the products are the scales. */
static const qn_elem *
without_super(qn_types *t, const qn_elem *e, const qn_params *p)
{
	qn_where w = qn_where_place(t, "");
	const qn_params *plain;
	const qn_elem *out = e;
	qn_elem d = *e;

	if (qn_params_intern(t, "", NULL, p->n, p->rank, p->shape, p->scale, p->zp, &plain) !=
	    QN_OK)
		return e;
	d.scale = qn_scale_vec(t, plain);
	w.quiet = true;
	return qn_elem_make_at(t, &w, &d, &out) == QN_OK ? out : e;
}

/* Per tensor when there is one scale; per axis when the scales vary along one axis whose block
 * is 1. With a larger block the axis has more elements than scales, and no per-axis type says
 * the same. */
const qn_elem *
qn_elem_normalize(qn_types *t, const qn_elem *e)
{
	const qn_params *p = rewritable(e, false);
	int32_t axis = -1;

	if (p == NULL || !has_shape(e, p))
		return e;
	if (p->super != NULL)
		e = without_super(t, e, p);
	qn_elem d = *e;
	const int32_t n = varying(p, &axis);
	if (n == 0)
		return per_tensor(t, e);
	if (n > 1 || qn_elem_block(e, axis) != 1)
		return e;
	d.gran = QN_PER_AXIS;
	d.naxis = 1;
	d.axis = &axis;
	return remake(t, e, &d, (reshaping){.rank = 1, .shape = &p->shape[axis]});
}

/* Blocks along one axis, whose length is known, as a scale for each of its indices. */
static const qn_elem *
expand(qn_types *t, const qn_elem *e, int32_t rank, const int64_t *dim)
{
	const qn_params *p = rewritable(e, false);
	qn_elem d = *e;
	int32_t axis = -1;

	if (p == NULL || !has_shape(e, p) || varying(p, &axis) != 1 || axis >= rank ||
	    dim[axis] < 1 || dim[axis] > QN_MAX_PARAMS)
		return e;
	d.gran = QN_PER_AXIS;
	d.naxis = 1;
	d.axis = &axis;
	return remake(t, e, &d,
		      (reshaping){.rank = 1,
				  .shape = &dim[axis],
				  .times = qn_elem_block(e, axis),
				  .most = dim[axis]});
}

static const qn_scale *
refuse_varying(qn_types *t, const qn_scale *leaf, void *user)
{
	const qn_params *p = leaf->vec;

	(void)t;
	(void)user;
	for (size_t i = 1; p != NULL && i < p->n; i++)
		if (p->scale[i] < p->scale[0] || p->scale[i] > p->scale[0] ||
		    (p->zp != NULL && p->zp[i] != p->zp[0]))
			return NULL;
	return leaf;
}

static const qn_elem *
collapse(qn_types *t, const qn_elem *e)
{
	if (rewritable(e, true) == NULL || qn_scale_map(t, e->scale, refuse_varying, NULL) == NULL)
		return e;
	return per_tensor(t, e);
}

const qn_type *
qn_type_normalize(qn_types *t, const qn_type *type, unsigned flags)
{
	const qn_elem *e = qn_elem_normalize(t, type->elem);

	if ((flags & QN_NORMALIZE_COLLAPSE) != 0)
		e = collapse(t, e);
	if ((flags & QN_NORMALIZE_EXPAND) != 0)
		e = expand(t, e, type->rank, type->dim);
	return qn_type_with_elem(t, type, e);
}
