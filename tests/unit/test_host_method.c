/* SPDX-License-Identifier: Apache-2.0 */
/* test_host_method.c - calibration methods of a host: found by name, told what was observed, the same
 * with threads and through statistics. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "quern/calibrate.h"

/* The whole range, computed three ways, times the first parameter. */
static int
scaled(void *user, const double *param, const qn_observed *v, double *lo, double *hi)
{
	uint64_t count = 0;
	double min = 1e30, max = -1e30;

	(void)user;
	for (size_t i = 0; i < v->nbin; i++) {
		const double from = v->first + (double)i * v->width;

		count += v->bin[i];
		if (v->bin[i] > 0 && (from > v->max || from + v->width < v->min))
			return 1;
	}
	for (size_t i = 0; i < v->nbatch; i++) {
		min = (double)v->batch_min[i] < min ? (double)v->batch_min[i] : min;
		max = (double)v->batch_max[i] > max ? (double)v->batch_max[i] : max;
	}
	if (v->size != sizeof *v || count != v->count || min != v->min || max != v->max ||
	    strchr(v->name, '.') == NULL || v->lo != -128 || v->hi != 127)
		return 1;
	*lo = v->min * param[0];
	*hi = v->max * param[0];
	return 0;
}

static const qn_method_param factor[] = {{"factor", 1, 0.5, 2}};
static const qn_method_desc method = {.size = sizeof method,
				      .name = "test.scaled",
				      .nparam = 1,
				      .param = factor,
				      .range = scaled};

static int
keep(void *user, const char *text, size_t n)
{
	char *to = user;

	assert_true(strlen(to) + n < 200000);
	strncat(to, text, n);
	return 0;
}

static qn_array *
calib_of(qn_ctx *ctx)
{
	qn_array *x;

	assert_int_equal(qn_array_load(ctx, "examples/digits/calib.npy", &x), QN_OK);
	return x;
}

/* The text of the example after calibration by a method. */
static qn_status
calibrated(qn_ctx *ctx, const char *name, char *to)
{
	qn_array *x = calib_of(ctx);
	qn_compile_opts o = {.calib = &x, .ncalib = 1, .method = name, .stop_after = "bind"};
	qn_model *m;

	assert_int_equal(qn_load(ctx, "examples/digits/digits.json", &m), QN_OK);
	const qn_status status = qn_compile(m, &o);
	to[0] = '\0';
	if (status == QN_OK)
		assert_int_equal(qn_print(m, QN_FORMAT_IR, keep, to), QN_OK);
	return status;
}

static char want[200000], got[200000];

static void
is_found_by_its_name(void **state)
{
	qn_ctx *ctx = qn_open(&(qn_config){.threads = 3});

	(void)state;
	assert_int_equal(calibrated(ctx, "minmax", want), QN_OK);
	assert_int_equal(calibrated(ctx, "test.scaled", got), QN_EUSAGE);
	assert_string_equal(qn_diag_get(ctx, 0).id, "method.unknown");
	qn_diag_clear(ctx);
	assert_int_equal(qn_method_register(ctx, &method), QN_OK);
	assert_int_equal(calibrated(ctx, "test.scaled", got), QN_OK);
	/* all but the line of the options, which names the method */
	assert_string_equal(strstr(got, "\nsymbol"), strstr(want, "\nsymbol"));
	assert_int_equal(calibrated(ctx, "test.scaled:factor=0.5", got), QN_OK);
	assert_string_not_equal(strstr(got, "\nsymbol"), strstr(want, "\nsymbol"));
	qn_diag_clear(ctx); /* a warning of what is clipped */
	assert_int_equal(calibrated(ctx, "test.scaled:factor=3", got), QN_EUSAGE);
	assert_string_equal(qn_diag_get(ctx, 0).id, "method.value");
	qn_diag_clear(ctx);
	/* a typo names it */
	assert_int_equal(calibrated(ctx, "test.scald", got), QN_EUSAGE);
	assert_non_null(strstr(qn_diag_get(ctx, 0).message, "test.scaled"));
	qn_close(ctx);
}

/* In parts, merged, and read back by a context that knows the method too. */
static void
goes_through_statistics(void **state)
{
	qn_ctx *ctx = qn_open(NULL);
	qn_array *x = calib_of(ctx);
	qn_compile_opts o = {.calib = &x, .ncalib = 1, .method = "test.scaled:factor=0.75"};
	qn_stats *part[2], *all;
	qn_model *m;

	(void)state;
	assert_int_equal(qn_method_register(ctx, &method), QN_OK);
	assert_int_equal(calibrated(ctx, o.method, want), QN_OK);
	assert_int_equal(qn_load(ctx, "examples/digits/digits.json", &m), QN_OK);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(qn_calibrate(m, &o, i + 1, 2, &part[i]), QN_OK);
		assert_int_equal(qn_stats_complete(part[i]), 0);
	}
	assert_int_equal(qn_stats_merge(ctx, 2, part, NULL, &all), QN_OK);
	assert_int_equal(qn_stats_complete(all), 1);
	assert_int_equal(qn_compile(m, &(qn_compile_opts){.stats = all, .stop_after = "bind"}),
			 QN_OK);
	got[0] = '\0';
	assert_int_equal(qn_print(m, QN_FORMAT_IR, keep, got), QN_OK);
	assert_string_equal(got, want);
	qn_close(ctx);
}

static int
no_range(void *user, const double *param, const qn_observed *v, double *lo, double *hi)
{
	(void)param;
	*lo = v->max;
	*hi = *(const int *)user == 1 ? v->min - 1 : v->max * 1e300 * 1e300;
	return *(const int *)user == 0;
}

static void
reports_a_callback_that_fails(void **state)
{
	(void)state;
	for (int how = 0; how < 3; how++) { /* fails, an empty range, an infinite one */
		qn_ctx *ctx = qn_open(&(qn_config){.threads = how + 1});
		qn_method_desc d = {
			.size = sizeof d, .name = "a.b", .range = no_range, .user = &how};

		assert_int_equal(qn_method_register(ctx, &d), QN_OK);
		assert_int_equal(calibrated(ctx, "a.b", got), QN_EINVALID);
		assert_string_equal(qn_diag_get(ctx, 0).id, "method.callback");
		qn_close(ctx);
	}
}

static void
refuses_what_is_no_method(void **state)
{
	static const qn_method_param no_name[] = {{"", 1, 0, 2}}, outside[] = {{"a", 3, 0, 2}};
	static const qn_method_param twice[] = {{"a", 1, 0, 2}, {"a", 1, 0, 2}};
	const qn_method_desc bad[] = {
		{.name = NULL, .range = scaled},
		{.name = "minmax", .range = scaled},
		{.name = "a.b c", .range = scaled},
		{.name = "a.b"},
		{.name = "a.b", .range = scaled, .nparam = 1, .param = no_name},
		{.name = "a.b", .range = scaled, .nparam = 1, .param = outside},
		{.name = "a.b", .range = scaled, .nparam = 2, .param = twice},
		{.name = "a.b", .range = scaled, .nparam = 4, .param = factor},
		{.name = "test.scaled", .range = scaled},
	};
	qn_ctx *ctx = qn_open(NULL);

	(void)state;
	assert_int_equal(qn_method_register(ctx, &method), QN_OK);
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		assert_int_equal(qn_method_register(ctx, &bad[i]), QN_EUSAGE);
		assert_string_equal(qn_diag_get(ctx, i).id, "method.register");
	}
	qn_close(ctx);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_found_by_its_name),
		cmocka_unit_test(goes_through_statistics),
		cmocka_unit_test(reports_a_callback_that_fails),
		cmocka_unit_test(refuses_what_is_no_method),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
