/* SPDX-License-Identifier: Apache-2.0 */
/* observer.c - minimum, maximum and a mergeable histogram (observer.h). */
#include "calibrate/observer.h"

#include <math.h>
#include <string.h>

#include "runtime/simd.h"

/* The smallest e with floor(x / 2^e) in [-2048, 2047], x not 0. */
static int
exponent_for(float x)
{
	int e;

	(void)frexpf(x, &e); /* |x| in [2^(e-1), 2^e) */
	e -= 11;             /* |x| / 2^e in [1024, 2048) */
	/* -2^k has the bin -2048 of the next finer grid */
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
	/* After 13 steps all is in the bins -1 and 0, which stay where they are. */
	for (int step = 0; o->exponent < exponent && step < 13; step++)
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

/* v / 2^e is exact in double, and in the grid if and only if it lies in [-2048, 2048). */
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

/* The range of what is finite, one by one; how many that are. */
static size_t
finite_range(const float *x, size_t n, float *lo, float *hi)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++) {
		float v = x[i] + 0.0f; /* -0 counts as 0 */

		if (!isfinite(v))
			continue;
		if (count == 0 || v < *lo)
			*lo = v;
		if (count == 0 || v > *hi)
			*hi = v;
		count++;
	}
	return count;
}

/* Takes in a range of n values; of equal ends the earlier batch counts. */
static void
widen(qn_observer *o, uint64_t n, float lo, uint64_t lo_at, float hi, uint64_t hi_at)
{
	/* neither below nor above: equal, both are finite */
	if (o->n == 0 || lo < o->min || (!(lo > o->min) && lo_at < o->min_at)) {
		o->min = lo;
		o->min_at = lo_at;
	}
	if (o->n == 0 || hi > o->max || (!(hi < o->max) && hi_at < o->max_at)) {
		o->max = hi;
		o->max_at = hi_at;
	}
	o->n += n;
}

static void
widen_quarter(qn_observer *o, size_t k, qn_pair_range r)
{
	qn_pair_range *q = &o->quarter[k];

	*q = o->has_quarter[k] ? (qn_pair_range){fminf(q->min, r.min), fmaxf(q->max, r.max)} : r;
	o->has_quarter[k] = true;
}

static void
add_range(qn_observer *o, uint64_t batch, const float *x, size_t n)
{
	float lo = x[0] + 0.0f;
	float hi = lo;
	size_t count = n;

	if (qn_simd_get(o->simd)->range(x, (int64_t)n, &lo, &hi) || !isfinite(lo) ||
	    !isfinite(hi)) {
		count = finite_range(x, n, &lo, &hi);
		o->nonfinite = true;
		if (count == 0)
			return;
	}
	widen(o, count, lo, batch, hi, batch);
	widen_quarter(o, (size_t)(batch % QN_QUARTERS), (qn_pair_range){lo, hi});
	if (o->pair != NULL) {
		qn_pair_range *r = &o->pair[batch - o->pair_first];

		*r = (qn_pair_range){fminf(r->min, lo), fmaxf(r->max, hi)};
	}
}

qn_pair_range *
qn_observer_pairs(qn_arena *a, size_t n)
{
	qn_pair_range *pair = QN_NEW(a, qn_pair_range, n);

	for (size_t i = 0; i < n; i++)
		pair[i] = (qn_pair_range){HUGE_VALF, -HUGE_VALF};
	return pair;
}

void
qn_observer_end_pairs(qn_pair_range *pair, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (pair[i].min > pair[i].max)
			pair[i] = (qn_pair_range){0, 0};
}

void
qn_observer_add(qn_observer *o, uint64_t batch, const float *x, size_t n)
{
	if (n == 0)
		return;
	if (!o->again) {
		add_range(o, batch, x, n);
		if (o->bin != NULL)
			count_all(o, x, n);
	}
	qn_bins_add(&o->fine, x, n);
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

bool
qn_observer_has_quarters(const qn_observer *o)
{
	for (size_t k = 0; k < QN_QUARTERS; k++)
		if (o->has_quarter[k])
			return true;
	return false;
}

/* What is not known of one part is not known of the whole. */
static void
merge_quarters(qn_observer *o, const qn_observer *other)
{
	const bool known =
		(o->n == 0 || qn_observer_has_quarters(o)) && qn_observer_has_quarters(other);

	for (size_t k = 0; k < QN_QUARTERS; k++) {
		if (known && other->has_quarter[k])
			widen_quarter(o, k, other->quarter[k]);
		o->has_quarter[k] = known && o->has_quarter[k];
	}
}

void
qn_observer_merge(qn_observer *o, const qn_observer *other)
{
	o->nonfinite = o->nonfinite || other->nonfinite;
	o->masked = o->masked || other->masked;
	for (size_t i = 0; i < o->fine.n; i++)
		o->fine.count[i] += other->fine.count[i];
	if (other->n == 0 || o->again)
		return;
	merge_quarters(o, other);
	widen(o, other->n, other->min, other->min_at, other->max, other->max_at);
	if (o->bin != NULL)
		merge_bins(o, other);
}

double
qn_observer_reach(const qn_observer *o)
{
	return o->n > 0 ? fmax(fabs((double)o->min), fabs((double)o->max)) : 0;
}

uint64_t
qn_observer_magnitude(const qn_observer *o, int i)
{
	return o->bin[i + QN_HIST_HALF] + o->bin[-i - 1 + QN_HIST_HALF];
}
