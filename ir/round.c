/* SPDX-License-Identifier: Apache-2.0 */
/* round.c - the four float formats: rounding a double to one of them, their limits, and the bits of
 * the two 16-bit ones (IEEE 754 binary16, and bfloat16, the upper half of binary32).
 *
 *                 precision p   emin   emax      value = sign * 1.m * 2^e, emin <= e <= emax
 *     f16              11        -14     15      subnormal: sign * 0.m * 2^emin
 *     bf16              8       -126    127      unit of the last place: 2^(max(e, emin) - p + 1)
 *     f32              24       -126    127
 *     f64              53      -1022   1023 */
#include <math.h>

#include "ir/type_impl.h"

typedef struct format {
	int precision; /* bits of the significand, the hidden one included; 0: not a float */
	int emin, emax;
} format;

static const format formats[QN_NPLAIN] = {
	[QN_PLAIN_f16] = {11, -14, 15},
	[QN_PLAIN_bf16] = {8, -126, 127},
	[QN_PLAIN_f32] = {24, -126, 127},
	[QN_PLAIN_f64] = {53, -1022, 1023},
};

static const double infinite = (double)INFINITY;

qn_float_range
qn_float_limits(qn_plain float_type)
{
	const format *f = &formats[float_type];

	return (qn_float_range){
		.subnormal = ldexp(1.0, f->emin - f->precision + 1),
		.normal = ldexp(1.0, f->emin),
		.max = ldexp(2.0 - ldexp(1.0, 1 - f->precision), f->emax),
	};
}

/* Nearest, ties to even: scaled so that the unit of the last place is 1, rint does it; both
 * scalings are exact because the result has at most 24 bits and lies well inside the exponents
 * of a double. */
double
qn_round_to(qn_plain float_type, double v)
{
	const format *f = &formats[float_type];
	int e = 0;

	if (f->precision == 0 || float_type == QN_PLAIN_f64 || v == 0.0 || !isfinite(v))
		return v;
	(void)frexp(v, &e); /* v = m * 2^e, 0.5 <= |m| < 1 */
	const int unit = (e - 1 > f->emin ? e - 1 : f->emin) - f->precision + 1;
	if (e - 1 > f->emax)
		return v < 0 ? -infinite : infinite;
	const double r = ldexp(rint(ldexp(v, -unit)), unit);
	if (fabs(r) > qn_float_limits(float_type).max)
		return r < 0 ? -infinite : infinite;
	return r;
}

/* Layout: sign, then the exponent plus emax, then precision - 1 bits of the significand. */
uint16_t
qn_half_bits(qn_plain half, double v)
{
	const format *f = &formats[half];
	const int mbits = f->precision - 1;
	const double r = qn_round_to(half, v);
	const uint32_t sign = signbit(r) ? UINT32_C(0x8000) : 0;
	const uint32_t special = (uint32_t)(2 * f->emax + 1) << mbits;
	int e = 0;

	if (isnan(r))
		/* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): precision is 8 or 11 */
		return (uint16_t)(special | UINT32_C(1) << (mbits - 1)); /* the quiet one */
	if (isinf(r))
		return (uint16_t)(sign | special);
	if (r == 0.0)
		return (uint16_t)sign;
	(void)frexp(r, &e);
	e -= 1;
	if (e < f->emin)
		return (uint16_t)(sign | (uint32_t)ldexp(fabs(r), mbits - f->emin));
	const uint32_t significand = (uint32_t)ldexp(fabs(r), mbits - e); /* with the hidden bit */
	const uint32_t exponent = (uint32_t)(e + f->emax);
	/* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): likewise */
	return (uint16_t)(sign | exponent << mbits | (significand & ((UINT32_C(1) << mbits) - 1)));
}

double
qn_half_value(qn_plain half, uint16_t bits)
{
	const format *f = &formats[half];
	const int mbits = f->precision - 1;
	const uint32_t m = bits & ((UINT32_C(1) << mbits) - 1);
	const int exponent = (int)((bits & UINT32_C(0x7fff)) >> mbits);
	double v;

	if (exponent == 2 * f->emax + 1)
		v = m != 0 ? (double)NAN : infinite;
	else if (exponent == 0)
		v = ldexp((double)m, f->emin - mbits);
	else
		v = ldexp((double)(m | UINT32_C(1) << mbits), exponent - f->emax - mbits);
	return (bits & UINT32_C(0x8000)) != 0 ? -v : v;
}
