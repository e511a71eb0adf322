/* SPDX-License-Identifier: Apache-2.0 */
/* fmod.c - remainders of doubles, exact.
 *
 *   x = q * y + r,  |r| < |y|      r with the sign of x (fmod) or of y (floor_mod)
 *
 * Both are brought to integers of 53 bits, |x| = a * 2^ea and |y| = b * 2^eb; then a * 2^(ea-eb) mod b
 * is taken 10 bits at a time. */
#include "runtime/math.h"

#include <math.h>
#include <stdint.h>

enum { BITS = 10 };

double
qn_fmod(double x, double y)
{
	int ex, ey;

	if (!(x - x == 0.0) || !(y == y) || y == 0.0)
		return (double)NAN;
	if (fabs(x) < fabs(y))
		return x;
	uint64_t a = (uint64_t)ldexp(frexp(fabs(x), &ex), 53);
	uint64_t b = (uint64_t)ldexp(frexp(fabs(y), &ey), 53);
	a %= b;
	for (int left = ex - ey; left > 0; left -= BITS)
		a = (a << (left < BITS ? left : BITS)) % b;
	double r = ldexp((double)a, ey - 53);
	return signbit(x) ? -r : r;
}

double
qn_floor_mod(double x, double y)
{
	double r = qn_fmod(x, y);

	if (r == 0.0)
		return y < 0.0 ? -0.0 : 0.0;
	return (r < 0.0) != (y < 0.0) ? r + y : r;
}
