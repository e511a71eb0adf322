/* SPDX-License-Identifier: Apache-2.0 */
/* growth.c - see growth.h.
 *
 * Leaving out each quarter in turn says more than to hold back the last one: of 8 samples the widest
 * one is in any given quarter only once in four times. */
#include "calibrate/growth.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/diag.h"

/* The part of [lo, hi] that is inside of what was found, 0 included; an end that lies outside of
 * what all samples reached is not theirs. */
static double
width(const qn_seen *s, const qn_finding *f, double lo, double hi)
{
	if (s->symmetric)
		return fmin(fmax(fabs(lo), fabs(hi)), f->hi);
	lo = f->lo < (double)s->o->min ? f->lo : fmax(lo, f->lo);
	hi = f->hi > (double)s->o->max ? f->hi : fmin(hi, f->hi);
	return fmax(hi, 0) - fmin(lo, 0);
}

/* Without quarter `left`; QN_QUARTERS: of all. */
static double
width_without(const qn_seen *s, const qn_finding *f, size_t left)
{
	const qn_observer *o = s->o;
	double lo = HUGE_VAL, hi = -HUGE_VAL;

	for (size_t k = 0; k < QN_QUARTERS; k++)
		if (k != left && o->has_quarter[k]) {
			lo = fmin(lo, (double)o->quarter[k].min);
			hi = fmax(hi, (double)o->quarter[k].max);
		}
	return lo <= hi ? width(s, f, lo, hi) : 0;
}

double
qn_growth(const qn_seen *s, const qn_finding *f)
{
	const double samples = (double)s->nbatch * (double)s->batch;
	const double found = s->symmetric ? f->hi : fmax(f->hi, 0) - fmin(f->lo, 0);
	double grown = 0;

	if (s->nbatch < QN_GROWTH_FEWEST || !qn_observer_has_quarters(s->o) || !(found > 0) ||
	    (s->symmetric && f->hi > qn_observer_reach(s->o)))
		return 0;
	const double all = width_without(s, f, QN_QUARTERS);
	for (size_t k = 0; k < QN_QUARTERS; k++)
		grown += all - width_without(s, f, k);
	return grown / found / samples;
}

typedef struct growing {
	double growth;
	size_t watch;
} growing;

/* The fastest first; of equal ones in the order of the graph. */
static int
by_growth(const void *a, const void *b)
{
	const growing *x = a, *y = b;

	if (x->growth < y->growth || x->growth > y->growth)
		return x->growth < y->growth ? 1 : -1;
	return (x->watch > y->watch) - (x->watch < y->watch);
}

/* So few that nothing can be said of how ranges grow. */
static void
warn_hardly_any(const qn_calibration *c, const qn_finding *f)
{
	qn_warn(c->m->env, "data.few", c->m->name,
		"%llu %s too few to calibrate on: ranges cover only the values that were seen; "
		"calibrate with more (--calib; a few hundred are usual)",
		(unsigned long long)f->samples, f->samples == 1 ? "sample is" : "samples are");
}

void
qn_growth_warn(const qn_calibration *c, const qn_finding *found)
{
	growing *list = QN_NEW(c->m->scratch, growing, c->nwatch);
	uint64_t samples = 0;
	size_t n = 0;
	qn_buf b;

	for (size_t i = 0; found != NULL && i < c->nwatch; i++)
		if (found[i].seen != NULL && found[i].samples < QN_GROWTH_FEWEST) {
			warn_hardly_any(c, &found[i]);
			return;
		}
	for (size_t i = 0; found != NULL && i < c->nwatch; i++)
		if (found[i].growth > QN_GROWTH_MOST) {
			list[n++] = (growing){found[i].growth, i};
			samples = found[i].samples;
		}
	if (n == 0)
		return;
	qsort(list, n, sizeof *list, by_growth);
	qn_buf_init(&b, c->m->scratch);
	for (size_t k = 0; k < n && k < QN_GROWTH_NAMED; k++)
		qn_buff(&b, "%s$%s by %g %%", k > 0 ? ", " : "", c->watch[list[k].watch].name,
			rint(1000 * list[k].growth) / 10);
	if (n > QN_GROWTH_NAMED)
		qn_buff(&b, " and %zu more values", n - QN_GROWTH_NAMED);
	qn_warn(c->m->env, "data.few", c->watch[list[0].watch].quantize->name,
		"%llu samples may be too few: ranges still grow with each sample, %s; calibrate "
		"with more (--calib; a few hundred are usual), or with a method that clips rare "
		"values (--method kl, percentile)",
		(unsigned long long)samples, qn_buf_str(&b));
}
