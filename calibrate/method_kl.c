/* SPDX-License-Identifier: Apache-2.0 */
/* method_kl.c - the threshold whose quantized distribution differs least from the original one.
 *
 *   P   what the values become when those beyond the threshold move to it    5 3 2 | 1 1  ->  5 3 4
 *   Q   the same bins when only a few levels can be distinguished               5 3 2        ->  4 4 2
 *   D   sum P ln(P / Q), both smoothed and normalized to 1; the first threshold of least D is taken
 *
 * Sources: tvm.relay.quantize and src/target (MinimizeKL), onnxruntime.quantization.calibrate
 * (get_entropy_threshold); NVIDIA's "8-bit inference with TensorRT" for the one-sided form. */
#include "calibrate/clip.h"
#include "calibrate/method.h"

#include <math.h>

#include "calibrate/entropy.h"
/* Sums over the first bins of a histogram: of the counts, and of those that are not empty. */
typedef struct sums {
	uint64_t mass;
	size_t used;
} sums;

static uint64_t
mass_of(const sums *s, size_t begin, size_t end)
{
	return s[end].mass - s[begin].mass;
}

static size_t
used_of(const sums *s, size_t begin, size_t end)
{
	return s[end].used - s[begin].used;
}

static sums *
sum_up(const uint64_t *hist, size_t n, qn_arena *scratch)
{
	sums *s = QN_NEW(scratch, sums, n + 1);

	for (size_t i = 0; i < n; i++)
		s[i + 1] = (sums){s[i].mass + hist[i], s[i].used + (hist[i] > 0)};
	return s;
}

/* Candidates, each with a number of levels and its counts. */
static uint64_t
cost_of(size_t candidates, size_t levels)
{
	return (uint64_t)candidates * (levels + QN_ENTROPY_SMALL);
}

/* ---- one-sided, on the power-of-two grid ---- */

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
prefix_divergence(const qn_entropy_counts *inner, const uint64_t *hist, const sums *s, size_t all,
		  size_t n, size_t levels, qn_entropy_level *level)
{
	const uint64_t end = hist[n - 1] + mass_of(s, n, all);
	qn_entropy_counts p = *inner;

	qn_entropy_add(&p, (double)end);
	/* The bins that are not empty, and one level more of all others: Q is 0 in them. */
	level[levels] = (qn_entropy_level){.empty = n};
	for (size_t j = 0; j < levels; j++) {
		size_t from = j * n / levels, to = (j + 1) * n / levels;
		size_t used = used_of(s, from, to);
		double mass = (double)mass_of(s, from, to);

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

	return cost_of(levels < QN_HIST_HALF ? QN_HIST_HALF - levels : 0, levels);
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
	const sums *sum = sum_up(hist, n, scratch);
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

/* ---- two-sided, on equal bins over [-T, T] ---- */

void
qn_plan_kl(const qn_seen *s, unsigned pass, const qn_bins *before, qn_bins *out)
{
	double reach = qn_observer_reach(s->o);

	(void)before;
	if (pass == 0 || !(reach > 0))
		return;
	*out = (qn_bins){.kind = QN_BINS_EDGES, .n = (size_t)s->opts->param[0], .lo = -reach};
	out->width = 2 * reach / (double)out->n;
}

typedef struct two_sided {
	const qn_bins *b;
	size_t levels;
	bool as_tvm; /* else as ONNX Runtime */
	const sums *sum;
	qn_entropy_counts inner; /* of the bins between the ends of the slice */
	qn_entropy_level *level; /* room for one more than levels */
} two_sided;

/* The slice [a, e) of the histogram; P has all beyond its ends in the outermost bins. */
typedef struct slice {
	size_t a, e;
	uint64_t left, right; /* what the outermost bins have in P */
} slice;

/* The bins [begin, end) of the slice, which have something in P: their number. */
static size_t
filled_of(const two_sided *k, const slice *c, size_t begin, size_t end)
{
	size_t n = used_of(k->sum, begin, end);

	n += begin == c->a && end > begin && k->b->count[c->a] == 0 && c->left > 0;
	n += end == c->e && end > begin && k->b->count[c->e - 1] == 0 && c->right > 0;
	return n;
}

/* What P has in them. */
static double
sum_of(const two_sided *k, const slice *c, size_t begin, size_t end)
{
	uint64_t n = mass_of(k->sum, begin, end);

	if (begin == c->a && end > begin)
		n += c->left - k->b->count[c->a];
	if (end == c->e && end > begin)
		n += c->right - k->b->count[c->e - 1];
	return (double)n;
}

/* TVM leaves the first bin of the slice out when it counts a level, and spreads it over the bins
 * that P has something in; the others are empty. */
static void
level_as_tvm(const two_sided *k, const slice *c, size_t begin, size_t end, qn_entropy_level *out)
{
	const size_t from = begin == c->a ? begin + 1 : begin;
	const size_t used = used_of(k->sum, from, end);
	const double mass = (double)mass_of(k->sum, from, end);

	*out = (qn_entropy_level){.height = used > 0 ? mass / (double)used : 0,
				  .sum = sum_of(k, c, begin, end),
				  .filled = filled_of(k, c, begin, end)};
}

/* ONNX Runtime counts the bins that P has something in, the last level takes what is left over, and
 * each is spread over all of its bins, in integers. */
static void
level_as_ort(const two_sided *k, const slice *c, size_t begin, size_t end, bool last,
	     qn_entropy_level *out)
{
	const size_t used = filled_of(k, c, begin, end);
	const double mass = (double)mass_of(k->sum, begin, last ? c->e : end);

	*out = (qn_entropy_level){.height = used > 0 ? trunc(mass / (double)used) : 0,
				  .sum = sum_of(k, c, begin, end),
				  .filled = used,
				  .empty = end - begin - used};
}

static double
slice_divergence(const two_sided *k, const slice *c)
{
	const size_t n = c->e - c->a, merged = n / k->levels;
	qn_entropy_level *rest = &k->level[k->levels];
	qn_entropy_counts p = k->inner;

	qn_entropy_add(&p, (double)c->left);
	qn_entropy_add(&p, (double)c->right);
	*rest = (qn_entropy_level){0};
	for (size_t j = 0; j < k->levels; j++) {
		const bool last = j + 1 == k->levels;
		const size_t begin = c->a + j * merged;
		const size_t end = last && k->as_tvm ? c->e : begin + merged;

		if (!k->as_tvm) {
			level_as_ort(k, c, begin, end, last, &k->level[j]);
			continue;
		}
		level_as_tvm(k, c, begin, end, &k->level[j]);
		rest->empty += end - begin - k->level[j].filled;
	}
	if (!k->as_tvm) {
		const size_t begin = c->a + k->levels * merged;

		rest->sum = sum_of(k, c, begin, c->e);
		rest->filled = filled_of(k, c, begin, c->e);
		rest->empty = c->e - begin - rest->filled;
	}
	return qn_entropy_divergence(&p, k->levels + 1, k->level);
}

/* The slices around the middle bin, each a bin wider on both sides; the edges of the best. */
static void
search(const qn_seen *s, two_sided *k, qn_arena *scratch, double *lo, double *hi)
{
	const qn_bins *b = k->b;
	const size_t middle = b->n / 2;
	size_t from = middle, to = middle; /* what inner holds */
	double best = 0;
	bool any = false;

	k->sum = sum_up(b->count, b->n, scratch);
	k->level = QN_NEW(scratch, qn_entropy_level, k->levels + 1);
	*hi = qn_observer_reach(s->o);
	*lo = -*hi;
	for (size_t i = k->levels / 2; i <= middle; i++) {
		slice c = {.a = middle - i, .e = middle + i + 1 < b->n ? middle + i + 1 : b->n};
		double d = (double)INFINITY;

		for (; from > c.a + 1; from--)
			qn_entropy_add(&k->inner, (double)b->count[from - 1]);
		for (; to + 1 < c.e; to++)
			qn_entropy_add(&k->inner, (double)b->count[to]);
		c.left = mass_of(k->sum, 0, c.a + 1);
		c.right = mass_of(k->sum, c.e - 1, b->n);
		if ((double)(mass_of(k->sum, 0, c.a) + mass_of(k->sum, c.e, b->n)) >
			    qn_clip_most(s->opts) * (double)mass_of(k->sum, 0, b->n) &&
		    i < middle)
			continue;
		if (c.e - c.a >= k->levels && c.e - c.a > 1)
			d = slice_divergence(k, &c);
		if (!any || qn_entropy_less(d, best)) {
			best = d;
			*lo = qn_bins_edge(b, c.a);
			*hi = qn_bins_edge(b, c.e);
		}
		any = true;
	}
}

uint64_t
qn_cost_kl_bins(const qn_seen *s)
{
	return cost_of((size_t)s->opts->param[0] / 2, (size_t)s->opts->param[1]);
}

void
qn_finish_kl_tvm(const qn_seen *s, qn_arena *scratch, qn_finding *out)
{
	two_sided k = {.b = &s->o->fine, .levels = (size_t)s->opts->param[1], .as_tvm = true};
	double lo, hi;

	if (k.b->kind == QN_BINS_NONE)
		return;
	if (!s->symmetric && s->o->min >= 0)
		k.levels = 2 * k.levels + 1;
	search(s, &k, scratch, &lo, &hi);
	qn_finding_limit(s, hi, out);
}

void
qn_finish_kl_ort(const qn_seen *s, qn_arena *scratch, qn_finding *out)
{
	two_sided k = {.b = &s->o->fine, .levels = (size_t)s->opts->param[1]};
	double lo, hi;

	if (k.b->kind == QN_BINS_NONE)
		return;
	search(s, &k, scratch, &lo, &hi);
	if (s->symmetric) {
		qn_finding_limit(s, fmax(-lo, hi), out);
		return;
	}
	out->lo = fmax(lo, (double)s->o->min);
	out->hi = fmin(hi, (double)s->o->max);
}
