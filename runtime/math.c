/* SPDX-License-Identifier: Apache-2.0 */
/* math.c - e^x - 1, logarithm, power, hyperbolic tangent and logistic function.
 *
 *   x = 2^k * m,  sqrt(1/2) <= m < sqrt(2),  s = (m-1) / (m+1)
 *   log x = k ln 2 + 2 (s + s^3/3 + s^5/5 + …)              |s| < 0.172: 2^-58 is reached at s^23
 *   x^y = e^(y log x), with log x and the product in two doubles each
 *
 * Coefficients are those of the series, not fitted ones. */
#include "runtime/math.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#define LOG2_E 0x1.71547652b82fep+0
/* 32 bits, so that k * LN2_HIGH is exact; the rest of ln 2. */
#define LN2_HIGH 0x1.62e42fee00000p-1
#define LN2_LOW 0x1.a39ef35793c76p-33
/* 1/3 = THIRD + THIRD_LOW */
#define THIRD 0x1.5555555555555p-2
#define THIRD_LOW 0x1.5555555555555p-56

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

static double
polynomial(const double *c, size_t n, double x)
{
	double p = c[0];

	for (size_t i = 1; i < n; i++)
		p = p * x + c[i];
	return p;
}

/* 1/n!, from the highest power down to 1/2!. */
static const double inverse_factorial[] = {
	1.0 / 87178291200.0, 1.0 / 6227020800.0, 1.0 / 479001600.0, 1.0 / 39916800.0,
	1.0 / 3628800.0,     1.0 / 362880.0,     1.0 / 40320.0,     1.0 / 5040.0,
	1.0 / 720.0,         1.0 / 120.0,        1.0 / 24.0,        1.0 / 6.0,
	1.0 / 2.0,
};

/* 2^k * (e^r - 1) + (2^k - 1), with x = k ln 2 + r as in exp.c. */
double
qn_expm1(double x)
{
	if (!(x > -40.0)) /* NaN too */
		return x == x ? -1.0 : x;
	if (x > 40.0)
		return qn_exp(x) - 1.0;
	if (fabs(x) < 0x1p-54)
		return x; /* keeps -0 */
	double k = rint(x * LOG2_E);
	double high = x - k * LN2_HIGH;
	double low = k * LN2_LOW;
	double r = high - low;
	double p = polynomial(inverse_factorial, COUNT(inverse_factorial), r);
	qn_pair e = qn_two_sum(r, r * r * p + ((high - r) - low));
	double two_k = ldexp(1.0, (int)k);
	qn_pair y = qn_two_sum(two_k * e.high, two_k - 1.0);
	return y.high + (y.low + two_k * e.low);
}

/* With e = e^(-2 |x|): (1 - e) / (1 + e), written so that nothing cancels or overflows. */
double
qn_tanh(double x)
{
	double size = fabs(x), y;

	if (!(x == x) || x == 0.0)
		return x;
	if (size < 0.55) {
		double t = qn_expm1(-2.0 * size);

		y = -t / (t + 2.0);
	} else {
		double e = qn_exp(-2.0 * size);

		y = 1.0 - 2.0 * e / (1.0 + e);
	}
	return x < 0.0 ? -y : y;
}

double
qn_sigmoid(double x)
{
	double e = qn_exp(-fabs(x));

	return x < 0.0 ? e / (1.0 + e) : 1.0 / (1.0 + e);
}

/* 1/(2n+1), from n = 12 down to n = 2. */
static const double odd_inverse[] = {
	1.0 / 25.0, 1.0 / 23.0, 1.0 / 21.0, 1.0 / 19.0, 1.0 / 17.0, 1.0 / 15.0,
	1.0 / 13.0, 1.0 / 11.0, 1.0 / 9.0,  1.0 / 7.0,  1.0 / 5.0,
};

/* a / b for b = b.high + b.low. */
static qn_pair
divide(double a, qn_pair b)
{
	double q = a / b.high;
	qn_pair p = qn_two_product(q, b.high);

	return qn_two_sum(q, ((a - p.high) - p.low - q * b.low) / b.high);
}

static qn_pair
multiply(qn_pair a, qn_pair b)
{
	qn_pair p = qn_two_product(a.high, b.high);

	return qn_two_sum(p.high, p.low + (a.high * b.low + a.low * b.high));
}

static qn_pair
add(qn_pair a, qn_pair b)
{
	qn_pair s = qn_two_sum(a.high, b.high);

	return qn_two_sum(s.high, s.low + (a.low + b.low));
}

/* log x for finite x > 0, with an error below 2^-63 of it. */
static qn_pair
log_pair(double x)
{
	int k;
	double m = frexp(x, &k);

	if (m < 0x1.6a09e667f3bcdp-1) {
		m *= 2.0;
		k--;
	}
	double f = m - 1.0; /* exact */
	qn_pair s = divide(f, qn_two_sum(2.0, f));
	qn_pair square = multiply(s, s);
	qn_pair cube = multiply(multiply(square, s), (qn_pair){THIRD, THIRD_LOW});
	double z = square.high;
	double rest = s.high * z * z * polynomial(odd_inverse, COUNT(odd_inverse), z);
	qn_pair sum = add(s, add(cube, (qn_pair){rest, 0.0}));
	qn_pair log_m = {2.0 * sum.high, 2.0 * sum.low};
	return add(qn_two_sum((double)k * LN2_HIGH, (double)k * LN2_LOW), log_m);
}

double
qn_ln(double x)
{
	if (!(x == x) || x == HUGE_VAL)
		return x;
	if (x == 0.0)
		return -HUGE_VAL;
	if (x < 0.0)
		return (double)NAN;
	qn_pair y = log_pair(x);
	return y.high + y.low;
}

/* log(u + c) = log u + c / u, where c is what 1 + x lost when it was rounded to u. */
double
qn_log1p(double x)
{
	if (!(x > -1.0) || x == HUGE_VAL || fabs(x) < 0x1p-54) /* NaN too */
		return x == -1.0 ? -HUGE_VAL : x < -1.0 ? (double)NAN : x;
	qn_pair u = qn_two_sum(1.0, x);
	qn_pair y = log_pair(u.high);
	return y.high + (y.low + u.low / u.high);
}

static bool
is_integer(double y)
{
	return trunc(y) == y; /* infinities too */
}

static bool
is_odd(double y)
{
	return fabs(y) < 0x1p53 && is_integer(y) && !is_integer(y * 0.5);
}

/* |x|^y for x neither 0, 1 nor infinite, y neither 0 nor infinite. */
static double
power(double x, double y)
{
	qn_pair l = log_pair(x);
	double about = y * l.high;

	if (about > 710.0)
		return HUGE_VAL;
	if (about < -746.0)
		return 0.0;
	qn_pair p = qn_two_product(l.high, y); /* |y| < 746 * 2^53, as |log x| > 2^-54 */
	return qn_exp_pair(p.high, p.low + l.low * y);
}

double
qn_pow(double x, double y)
{
	double size = fabs(x);
	bool odd = is_odd(y);

	if (y == 0.0 || x == 1.0)
		return 1.0;
	if (!(x == x) || !(y == y))
		return x + y;
	if (x < 0.0 && x > -HUGE_VAL && !is_integer(y))
		return (double)NAN;
	double p;
	if (size == 1.0)
		p = 1.0;
	else if (size == 0.0 || size == HUGE_VAL || fabs(y) == HUGE_VAL)
		p = (size > 1.0) == (y > 0.0) ? HUGE_VAL : 0.0;
	else
		p = power(size, y);
	return odd && signbit(x) ? -p : p;
}
