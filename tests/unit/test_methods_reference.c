/* SPDX-License-Identifier: Apache-2.0 */
/* test_methods_reference.c - the methods that follow TVM and ONNX Runtime beside those algorithms
 * written down once more, from their description, on whole arrays: sorting, numpy's histogram with
 * its edges, and one step after the other. */
#include "tests/unit/methods_histogram.h"

#include <stdio.h>

#include "calibrate/entropy.h"

/* Not fmax and fmin: gcc 12 for aarch64 fails inside itself on loops of them. */
static double
larger(double a, double b)
{
	return a > b ? a : b;
}

static double
reach(const float *x, size_t n)
{
	double t = 0;

	for (size_t i = 0; i < n; i++)
		t = larger(t, fabs((double)x[i]));
	return t;
}

/* numpy.histogram(x, bins, (lo, hi)): by bisection of the edges. */
static double *
histogram(const float *x, size_t n, bool size, size_t bins, double lo, double hi, double **edges)
{
	double *hist = QN_NEW(&rg->arena, double, bins);

	*edges = QN_NEW(&rg->arena, double, bins + 1);
	for (size_t i = 0; i <= bins; i++)
		(*edges)[i] = lo + (double)i * ((hi - lo) / (double)bins);
	for (size_t k = 0; k < n; k++) {
		double v = size ? fabs((double)x[k]) : (double)x[k];
		size_t a = 0, b = bins;

		while (b - a > 1) {
			size_t m = (a + b) / 2;

			if (v >= (*edges)[m])
				a = m;
			else
				b = m;
		}
		hist[a]++;
	}
	return hist;
}

/* ---- percentiles ---- */

static int
by_size(const void *a, const void *b)
{
	double x = fabs((double)*(const float *)a), y = fabs((double)*(const float *)b);

	return (x > y) - (x < y);
}

static double
ref_percentile_tvm(const float *x, size_t n, double p)
{
	float *s = qn_arena_copy(&rg->arena, x, n * sizeof *x);
	size_t k = (size_t)((double)n * (p / 100));

	qsort(s, n, sizeof *s, by_size);
	return fabs((double)s[k < n ? k : n - 1]);
}

static void
test_percentile_tvm(void **state)
{
	static const double shares[] = {50, 75, 90.5, 99, 99.9, 99.999, 100};
	char text[64];

	(void)state;
	for (int round = 0; round < 12; round++) {
		size_t n = (size_t)pick(1, 5000);
		float *x = round % 2 ? normal(n) : uniform(n);

		for (size_t i = 0; i < n && round % 4 < 2; i++)
			x[i] = ldexpf(x[i], (int)pick(-60, 60)); /* bins of all kinds */
		for (size_t i = 0; i < QN_COUNT(shares); i++) {
			(void)snprintf(text, sizeof text, "percentile_tvm:p=%g", shares[i]);
			double t = find(text, x, n, 1, true).hi;
			double want = ref_percentile_tvm(x, n, shares[i]);

			if (t < want || t > want)
				fail_msg("%s of %zu: %.17g, not %.17g", text, n, t, want);
		}
	}
}

/* The first bin where the share up to and including it reaches p. */
static size_t
search_share(const double *hist, size_t bins, double n, double p)
{
	double sum = 0;

	for (size_t i = 0; i < bins; i++) {
		sum += hist[i];
		if (sum / n >= p)
			return i;
	}
	return bins - 1;
}

static void
test_percentile_ort(void **state)
{
	enum { N = 20000, BINS = 2048 };

	(void)state;
	for (int round = 0; round < 6; round++) {
		float *x = round % 2 ? normal(N) : uniform(N);
		double p = round < 3 ? 99.999 : 99, t, *e, *h, lo = 1e30, hi = -1e30;
		const char *text = round < 3 ? "percentile_ort" : "percentile_ort:p=99";

		x[3] = round % 3 ? 20.0f : x[3];
		t = reach(x, N);
		h = histogram(x, N, true, BINS, 0, t, &e);
		double want = fmin(e[search_share(h, BINS, N, p / 100) + 1], t);
		qn_finding f = find(text, x, N, 3, true);
		assert_true(fabs(f.hi - want) < 1e-12 && fabs(f.lo + want) < 1e-12);

		h = histogram(x, N, false, BINS, -t, t, &e);
		for (size_t i = 0; i < N; i++) {
			lo = -larger(-lo, -(double)x[i]);
			hi = larger(hi, (double)x[i]);
		}
		double c = (100 - p) / 200;
		f = find(text, x, N, 3, false);
		assert_true(fabs(f.lo - fmax(e[search_share(h, BINS, N, c)], lo)) < 1e-12);
		assert_true(fabs(f.hi - fmin(e[search_share(h, BINS, N, 1 - c) + 1], hi)) < 1e-12);
	}
}

/* ---- relative entropy ---- */

/* TVM's MinimizeKL: the slice lacks the first bin, levels count what the slice holds, and the last
 * one takes the rest. */
static double
ref_kl_tvm(const double *hist, const double *edges, size_t bins, size_t levels)
{
	size_t zero = bins / 2;
	double best = 0, threshold = 0;
	bool any = false;

	for (size_t i = levels / 2; i <= zero; i++) {
		size_t begin = zero - i, end = zero + i + 1, n = end - begin;
		if (i < zero && cuts_too_much(hist, bins, begin, end))
			continue;
		double *p = QN_NEW(&rg->arena, double, n), *s = QN_NEW(&rg->arena, double, n);
		double *q = QN_NEW(&rg->arena, double, n);

		for (size_t j = 0; j < bins; j++) {
			if (j <= begin)
				p[0] += hist[j];
			else if (j >= end)
				p[n - 1] += hist[j];
			else
				p[j - begin] += s[j - begin] = hist[j];
		}
		for (size_t l = 0; l < levels; l++) {
			size_t from = l * (n / levels);
			size_t to = l == levels - 1 ? n : from + n / levels;
			double mass = 0, used = 0;

			for (size_t k = from; k < to; k++) {
				mass += s[k];
				used += s[k] > 0;
			}
			for (size_t k = from; k < to && used > 0; k++)
				if (p[k] > 0)
					q[k] = mass / used;
		}
		double d = ref_entropy(p, q, n);
		if (!any || d < best - 1e-12) {
			best = d;
			threshold = edges[end];
		}
		any = true;
	}
	return threshold;
}

/* Threshold of a value whose tails are heavier than the threshold should care about. */
static float *
heavy(size_t n)
{
	float *x = normal(n);

	for (size_t i = 0; i < n; i++)
		x[i] = (float)pow((double)x[i], 3);
	return x;
}

static void
test_kl_tvm(void **state)
{
	enum { N = 30000, BINS = 601 };
	double *e;

	(void)state;
	for (int round = 0; round < 6; round++) {
		float *x = round % 2 ? normal(N) : heavy(N);
		bool positive = round >= 4;

		for (size_t i = 0; i < N && positive; i++)
			x[i] = fabsf(x[i]);
		double t = reach(x, N);
		double *h = histogram(x, N, false, BINS, -t, t, &e);
		double want = ref_kl_tvm(h, e, BINS, positive ? 63 : 31);
		qn_finding f = find("kl_tvm:bins=601,levels=31", x, N, 2, false);
		if (fabs(f.hi - want) > 1e-9)
			fail_msg("round %d: %g, not %g of %g", round, f.hi, want, t);
		if (round == 0)
			assert_true(want < 0.9 * t);
	}
}

/* ONNX Runtime's get_entropy_threshold: whole numbers, levels count what P holds, and the bins
 * behind the last whole level stay empty. */
static double
ref_kl_ort(const double *hist, const double *edges, size_t bins, size_t levels, double *lo)
{
	size_t zero = bins / 2;
	double best = 0, hi = 0;
	bool any = false;

	for (size_t i = levels / 2; i <= zero; i++) {
		size_t begin = zero - i, end = zero + i + 1 < bins ? zero + i + 1 : bins;
		size_t n = end - begin, merged = n / levels;
		if (i < zero && cuts_too_much(hist, bins, begin, end))
			continue;
		const double *s = hist + begin;
		double *p = qn_arena_copy(&rg->arena, s, n * sizeof *s);
		double *q = QN_NEW(&rg->arena, double, n);

		for (size_t j = 0; j < begin; j++)
			p[0] += hist[j];
		for (size_t j = end; j < bins; j++)
			p[n - 1] += hist[j];
		for (size_t l = 0; l < levels; l++) {
			double mass = 0, used = 0;

			for (size_t k = 0; k < merged; k++) {
				mass += s[l * merged + k];
				used += p[l * merged + k] > 0;
			}
			for (size_t k = levels * merged; l == levels - 1 && k < n; k++)
				mass += s[k];
			for (size_t k = 0; k < merged && used > 0; k++)
				q[l * merged + k] = floor(mass / used);
		}
		double d = ref_entropy(p, q, n);
		if (!any || d < best - 1e-12) {
			best = d;
			*lo = edges[begin];
			hi = edges[end];
		}
		any = true;
	}
	return hi;
}

static void
test_kl_ort(void **state)
{
	enum { N = 30000, BINS = 512 };
	double *e, lo = 0;

	(void)state;
	for (int round = 0; round < 4; round++) {
		float *x = round % 2 ? normal(N) : heavy(N);
		double t = reach(x, N);
		double *h = histogram(x, N, false, BINS, -t, t, &e);
		double hi = ref_kl_ort(h, e, BINS, 64, &lo);
		qn_finding f = find("kl_ort:bins=512,levels=64", x, N, 2, true);
		double want = fmin(fmax(-lo, hi), t);

		if (fabs(f.hi - want) > 1e-9)
			fail_msg("round %d: %g, not %g of %g", round, f.hi, want, t);
		if (round == 0)
			assert_true(want < 0.9 * t);
	}
}

/* ---- on the power-of-two grid ---- */

/* Equal bins filled at random: the reference sees the same counts. */
static void
test_random_bins(void **state)
{
	(void)state;
	for (int round = 0; round < 40; round++) {
		const bool tvm = round % 2 == 0;
		const size_t bins = (size_t)pick(40, 700) | tvm, levels = (size_t)pick(2, 40);
		char text[64];
		double *hist = QN_NEW(&rg->arena, double, bins), lo = 0;
		double *edges = QN_NEW(&rg->arena, double, bins + 1);

		(void)snprintf(text, sizeof text, "kl_%s:bins=%zu,levels=%zu", tvm ? "tvm" : "ort",
			       bins, levels);
		qn_statistics *s = blank(text, 1, true);
		see(s, (const float[]){-1, 1}, 2, 0, 1, false);
		assert_int_equal(qn_statistics_next(&rg->env, &rg->arena, s), QN_OK);
		qn_bins *b = &s->value[0].o.fine;
		fill(b->count, bins, round);
		b->count[bins / 2]++;
		for (size_t i = 0; i <= bins; i++)
			edges[i] = qn_bins_edge(b, i);
		for (size_t i = 0; i < bins; i++)
			hist[i] = (double)b->count[i];
		s->span = &(qn_span){0, 1};
		s->nspan = 1;
		double want = tvm ? ref_kl_tvm(hist, edges, bins, levels)
				  : ref_kl_ort(hist, edges, bins, levels, &lo);
		want = fmin(tvm ? want : fmax(-lo, want), 1);
		double t = finish(s).hi;
		if (fabs(t - want) > 1e-12)
			fail_msg("round %d, %s: %g, not %g", round, text, t, want);
	}
}

/* With as many bins as levels there is one candidate: the whole range. */
static void
test_kl_ort_default(void **state)
{
	float *x = heavy(5000);

	(void)state;
	assert_true(find("kl_ort", x, 5000, 1, true).hi >= reach(x, 5000) * (1 - 1e-12));
}

/* TVM's own numbers of bins, once, on few values: most bins are empty. */
static void
test_kl_tvm_default(void **state)
{
	enum { N = 3000, BINS = 8001 };
	float *x = heavy(N);
	double *e, t = reach(x, N);
	double *h = histogram(x, N, false, BINS, -t, t, &e);
	double f = find("kl_tvm", x, N, 1, true).hi;

	(void)state;
	assert_true(fabs(f - fmin(ref_kl_tvm(h, e, BINS, 255), t)) < 1e-9);
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, rig_setup, rig_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_percentile_tvm), TEST(test_percentile_ort), TEST(test_kl_tvm),
		TEST(test_kl_ort),         TEST(test_kl_ort_default), TEST(test_kl_tvm_default),
		TEST(test_random_bins),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
