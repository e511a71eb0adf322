/* SPDX-License-Identifier: Apache-2.0 */
/* test_methods_kl.c - the methods kl of Quern beside the algorithm written down once more, on whole arrays: on the
 * power-of-two grid, with spikes, ties, and few values. */
#include "tests/unit/methods_histogram.h"

#include "calibrate/entropy.h"

/* NVIDIA's form: of |x|, from 128 bins on, each level spread evenly over what is not empty. */
static size_t
ref_kl(const double *hist, size_t bins, size_t levels, bool guarded)
{
	size_t at = bins;
	double best = (double)INFINITY;

	/* differences of 1e-12 are rounding errors: of equal ones the first wins */
	for (size_t n = levels; n <= bins; n++) {
		if (guarded && n < bins && cuts_too_much(hist, bins, 0, n))
			continue;
		double *p = qn_arena_copy(&rg->arena, hist, n * sizeof *hist);
		double *q = QN_NEW(&rg->arena, double, n);

		for (size_t i = n; i < bins; i++)
			p[n - 1] += hist[i];
		for (size_t l = 0; l < levels; l++) {
			size_t from = l * n / levels, to = (l + 1) * n / levels;
			double mass = 0, used = 0;

			for (size_t i = from; i < to; i++) {
				mass += hist[i];
				used += hist[i] > 0;
			}
			for (size_t i = from; i < to; i++)
				if (hist[i] > 0)
					q[i] = mass / used;
		}
		double d = ref_entropy(p, q, n);
		if (d < best - 1e-12) {
			best = d;
			at = n;
		}
	}
	return at;
}

static uint64_t
gcd(uint64_t a, uint64_t b)
{
	return b == 0 ? a : gcd(b, a % b);
}

static void
test_kl(void **state)
{
	(void)state;
	for (int round = 0; round < 30; round++) {
		qn_statistics *s = blank("kl", 1, true);
		qn_observer *o = &s->value[0].o;
		size_t n = (size_t)pick(129, QN_HIST_HALF);
		double hist[QN_HIST_HALF];
		uint64_t common = 0;

		fill(o->bin + QN_HIST_HALF, n, round);
		o->bin[QN_HIST_HALF + n - 1]++;
		o->bin[QN_HIST_HALF] = o->bin[QN_HIST_HALF + 1];
		o->has_grid = true;
		o->max = (float)n - 0.5f;
		for (size_t i = 0; i < n; i++) {
			o->n += o->bin[QN_HIST_HALF + i];
			common = gcd(common, o->bin[QN_HIST_HALF + i]);
		}
		for (size_t i = 0; i < n; i++)
			hist[i] = (double)(o->bin[QN_HIST_HALF + i] / common);
		s->span = &(qn_span){0, 1};
		s->nspan = 1;
		/* however many zeros there are, they count as the numbers next to them */
		o->bin[QN_HIST_HALF] = (uint64_t)round * 1000;
		double want = fmin((double)ref_kl(hist, n, 128, true), (double)o->max);
		double t = finish(s).hi;
		if (t < want || t > want)
			fail_msg("round %d, %zu bins: %g, not %g", round, n, t, want);
	}
}

static int
by_count(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Counts of which a bin that has more than a quarter of a level's share and at least 17 times the middle of
 * the (up to) eight filled ones around it becomes that: bins 1 … n - 1. */
static void
ref_spikes(const uint64_t *count, size_t n, size_t levels, uint64_t *out)
{
	uint64_t all = 0;

	for (size_t i = 1; i < n; i++)
		all += count[i];
	for (size_t i = 1; i < n; i++) {
		uint64_t near[8];
		size_t have = 0, left = 4, right = 4;

		for (size_t k = i - 1; k > 0 && left > 0; k--)
			if (count[k] > 0) {
				near[have++] = count[k];
				left--;
			}
		for (size_t k = i + 1; k < n && right > 0; k++)
			if (count[k] > 0) {
				near[have++] = count[k];
				right--;
			}
		qsort(near, have, sizeof *near, by_count);
		out[i] = count[i];
		if (have >= 4 && count[i] > all / (4 * levels) && count[i] / 16 > near[have / 2])
			out[i] = near[have / 2];
	}
}

/* Bins that hold far more than those around them, at both ends and inside, do not decide. */
static void
test_kl_spikes(void **state)
{
	(void)state;
	for (int round = 0; round < 60; round++) {
		qn_statistics *s = blank("kl:clip=100", 1, true);
		qn_observer *o = &s->value[0].o;
		size_t n = (size_t)pick(140, 400);
		uint64_t *bin = o->bin + QN_HIST_HALF, *clean = QN_NEW(&rg->arena, uint64_t, n);
		uint64_t common = 0;
		double *hist = QN_NEW(&rg->arena, double, n);

		fill(bin, n, round);
		bin[n - 1]++;
		for (int k = 0; k < 12; k++) {
			const size_t at = k == 0   ? 1 + (size_t)round % 5
					  : k == 1 ? n - 1 - (size_t)round % 7
						   : (size_t)pick(1, (int64_t)n - 1);

			bin[at] = (bin[at] + 1) * (uint64_t)pick(8, 200);
		}
		o->has_grid = true;
		o->max = (float)n - 0.5f;
		ref_spikes(bin, n, 128, clean);
		clean[0] = clean[1];
		for (size_t i = 0; i < n; i++) {
			o->n += bin[i];
			common = gcd(common, clean[i]);
		}
		for (size_t i = 0; i < n; i++)
			hist[i] = (double)(clean[i] / common);
		s->span = &(qn_span){0, 1};
		s->nspan = 1;
		double want = fmin((double)ref_kl(hist, n, 128, false), (double)o->max);
		double t = finish(s).hi;
		if (t < want || t > want)
			fail_msg("round %d, %zu bins: %g, not %g", round, n, t, want);
	}
}

/* The searches go from narrow to wide: of equal divergences, and of those that differ by less than
 * the rounding of their sums, the narrowest wins. */
static void
test_kl_ties(void **state)
{
	(void)state;
	for (double best = 0; best <= 4; best += 0.25) {
		assert_false(qn_entropy_less(best, best));
		assert_false(qn_entropy_less(best + 1e-9, best));
		assert_false(qn_entropy_less(best - 0.9e-12, best));
		assert_true(qn_entropy_less(best - 1.1e-12, best));
	}
	assert_true(qn_entropy_less(0, (double)INFINITY));
	assert_false(qn_entropy_less((double)INFINITY, (double)INFINITY));
}

/* Three counts among so many empty bins that smoothing takes 0.9 from each: the series for large counts
 * has all of its terms and no more. */
static void
test_kl_sparse(void **state)
{
	static const double count[3] = {50, 100, 250};
	const double height = 400.0 / 3;
	const qn_entropy_level level[2] = {{.height = height, .sum = 400, .filled = 3},
					   {.empty = 27000}};
	qn_entropy_counts p = {0};
	double want = 0;

	(void)state;
	for (int i = 0; i < 3; i++) {
		qn_entropy_add(&p, count[i]);
		want += (count[i] - 0.9) * log((count[i] - 0.9) / (height - 0.9)) / 400;
	}
	assert_true(fabs(qn_entropy_divergence(&p, 2, level) - want) < 1e-12);
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, rig_setup, rig_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_kl),
		TEST(test_kl_spikes),
		TEST(test_kl_ties),
		TEST(test_kl_sparse),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
