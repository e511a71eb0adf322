/* SPDX-License-Identifier: Apache-2.0 */
/* methods_histogram.h - for tests of methods with histograms: numpy's histogram, random values. */
#ifndef TESTS_UNIT_METHODS_HISTOGRAM_H
#define TESTS_UNIT_METHODS_HISTOGRAM_H

#include "tests/unit/methods_fixture.h"

#include <math.h>

static inline bool
ref_smooth(const double *v, size_t n, double *out)
{
	double zeros = 0;

	for (size_t i = 0; i < n; i++)
		zeros += v[i] <= 0;
	double others = (double)n - zeros;
	if (others < 1 || 0.0001 * zeros / others >= 1)
		return false;
	for (size_t i = 0; i < n; i++)
		out[i] = v[i] <= 0 ? 0.0001 : v[i] - 0.0001 * zeros / others;
	return true;
}

static inline double
ref_entropy(const double *p, const double *q, size_t n)
{
	double *a = QN_NEW(&rg->arena, double, n), *b = QN_NEW(&rg->arena, double, n);
	double sa = 0, sb = 0, d = 0;

	if (!ref_smooth(p, n, a) || !ref_smooth(q, n, b))
		return (double)INFINITY;
	for (size_t i = 0; i < n; i++) {
		sa += a[i];
		sb += b[i];
	}
	for (size_t i = 0; i < n; i++)
		d += a[i] / sa * log((a[i] / sa) / (b[i] / sb)); /* libm's, not ours */
	return d;
}

/* Whether [begin, end) leaves more out than the guard lets a method cut off. */
static inline bool
cuts_too_much(const double *hist, size_t bins, size_t begin, size_t end)
{
	double all = 0, outside = 0;

	for (size_t i = 0; i < bins; i++) {
		all += hist[i];
		outside += i < begin || i >= end ? hist[i] : 0;
	}
	return outside > QN_CLIP_MOST * all;
}

/* One value in a statistics object, its bins filled at random: dense and sparse ones, of few and of
 * very many counts, with spikes. */
static inline void
fill(uint64_t *bin, size_t n, int round)
{
	static const int64_t most[] = {1, 3, 40, 5000, (int64_t)1 << 30};

	for (size_t i = 0; i < n; i++) {
		const double share = round % 3 == 0 ? 1 : round % 3 == 1 ? 0.3 : 0.02;
		const double slope = exp(-4.0 * (double)i / (double)n);

		bin[i] = unit() < share ? (uint64_t)ceil((double)pick(0, most[round % 5]) * slope)
					: 0;
	}
}

#endif
