/* SPDX-License-Identifier: Apache-2.0 */
/* method_kl.c - the threshold whose quantized distribution tells least from the real one.
 *
 *   P   what the values become when those beyond the threshold move to it    5 3 2 | 1 1  ->  5 3 4
 *   Q   the same bins when only a few levels can be told apart               5 3 2        ->  4 4 2
 *   D   sum P ln(P / Q), both smoothed and normalized to 1; the first threshold of least D is taken
 *
 * Sources: tvm.relay.quantize and src/target (MinimizeKL), onnxruntime.quantization.calibrate
 * (get_entropy_threshold); NVIDIA's "8-bit inference with TensorRT" for the one-sided form. */
#include "calibrate/method.h"

#include <math.h>
#include <string.h>

#include "runtime/math.h"

/* Empty entries get 1e-4, taken from the others in equal parts; false when that would leave one
 * of them below 0.  Entries are counts, or 0. */
static bool
smooth(double *v, size_t n)
{
	const double eps = 1e-4;
	size_t zeros = 0;

	for (size_t i = 0; i < n; i++)
		zeros += !(v[i] > 0);
	if (zeros == n)
		return false;
	double part = eps * (double)zeros / (double)(n - zeros);
	if (part >= 1)
		return false;
	for (size_t i = 0; i < n; i++)
		v[i] = v[i] > 0 ? v[i] - part : eps;
	return true;
}

static double
sum_of(const double *v, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += v[i];
	return sum;
}

/* p and q are smoothed in place; infinite when one cannot be. */
static double
divergence(double *p, double *q, size_t n)
{
	double d = 0;

	if (!smooth(p, n) || !smooth(q, n))
		return (double)INFINITY;
	double ps = sum_of(p, n);
	double qs = sum_of(q, n);
	for (size_t i = 0; i < n; i++) {
		double pn = p[i] / ps;

		d += pn * qn_ln(pn / (q[i] / qs));
	}
	return d;
}

/* ---- one-sided, on the power-of-two grid ---- */

typedef struct one_sided {
	double *hist; /* of |x|, n bins */
	size_t n;
	double *p, *q; /* room for n */
} one_sided;

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

/* Bin 0 is replaced by bin 1: the zeros of a relu need no resolution.  Counts are divided by
 * what they have in common, so that data given twice gives the same threshold. */
static void
read_grid(const qn_observer *o, qn_arena *scratch, one_sided *s)
{
	uint64_t common = 0;

	s->n = (size_t)floor(ldexp(qn_observer_reach(o), -o->exponent)) + 1;
	s->n = s->n < QN_HIST_HALF ? s->n : QN_HIST_HALF;
	s->hist = QN_NEW(scratch, double, 3 * s->n);
	s->p = s->hist + s->n;
	s->q = s->p + s->n;
	for (size_t i = 0; i < s->n; i++)
		common = gcd(common, qn_observer_magnitude(o, i > 0 || s->n == 1 ? (int)i : 1));
	for (size_t i = 0; i < s->n && common > 0; i++) {
		uint64_t count = qn_observer_magnitude(o, i > 0 || s->n == 1 ? (int)i : 1);

		count /= common; /* without a rest */
		s->hist[i] = (double)count;
	}
}

/* Level j of Q stands for the bins floor(j n / Q) … floor((j + 1) n / Q) - 1: their mean over
 * those that are not empty. */
static void
flatten_levels(const double *hist, size_t n, size_t levels, double *q)
{
	for (size_t j = 0; j < levels; j++) {
		size_t begin = j * n / levels, end = (j + 1) * n / levels, used = 0;

		for (size_t i = begin; i < end; i++)
			used += hist[i] > 0;
		double mass = sum_of(hist + begin, end - begin);
		for (size_t i = begin; i < end; i++)
			q[i] = hist[i] > 0 ? mass / (double)used : 0;
	}
}

void
qn_finish_kl(const qn_seen *s, qn_arena *scratch, qn_finding *out)
{
	size_t levels = (size_t)qn_seen_levels(s);
	double best = (double)INFINITY;
	one_sided k;
	size_t at;

	if (!s->o->has_grid)
		return;
	read_grid(s->o, scratch, &k);
	at = k.n;
	double tail = k.n > levels ? sum_of(k.hist + levels, k.n - levels) : 0;
	for (size_t i = levels; i <= k.n; i++) {
		memcpy(k.p, k.hist, i * sizeof *k.p);
		k.p[i - 1] += tail;
		flatten_levels(k.hist, i, levels, k.q);
		double d = divergence(k.p, k.q, i);
		if (d < best) {
			best = d;
			at = i;
		}
		if (i < k.n)
			tail -= k.hist[i]; /* exact: whole numbers */
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
	bool as_tvm;           /* else as ONNX Runtime */
	double *p, *q, *slice; /* room for b->n */
} two_sided;

/* The spread of one level over its bins, from `begin` to `end`. */
static void
spread(const two_sided *k, double mass, size_t begin, size_t end)
{
	const double *mark = k->as_tvm ? k->slice : k->p;
	size_t used = 0;

	for (size_t i = begin; i < end; i++)
		used += mark[i] > 0;
	if (used == 0)
		return;
	double each = mass / (double)used;
	for (size_t i = begin; i < end; i++) {
		if (!k->as_tvm)
			k->q[i] = trunc(each);
		else if (k->p[i] > 0)
			k->q[i] = each;
	}
}

/* D of the slice [a, e) of the histogram. */
static double
slice_divergence(const two_sided *k, size_t a, size_t e)
{
	const qn_bins *b = k->b;
	size_t n = e - a;
	size_t merged = n / k->levels;

	for (size_t i = 0; i < n; i++) {
		k->p[i] = k->slice[i] = (double)b->count[a + i];
		k->q[i] = 0;
	}
	if (k->as_tvm)
		k->slice[0] = 0;
	for (size_t i = 0; i < a; i++)
		k->p[0] += (double)b->count[i];
	for (size_t i = e; i < b->n; i++)
		k->p[n - 1] += (double)b->count[i];
	for (size_t j = 0; j < k->levels; j++) {
		size_t begin = j * merged;
		size_t end = begin + merged;
		bool last = j + 1 == k->levels;
		double mass = sum_of(k->slice + begin, (last ? n : end) - begin);

		spread(k, mass, begin, last && k->as_tvm ? n : end);
	}
	return divergence(k->p, k->q, n);
}

/* The slices around the middle bin, each a bin wider on both sides; the edges of the best. */
static void
search(const qn_seen *s, two_sided *k, qn_arena *scratch, double *lo, double *hi)
{
	size_t middle = k->b->n / 2;
	double best = 0;
	bool any = false;

	k->p = QN_NEW(scratch, double, 3 * k->b->n);
	k->q = k->p + k->b->n;
	k->slice = k->q + k->b->n;
	*hi = qn_observer_reach(s->o);
	*lo = -*hi;
	for (size_t i = k->levels / 2; i <= middle; i++) {
		size_t a = middle - i;
		size_t e = middle + i + 1 < k->b->n ? middle + i + 1 : k->b->n;
		double d = e - a < k->levels ? (double)INFINITY : slice_divergence(k, a, e);

		if (!any || d < best) {
			best = d;
			*lo = qn_bins_edge(k->b, a);
			*hi = qn_bins_edge(k->b, e);
		}
		any = true;
	}
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
