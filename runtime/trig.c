/* SPDX-License-Identifier: Apache-2.0 */
/* trig.c - sine, cosine, tangent and their inverses.
 *
 *   x = n pi/2 + r,  |r| <= pi/4     the product of x and the bits of 2/pi that decide about it, exact
 *   atan x = atan c + atan t,  t = (x - c) / (1 + x c),  c = k/8 the nearest: |t| <= 1/16
 *
 * Coefficients are those of the series, not fitted ones. */
#include "runtime/math.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COUNT(a) (sizeof(a) / sizeof(a)[0])
#define HALF_PI 0x1.921fb54442d18p+0
#define HALF_PI_LOW 0x1.1a62633145c07p-54
#define QUARTER_PI 0x1.921fb54442d18p-1

/* Bits of 2/pi after the point, 32 per word. */
static const uint32_t two_over_pi[38] = {
	0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab,
	0xdebbc561, 0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c, 0xfe1deb1c, 0xb129a73e,
	0xe88235f5, 0x2ebb4484, 0xe99c7026, 0xb45f7e41, 0x3991d639, 0x835339f4, 0x9c845f8b,
	0xbdf9283b, 0x1ff897ff, 0xde05980f, 0xef2f118b, 0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7,
	0x4f463f66, 0x9e5fea2d, 0x7527bac7, 0xebe5f17b, 0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1,
	0x1f8d5d08, 0x56033046, 0xfc7b6bab,
};

static double
polynomial(const double *c, size_t n, double x)
{
	double p = c[0];

	for (size_t i = 1; i < n; i++)
		p = p * x + c[i];
	return p;
}

/* ---- reduction ---- */

/* Bits i .. i + 31 of 2/pi after the point, i from -64 on; those before it are 0. */
static uint32_t
bits_at(int i)
{
	int word = (i + 64) / 32 - 2, shift = (i + 64) % 32;
	uint64_t high = word >= 0 ? two_over_pi[word] : 0;
	uint64_t low = word + 1 >= 0 ? two_over_pi[word + 1] : 0;

	return (uint32_t)((high << 32 | low) >> (32 - shift));
}

enum { LIMBS = 6 };

/* x * 2/pi mod 4 in 192 bits, 2 of them before the point, the lowest limb first.  x = m * 2^e with an
 * integer m: bits of 2/pi that stand for multiples of 4 are left out, those after the 192 make less
 * than 2^-137. */
static void
quarters(double x, uint32_t *p)
{
	int e;
	uint64_t m = (uint64_t)ldexp(frexp(x, &e), 53), carry = 0;
	uint32_t window[LIMBS], low = (uint32_t)m, high = (uint32_t)(m >> 32);

	/* the bit of weight 2^(1 - e + 53) is the first that counts */
	for (int i = 0; i < LIMBS; i++)
		window[LIMBS - 1 - i] = bits_at(e - 53 - 2 + 32 * i);
	for (int i = 0; i < LIMBS; i++) {
		uint64_t a = (uint64_t)window[i] * low;
		uint64_t b = i > 0 ? (uint64_t)window[i - 1] * high : 0;
		uint64_t sum = (a & UINT32_MAX) + (b & UINT32_MAX) + carry;

		p[i] = (uint32_t)sum;
		carry = (sum >> 32) + (a >> 32) + (b >> 32);
	}
}

/* The fraction p, less than 1/2, as two doubles. */
static qn_pair
fraction(const uint32_t *p)
{
	double sum = 0.0, rest = 0.0;

	for (int i = LIMBS - 1; i >= 0; i--) {
		qn_pair s = qn_two_sum(sum, ldexp((double)p[i], 32 * (i - LIMBS) + 2));

		sum = s.high;
		rest += s.low;
	}
	return qn_two_sum(sum, rest);
}

/* The quarter turn of x, finite and above pi/4, and how far x is from its middle. */
static int
reduced(double x, qn_pair *r)
{
	uint32_t p[LIMBS];

	quarters(x, p);
	unsigned n = p[LIMBS - 1] >> 30;
	bool above = (p[LIMBS - 1] >> 29 & 1) != 0; /* 1/2 or more: that much below the next one */
	uint32_t borrow = above ? 1 : 0;
	for (int i = 0; i < LIMBS && above; i++) {
		p[i] = ~p[i] + borrow;
		borrow = borrow != 0 && p[i] == 0;
	}
	p[LIMBS - 1] &= UINT32_C(0x3fffffff);
	qn_pair f = fraction(p);
	qn_pair y = qn_two_product(f.high, HALF_PI);
	*r = qn_two_sum(y.high, y.low + (f.high * HALF_PI_LOW + f.low * HALF_PI));
	if (above)
		*r = (qn_pair){-r->high, -r->low};
	return (int)((n + (above ? 1 : 0)) & 3);
}

/* ---- sine and cosine ---- */

/* (-1)^k / (2k + 1)! and (-1)^k / (2k)!, from the highest power down. */
static const double sine[] = {
	1.0 / 51090942171709440000.0,
	-1.0 / 121645100408832000.0,
	1.0 / 355687428096000.0,
	-1.0 / 1307674368000.0,
	1.0 / 6227020800.0,
	-1.0 / 39916800.0,
	1.0 / 362880.0,
	-1.0 / 5040.0,
	1.0 / 120.0,
	-1.0 / 6.0,
};
static const double cosine[] = {
	1.0 / 2432902008176640000.0,
	-1.0 / 6402373705728000.0,
	1.0 / 20922789888000.0,
	-1.0 / 87178291200.0,
	1.0 / 479001600.0,
	-1.0 / 3628800.0,
	1.0 / 40320.0,
	-1.0 / 720.0,
	1.0 / 24.0,
};

static double
sine_near(qn_pair r)
{
	double z = r.high * r.high;

	if (fabs(r.high) < 0x1p-27)
		return r.high;
	return r.high + (r.high * z * polynomial(sine, COUNT(sine), z) + r.low * (1.0 - 0.5 * z));
}

static double
cosine_near(qn_pair r)
{
	double z = r.high * r.high, half = 0.5 * z, w = 1.0 - half;

	return w + (((1.0 - w) - half) +
		    (z * z * polynomial(cosine, COUNT(cosine), z) - r.high * r.low));
}

/* The quarter turn and the rest of |x|. */
static int
turn(double x, qn_pair *r)
{
	if (fabs(x) > QUARTER_PI)
		return reduced(fabs(x), r);
	*r = (qn_pair){fabs(x), 0.0};
	return 0;
}

double
qn_sin(double x)
{
	qn_pair r;

	if (!(x - x == 0.0))
		return (double)NAN;
	int n = turn(x, &r);
	double y = (n & 1) != 0 ? cosine_near(r) : sine_near(r);
	return (n >= 2) != (signbit(x) != 0) ? -y : y;
}

double
qn_cos(double x)
{
	qn_pair r;

	if (!(x - x == 0.0))
		return (double)NAN;
	int n = turn(x, &r);
	double y = (n & 1) != 0 ? sine_near(r) : cosine_near(r);
	return n == 1 || n == 2 ? -y : y;
}

double
qn_tan(double x)
{
	qn_pair r;

	if (!(x - x == 0.0))
		return (double)NAN;
	int n = turn(x, &r);
	double s = sine_near(r), c = cosine_near(r), y = (n & 1) != 0 ? -c / s : s / c;
	return signbit(x) != 0 ? -y : y;
}

/* ---- inverses ---- */

/* (-1)^k / (2k + 1), from the highest power down to 1/3. */
static const double odd_inverse[] = {
	-1.0 / 15.0, 1.0 / 13.0, -1.0 / 11.0, 1.0 / 9.0, -1.0 / 7.0, 1.0 / 5.0, -1.0 / 3.0,
};

/* atan(k/8) */
static const qn_pair eighths[] = {
	{0.0, 0.0},
	{0x1.fd5ba9aac2f6ep-4, -0x1.cd37686760c17p-59},
	{0x1.f5b75f92c80ddp-3, 0x1.8ab6e3cf7afbdp-57},
	{0x1.6f61941e4def1p-2, -0x1.c63aae6f6e918p-56},
	{0x1.dac670561bb4fp-2, 0x1.a2b7f222f65e2p-56},
	{0x1.1e00babdefeb4p-1, -0x1.928df287a668fp-58},
	{0x1.4978fa3269ee1p-1, 0x1.2419a87f2a458p-56},
	{0x1.700a7c5784634p-1, -0x1.8c34d25aadef6p-56},
	{0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55},
};

/* For 0 <= x <= 1, as two doubles. */
static qn_pair
arc_below_one(double x)
{
	int k = (int)(x * 8.0 + 0.5);
	double c = (double)k / 8.0, t = (x - c) / (1.0 + x * c), z = t * t;
	double rest = t * z * polynomial(odd_inverse, COUNT(odd_inverse), z);
	qn_pair s = qn_two_sum(eighths[k].high, t);

	return (qn_pair){s.high, s.low + (rest + eighths[k].low)};
}

double
qn_atan(double x)
{
	double size = fabs(x), y;

	if (!(x == x) || size < 0x1p-27)
		return x;
	if (size <= 1.0) {
		qn_pair a = arc_below_one(size);

		y = a.high + a.low;
	} else {
		qn_pair a = arc_below_one(1.0 / size), s = qn_two_sum(HALF_PI, -a.high);

		y = s.high + (s.low + (HALF_PI_LOW - a.low));
	}
	return signbit(x) != 0 ? -y : y;
}

/* The angle whose tangent is x / sqrt(1 - x^2). */
double
qn_asin(double x)
{
	if (fabs(x) < 0x1p-27)
		return x;
	return qn_atan(x / sqrt((1.0 - x) * (1.0 + x)));
}

/* Twice the angle whose tangent is sqrt((1 - x) / (1 + x)). */
double
qn_acos(double x)
{
	return 2.0 * qn_atan(sqrt((1.0 - x) / (1.0 + x)));
}
