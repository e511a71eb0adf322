/* SPDX-License-Identifier: Apache-2.0 */
/* test_methods_clip.c - what methods of calibration cut off: the guard, what it costs, constant channels, search. */
#include "tests/unit/methods_ranges.h"

/* Half of the elements are the values of a few constant channels: the range is that of the others. */
static void
test_constant_channels(void **state)
{
	enum { N = 40000, ALL = 2 * N };
	static const float constant[] = {0.3125f, 0.7f, 1.03f, 1.61f, 0.11f};
	float *x = normal(N), *y = QN_NEW(&rg->arena, float, ALL);

	(void)state;
	for (size_t i = 0; i < ALL; i++)
		y[i] = i < N ? x[i] : constant[i % QN_COUNT(constant)];
	for (int symmetric = 0; symmetric < 2; symmetric++) {
		double alone = find("kl", x, N, 1, symmetric).hi;
		double both = find("kl", y, ALL, 1, symmetric).hi;

		if (!(both > 0.85 * alone && both < 1.15 * alone))
			fail_msg("%g, with constant channels %g", alone, both);
	}
}

/* Whatever a method finds, what is left of it after the guard cuts off at most QN_CLIP_MOST. */
static void
test_guard(void **state)
{
	enum { N = 20000 };
	float *x = normal(N);

	(void)state;
	/* two thirds of the elements are small, two clusters of others are far away */
	for (size_t i = 0; i < N; i++)
		x[i] = i % 3 < 2 ? x[i] / 64 : i % 2 == 0 ? 1 + x[i] / 16 : -3 + x[i] / 64;
	for (size_t i = 0; qn_method_row(i) != NULL; i++) {
		const qn_method *row = qn_method_row(i);

		if (row->passes == 0)
			continue;
		for (int symmetric = 0; symmetric < 2; symmetric++) {
			qn_statistics *s = blank(row->name, 4, symmetric);
			qn_observer *o = &s->value[0].o;
			qn_finding f = find(row->name, x, N, 4, symmetric);

			see(s, x, N, 0, 4, false);
			qn_seen seen = qn_statistics_seen(s, 0);
			const qn_finding before = f;
			qn_clip_guard(&seen, &f);
			const double share = qn_clip_share(o, f.lo, f.hi);
			if (row->guarded && share > QN_CLIP_MOST)
				fail_msg("%s clips %g", row->name, share);
			if (!row->guarded || qn_clip_share(o, before.lo, before.hi) <= QN_CLIP_MOST)
				assert_memory_equal(&f, &before, sizeof f);
		}
	}
	/* two of a hundred elements lie outside of it, by hand */
	qn_statistics *s = blank("kl", 1, true);
	for (int i = 0; i < 100; i++)
		x[i] = i < 2 ? 4 : 1;
	see(s, x, 100, 0, 1, false);
	assert_true(fabs(qn_clip_share(&s->value[0].o, -2, 2) - 0.02) < 1e-12);
	qn_seen seen = qn_statistics_seen(s, 0);
	qn_finding f = {.lo = -2, .hi = 2};
	qn_clip_guard(&seen, &f);
	range_is(f, -4, 4);
	/* clip=2 lets a method cut them off, clip=100 what it likes; more than the default was asked for */
	for (int i = 0; i < 3; i++) {
		static const char *const text[] = {"kl:clip=2", "kl_tvm:clip=100", "ema:clip=1.5"};
		static const double most[] = {0.02, 1, 0.015};

		assert_true(qn_method_parse(&rg->env, &rg->arena, text[i], &s->method) == QN_OK);
		f = (qn_finding){.lo = -2, .hi = 2};
		seen = qn_statistics_seen(s, 0);
		qn_clip_guard(&seen, &f);
		range_is(f, i < 2 ? -2 : -4, i < 2 ? 2 : 4);
		assert_true(qn_clip_most(&s->method) == most[i]);
		assert_true(qn_clip_expected(&s->method) == most[i]);
	}
	/* the default is not part of the text, which older files have without it */
	qn_buf b;
	qn_buf_init(&b, &rg->arena);
	assert_true(qn_method_parse(&rg->env, &rg->arena, "kl:clip=1", &s->method) == QN_OK);
	assert_true(qn_clip_expected(&s->method) == 0);
	qn_method_print(&b, &s->method);
	qn_buf_putc(&b, ' ');
	assert_true(qn_method_parse(&rg->env, &rg->arena, "ema:clip=0.5", &s->method) == QN_OK);
	qn_method_print(&b, &s->method);
	assert_string_equal(qn_buf_str(&b), "kl ema:c=0.01,clip=0.5");
}

/* What the search of kl may cost: a threshold for each bin above the levels; of 16 bits none. */
static void
test_cost(void **state)
{
	qn_statistics *s = blank("kl", 1, true);
	qn_seen seen = qn_statistics_seen(s, 0);
	const uint64_t few = s->method.method->cost(&seen);

	(void)state;
	assert_true(few > (uint64_t)(QN_HIST_HALF - 128) * 128);
	assert_true(few < (uint64_t)QN_HIST_HALF * (128 + 32));
	s->value[0].qmin = -32767;
	s->value[0].qmax = 32767;
	seen = qn_statistics_seen(s, 0);
	assert_true(s->method.method->cost(&seen) == 0);
}

/* The searches of kl look at those thresholds alone that cut off no more than they may. */
static void
test_clip_searches(void **state)
{
	enum { N = 20000 };
	static const char *const name[][2] = {{"kl:clip=0", "kl"}, {"kl_tvm:clip=0", "kl_tvm"}};
	float *x = normal(N);

	(void)state;
	/* long tails, which the least entropy leaves out */
	for (size_t i = 0; i < N; i++)
		x[i] = x[i] * x[i] * x[i] * x[i] * x[i];
	for (size_t i = 0; i < 2; i++) {
		const qn_finding kept = find(name[i][0], x, N, 4, true);
		const qn_finding free = find(name[i][1], x, N, 4, true);

		if (!(free.hi < kept.hi * 0.8))
			fail_msg("%s: %g, otherwise %g", name[i][0], kept.hi, free.hi);
	}
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, rig_setup, rig_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_constant_channels),
		TEST(test_guard),
		TEST(test_clip_searches),
		TEST(test_cost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
