/* SPDX-License-Identifier: Apache-2.0 */
/* small_float.c - see small_float.h. */
#include "ir/small_float.h"

#include <math.h>

const qn_small_info qn_small_table[QN_NSMALL] = {
	[QN_SMALL_E4M3] = {"f8E4M3FN", 8, 4, 3, 7, QN_NAN_ALL},
	[QN_SMALL_E4M3FNUZ] = {"f8E4M3FNUZ", 8, 4, 3, 8, QN_NAN_MINUS_0},
	[QN_SMALL_E5M2] = {"f8E5M2", 8, 5, 2, 15, QN_NAN_IEEE},
	[QN_SMALL_E5M2FNUZ] = {"f8E5M2FNUZ", 8, 5, 2, 16, QN_NAN_MINUS_0},
	[QN_SMALL_E2M1] = {"f4E2M1FN", 4, 2, 1, 1, QN_NO_NAN},
};

double
qn_small_value(qn_small_float f, uint8_t bits)
{
	const qn_small_info *i = &qn_small_table[f];
	const int all = (1 << i->exponent) - 1, fraction = bits & ((1 << i->fraction) - 1);
	const int exponent = bits >> i->fraction & all;
	const bool negative = (bits >> (i->bits - 1) & 1) != 0;
	double v = ldexp(fraction, 1 - i->bias - i->fraction);

	if (exponent > 0)
		v = ldexp(fraction + (1 << i->fraction), exponent - i->bias - i->fraction);
	if (exponent == all && i->nan == QN_NAN_IEEE)
		v = fraction == 0 ? (double)INFINITY : (double)NAN;
	else if (exponent == all && i->nan == QN_NAN_ALL && fraction == (1 << i->fraction) - 1)
		v = (double)NAN;
	else if (i->nan == QN_NAN_MINUS_0 && bits == 0x80)
		v = (double)NAN;
	return negative ? -v : v;
}
