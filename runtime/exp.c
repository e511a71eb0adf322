/* SPDX-License-Identifier: Apache-2.0 */
/* exp.c - e^x by reduction and a Taylor polynomial.
 *
 *   x = k * ln 2 + r,  |r| <= ln 2 / 2        e^x = 2^k * e^r
 *
 * ln 2 is split in two: the high part has 32 bits, so k * high is exact (|k| < 2^11) and so is x
 * minus it (both are close); the low part corrects what the high one lacks.  The series is cut
 * after r^14/14!, where the rest is below 2^-60.  Compiled without contraction to fused
 * multiply-add, each operation here is one IEEE operation, and the bits are the same everywhere. */
#include "runtime/exp.h"

#include <math.h>

#define LOG2_E 0x1.71547652b82fep+0
#define LN2_HIGH 0x1.62e42fee00000p-1
#define LN2_LOW 0x1.a39ef35793c76p-33

/* 1/n!, from the highest power down to 1/2!. */
static const double inverse_factorial[] = {
	1.0 / 87178291200.0, 1.0 / 6227020800.0, 1.0 / 479001600.0, 1.0 / 39916800.0,
	1.0 / 3628800.0,     1.0 / 362880.0,     1.0 / 40320.0,     1.0 / 5040.0,
	1.0 / 720.0,         1.0 / 120.0,        1.0 / 24.0,        1.0 / 6.0,
	1.0 / 2.0,
};

double
qn_exp(double x)
{
	return qn_exp_pair(x, 0.0);
}

double
qn_exp_pair(double x, double rest)
{
	if (!(x == x))
		return x;
	if (x > 709.79)
		return HUGE_VAL;
	if (x < -745.2)
		return 0.0;
	double k = rint(x * LOG2_E);
	double high = x - k * LN2_HIGH;
	double low = k * LN2_LOW;
	double r = high - low;
	double p = inverse_factorial[0];
	for (unsigned i = 1; i < sizeof inverse_factorial / sizeof inverse_factorial[0]; i++)
		p = p * r + inverse_factorial[i];
	/* 1 + r + r^2 p: what the roundings of r and of 1 + r lost joins the last term. */
	double one = 1.0 + r;
	double lost = (r - (one - 1.0)) + ((high - r) - low);
	double curved = r * r * p;
	lost += rest * (one + curved);
	return ldexp(one + (curved + lost), (int)k);
}
