/* SPDX-License-Identifier: Apache-2.0 */
/* method_mse.c - the threshold with the least sum of squared errors: what is gained in resolution
 * against what is clipped.
 *
 *   t small   fine steps, much is clipped
 *   t large   nothing is clipped, coarse steps */
#include "calibrate/method.h"

#include <math.h>

/* The values as bin centres with their counts, and the range that is tried. */
typedef struct trial {
	const qn_observer *o;
	double lo, hi;
	double levels; /* steps from lo to hi */
} trial;

static double
squared_error(double v, double step, double least, double most)
{
	double e = v - fmin(fmax(rint(v / step), least), most) * step;

	return e * e;
}

/* Of |x|: the range is [0, hi]. */
static double
cost_of_sizes(const trial *t)
{
	double step = t->hi / t->levels;
	double cost = 0;

	for (int i = 0; i < QN_HIST_HALF; i++) {
		uint64_t n = qn_observer_magnitude(t->o, i);

		if (n > 0)
			cost += (double)n *
				squared_error(ldexp(i + 0.5, t->o->exponent), step, 0, t->levels);
	}
	return cost;
}

/* Of x, on a grid of steps with 0 in it. */
static double
cost_of_values(const trial *t)
{
	double step = (t->hi - t->lo) / t->levels;
	double least = rint(t->lo / step);
	double cost = 0;

	for (int i = -QN_HIST_HALF; i < QN_HIST_HALF; i++) {
		uint64_t n = t->o->bin[i + QN_HIST_HALF];

		if (n > 0)
			cost += (double)n * squared_error(ldexp(i + 0.5, t->o->exponent), step,
							  least, least + t->levels);
	}
	return cost;
}

uint64_t
qn_cost_mse(const qn_seen *s)
{
	return (uint64_t)(QN_HIST_HALF / s->opts->param[0] + 1) * QN_HIST_BINS;
}

void
qn_finish_mse(const qn_seen *s, qn_arena *scratch, qn_finding *out)
{
	int step = (int)s->opts->param[0];
	int first = (int)fmin((double)qn_seen_levels(s), QN_HIST_HALF - 1);
	double best = (double)INFINITY;

	(void)scratch;
	qn_finding_limit(s, qn_observer_reach(s->o), out);
	if (!s->o->has_grid)
		return;
	double reach = qn_observer_reach(s->o);
	for (int i = first; i < QN_HIST_HALF; i += step) {
		double t = fmin(ldexp(i + 0.5, s->o->exponent), reach);
		qn_finding f = {0};

		qn_finding_limit(s, t, &f);
		trial now = {s->o, s->symmetric ? 0 : fmin(f.lo, 0), fmax(f.hi, 0),
			     (double)(s->symmetric ? s->qmax : s->qmax - s->qmin)};
		double cost = s->symmetric ? cost_of_sizes(&now) : cost_of_values(&now);
		if (cost < best) {
			best = cost;
			*out = f;
		}
		if (!(t < reach))
			break;
	}
}
