/* SPDX-License-Identifier: Apache-2.0 */
/* type_stored.c - how a file stores the parameters of a type: scales as f16, bf16 or powers of two, zero points as
 * integers of few bits.
 *
 *     !quant.uniform<u4:f32:{0:1, 1:32}, f16:u4 {{0.5:8, 0.25:7}}>
 *     !quant.uniform<u4:f32:{0:1, 1:32}, f32:i32.8 {{0.5:1920, 0.25:-64}}>     zero points 7.5, -0.25
 *
 * The numbers are those of the type without it; each has to be one of the format.  Zero points with a fraction
 * may also be outside the storage range. */
#include <math.h>

#include "ir/type_impl.h"

enum { MOST_EXPONENT = 127 };

const char *const qn_scale_storage_names[QN_NSCALE_STORAGE] = {
	[QN_SCALE_AS_F16] = "f16",
	[QN_SCALE_AS_BF16] = "bf16",
	[QN_SCALE_AS_E8M0] = "e8m0",
};

/* The power of two next to v > 0. */
static double
power_of_two(double v)
{
	int exponent;
	const double half = frexp(v, &exponent); /* [0.5, 1) */

	exponent -= half < 0.75;
	exponent = exponent > MOST_EXPONENT ? MOST_EXPONENT : exponent;
	return ldexp(1, exponent < -MOST_EXPONENT ? -MOST_EXPONENT : exponent);
}

/* The number of the format next to v. */
static double
nearest(qn_scale_storage as, double v)
{
	const qn_plain plain = as == QN_SCALE_AS_F16 ? QN_PLAIN_f16 : QN_PLAIN_bf16;

	if (as == QN_SCALE_AS_E8M0)
		return power_of_two(v);
	const qn_float_range limit = qn_float_limits(plain);
	const double near = qn_round_to(plain, v);
	return near > limit.max ? limit.max : near < limit.subnormal ? limit.subnormal : near;
}

static bool
is_equal(double a, double b)
{
	return a <= b && a >= b;
}

static const char *
text(const qn_types *t, double v)
{
	qn_buf b;

	qn_buf_init(&b, t->arena);
	qn_buf_real(&b, v, true);
	return qn_buf_str(&b);
}

/* Of a text, an error; otherwise the scales are those that a pass has found. */
static qn_status
check_scales(qn_where *w, const qn_types *t, const qn_elem *d)
{
	const qn_params *p = d->scale->kind == QN_SCALE_VEC ? d->scale->vec : NULL;
	const size_t n = p != NULL ? p->n : 1;

	for (size_t i = 0; i < n; i++) {
		const double v = p != NULL ? p->scale[i] : d->scale->value;
		const double near = nearest(d->scale_as, v);

		if (is_equal(v, near))
			continue;
		if (w->text.begin == NULL)
			return QN_EINVALID;
		return QN_FAIL(qn_where_part(w, QN_PART_SCALE), "type.scale.stored",
			       "scale %s (index %zu) is not one of %s; the nearest is %s",
			       text(t, v), i, qn_scale_storage_names[d->scale_as], text(t, near));
	}
	return QN_OK;
}

static qn_status
check_zero_points(qn_where *w, const qn_elem *d)
{
	const qn_params *p = d->scale->kind == QN_SCALE_VEC ? d->scale->vec : NULL;
	const size_t n = p != NULL && p->zp != NULL ? p->n : 1;
	int64_t lo, hi;

	qn_storage_range(d->zp_bits, d->zp_signed, &lo, &hi);
	for (size_t i = 0; i < n; i++) {
		const int64_t z = p != NULL && p->zp != NULL ? p->zp[i] : d->zp;

		if (z >= lo && z <= hi)
			continue;
		return w->text.begin == NULL
			       ? QN_EINVALID
			       : QN_FAIL(qn_where_part(w, QN_PART_ZP), "type.zp.stored",
					 "zero point %lld (index %zu) is not one of %c%d",
					 (long long)z, i, d->zp_signed ? 'i' : 'u', d->zp_bits);
	}
	return QN_OK;
}

qn_status
qn_elem_check_stored(const qn_types *t, qn_where *w, qn_elem *d)
{
	const bool leaf = d->scale->kind == QN_SCALE_CONST || d->scale->kind == QN_SCALE_VEC;
	qn_status status = QN_OK;

	if (d->scale_as == QN_SCALE_AS_EXPRESSED && d->zp_bits == 0)
		return QN_OK;
	if (d->zp_fraction != 0 && d->gran != QN_SUB_CHANNEL)
		return QN_FAIL(qn_where_part(w, QN_PART_ZP), "type.zp.fraction",
			       "only zero points of blocks have a fraction");
	if (!leaf || d->zp_sym != NULL)
		status = w->text.begin == NULL
				 ? QN_EINVALID
				 : QN_FAIL(qn_where_part(w, QN_PART_SCALE), "type.scale.stored",
					   "only numbers are stored in a format of their own");
	if (status == QN_OK && d->scale_as != QN_SCALE_AS_EXPRESSED)
		status = check_scales(w, t, d);
	if (status == QN_OK && d->zp_bits != 0)
		status = check_zero_points(w, d);
	if (status == QN_OK || w->text.begin != NULL)
		return status;
	if (d->zp_fraction != 0) /* which is what they mean */
		return QN_FAIL(w, "type.zp.stored", "a zero point is not one of %c%d.%d",
			       d->zp_signed ? 'i' : 'u', d->zp_bits, d->zp_fraction);
	d->scale_as = QN_SCALE_AS_EXPRESSED; /* other numbers than those of the text */
	d->zp_bits = 0;
	d->zp_signed = false;
	return QN_OK;
}
