/* SPDX-License-Identifier: Apache-2.0 */
/* hyperbolic.c - hyperbolic sine and cosine, and the inverse functions.
 *
 *   sinh x = (t + t / (t + 1)) / 2,  t = e^x - 1         nothing cancels near 0
 *   asinh x = log(1 + x + x^2 / (1 + sqrt(1 + x^2)))     for x >= 0 */
#include "runtime/math.h"

#include <math.h>

#define LN2 0x1.62e42fefa39efp-1

/* e^x / 2 where e^x may be infinite already. */
static double
half_exp(double x)
{
	double root = qn_exp(0.5 * x);

	return x > 709.0 ? 0.5 * root * root : 0.5 * qn_exp(x);
}

double
qn_sinh(double x)
{
	double size = fabs(x), t = qn_expm1(size), y;

	if (!(x == x) || size < 0x1p-27)
		return x;
	y = size > 40.0 ? half_exp(size) : 0.5 * (t + t / (t + 1.0));
	return x < 0.0 ? -y : y;
}

double
qn_cosh(double x)
{
	double size = fabs(x), e = qn_exp(size);

	return size > 40.0 ? half_exp(size) : 0.5 * e + 0.5 / e;
}

double
qn_asinh(double x)
{
	double size = fabs(x), z = size * size, y;

	if (!(x == x) || size < 0x1p-27)
		return x;
	y = size > 0x1p28 ? qn_ln(size) + LN2 : qn_log1p(size + z / (1.0 + sqrt(1.0 + z)));
	return x < 0.0 ? -y : y;
}

double
qn_acosh(double x)
{
	double t = x - 1.0;

	if (x < 1.0)
		return (double)NAN;
	return x > 0x1p28 ? qn_ln(x) + LN2 : qn_log1p(t + sqrt(2.0 * t + t * t));
}

double
qn_atanh(double x)
{
	double size = fabs(x), y;

	if (!(x == x) || size < 0x1p-27)
		return x;
	y = 0.5 * qn_log1p(2.0 * size / (1.0 - size));
	return x < 0.0 ? -y : y;
}
