/* SPDX-License-Identifier: Apache-2.0 */
/* method_kl.c - the threshold whose quantized distribution differs least from the original one,
 * one-sided, on the power-of-two grid.
 *
 *   P   what the values become when those beyond the threshold move to it    5 3 2 | 1 1  ->  5 3 4
 *   Q   the same bins when only a few levels can be distinguished               5 3 2        ->  4 4 2
 *   D   sum P ln(P / Q), both smoothed and normalized to 1; the first threshold of least D is taken
 *
 * Sources: tvm.relay.quantize and src/target (MinimizeKL), onnxruntime.quantization.calibrate
 * (get_entropy_threshold); NVIDIA's "8-bit inference with TensorRT" for the one-sided form. */
#include "calibrate/clip.h"
#include "calibrate/method.h"
#include "calibrate/method_kl.h"

#include <math.h>

#include "calibrate/entropy.h"

uint64_t
qn_kl_mass(const qn_kl_sums *s, size_t begin, size_t end)
{
	return s[end].mass - s[begin].mass;
}

size_t
qn_kl_used(const qn_kl_sums *s, size_t begin, size_t end)
{
	return s[end].used - s[begin].used;
}

qn_kl_sums *
qn_kl_sums_of(const uint64_t *hist, size_t n, qn_arena *scratch)
{
	qn_kl_sums *s = QN_NEW(scratch, qn_kl_sums, n + 1);

	for (size_t i = 0; i < n; i++)
		s[i + 1] = (qn_kl_sums){s[i].mass + hist[i], s[i].used + (hist[i] > 0)};
	return s;
}

uint64_t
qn_kl_cost(size_t candidates, size_t levels)
{
	return (uint64_t)candidates * (levels + QN_ENTROPY_SMALL);
}

static uint64_t
gcd(uint64_t a, uint64_t b)
{
	while (b != 0) {
		uint64_t r = a % b;

		a = b;
		b = r;
	}
	return a;
}

enum {
	AROUND = 4, /* bins on each side that are looked at */
	SPIKE = 16  /* times the middle one of them */
};

/* The middle one of the counts next to hist[at[k]], at: the n bins that are not empty. */
static uint64_t
middle_around(const uint64_t *hist, const size_t *at, size_t n, size_t k)
{
	uint64_t sorted[2 * AROUND];
	size_t have = 0;

	for (size_t i = k > AROUND ? k - AROUND : 0; i <= k + AROUND && i < n; i++) {
		size_t j = have;

		if (i == k)
			continue;
		for (; j > 0 && sorted[j - 1] > hist[at[i]]; j--)
			sorted[j] = sorted[j - 1];
		sorted[j] = hist[at[i]];
		have++;
	}
	return have >= AROUND ? sorted[have / 2] : UINT64_MAX;
}

/* A bin that holds far more than those around it stands for one number: the value of channels that
 * are constant, of padding, of a clamp.  It needs no resolution, but in a level with others it would
 * make these look alike, so that the threshold goes to where each bin is a level.  Such bins, of at
 * least a quarter of what a level has on average, become what is around them. */
static void
remove_spikes(uint64_t *hist, size_t n, size_t levels, qn_arena *scratch)
{
	const uint64_t *before = qn_arena_copy(scratch, hist, n * sizeof *hist);
	size_t *at = QN_NEW(scratch, size_t, n), filled = 0;
	uint64_t all = 0;

	for (size_t i = 1; i < n; i++) {
		all += hist[i];
		if (hist[i] > 0)
			at[filled++] = i;
	}
	for (size_t k = 0; k < filled; k++) {
		const uint64_t here = before[at[k]];

		if (here <= all / (4 * levels))
			continue;
		const uint64_t middle = middle_around(before, at, filled, k);
		if (here / SPIKE > middle)
			hist[at[k]] = middle;
	}
}

/* Bin 0 is replaced by bin 1: the zeros of a relu need no resolution; so are spikes.  Counts are
 * divided by what they have in common, so that data given twice gives the same threshold. */
static uint64_t *
read_grid(const qn_observer *o, size_t levels, qn_arena *scratch, size_t *n)
{
	uint64_t common = 0;

	*n = (size_t)floor(ldexp(qn_observer_reach(o), -o->exponent)) + 1;
	*n = *n < QN_HIST_HALF ? *n : QN_HIST_HALF;
	uint64_t *hist = QN_NEW(scratch, uint64_t, *n);
	for (size_t i = 0; i < *n; i++)
		hist[i] = qn_observer_magnitude(o, (int)i);
	remove_spikes(hist, *n, levels, scratch);
	hist[0] = *n > 1 ? hist[1] : hist[0];
	for (size_t i = 0; i < *n; i++)
		common = gcd(common, hist[i]);
	for (size_t i = 0; i < *n && common > 0; i++)
		hist[i] /= common;
	return hist;
}

/* D of the first n bins, to the last of which P adds all beyond.  Level j stands for the bins
 * floor(j n / Q) … floor((j + 1) n / Q) - 1: their mean over those that are not empty. */
static double
prefix_divergence(const qn_entropy_counts *inner, const uint64_t *hist, const qn_kl_sums *s,
		  size_t all, size_t n, size_t levels, qn_entropy_level *level)
{
	const uint64_t end = hist[n - 1] + qn_kl_mass(s, n, all);
	qn_entropy_counts p = *inner;

	qn_entropy_add(&p, (double)end);
	/* The bins that are not empty, and one level more of all others: Q is 0 in them. */
	level[levels] = (qn_entropy_level){.empty = n};
	for (size_t j = 0; j < levels; j++) {
		size_t from = j * n / levels, to = (j + 1) * n / levels;
		size_t used = qn_kl_used(s, from, to);
		double mass = (double)qn_kl_mass(s, from, to);

		level[j] = (qn_entropy_level){used > 0 ? mass / (double)used : 0, mass, used, 0};
		level[levels].empty -= used;
	}
	if (hist[n - 1] > 0) {
		level[levels - 1].sum += (double)(end - hist[n - 1]);
	} else if (end > 0) {
		level[levels].sum = (double)end;
		level[levels].filled = 1;
		level[levels].empty--;
	}
	return qn_entropy_divergence(&p, levels + 1, level);
}

/* The first candidate that cuts off no more than it may. */
static size_t
guarded_from(const qn_seen *s, size_t n, size_t levels)
{
	const double most = qn_clip_most(s->opts) * (double)s->o->n;
	double outside = 0;
	size_t i = n;

	for (; i > levels; i--) {
		outside += (double)qn_observer_magnitude(s->o, (int)i - 1);
		if (outside > most)
			break;
	}
	return i;
}

uint64_t
qn_cost_kl(const qn_seen *s)
{
	const size_t levels = (size_t)qn_seen_levels(s);

	return qn_kl_cost(levels < QN_HIST_HALF ? QN_HIST_HALF - levels : 0, levels);
}

void
qn_finish_kl(const qn_seen *s, qn_arena *scratch, qn_finding *out)
{
	size_t levels = (size_t)qn_seen_levels(s), n;
	qn_entropy_counts inner = {0};
	double best = (double)INFINITY;

	if (!s->o->has_grid)
		return;
	const uint64_t *hist = read_grid(s->o, levels, scratch, &n);
	const size_t first = guarded_from(s, n, levels);
	const qn_kl_sums *sum = qn_kl_sums_of(hist, n, scratch);
	qn_entropy_level *level = QN_NEW(scratch, qn_entropy_level, levels + 1);
	size_t at = n;
	for (size_t i = 1; i <= n; i++) {
		double d = best;

		if (i >= first)
			d = prefix_divergence(&inner, hist, sum, n, i, levels, level);
		qn_entropy_add(&inner, (double)hist[i - 1]);
		if (qn_entropy_less(d, best)) {
			best = d;
			at = i;
		}
	}
	qn_finding_limit(s, ldexp((double)at, s->o->exponent), out);
}
