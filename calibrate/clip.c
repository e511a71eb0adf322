/* SPDX-License-Identifier: Apache-2.0 */
/* clip.c - see clip.h.
 *
 * Why a share: with 8 bits the least squared error of a normal distribution cuts off 0.009 % of it,
 * of a Laplace one 0.005 %; at 1 % what is cut off of a normal one makes 50 times the error of all
 * rounding.  What cuts off more than that no longer trades range against resolution, but
 * takes a part of the values for noise: the channels with the largest ones. */
#include "calibrate/clip.h"

#include <math.h>
#include <string.h>

int64_t
qn_clip_count(const qn_observer *o, double lo, double hi)
{
	bool below = lo > (double)o->min, above = hi < (double)o->max;
	uint64_t outside = 0;

	if (o->bin == NULL || o->n == 0)
		return -1;
	for (int i = -QN_HIST_HALF; o->has_grid && (below || above) && i < QN_HIST_HALF; i++)
		if ((below && ldexp(i + 1.0, o->exponent) <= lo) ||
		    (above && ldexp(i, o->exponent) >= hi))
			outside += o->bin[i + QN_HIST_HALF];
	return (int64_t)outside;
}

double
qn_clip_share(const qn_observer *o, double lo, double hi)
{
	const int64_t outside = qn_clip_count(o, lo, hi);

	return outside < 0 ? -1 : (double)outside / (double)o->n;
}

double
qn_clip_most(const qn_method_opts *o)
{
	const qn_param_row *p = o->method->param;

	for (size_t i = 0; p[i].name != NULL; i++)
		if (strcmp(p[i].name, "clip") == 0)
			return o->param[i] / 100;
	return QN_CLIP_MOST;
}

double
qn_clip_expected(const qn_method_opts *o)
{
	const qn_param_row *p = o->method->param;

	if (o->method->search != NULL)
		return 1; /* it has measured what that costs */
	if (o->method->guarded)
		return qn_clip_most(o) != QN_CLIP_MOST ? qn_clip_most(o) : 0;
	/* one bin more than the parameter says may be cut off */
	return p->name != NULL && strcmp(p->name, "p") == 0 ? (100 - o->param[0]) / 100 * 1.01 : 0;
}

void
qn_clip_guard(const qn_seen *s, qn_finding *f)
{
	qn_finding wide = {0};

	const double most = qn_clip_most(s->opts);

	if (!s->opts->method->guarded || f->pair || !(qn_clip_share(s->o, f->lo, f->hi) > most) ||
	    !s->o->has_grid)
		return;
	qn_grid_range(s, most, &wide);
	f->lo = fmin(f->lo, wide.lo);
	f->hi = fmax(f->hi, wide.hi);
}
