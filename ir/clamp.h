/* SPDX-License-Identifier: Apache-2.0 */
/* clamp.h - the nearest number of a range, lo <= hi. */
#ifndef QN_IR_CLAMP_H
#define QN_IR_CLAMP_H

#include <stdint.h>

static inline int64_t
qn_clamp_i64(int64_t v, int64_t lo, int64_t hi)
{
	if (v < lo)
		return lo;
	return v > hi ? hi : v;
}

/* NaN stays. */
static inline double
qn_clamp_f64(double v, double lo, double hi)
{
	if (v < lo)
		return lo;
	return v > hi ? hi : v;
}

#endif
