/* SPDX-License-Identifier: Apache-2.0 */
/* type_params.c - the rules about scales, zero points, axes and blocks of a uniform element
 * type.
 *
 *     scale (leaves in range, rounded to the expressed type) ── zero points ── axes, blocks ── shapes
 *
 * The description is changed into its canonical form on the way; the first rule that fails is
 * reported. */
#include <math.h>
#include <string.h>

#include "ir/type_impl.h"

/* ---- scales ---- */

typedef struct leaf_check {
	qn_where *w;
	const qn_elem *desc;
	const qn_params *shaped; /* the first vector of more than one dim */
	double subnormal;        /* a scale below the normal ones, 0: none */
} leaf_check;

static qn_status
check_leaf_value(leaf_check *c, double v)
{
	if (v > 0.0 && v < qn_float_limits(c->desc->expressed).normal)
		c->subnormal = v;
	return qn_scale_check_value(c->w, c->desc->expressed, v);
}

static const qn_scale *
round_vector(qn_types *t, const qn_scale *leaf, leaf_check *c)
{
	const qn_params *p = leaf->vec;
	double *rounded = NULL;

	for (size_t i = 0; i < p->n; i++) {
		if (check_leaf_value(c, p->scale[i]) != QN_OK)
			return NULL;
		const double r = qn_round_to(c->desc->expressed, p->scale[i]);
		if (rounded == NULL && r != p->scale[i])
			rounded = qn_arena_copy(t->arena, p->scale, p->n * sizeof *rounded);
		if (rounded != NULL)
			rounded[i] = r;
	}
	if (rounded == NULL)
		return leaf;
	if (qn_params_intern(t, c->w->place, NULL, p->n, p->rank, p->shape, rounded, p->zp, &p) !=
	    QN_OK)
		return NULL;
	return qn_scale_vec(t, p);
}

/* Leaves are rounded to the expressed type: what is stored is what will be printed and computed
 * with. */
static const qn_scale *
round_leaf(qn_types *t, const qn_scale *leaf, void *user)
{
	leaf_check *c = user;

	if (leaf->kind == QN_SCALE_VEC)
		return round_vector(t, leaf, c);
	if (leaf->kind != QN_SCALE_CONST)
		return leaf;
	if (check_leaf_value(c, leaf->value) != QN_OK)
		return NULL;
	return qn_scale_const(t, qn_round_to(c->desc->expressed, leaf->value));
}

static qn_status
check_scale(qn_types *t, qn_where *w, qn_elem *d)
{
	leaf_check c = {.w = w, .desc = d};

	if (d->scale == NULL)
		return QN_FAIL(w, "type.scale.range", "a uniform type needs a scale");
	QN_TRY(qn_scale_check_len(w, d->scale));
	d->scale = qn_scale_map(t, d->scale, round_leaf, &c);
	if (d->scale == NULL)
		return QN_EINVALID;
	QN_TRY(qn_scale_check_len(w, d->scale));
	if (c.subnormal > 0.0 && !w->quiet) {
		qn_where at = *w;

		qn_warn(w->env, "type.scale.subnormal",
			qn_where_text(qn_where_part(&at, QN_PART_SCALE)),
			"scale %g is a subnormal %s: it has lost precision", c.subnormal,
			qn_plain_table[d->expressed].name);
	}
	if ((d->scale->len > 0) != (d->gran != QN_PER_TENSOR))
		return QN_FAIL(qn_where_part(w, QN_PART_SCALE), "scale.length", "%s",
			       d->scale->len > 0
				       ? "a vector of scales needs an axis or blocks"
				       : "a type with an axis or blocks needs a vector of scales");
	return QN_OK;
}

/* An expression of constants has to have a value: it is not checked again. */
static qn_status
check_values(qn_types *t, qn_where *w, const qn_elem *d)
{
	const size_t n = d->scale->len > 0 ? (size_t)d->scale->len : 1;
	double v;

	if (qn_scale_is_leaf(d->scale) || qn_scale_has_symbol(d->scale))
		return QN_OK;
	for (size_t i = 0; i < n; i++) {
		const qn_symbol *none = NULL;

		if (!qn_scale_value(d->scale, i, &v, &none) || !isfinite(v) || v <= 0.0)
			return qn_scale_eval(t, qn_where_text(qn_where_part(w, QN_PART_SCALE)),
					     d->scale, i, &v);
	}
	return QN_OK;
}

/* ---- zero points ---- */

/* Zero points of a vector belong to a type whose scale is the vector and nothing else. */
static const qn_scale *
refuse_zp(qn_types *t, const qn_scale *leaf, void *user)
{
	(void)t;
	(void)user;
	return leaf->kind == QN_SCALE_VEC && leaf->vec->zp != NULL ? NULL : leaf;
}

/* {0.5, 0.25} with zero point 3 is {0.5:3, 0.25:3}. */
static void
spread_zp(qn_types *t, qn_elem *d)
{
	int64_t *zp = QN_NEW(t->arena, int64_t, d->scale->vec->n);

	for (size_t i = 0; i < d->scale->vec->n; i++)
		zp[i] = d->zp;
	d->scale = qn_scale_vec(t, qn_params_with_zp(t, d->scale->vec, zp));
	d->zp = 0;
}

static qn_status
place_zp(qn_types *t, qn_where *w, qn_elem *d)
{
	const bool vec = d->scale->kind == QN_SCALE_VEC;
	const bool given = d->zp_sym != NULL || d->zp != 0;

	if (!vec && qn_scale_map(t, d->scale, refuse_zp, NULL) == NULL)
		return QN_FAIL(qn_where_part(w, QN_PART_SCALE), "type.zp",
			       "a vector inside an expression cannot have zero points");
	if (vec && d->scale->vec->zp != NULL && given)
		return QN_FAIL(qn_where_part(w, QN_PART_ZP), "type.zp",
			       "the zero points are given twice: in the vector and after it");
	if (d->zp_sym != NULL) {
		d->zp = 0;
		if (d->zp_sym->len == 0)
			return QN_OK;
		if (!vec && d->scale->kind != QN_SCALE_SYM)
			return QN_FAIL(qn_where_part(w, QN_PART_ZP), "type.zp",
				       "the vector $%s as zero point needs a plain vector as scale",
				       d->zp_sym->name);
		if (d->zp_sym->len != d->scale->len)
			return QN_FAIL(qn_where_part(w, QN_PART_ZP), "type.param.count",
				       "%lld zero points ($%s) for %lld scales",
				       (long long)d->zp_sym->len, d->zp_sym->name,
				       (long long)d->scale->len);
	} else if (vec && d->zp != 0) {
		spread_zp(t, d);
	}
	return QN_OK;
}

static qn_status
check_zp(const qn_types *t, qn_where *w, const qn_elem *d)
{
	const bool vec = d->scale->kind == QN_SCALE_VEC && d->scale->vec->zp != NULL;
	const size_t n = vec ? d->scale->vec->n : 1;

	if (t->lax_zp || d->zp_sym != NULL || d->zp_fraction != 0)
		return QN_OK;
	for (size_t i = 0; i < n; i++) {
		const int64_t z = vec ? d->scale->vec->zp[i] : d->zp;

		if (z < d->qmin || z > d->qmax)
			return QN_FAIL(qn_where_part(w, QN_PART_ZP), "type.zp.range",
				       "zero point %lld (index %zu) is outside the storage range "
				       "%lld:%lld; --lax-zp (qn_import_opts.lax_zp) accepts it",
				       (long long)z, i, (long long)d->qmin, (long long)d->qmax);
	}
	return QN_OK;
}

/* ---- axes, blocks, shapes ---- */

static qn_status
check_axes(qn_where *w, const qn_elem *d)
{
	const bool blocks = d->gran == QN_SUB_CHANNEL;
	const int32_t n = blocks ? d->naxis : d->gran == QN_PER_AXIS;

	for (int32_t i = 0; i < n; i++)
		if (d->axis[i] < 0)
			return QN_FAIL(qn_where_part(w, QN_PART_AXIS + i),
				       blocks ? "type.block.axis" : "type.axis.negative",
				       "axis %d is negative; count from 0", d->axis[i]);
	for (int32_t i = 0; blocks && i < n; i++)
		if (d->block[i] < 1)
			return QN_FAIL(qn_where_part(w, QN_PART_BLOCK + i), "type.block.size",
				       "block size %lld of axis %d; use at least 1",
				       (long long)d->block[i], d->axis[i]);
	for (int32_t i = 0; i < n && i <= QN_MAX_RANK; i++)
		for (int32_t k = 0; k < i; k++)
			if (d->axis[i] == d->axis[k])
				return QN_FAIL(qn_where_part(w, QN_PART_AXIS + i),
					       "type.block.duplicate", "axis %d is listed twice",
					       d->axis[i]);
	if (n > QN_MAX_RANK)
		return QN_FAIL(qn_where_part(w, QN_PART_AXIS + QN_MAX_RANK), "type.rank",
			       "%d blocked axes; a tensor has at most %d dimensions", n,
			       QN_MAX_RANK);
	return QN_OK;
}

static const qn_scale *
check_leaf_shape(qn_types *t, const qn_scale *leaf, void *user)
{
	leaf_check *c = user;
	const qn_params *p = leaf->vec;

	(void)t;
	if (p == NULL || p->rank == 1)
		return leaf;
	if (c->desc->gran != QN_SUB_CHANNEL) {
		(void)QN_FAIL(qn_where_part(c->w, QN_PART_SCALE), "type.param.rank",
			      "a type with an axis takes a flat list, not rank %d", p->rank);
		return NULL;
	}
	if (c->shaped == NULL)
		c->shaped = p;
	if (c->shaped->rank == p->rank &&
	    memcmp(c->shaped->shape, p->shape, (size_t)p->rank * sizeof *p->shape) == 0)
		return leaf;
	(void)QN_FAIL(qn_where_part(c->w, QN_PART_SCALE), "type.param.shape",
		      "two vectors of the scale have different shapes");
	return NULL;
}

qn_status
qn_elem_check_params(qn_types *t, qn_where *w, qn_elem *d)
{
	leaf_check c = {.w = w, .desc = d};

	QN_TRY(check_scale(t, w, d));
	QN_TRY(place_zp(t, w, d));
	QN_TRY(check_zp(t, w, d));
	QN_TRY(check_axes(w, d));
	if (qn_scale_map(t, d->scale, check_leaf_shape, &c) == NULL)
		return QN_EINVALID;
	return check_values(t, w, d);
}
