/* SPDX-License-Identifier: Apache-2.0 */
/* test_shared_partitions.c - quantizes that share a symbol, in partitions: what callbacks and searches see of them. */
#include "tests/unit/shared_rig.h"

#include <math.h>

/* Two partitions of one quantize each: x, and seven times x. */
static const char *const part_in[][1] = {{"x"}, {"b"}};
static qn_part parts[2] = {{.pattern = "p", .out = "dx", .nin = 1, .in = part_in[0]},
			   {.pattern = "p", .out = "db", .nin = 1, .in = part_in[1]}};

/* Both quantizes in one partition, which names its input twice. */
static const char *const both_in[] = {"x", "x"};
static qn_part whole = {.pattern = "p", .out = "y", .nin = 2, .in = both_in};

static void
set_parts(void)
{
	read_model(HEAD PARTS);
	parts[0].next = &parts[1];
	qn_model_entry(&rg->m)->parts = parts;
}

typedef struct host {
	double scale[2], lo[2], hi[2]; /* by partition; scale 0: by range; hi 0: the method's */
} host;

static qn_status
find(void *user, qn_info *i)
{
	const host *h = user;
	const int k = strcmp(i->part->out, "db") == 0;
	const int64_t zp = 0;

	if (h->scale[k] > 0)
		return qn_info_store(i, &(qn_symbol_value){"s", 1, &h->scale[k], &zp});
	return h->hi[k] > 0 ? qn_info_store_range(i, 0, h->lo[k], h->hi[k])
			    : qn_info_store_default(i, 0);
}

static qn_status
calibrate_by(const host *h, const char *method)
{
	qn_calib_callback row = {"p", find, (void *)(uintptr_t)h, NULL};
	qn_calib_opts o = {.callback = &row, .ncallback = h != NULL};

	set_parts();
	assert_int_equal(qn_method_parse(&rg->env, &rg->arena, method, &o.method), QN_OK);
	return qn_calibrate_model(&rg->m, data(), &o);
}

static void
test_callbacks(void **state)
{
	const qn_symbol both = calibrated(HEAD BOTH, "minmax");
	const qn_symbol *s;

	(void)state;
	assert_int_equal(calibrate_by(&(host){.hi = {0, 0}}, "minmax"), QN_OK);
	same(qn_symbol_find(&rg->m.types, "s"), &both, "default");
	assert_int_equal(calibrate_by(&(host){.lo = {-1, -17}, .hi = {34, 2}}, "minmax"), QN_OK);
	s = qn_symbol_find(&rg->m.types, "s");
	assert_true(s->scale == (double)0.2f && s->zp == -43);
	assert_int_equal(calibrate_by(&(host){.scale = {0.5, 0.5}}, "minmax"), QN_OK);
	assert_true(qn_symbol_find(&rg->m.types, "s")->scale == 0.5);
	no_errors();
	assert_int_equal(calibrate_by(&(host){.scale = {0.5, 0.25}}, "minmax"), QN_EINVALID);
	assert_string_equal(rg->diags.item[0].id, "calibrate.shared");
	assert_string_equal(rg->diags.item[0].place, "db");
	assert_non_null(strstr(rg->diags.item[0].message, "'dx'"));
}

/* A search in one partition does not see the other: the symbol stays as the method found it. */
static void
test_search(void **state)
{
	const qn_symbol both = calibrated(HEAD BOTH, "minmax");

	(void)state;
	assert_int_equal(calibrate_by(NULL, "output"), QN_OK);
	no_errors();
	same(qn_symbol_find(&rg->m.types, "s"), &both, "output");
}

/* A symbol that a partition before has set to values, or to a range, is not set to the other. */
static void
test_other_ways(void **state)
{
	static const host rows[] = {{.scale = {0.5}, .lo = {0, -1}, .hi = {0, 34}},
				    {.scale = {0, 0.5}, .lo = {-1}, .hi = {34}}};

	(void)state;
	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		assert_int_equal(calibrate_by(&rows[i], "minmax"), QN_EINVALID);
		assert_string_equal(rg->diags.item[0].id, "calibrate.shared");
	}
}

typedef struct step {
	size_t k;
	double lo, hi; /* of quantize k; lo above hi: both are set to the scale hi */
} step;

static qn_status
take_steps(void *user, qn_info *i)
{
	const int64_t zp = 0;

	assert_int_equal(i->npair, 2);
	assert_int_equal(i->nin, 2); /* %x and %b, once each */
	assert_int_equal(i->nouter, 1);
	for (const step *s = user; s->hi > 0; s++)
		assert_int_equal(s->lo > s->hi
					 ? qn_info_store(i, &(qn_symbol_value){"s", 1, &s->hi, &zp})
					 : qn_info_store_range(i, s->k, s->lo, s->hi),
				 QN_OK);
	return QN_OK;
}

/* Ranges of one symbol are merged, in either order; values take their place, and they that of values. */
static void
test_one_partition(void **state)
{
	static const struct {
		step steps[4];
		double lo, hi; /* lo above hi: a scale */
	} rows[] = {
		{{{0, -1, 34}, {1, -17, 2}}, -17, 34},
		{{{1, -17, 2}, {0, -1, 34}}, -17, 34},
		{{{0, -1, 34}, {1, -0.5, 2}}, -1, 34},
		{{{0, -1, 2}, {1, -0.5, 34}}, -1, 34},
		{{{0, -17, 34}, {0, -1, 2}}, -1, 2},
		{{{0, -17, 34}, {0, 1, 0.5}}, 1, 0.5},
		{{{0, -17, 34}, {0, 1, 0.5}, {1, -1, 2}}, -1, 2},
		{{{0, 1, 0.5}, {1, -1, 2}}, -1, 2},
	};

	(void)state;
	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		qn_calib_callback row = {"p", take_steps, (void *)(uintptr_t)rows[i].steps, NULL};
		qn_calib_opts o = {.callback = &row, .ncallback = 1};
		double scale = rows[i].hi;
		int64_t zp = 0;

		read_model(HEAD PARTS);
		qn_model_entry(&rg->m)->parts = &whole;
		assert_int_equal(qn_calibrate_model(&rg->m, data(), &o), QN_OK);
		no_errors();
		const qn_symbol *s = qn_symbol_find(&rg->m.types, "s");
		if (rows[i].lo <= rows[i].hi) {
			scale = (double)(float)((rows[i].hi - rows[i].lo) / 255);
			zp = (int64_t)rint(-128 - rows[i].lo / scale);
		}
		if (s->scale < scale || s->scale > scale || s->zp != zp)
			fail_msg("row %zu: %g:%lld", i, s->scale, (long long)s->zp);
	}
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, rig_setup, rig_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_callbacks),
		TEST(test_search),
		TEST(test_other_ways),
		TEST(test_one_partition),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
