/* SPDX-License-Identifier: Apache-2.0 */
/* erf.c - the error function and its complement.
 *
 *   |x| < 1   erf(x) = 2/sqrt(pi) (x - x^3/3 + x^5/(2! 5) - x^7/(3! 7) + …)
 *   x >= 1    erfc(x) = e^(-x^2) / sqrt(pi) / (x + (1/2)/(x + (2/2)/(x + (3/2)/(x + …))))
 *
 * The fraction needs about 206/x^2 steps for 2^-55 at x = 1, 14 at x = 6. */
#include "runtime/math.h"

#include <math.h>

#define TWO_OVER_SQRT_PI 0x1.20dd750429b6dp+0
#define ONE_OVER_SQRT_PI 0x1.20dd750429b6dp-1
/* 2/sqrt(pi) - 1 */
#define EXCESS 0x1.06eba8214db69p-3
#define TERM(factorial, odd) (TWO_OVER_SQRT_PI / ((factorial) * (odd)))

/* Coefficients of x^(2n), n = 18 down to 1, of erf(x) / x. */
static const double series[] = {
	TERM(6402373705728000.0, 37.0),
	-TERM(355687428096000.0, 35.0),
	TERM(20922789888000.0, 33.0),
	-TERM(1307674368000.0, 31.0),
	TERM(87178291200.0, 29.0),
	-TERM(6227020800.0, 27.0),
	TERM(479001600.0, 25.0),
	-TERM(39916800.0, 23.0),
	TERM(3628800.0, 21.0),
	-TERM(362880.0, 19.0),
	TERM(40320.0, 17.0),
	-TERM(5040.0, 15.0),
	TERM(720.0, 13.0),
	-TERM(120.0, 11.0),
	TERM(24.0, 9.0),
	-TERM(6.0, 7.0),
	TERM(2.0, 5.0),
	-TERM(1.0, 3.0),
};

/* |x| < 1.  x is added last, so that most of the result carries no rounding. */
static double
near_zero(double x)
{
	double z = x * x, p = series[0];

	for (unsigned i = 1; i < sizeof series / sizeof series[0]; i++)
		p = p * z + series[i];
	return x + x * (EXCESS + z * p);
}

/* 1 <= x < 28 */
static double
tail(double x)
{
	int n = 30 + (int)(200.0 / (x * x));
	double t = x;
	qn_pair square = qn_two_product(x, x);

	for (int k = n; k > 0; k--)
		t = x + 0.5 * (double)k / t;
	return qn_exp_pair(-square.high, -square.low) * ONE_OVER_SQRT_PI / t;
}

double
qn_erf(double x)
{
	double size = fabs(x);

	if (!(x == x))
		return x;
	if (size < 1.0)
		return near_zero(x);
	double y = size < 6.0 ? 1.0 - tail(size) : 1.0;
	return x < 0.0 ? -y : y;
}

double
qn_erfc(double x)
{
	if (!(x == x))
		return x;
	if (x >= 28.0) /* below the smallest double */
		return 0.0;
	if (x >= 1.0)
		return tail(x);
	if (x > 0.25 && x < 1.0) /* what 1 - x rounds away is added again */
		return (1.0 - x) - (near_zero(x) - x);
	if (x > -1.0)
		return 1.0 - near_zero(x);
	return x > -6.0 ? 2.0 - tail(-x) : 2.0;
}
