/* SPDX-License-Identifier: Apache-2.0 */
/* type_bind.c - element types in use: their parameters, and symbols replaced by values.
 *
 *     !quant.uniform<i8:f32, $a:$a>           bind       !quant.uniform<i8:f32, 5.000000e-01:3>
 *     !quant.uniform<i8:f32:{1:2}, {a, b}>    shaped     {{a, b}}, when the tensor is 9x4 */
#include <math.h>

#include "ir/type_impl.h"

bool
qn_elem_is_quant(const qn_elem *e)
{
	return e->kind == QN_ELEM_ANY || e->kind == QN_ELEM_UNIFORM;
}

bool
qn_elem_is_float(const qn_elem *e)
{
	return e->kind == QN_ELEM_CALIBRATED ||
	       (e->kind == QN_ELEM_PLAIN && qn_plain_table[e->plain].is_float);
}

size_t
qn_elem_bytes(const qn_elem *e)
{
	return qn_plain_table[e->plain].bytes;
}

bool
qn_elem_has_symbol(const qn_elem *e)
{
	return e->kind == QN_ELEM_UNIFORM && (e->zp_sym != NULL || qn_scale_has_symbol(e->scale));
}

size_t
qn_elem_nparams(const qn_elem *e)
{
	return e->kind == QN_ELEM_UNIFORM && e->scale->len > 0 ? (size_t)e->scale->len : 1;
}

int64_t
qn_elem_block(const qn_elem *e, int32_t d)
{
	for (int32_t i = 0; e->gran == QN_SUB_CHANNEL && i < e->naxis; i++)
		if (e->axis[i] == d)
			return e->block[i];
	return 0;
}

static int64_t
vector_zp(const qn_params *p, size_t i)
{
	return p->zp != NULL && i < p->n ? p->zp[i] : 0;
}

/* Unbound symbols count as 1 and 0; callers have no symbols left. */
void
qn_elem_param(const qn_types *t, const qn_elem *e, size_t i, double *scale, int64_t *zp)
{
	const qn_symbol *unbound = NULL;

	(void)t;
	*scale = 1.0;
	*zp = 0;
	if (e->kind != QN_ELEM_UNIFORM)
		return;
	if (!qn_scale_value(e->scale, i, scale, &unbound))
		*scale = 1.0;
	if (e->zp_sym != NULL && e->zp_sym->bound)
		*zp = e->zp_sym->len > 0 ? vector_zp(e->zp_sym->vec, i) : e->zp_sym->zp;
	else if (e->zp_sym == NULL)
		*zp = e->scale->kind == QN_SCALE_VEC ? vector_zp(e->scale->vec, i) : e->zp;
}

double
qn_elem_zero_point(const qn_types *t, const qn_elem *e, size_t i)
{
	double scale;
	int64_t zp;

	qn_elem_param(t, e, i, &scale, &zp);
	return ldexp((double)zp, -(int)e->zp_fraction);
}

/* ---- bind ---- */

/* A bound vector as scale: its zero points are those of the type's zero point, not its own. */
static const qn_scale *
bind_vector(qn_types *t, const qn_elem *e)
{
	const qn_params *p = e->scale->kind == QN_SCALE_SYM ? e->scale->sym->vec : e->scale->vec;
	const bool own = e->scale->kind == QN_SCALE_VEC && e->zp_sym == NULL;
	int64_t *zp = QN_NEW(t->arena, int64_t, p->n);

	for (size_t i = 0; i < p->n; i++) {
		double unused;

		qn_elem_param(t, e, i, &unused, &zp[i]);
	}
	if (!own)
		for (size_t i = 0; i < p->n; i++)
			if (zp[i] != vector_zp(p, i))
				return qn_scale_vec(t, qn_params_with_zp(t, p, zp));
	return qn_scale_vec(t, p);
}

qn_status
qn_elem_bind(qn_types *t, const char *place, const qn_elem *e, const qn_elem **out)
{
	qn_where w = qn_where_place(t, place);

	*out = e;
	if (!qn_elem_has_symbol(e))
		return QN_OK;
	const qn_symbol *unbound = qn_scale_unbound(e->scale);
	if (unbound == NULL && e->zp_sym != NULL && !e->zp_sym->bound)
		unbound = e->zp_sym;
	if (unbound != NULL)
		return QN_FAIL(&w, "scale.unbound",
			       "symbol $%s has no value; calibrate the model, or bind the symbol",
			       unbound->name);
	qn_elem d = *e;
	if (qn_scale_is_leaf(e->scale) && e->scale->len > 0) {
		d.scale = bind_vector(t, e);
		d.zp = 0;
	} else {
		d.scale = qn_scale_bind(t, e->scale);
		d.zp = e->zp_sym != NULL ? e->zp_sym->zp : e->zp;
	}
	d.zp_sym = NULL;
	return qn_elem_make_at(t, &w, &d, out);
}

const qn_type *
qn_type_bind(qn_types *t, const char *place, const qn_type *type)
{
	const qn_elem *e;

	if (type->is_tuple) {
		const qn_type **field = QN_NEW(t->arena, const qn_type *, type->nfield);

		for (uint32_t i = 0; i < type->nfield; i++)
			if ((field[i] = qn_type_bind(t, place, type->field[i])) == NULL)
				return NULL;
		return qn_type_tuple(t, type->nfield, field);
	}
	if (!qn_elem_has_symbol(type->elem))
		return type;
	if (qn_elem_bind(t, place, type->elem, &e) != QN_OK)
		return NULL;
	const qn_type *bound = qn_type_with_elem(t, type, e);
	return qn_type_check(t, place, bound) == QN_OK ? bound : NULL;
}

/* ---- the shape of the parameters ---- */

typedef struct new_shape {
	int32_t rank;
	const int64_t *shape;
} new_shape;

static const qn_scale *
reshape_leaf(qn_types *t, const qn_scale *leaf, void *user)
{
	const new_shape *to = user;

	if (leaf->kind != QN_SCALE_VEC || leaf->vec->rank == to->rank)
		return leaf;
	return qn_scale_vec(t, qn_params_reshape(t, leaf->vec, to->rank, to->shape));
}

const qn_elem *
qn_elem_shaped(qn_types *t, const qn_elem *e, int32_t rank, const int64_t *dim)
{
	const bool sub = e->kind == QN_ELEM_UNIFORM && e->gran == QN_SUB_CHANNEL;
	const qn_params *p = sub ? qn_scale_params(e->scale) : NULL;
	int64_t shape[QN_MAX_RANK];
	int64_t n = 1;
	qn_elem d = *e;

	if (p == NULL || p->rank != 1 || rank < 2 || rank > QN_MAX_RANK)
		return e;
	for (int32_t i = 0; i < rank; i++) {
		const int64_t block = qn_elem_block(e, i);

		shape[i] = block > 0 ? (dim[i] > 0 ? (dim[i] - 1) / block + 1 : 0) : 1;
		if (shape[i] == 0 || shape[i] > (int64_t)p->n)
			return e;
		n *= shape[i];
		if (n > (int64_t)p->n)
			return e;
	}
	if (n != (int64_t)p->n)
		return e;
	qn_where w = qn_where_place(t, "");
	const qn_elem *out = e;
	new_shape to = {rank, shape};
	w.quiet = true;
	d.scale = qn_scale_map(t, e->scale, reshape_leaf, &to);
	return qn_elem_make_at(t, &w, &d, &out) == QN_OK ? out : e;
}
