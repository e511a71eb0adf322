/* SPDX-License-Identifier: Apache-2.0 */
/* align.c - the shifts that give two fixed-point scales one fraction. */
#include "runtime/align.h"

/* Most bits to the left.  Both summands are at most reach * (2^bits - 1) * 2^left, with reach 255 for 8
 * bits and 2^15 for 16, and their sum is below 2^31. */
static int32_t
most_left(int32_t bits, qn_family family)
{
	return (family == QN_FAMILY_s16 ? 15 : 22) - bits;
}

qn_align
qn_align_scales(double a, double b, int32_t bits, qn_family family)
{
	const qn_fixed f[2] = {qn_fix(a, bits), qn_fix(b, bits)};
	const int32_t coarse = f[0].fraction < f[1].fraction ? 0 : 1;
	const int32_t apart = f[1 - coarse].fraction - f[coarse].fraction;
	const int32_t most = most_left(bits, family);
	qn_align out = {.mantissa = {f[0].mantissa, f[1].mantissa}};

	out.loss = apart > most ? apart - most : 0;
	out.shift[coarse] = apart - out.loss;
	out.shift[1 - coarse] = out.loss > 31 ? -31 : -out.loss;
	out.fraction = f[coarse].fraction + out.shift[coarse];
	return out;
}
