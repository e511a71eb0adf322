/* SPDX-License-Identifier: Apache-2.0 */
/* entropy.c - see entropy.h. */
#include "calibrate/entropy.h"

#include <math.h>

#define EMPTY 1e-4 /* what smoothing gives an empty bin */

/* ln x of a normal x > 0, within a few units of the last place: a search takes a million of them, and
 * the correctly rounded one (runtime/math.h) takes ten times as long.
 * ln m = 2 atanh f, f = (m - 1) / (m + 1); |f| < 0.172, so f^23 / 23 is below 2^-60. */
static double
ln(double x)
{
	double series = 0;
	int e;
	double m = frexp(x, &e);

	if (m < 0x1.6a09e667f3bcdp-1) {
		m *= 2;
		e--;
	}
	const double f = (m - 1) / (m + 1), square = f * f;
	for (int k = 21; k > 0; k -= 2)
		series = series * square + 1.0 / k;
	return (double)e * 0x1.62e42fefa39efp-1 + 2 * f * series;
}

void
qn_entropy_add(qn_entropy_counts *to, double count)
{
	if (!(count > 0))
		return;
	if (count < QN_ENTROPY_SMALL) {
		to->tally[(size_t)count]++;
		return;
	}
	const double log = ln(count);
	double power = 1 / count;

	to->large++;
	to->c += count;
	to->ln += log;
	to->c_ln += count * log;
	for (size_t k = 0; k < QN_ENTROPY_POWERS; k++) {
		to->power[k] += power;
		power /= count;
	}
}

/* sum (c - d) ln (c - d), 0 <= d < 1: that of the larger counts by Taylor's series,
 * c ln c - d (ln c + 1) + sum over k >= 2 of d^k / (k (k - 1) c^(k - 1)). */
static double
sum_of_logs(const qn_entropy_counts *p, double d)
{
	double sum = p->c_ln - d * (p->ln + p->large);
	double power = d;

	for (size_t k = 2; k < QN_ENTROPY_POWERS + 2; k++) {
		power *= d;
		sum += power / (double)(k * (k - 1)) * p->power[k - 2];
	}
	for (size_t c = 1; c < QN_ENTROPY_SMALL; c++)
		if (p->tally[c] > 0)
			sum += p->tally[c] * ((double)c - d) * ln((double)c - d);
	return sum;
}

/* What is taken from each bin that is not empty; 1 or more when there is nothing to take it from. */
static double
part_taken(size_t filled, size_t empty)
{
	return filled > 0 ? EMPTY * (double)empty / (double)filled : 1;
}

double
qn_entropy_divergence(const qn_entropy_counts *p, size_t nlevel, const qn_entropy_level *level)
{
	double p_sum = 0, q_sum = 0, cross = 0;
	size_t n = 0, q_filled = 0, p_filled = 0;

	for (size_t j = 0; j < nlevel; j++) {
		const size_t bins = level[j].filled + level[j].empty;

		n += bins;
		p_filled += level[j].filled;
		p_sum += level[j].sum;
		if (level[j].height > 0) {
			q_filled += bins;
			q_sum += level[j].height * (double)bins;
		}
	}
	const double p_part = part_taken(p_filled, n - p_filled);
	const double q_part = part_taken(q_filled, n - q_filled);
	if (p_part >= 1 || q_part >= 1)
		return (double)INFINITY;
	for (size_t j = 0; j < nlevel; j++) {
		const qn_entropy_level *l = &level[j];
		double smooth = l->sum - p_part * (double)l->filled + EMPTY * (double)l->empty;

		if (l->filled + l->empty > 0)
			cross += smooth * ln(l->height > 0 ? l->height - q_part : EMPTY);
	}
	const double own = sum_of_logs(p, p_part) + EMPTY * (double)(n - p_filled) * ln(EMPTY);
	/* smoothing moves counts and adds none */
	return (own - cross) / p_sum + ln(q_sum / p_sum);
}

bool
qn_entropy_less(double d, double best)
{
	const double noise = 1e-12;

	return d < best - noise;
}
