/* SPDX-License-Identifier: Apache-2.0 */
/* fix.c - scales as a small mantissa and a count of fraction bits.
 *
 *     0.05  ──  8 bits  ──▶  205 * 2^-12 = 0.050048828
 *     !quant.uniform<i8:f32, 5.000000e-02:3>  ──▶  !quant.uniform<i8:f32, 5.004883e-02:3>
 *
 * A mantissa of B bits is within 2^-B of the scale it stands for. */
#include <math.h>

#include "ir/type_impl.h"

qn_fixed
qn_fix(double s, int32_t bits)
{
	int exponent;
	double q = frexp(s, &exponent);
	qn_fixed f;

	f.mantissa = (int32_t)floor(ldexp(q, bits) + 0.5); /* half away from 0: s is positive */
	f.fraction = bits - exponent;
	if (f.mantissa == INT32_C(1) << bits) {
		f.mantissa /= 2;
		f.fraction--;
	}
	return f;
}

double
qn_fixed_value(qn_fixed f)
{
	return ldexp((double)f.mantissa, -f.fraction);
}

bool
qn_is_fixed(double s, int32_t bits)
{
	const double v = qn_fixed_value(qn_fix(s, bits));

	return v <= s && v >= s;
}

typedef struct fixing {
	int32_t bits;
	qn_plain expressed;
} fixing;

/* A scale beyond the largest one that its expressed type has stays as it is. */
static double
fixed_scale(const fixing *f, double s)
{
	const double v = qn_fixed_value(qn_fix(s, f->bits));

	return v <= qn_float_limits(f->expressed).max ? qn_round_to(f->expressed, v) : s;
}

static const qn_scale *
fix_leaf(qn_types *t, const qn_scale *leaf, void *user)
{
	const fixing *f = user;

	if (leaf->kind == QN_SCALE_CONST)
		return qn_scale_const(t, fixed_scale(f, leaf->value));
	if (leaf->kind != QN_SCALE_VEC)
		return leaf;
	const qn_params *p = leaf->vec;
	double *scale = QN_NEW(t->arena, double, p->n);
	for (size_t i = 0; i < p->n; i++)
		scale[i] = fixed_scale(f, p->scale[i]);
	if (qn_params_intern(t, "", NULL, p->n, p->rank, p->shape, scale, p->zp, &p) != QN_OK)
		return NULL;
	return qn_scale_vec(t, p);
}

const qn_type *
qn_type_fix(qn_types *t, const char *place, const qn_type *type, int32_t bits)
{
	qn_where w = qn_where_place(t, place);
	const qn_elem *made;

	if (type->is_tuple) {
		const qn_type **field = QN_NEW(t->arena, const qn_type *, type->nfield);

		for (uint32_t i = 0; i < type->nfield; i++)
			if ((field[i] = qn_type_fix(t, place, type->field[i], bits)) == NULL)
				return NULL;
		return qn_type_tuple(t, type->nfield, field);
	}
	if (type->elem->kind != QN_ELEM_UNIFORM)
		return type;
	qn_elem e = *type->elem;
	fixing f = {bits, e.expressed};
	w.quiet = true; /* problems of the scale have been reported before */
	e.scale = qn_scale_map(t, e.scale, fix_leaf, &f);
	if (e.scale == NULL || qn_elem_make_at(t, &w, &e, &made) != QN_OK)
		return NULL;
	return qn_type_with_elem(t, type, made);
}
