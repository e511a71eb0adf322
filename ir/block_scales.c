/* SPDX-License-Identifier: Apache-2.0 */
/* block_scales.c - see block_scales.h. */
#include "ir/block_scales.h"

#include <math.h>

#include "ir/type_impl.h"

enum {
	DOUBLE_BITS = 53,
	MOST_OFFSET = 32600 /* units: rounding a scale moves an offset by up to 128 */
};

/* The exponent of the lowest bit that is set in a scale > 0. */
static int
lowest_bit(double s)
{
	int exponent;
	int64_t m = (int64_t)ldexp(frexp(s, &exponent), DOUBLE_BITS);

	exponent -= DOUBLE_BITS;
	for (; (m & 1) == 0; m /= 2)
		exponent++;
	return exponent;
}

bool
qn_block_scales_unit(const double *scale, size_t n, int *exponent)
{
	int lowest = INT32_MAX;

	for (size_t k = 0; k < n; k++)
		lowest = lowest_bit(scale[k]) < lowest ? lowest_bit(scale[k]) : lowest;
	*exponent = lowest;
	for (size_t k = 0; k < n; k++)
		if (!(ldexp(scale[k], -lowest) < 0x1p15))
			return false;
	return true;
}

int64_t
qn_block_along(const qn_type *type, int32_t d)
{
	const qn_elem *e = type->elem;
	int64_t block = 0;

	if (e->gran == QN_PER_AXIS)
		block = e->axis[0] == d ? 1 : 0;
	else if (e->gran == QN_SUB_CHANNEL)
		block = qn_elem_block(e, d);
	return block > 0 ? block : type->dim[d];
}

/* Block sizes and counts of the axes after the channels'; the scales of a channel, one after the other. */
static void
find_sizes(const qn_type *w, qn_block_scales *b)
{
	b->channels = w->dim[0];
	b->blocks = 1;
	for (int32_t i = 1; i < w->rank; i++) {
		b->size[i] = qn_block_along(w, i);
		b->count[i] = b->size[i] > 0 ? (w->dim[i] + b->size[i] - 1) / b->size[i] : 0;
		b->blocks *= b->count[i];
	}
}

/* The first scale of channel o: several channels may share theirs. */
static size_t
first_of(const qn_type *w, const qn_block_scales *b, int64_t o)
{
	const int64_t block = qn_elem_block(w->elem, 0);

	return block > 0 ? (size_t)(o / block * b->blocks) : 0;
}

/* Sets the offset of block `at`, whose parameters are those of index k; false: it has more than 16 bits. */
static bool
set_offset(const qn_types *t, const qn_elem *e, size_t k, int64_t at, qn_block_scales *out)
{
	const double zero = qn_elem_zero_point(t, e, k);
	const double offset = floor(0.5 - zero * out->mantissa[at]);

	if (!(fabs(offset) < 0x1p15))
		return false;
	out->offset[at] = (int16_t)offset;
	return true;
}

static bool
has_zero_points(const qn_elem *e)
{
	return e->scale->kind == QN_SCALE_VEC && e->scale->vec->zp != NULL;
}

bool
qn_block_scales_find(const qn_types *t, const qn_type *w, qn_arena *a, qn_block_scales *out)
{
	find_sizes(w, out);
	double *scale = QN_NEW(a, double, (size_t)out->blocks);
	out->unit = QN_NEW(a, double, (size_t)out->channels);
	out->mantissa = QN_NEW(a, int16_t, (size_t)(out->channels * out->blocks));
	out->offset = has_zero_points(w->elem)
			      ? QN_NEW(a, int16_t, (size_t)(out->channels * out->blocks))
			      : NULL;
	for (int64_t o = 0; o < out->channels; o++) {
		const size_t first = first_of(w, out, o);
		int unit;
		int64_t zp;

		for (int64_t k = 0; k < out->blocks; k++)
			qn_elem_param(t, w->elem, first + (size_t)k, &scale[k], &zp);
		if (!qn_block_scales_unit(scale, (size_t)out->blocks, &unit))
			return false;
		out->unit[o] = ldexp(1, unit);
		for (int64_t k = 0; k < out->blocks; k++) {
			out->mantissa[o * out->blocks + k] = (int16_t)ldexp(scale[k], -unit);
			if (out->offset != NULL &&
			    !set_offset(t, w->elem, first + (size_t)k, o * out->blocks + k, out))
				return false;
		}
	}
	return true;
}

bool
qn_block_scales_fix(double *scale, size_t n, int32_t bits, bool up)
{
	double most = 0;
	bool kept = true;

	for (size_t i = 0; i < n; i++)
		most = fmax(most, scale[i]);
	int32_t fraction = qn_fix(most, bits).fraction;
	if (up && ceil(ldexp(most, fraction)) >= ldexp(1, bits))
		fraction--;
	for (size_t i = 0; i < n; i++) {
		const double m = ldexp(scale[i], fraction);

		kept = kept && m >= 0.5;
		scale[i] = ldexp(fmax(up ? ceil(m) : floor(m + 0.5), 1), -fraction);
	}
	return kept;
}

static size_t
largest_of(const double *scale, size_t n)
{
	size_t largest = 0;

	for (size_t i = 1; i < n; i++)
		largest = scale[i] > scale[largest] ? i : largest;
	return largest;
}

/* Makes the largest of n scales that were rounded to that many bits an odd multiple of the unit. */
static void
refine(double *scale, size_t n, int32_t bits)
{
	const size_t largest = largest_of(scale, n);
	int exponent;
	const int64_t m = (int64_t)ldexp(frexp(scale[largest], &exponent), bits);

	scale[largest] = ldexp((double)(m | 1), exponent - bits);
}

/* The bits, at most so many, with which the offsets up to `far` fit; where 1 is too many, the largest scale grows. */
static int32_t
offset_bits(double *scale, size_t n, double far, int32_t bits)
{
	const size_t largest = largest_of(scale, n);
	int exponent;

	(void)frexp(scale[largest], &exponent);
	while (bits > 1 && far > ldexp(MOST_OFFSET, exponent - bits))
		bits--;
	if (far > ldexp(MOST_OFFSET, exponent - bits)) {
		(void)frexp(far / MOST_OFFSET, &exponent);
		scale[largest] = ldexp(1, exponent);
	}
	return bits;
}

bool
qn_block_scales_fix_offsets(const qn_elem *e, double *scale, double *zp, size_t n, int32_t bits,
			    qn_arena *a)
{
	double *beyond = QN_NEW(a, double, n), far = 0; /* of a zero point, in units of values */

	for (size_t i = 0; i < n; i++) {
		const double near = fmin(fmax(zp[i], (double)e->qmin), (double)e->qmax);

		far = fmax(far, fabs(zp[i]) * scale[i]);
		beyond[i] = (zp[i] - near) * scale[i];
		zp[i] = near;
	}
	const int32_t fit = offset_bits(scale, n, far, bits);
	const bool kept = qn_block_scales_fix(scale, n, fit, false);
	refine(scale, n, fit);
	for (size_t i = 0; i < n; i++)
		zp[i] += beyond[i] / scale[i];
	return kept || fit < bits;
}

void
qn_block_scales_make(const qn_type *w, size_t n, double *scale)
{
	qn_block_scales b;

	find_sizes(w, &b);
	for (size_t i = 0; b.blocks > 0 && i + (size_t)b.blocks <= n; i += (size_t)b.blocks)
		(void)qn_block_scales_fix(scale + i, (size_t)b.blocks, QN_MANTISSA_LEAST, true);
}

const qn_type *
qn_block_scales_round(qn_types *t, const char *place, const qn_type *w, int32_t bits, bool up,
		      bool *lost)
{
	const size_t n = qn_elem_nparams(w->elem);
	double *scale = QN_NEW(t->arena, double, n), *zero = QN_NEW(t->arena, double, n);
	int64_t *zp = QN_NEW(t->arena, int64_t, n), shape[QN_MAX_RANK] = {0};
	const int fraction = w->elem->zp_fraction;
	qn_block_scales b;
	const qn_params *p = NULL;
	const qn_elem *made = NULL;
	qn_elem e = *w->elem;

	find_sizes(w, &b);
	*lost = false;
	if (b.blocks < 1)
		return w; /* no element */
	for (size_t i = 0; i < n; i++) {
		qn_elem_param(t, w->elem, i, &scale[i], &zp[i]);
		zero[i] = ldexp((double)zp[i], -fraction);
	}
	for (size_t i = 0; i < n; i += (size_t)b.blocks) {
		const size_t k = (size_t)b.blocks;

		*lost = !(fraction != 0 ? qn_block_scales_fix_offsets(&e, scale + i, zero + i, k,
								      bits, t->arena)
					: qn_block_scales_fix(scale + i, k, bits, up)) ||
			*lost;
	}
	for (size_t i = 0; i < n && fraction != 0; i++)
		zp[i] = (int64_t)rint(ldexp(zero[i], fraction));
	shape[0] = (int64_t)n / b.blocks;
	for (int32_t i = 1; i < w->rank; i++)
		shape[i] = b.count[i];
	if (qn_params_intern(t, place, NULL, n, w->rank, shape, scale, zp, &p) != QN_OK)
		return NULL;
	e.scale = qn_scale_vec(t, p);
	e.zp_sym = NULL;
	return qn_elem_make(t, place, &e, &made) == QN_OK ? qn_type_with_elem(t, w, made) : NULL;
}

const qn_scale *
qn_block_scales_units(qn_types *t, const char *place, const qn_block_scales *b)
{
	const qn_params *p = NULL;
	const qn_status status =
		qn_params_intern(t, place, NULL, (size_t)b->channels, 1, NULL, b->unit, NULL, &p);

	return status == QN_OK ? qn_scale_vec(t, p) : NULL;
}
