/* SPDX-License-Identifier: Apache-2.0 */
/* methods_ranges.h - for tests of methods of calibration: those that search, and their ranges. */
#ifndef TESTS_UNIT_METHODS_RANGES_H
#define TESTS_UNIT_METHODS_RANGES_H

#include "tests/unit/methods_fixture.h"

#include <math.h>

#include "calibrate/clip.h"

/* Methods that choose a threshold from a histogram. */
static const char *const searching[] = {"percentile",
					"kl",
					"mse",
					"percentile_tvm",
					"percentile_ort",
					"kl_tvm:bins=801,levels=63",
					"kl_ort:bins=512,levels=64"};
enum { NSEARCHING = sizeof searching / sizeof searching[0] };

static inline void
range_is(qn_finding f, double lo, double hi)
{
	if (fabs(f.lo - lo) > 1e-6 || fabs(f.hi - hi) > 1e-6)
		fail_msg("range %g to %g, expected %g to %g", f.lo, f.hi, lo, hi);
}

#endif
