/* SPDX-License-Identifier: Apache-2.0 */
/* method_kl_bins.c - the same threshold (method_kl.c) two-sided, on equal bins over [-T, T], as TVM and
 * as ONNX Runtime find it. */
#include "calibrate/clip.h"
#include "calibrate/method.h"
#include "calibrate/method_kl.h"

#include <math.h>

#include "calibrate/entropy.h"

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
	const qn_kl_sums *sum;
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
	size_t n = qn_kl_used(k->sum, begin, end);

	n += begin == c->a && end > begin && k->b->count[c->a] == 0 && c->left > 0;
	n += end == c->e && end > begin && k->b->count[c->e - 1] == 0 && c->right > 0;
	return n;
}

/* What P has in them. */
static double
sum_of(const two_sided *k, const slice *c, size_t begin, size_t end)
{
	uint64_t n = qn_kl_mass(k->sum, begin, end);

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
	const size_t used = qn_kl_used(k->sum, from, end);
	const double mass = (double)qn_kl_mass(k->sum, from, end);

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
	const double mass = (double)qn_kl_mass(k->sum, begin, last ? c->e : end);

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

	k->sum = qn_kl_sums_of(b->count, b->n, scratch);
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
		c.left = qn_kl_mass(k->sum, 0, c.a + 1);
		c.right = qn_kl_mass(k->sum, c.e - 1, b->n);
		if ((double)(qn_kl_mass(k->sum, 0, c.a) + qn_kl_mass(k->sum, c.e, b->n)) >
			    qn_clip_most(s->opts) * (double)qn_kl_mass(k->sum, 0, b->n) &&
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
	return qn_kl_cost((size_t)s->opts->param[0] / 2, (size_t)s->opts->param[1]);
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
