/* SPDX-License-Identifier: Apache-2.0 */
/* test_methods.c - properties that every method of calibration has, and numbers on small data. */
#include "tests/unit/methods_ranges.h"

#include "calibrate/entropy.h"

/* ---- without a histogram: numbers by hand ---- */

static void
test_batches(void **state)
{
	const float x[] = {-1, 2, -3, 2, -2, 5};

	(void)state;
	range_is(find("minmax", x, 6, 3, false), -3, 5);
	range_is(find("minmax", x, 6, 3, true), -5, 5);
	range_is(find("avgmax", x, 6, 3, false), -2, 3);
	range_is(find("avgmax", x, 6, 3, true), -3, 3);
	range_is(find("ema:c=0.5", x, 6, 3, false), -2, 3.5);
	range_is(find("ema", x, 6, 3, false), -1 - 0.01 * 2 + 0.01 * (-2 + 1.02),
		 2 + 0.01 * 0 + 0.01 * 3);
	range_is(find("ema:c=0", x, 6, 3, false), -1, 2);
	range_is(find("ema:c=1", x, 6, 3, false), -2, 5);
	qn_finding f = find("avgmax_pr", x, 6, 3, true);
	assert_true(f.pair && f.zp == 0 && fabs(f.scale - 2.5 / 128) < 1e-12);
}

/* The mean of the absolute ends halves the range of what is never negative. */
static void
test_avgmax_pr_halves(void **state)
{
	const float x[] = {0, 1, 0, 1};

	(void)state;
	assert_true(find("avgmax_pr", x, 4, 2, true).scale == 1.0 / 256);
	range_is(find("avgmax", x, 4, 2, true), -1, 1);
}

/* A bin that fills the cut to its last value is cut, on either side. */
static void
test_percentile_cut(void **state)
{
	const float both[] = {-8, -8, -1, -1, 1, 1, 8, 8};
	const float most[] = {-8, -8, -8, -1, 1, 8, 8, 8};
	const double bin = 8.0 / QN_HIST_HALF * 2;

	(void)state;
	qn_finding f = find("percentile:p=50", both, 8, 1, false);
	assert_true(f.lo >= -1 - bin && f.lo <= -1 && f.hi >= 1 && f.hi <= 1 + bin);
	f = find("percentile:p=50", both, 8, 1, true);
	assert_true(f.hi >= 1 && f.hi <= 1 + bin);
	f = find("percentile:p=50", most, 8, 1, false);
	assert_true(f.lo == -8 && f.hi == 8);
}

/* Of equal ends the first batch counts, in whatever order they are seen. */
static void
test_where(void **state)
{
	const float x[] = {0, 1, 4, -3, -3, 4, 4, -3};

	(void)state;
	for (int back = 0; back < 2; back++) {
		qn_statistics *s = blank("minmax", 4, false);

		see(s, x, 8, 0, 4, back);
		assert_int_equal(s->value[0].o.max_at, 1);
		assert_int_equal(s->value[0].o.min_at, 1);
	}
}

/* ---- properties ---- */

static void
test_uniform(void **state)
{
	static const struct {
		const char *method;
		double within; /* of the largest value */
	} rows[] = {{"percentile:p=100", 1.0 / 1024},
		    {"kl", 1.0 / 1024},
		    {"percentile_tvm", 1.0 / 1024},
		    {"percentile_ort", 1.0 / 1024},
		    {"mse", 1.0 / 127},
		    {"kl_tvm:bins=801,levels=63", 2.0 / 801},
		    {"kl_ort", 1.0 / 64}};
	float *x = uniform(200000);

	(void)state;
	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		double t = find(rows[i].method, x, 200000, 1, true).hi;

		if (!(t <= 1 && t >= 1 - rows[i].within))
			fail_msg("%s: %g of 1", rows[i].method, t);
	}
}

/* One value at 50 among a million of N(0, 1). */
static void
test_outlier(void **state)
{
	enum { N = 1000000 };
	float *x = normal(N);

	(void)state;
	x[N / 3] = 50;
	for (size_t i = 0; i < NSEARCHING; i++) {
		double t = find(searching[i], x, N, 1, true).hi;

		if (!(t > 1 && t < 10))
			fail_msg("%s: threshold %g", searching[i], t);
		qn_finding f = find(searching[i], x, N, 1, false);
		/* 255 steps over both sides: the squared error of one value at 50 weighs more */
		if (!(f.hi > 1 && f.hi < 20 && f.lo < -1 && f.lo >= -7))
			fail_msg("%s: range %g to %g", searching[i], f.lo, f.hi);
	}
	assert_true(find("minmax", x, N, 1, true).hi == 50);
}

static void
test_zeros(void **state)
{
	const float x[4] = {0, -0.0f, 0, 0};

	(void)state;
	for (size_t i = 0; qn_method_row(i) != NULL; i++)
		if (qn_method_row(i)->passes > 0)
			for (int symmetric = 0; symmetric < 2; symmetric++)
				range_is(find(qn_method_row(i)->name, x, 4, 2, symmetric), 0, 0);
}

/* A single value other than 0 is inside the range, whatever the method. */
static void
test_constant(void **state)
{
	float x[100];

	(void)state;
	for (int i = 0; i < 100; i++)
		x[i] = 0.7f;
	for (size_t i = 0; qn_method_row(i) != NULL; i++) {
		const char *name = qn_method_row(i)->name;

		if (qn_method_row(i)->passes == 0 || strcmp(name, "avgmax_pr") == 0)
			continue;
		qn_finding f = find(name, x, 100, 2, true);
		if (fabs(f.hi - (double)0.7f) > 1e-3)
			fail_msg("%s: %g", name, f.hi);
	}
}

static void
test_scale(void **state)
{
	enum { N = 20000 };
	float *x = normal(N), *y = QN_NEW(&rg->arena, float, N);

	(void)state;
	x[5] = 11;
	for (int e = -40; e <= 20; e += 20) {
		for (size_t i = 0; i < N; i++)
			y[i] = ldexpf(x[i], e);
		for (size_t i = 0; i < NSEARCHING; i++)
			for (int symmetric = 0; symmetric < 2; symmetric++) {
				qn_finding a = find(searching[i], x, N, 1, symmetric);
				qn_finding b = find(searching[i], y, N, 1, symmetric);

				if (ldexp(a.lo, e) < b.lo || ldexp(a.lo, e) > b.lo ||
				    ldexp(a.hi, e) < b.hi || ldexp(a.hi, e) > b.hi)
					fail_msg("%s * 2^%d: %g to %g, then %g to %g", searching[i],
						 e, a.lo, a.hi, b.lo, b.hi);
			}
	}
}

/* The pair that is given, and its range. */
static void
test_global(void **state)
{
	const float x[] = {1, 2};

	(void)state;
	qn_finding f = find("global:scale=0.5,zero=3", x, 2, 1, false);
	assert_true(f.pair && f.scale == 0.5 && f.zp == 3);
	assert_true(f.lo == -65.5 && f.hi == 62);
	f = find("global:scale=0.25", x, 2, 1, true);
	assert_true(f.pair && f.scale == 0.25 && f.zp == 0);
	assert_true(f.lo == -31.75 && f.hi == 31.75);
}

/* The same data two and three times; avgmax and ema see them as further batches. */
static void
test_duplicates(void **state)
{
	enum { N = 20000 };
	float *x = normal(N), *y = QN_NEW(&rg->arena, float, 3 * N);

	(void)state;
	x[5] = 9;
	for (size_t i = 0; i < 3 * N; i++)
		y[i] = x[i % N];
	for (size_t times = 2; times <= 3; times++)
		for (size_t i = 0; i < 5; i++) {
			qn_finding a = find(searching[i], x, N, 1, false);
			qn_finding b = find(searching[i], y, times * N, 1, false);

			if (fabs(a.lo - b.lo) > 1e-9 || fabs(a.hi - b.hi) > 1e-9)
				fail_msg("%s, %zu times: %g to %g, then %g to %g", searching[i],
					 times, a.lo, a.hi, b.lo, b.hi);
		}
	range_is(find("avgmax", y, 2 * N, 2, true), -9, 9);
}

/* A tensor on which no two of the main methods may agree: batches of different ranges, heavy
 * tails. */
static void
test_methods_differ(void **state)
{
	enum { N = 40000 };
	static const char *const method[] = {"minmax",
					     "avgmax",
					     "ema",
					     "percentile",
					     "kl",
					     "mse",
					     "percentile_ort:p=99.9",
					     "percentile_tvm:p=99.5",
					     "kl_ort:bins=512,levels=64"};
	float *x = normal(N);
	double t[QN_COUNT(method)];

	(void)state;
	for (size_t i = 0; i < N; i++)
		x[i] = (float)pow((double)x[i], 3) * (i < N / 4 ? 0.5f : 1.0f);
	for (size_t i = 0; i < QN_COUNT(method); i++) {
		t[i] = find(method[i], x, N, 4, true).hi;
		for (size_t k = 0; k < i; k++)
			if (fabs(t[i] - t[k]) < 1e-9)
				fail_msg("%s and %s: %g", method[i], method[k], t[i]);
	}
}

/* ---- order, batches, shards ---- */

/* All passes in `n` parts, merged in descending order, batches within a part descending. */
static qn_finding
by_shards(const char *method, const float *x, size_t n, size_t nbatch, size_t nshard)
{
	qn_statistics *sum = blank(method, nbatch, false);

	for (;;) {
		qn_statistics *all = NULL;

		for (size_t k = nshard; k-- > 0;) {
			qn_statistics *s = blank(method, nbatch, false);

			*s->value = *sum->value;
			s->pass = sum->pass;
			if (!sum->value->o.again)
				s->value->o.bin = QN_NEW(&rg->arena, uint64_t, QN_HIST_BINS);
			if (s->value->o.pair != NULL)
				s->value->o.pair = qn_observer_pairs(&rg->arena, nbatch);
			if (s->value->o.fine.n > 0)
				s->value->o.fine.count =
					QN_NEW(&rg->arena, uint64_t, s->value->o.fine.n);
			see(s, x, n, k * nbatch / nshard, (k + 1) * nbatch / nshard, true);
			if (all == NULL)
				all = s;
			else
				assert_int_equal(
					qn_statistics_merge(&rg->env, &rg->arena, all, "s", s),
					QN_OK);
		}
		if (all->pass + 1 == all->method.method->passes)
			return finish(all);
		assert_int_equal(qn_statistics_next(&rg->env, &rg->arena, all), QN_OK);
		sum = all;
	}
}

static void
test_shards(void **state)
{
	enum { N = 6000, BATCHES = 24 };
	float *x = normal(N);

	(void)state;
	x[4000] = 31;
	for (size_t i = 0; qn_method_row(i) != NULL; i++) {
		const char *name = qn_method_row(i)->name;

		if (qn_method_row(i)->passes == 0)
			continue;
		if (strcmp(name, "kl_tvm") == 0)
			name = "kl_tvm:bins=401,levels=31";
		qn_finding whole = find(name, x, N, BATCHES, false);
		for (size_t nshard = 1; nshard <= 31;
		     nshard += 6) { /* also more shards than batches */
			qn_finding f = by_shards(name, x, N, BATCHES, nshard);

			if (memcmp(&f.lo, &whole.lo, sizeof f.lo) != 0 ||
			    memcmp(&f.hi, &whole.hi, sizeof f.hi) != 0 ||
			    memcmp(&f.scale, &whole.scale, sizeof f.scale) != 0)
				fail_msg("%s, %zu shards: %g to %g, the whole %g to %g", name,
					 nshard, f.lo, f.hi, whole.lo, whole.hi);
		}
	}
}

/* ---- ties ---- */

/* The kl methods take a later threshold only where its divergence is less by more than rounding gives. */
static void
test_divergence_order(void **state)
{
	(void)state;
	assert_true(qn_entropy_less(1.0, 1.0 + 1e-9));
	assert_true(qn_entropy_less(0.0, (double)INFINITY));
	assert_false(qn_entropy_less(1.0, 1.0));
	assert_false(qn_entropy_less(1.0, 1.0 + 1e-14));
	assert_false(qn_entropy_less(1.0 + 1e-9, 1.0));
	assert_false(qn_entropy_less((double)INFINITY, (double)INFINITY));
}

/* ---- text ---- */

static void
bad_text_says(const char *text, const char *id, const char *words)
{
	qn_method_opts o;

	assert_int_equal(qn_method_parse(&rg->env, &rg->arena, text, &o), QN_EUSAGE);
	assert_string_equal(rg->diags.item[0].id, id);
	if (strstr(rg->diags.item[0].message, words) == NULL)
		fail_msg("%s: %s", text, rg->diags.item[0].message);
	qn_diags_clear(&rg->env, &rg->diags);
}

static void
bad_text(const char *text, const char *id)
{
	bad_text_says(text, id, "");
}

static void
test_text(void **state)
{
	qn_method_opts o;
	qn_buf b;

	(void)state;
	qn_buf_init(&b, &rg->arena);
	assert_int_equal(qn_method_parse(&rg->env, &rg->arena, "kl_ort:levels=64,bins=4096", &o),
			 QN_OK);
	qn_method_print(&b, &o);
	assert_string_equal(qn_buf_str(&b), "kl_ort:bins=4096,levels=64");
	assert_int_equal(qn_method_parse(&rg->env, &rg->arena, NULL, &o), QN_OK);
	assert_string_equal(o.method->name, "minmax");
	bad_text("mean", "method.unknown");
	bad_text("minma", "method.unknown");
	bad_text_says("minmax:p=1", "method.param", "no parameters");
	bad_text_says("percentile:q=99", "method.param", "p");
	bad_text_says("kl_ort:q=99", "method.param", "bins, levels");
	bad_text("percentile:", "method.param");
	bad_text("percentile:p=99,", "method.param");
	bad_text("percentile:p", "method.value");
	bad_text("percentile:p=", "method.value");
	bad_text("percentile:p=nan", "method.value");
	bad_text("percentile:p=49", "method.value");
	bad_text("percentile:p=100.1", "method.value");
	bad_text("kl_ort:bins=12.5", "method.value");
	bad_text("global:zero=1e9", "method.value");
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, rig_setup, rig_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_batches),    TEST(test_avgmax_pr_halves), TEST(test_percentile_cut),
		TEST(test_where),      TEST(test_uniform),          TEST(test_outlier),
		TEST(test_zeros),      TEST(test_constant),         TEST(test_scale),
		TEST(test_duplicates), TEST(test_methods_differ),   TEST(test_shards),
		TEST(test_text),       TEST(test_divergence_order), TEST(test_global),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
