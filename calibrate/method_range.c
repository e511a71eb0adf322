/* SPDX-License-Identifier: Apache-2.0 */
/* method_range.c - methods that need no histogram: a given pair, the whole range, averages of the
 * batches' ranges.
 *
 *   batches [-1, 2] [-3, 2] [-2, 5]     minmax [-3, 5]   avgmax [-2, 3]   ema (c = 0.5) [-2, 3.5] */
#include "calibrate/method.h"

#include <math.h>

void
qn_finish_global(const qn_seen *s, qn_arena *scratch, qn_finding *out)
{
	(void)scratch;
	*out = (qn_finding){.pair = true, .scale = s->opts->param[0]};
	out->zp = (int64_t)s->opts->param[1];
	double lo = ((double)s->qmin - s->opts->param[1]) * out->scale;
	double hi = ((double)s->qmax - s->opts->param[1]) * out->scale;
	out->lo = s->symmetric ? -hi : lo;
	out->hi = hi;
}

void
qn_finish_minmax(const qn_seen *s, qn_arena *scratch, qn_finding *out)
{
	(void)scratch;
	qn_finding_limit(s, qn_observer_reach(s->o), out);
}

/* [lo, hi] as it is, or made symmetric. */
static void
found(const qn_seen *s, double lo, double hi, qn_finding *out)
{
	double t = fmax(fabs(lo), fabs(hi));

	*out = (qn_finding){.lo = s->symmetric ? -t : lo, .hi = s->symmetric ? t : hi};
}

static void
average(const qn_seen *s, double *lo, double *hi)
{
	*lo = *hi = 0;
	for (uint64_t i = 0; i < s->nbatch; i++) {
		*lo += (double)s->o->pair[i].min;
		*hi += (double)s->o->pair[i].max;
	}
	*lo /= (double)s->nbatch;
	*hi /= (double)s->nbatch;
}

void
qn_finish_avgmax(const qn_seen *s, qn_arena *scratch, qn_finding *out)
{
	double lo, hi;

	(void)scratch;
	average(s, &lo, &hi);
	found(s, lo, hi, out);
}

/* The divisor is 128, though i8 has no +128, and the threshold the mean of both ends. */
void
qn_finish_avgmax_pr(const qn_seen *s, qn_arena *scratch, qn_finding *out)
{
	double lo, hi;

	(void)scratch;
	average(s, &lo, &hi);
	double t = (fabs(lo) + fabs(hi)) / 2;
	*out = (qn_finding){.lo = -t, .hi = t};
	if (t > 0) {
		out->pair = true;
		out->scale = t / (double)(s->qmax + 1);
	}
}

void
qn_finish_ema(const qn_seen *s, qn_arena *scratch, qn_finding *out)
{
	double c = s->opts->param[0];
	double lo = (double)s->o->pair[0].min;
	double hi = (double)s->o->pair[0].max;

	(void)scratch;
	for (uint64_t i = 1; i < s->nbatch; i++) {
		lo += c * ((double)s->o->pair[i].min - lo);
		hi += c * ((double)s->o->pair[i].max - hi);
	}
	found(s, lo, hi, out);
}
