/* SPDX-License-Identifier: Apache-2.0 */
/* multiplier.c - from float values to the integers that kernels work with.
 *
 *   0.1   -> m = 1717986918, s = -3        0.1 = m * 2^(s - 31), as near as 31 bits allow
 *   6.0   -> 127 with scale 0.05, zero point 7
 *
 * The definitions are TFLite's: QuantizeMultiplier and CalculateActivationRangeQuantized. */
#include <math.h>

#include "ir/clamp.h"
#include "runtime/fixed.h"
#include "runtime/impl_util.h"

/* x >= 0 to the nearest integer, ties up; exact, for x has bits below one only when x < 2^52. */
static double
round_half_up(double x)
{
	return x < 0x1p52 ? floor(x + 0.5) : x;
}

void
qn_multiplier_split(double M, int32_t *m, int32_t *s)
{
	int exponent = 0;
	double fraction = frexp(M, &exponent);
	int64_t mantissa = (int64_t)round_half_up(fraction * 0x1p31);

	if (mantissa == INT64_C(1) << 31) {
		mantissa /= 2;
		exponent++;
	}
	if (exponent < -31)
		mantissa = exponent = 0;
	*m = (int32_t)mantissa;
	*s = exponent;
}

void
qn_multiplier_divide(int64_t n, int32_t *m, int32_t *s)
{
	int32_t shift = 0;

	while (n >> (shift + 1) != 0 && shift < 32 && shift < 31 + *s)
		shift++;
	*m = (int32_t)(((int64_t)*m * (INT64_C(1) << shift)) / n);
	*s -= shift;
}

bool
qn_multiplier(double M, int32_t mode, int32_t *m, int32_t *s)
{
	*m = *s = 0;
	if (!(M >= 0.0) || M > 1.7976931348623157e308)
		return false;
	if (M == 0.0)
		return true;
	qn_multiplier_split(M, m, s);
	if (*s <= 30)
		return true;
	if (mode != QN_RQ_SINGLE)
		return false;
	*m = INT32_MAX; /* the largest one, as in TFLite: everything but 0 saturates anyway */
	*s = 30;
	return true;
}

int64_t
qn_code_of(const qn_types *t, const qn_elem *e, double v)
{
	double scale = 1.0;
	int64_t zp = 0;

	qn_elem_param(t, e, 0, &scale, &zp);
	double quotient = (double)((float)v / (float)scale);
	if (!(quotient == quotient))
		return zp;
	if (quotient > 0x1p40)
		return e->qmax;
	if (quotient < -0x1p40)
		return e->qmin;
	int64_t magnitude = (int64_t)round_half_up(fabs(quotient));
	int64_t code = (quotient < 0.0 ? -magnitude : magnitude) + zp;
	return qn_clamp_i64(code, e->qmin, e->qmax);
}
