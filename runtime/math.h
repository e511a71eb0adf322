/* SPDX-License-Identifier: Apache-2.0 */
/* math.h - functions with the same bits on every host, which no libm promises.  They use IEEE
 * operations and the exact functions of libm (sqrt, rint, frexp, ldexp, trunc …) alone.
 *
 *   results are within 1.3 units in the last place of a double (tanh 2.5, logistic 2.1, erfc 5);
 *   special values (NaN, infinities, signed zeros, domain errors) are those of C's Annex F:
 *   log(-1) is NaN. */
#ifndef QN_RUNTIME_MATH_H
#define QN_RUNTIME_MATH_H

#include "runtime/exp.h"

double qn_expm1(double x); /* e^x - 1, also where e^x is close to 1 */
double qn_ln(double x);    /* natural logarithm */
double qn_log1p(double x); /* log(1 + x), also where 1 + x is close to 1 */
double qn_pow(double x, double y);
double qn_tanh(double x);
/* x - q * y, exact, q an integer: the sign is that of x (C's fmod), or of y (Python's %). */
double qn_fmod(double x, double y);
double qn_floor_mod(double x, double y);
double qn_sin(double x); /* of any size: the reduction is exact */
double qn_cos(double x);
double qn_tan(double x);
double qn_asin(double x);
double qn_acos(double x);
double qn_atan(double x);
double qn_sinh(double x);
double qn_cosh(double x);
double qn_asinh(double x);
double qn_acosh(double x);
double qn_atanh(double x);
double qn_sigmoid(double x); /* 1 / (1 + e^-x) */
double qn_erf(double x);
double qn_erfc(double x); /* 1 - erf(x), also where erf(x) is close to 1 */

/* ---- sums and products of two doubles, each as a double and what its rounding lost ---- */

typedef struct qn_pair {
	double high, low;
} qn_pair;

/* a + b exactly (Knuth). */
static inline qn_pair
qn_two_sum(double a, double b)
{
	double s = a + b;
	double t = s - a;

	return (qn_pair){s, (a - (s - t)) + (b - t)};
}

/* a * b exactly (Dekker), for factors below 2^996 whose product does not underflow. */
static inline qn_pair
qn_two_product(double a, double b)
{
	const double split = 0x1p27 + 1.0;
	double p = a * b;
	double a1 = a * split, b1 = b * split;

	a1 = a1 - (a1 - a);
	b1 = b1 - (b1 - b);
	double a2 = a - a1, b2 = b - b1;
	return (qn_pair){p, ((a1 * b1 - p) + a1 * b2 + a2 * b1) + a2 * b2};
}

#endif
