/* SPDX-License-Identifier: Apache-2.0 */
/* observer.c - minimum, maximum and a mergeable histogram (observer.h). */
#include "calibrate/observer.h"

#include <math.h>
#include <string.h>

#include "runtime/simd.h"

/* The smallest e with floor(x / 2^e) in [-1024, 1023], x not 0. */
static int
exponent_for(float x)
{
	int e;

	(void)frexpf(x, &e); /* |x| in [2^(e-1), 2^e) */
	e -= 10;             /* |x| / 2^e in [512, 1024) */
	/* -2^k has the bin -1024 of the next finer grid */
	if (x < 0 && ldexpf(x, -(e - 1)) == -(float)QN_HIST_HALF)
		e--;
	return e;
}

/* Adds up pairs of bins: bin i goes to floor(i / 2). */
static void
coarsen(qn_observer *o)
{
	enum { H = QN_HIST_HALF };
	uint64_t to[QN_HIST_BINS] = {0};

	for (int i = -H; i < H; i++)
		to[(i >= 0 ? i / 2 : -((1 - i) / 2)) + H] += o->bin[i + H];
	memcpy(o->bin, to, sizeof to);
	o->exponent++;
}

static void
fit(qn_observer *o, int exponent)
{
	if (!o->has_grid) {
		o->has_grid = true;
		o->exponent = exponent;
	}
	/* After 12 steps all is in the bins -1 and 0, which stay where they are. */
	for (int step = 0; o->exponent < exponent && step < 12; step++)
		coarsen(o);
	if (o->exponent < exponent)
		o->exponent = exponent;
}

/* Counts v, which is finite, in its bin. */
static void
count(qn_observer *o, float v)
{
	if (v == 0.0f) {
		o->bin[QN_HIST_HALF]++;
		return;
	}
	int e = exponent_for(v);
	if (!o->has_grid || e > o->exponent)
		fit(o, e);
	o->bin[(int)floor(ldexp((double)v, -o->exponent)) + QN_HIST_HALF]++;
}

/* v / 2^e is exact in double, and in the grid if and only if it lies in [-1024, 1024). */
static void
count_all(qn_observer *o, const float *x, size_t n)
{
	double scale = ldexp(1.0, -o->exponent);

	for (size_t i = 0; i < n; i++) {
		double at = (double)x[i] * scale;

		if (o->has_grid && at >= -QN_HIST_HALF && at < QN_HIST_HALF) {
			int bin = (int)at; /* towards 0; downwards from here */

			o->bin[bin - ((double)bin > at) + QN_HIST_HALF]++;
		} else if (isfinite(x[i])) {
			count(o, x[i]);
			scale = ldexp(1.0, -o->exponent);
		}
	}
}

/* Smallest and largest of what is finite, one by one. */
static void
widen_finite(qn_observer *o, const float *x, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		float v = x[i] + 0.0f; /* -0 counts as 0 */

		if (!isfinite(v)) {
			o->nonfinite = true;
			continue;
		}
		if (o->n == 0 || v < o->min)
			o->min = v;
		if (o->n == 0 || v > o->max)
			o->max = v;
		o->n++;
	}
}

void
qn_observer_add(qn_observer *o, const float *x, size_t n)
{
	if (n == 0)
		return;
	float lo = o->n > 0 ? o->min : x[0] + 0.0f;
	float hi = o->n > 0 ? o->max : lo;

	if (qn_simd_get(o->simd)->range(x, (int64_t)n, &lo, &hi) || !isfinite(lo) ||
	    !isfinite(hi)) {
		widen_finite(o, x, n);
	} else {
		o->min = lo;
		o->max = hi;
		o->n += n;
	}
	if (o->bin != NULL)
		count_all(o, x, n);
}

/* Adds the bins of `other`, on the coarser of both grids. */
static void
merge_bins(qn_observer *o, const qn_observer *other)
{
	uint64_t copy[QN_HIST_BINS];
	qn_observer b = *other;

	memcpy(copy, other->bin, sizeof copy);
	b.bin = copy;
	if (b.has_grid)
		fit(o, b.exponent);
	if (o->has_grid && b.has_grid)
		fit(&b, o->exponent);
	for (int i = 0; i < QN_HIST_BINS; i++)
		o->bin[i] += b.bin[i];
}

void
qn_observer_merge(qn_observer *o, const qn_observer *other)
{
	o->nonfinite = o->nonfinite || other->nonfinite;
	if (other->n == 0)
		return;
	o->min = o->n == 0 || other->min < o->min ? other->min : o->min;
	o->max = o->n == 0 || other->max > o->max ? other->max : o->max;
	o->n += other->n;
	if (o->bin != NULL)
		merge_bins(o, other);
}

static double
edge(const qn_observer *o, int bin)
{
	return ldexp((double)bin, o->exponent);
}

static void
two_sided(const qn_observer *o, double outside, double *lo, double *hi)
{
	enum { H = QN_HIST_HALF };
	double cut = outside / 2 * (double)o->n;
	double below = 0;
	int i = -H;

	/* the first bin with more than the cut up to and including it; its left edge */
	for (; i < H - 1 && below + (double)o->bin[i + H] <= cut; i++)
		below += (double)o->bin[i + H];
	*lo = edge(o, i);
	double above = 0;
	for (i = H - 1; i > -H && above + (double)o->bin[i + H] <= cut; i--)
		above += (double)o->bin[i + H];
	*hi = edge(o, i + 1);
}

static double
one_sided(const qn_observer *o, double outside)
{
	enum { H = QN_HIST_HALF };
	double cut = outside * (double)o->n;
	double above = 0;
	int i = H - 1;

	/* |x| in bin i: x in bin i or in its mirror image -i - 1 */
	for (; i > 0; i--) {
		double here = (double)(o->bin[i + H] + o->bin[-i - 1 + H]);

		if (above + here > cut)
			break;
		above += here;
	}
	return edge(o, i + 1);
}

void
qn_observer_percentile(const qn_observer *o, double percent, bool symmetric, double *lo, double *hi)
{
	double outside = (100.0 - percent) / 100.0;

	*lo = *hi = 0;
	if (o->n == 0 || !o->has_grid)
		return;
	if (symmetric) {
		double most = fmax(fabs((double)o->min), fabs((double)o->max));

		*hi = fmin(one_sided(o, outside), most);
		*lo = -*hi;
		return;
	}
	two_sided(o, outside, lo, hi);
	*lo = fmax(*lo, (double)o->min);
	*hi = fmin(*hi, (double)o->max);
}
