/* SPDX-License-Identifier: Apache-2.0 */
/* test_statistics.c - the file of statistics: written and read, merged, refused; how ranges grow. */
#include "tests/unit/statistics_rig.h"

#include <math.h>

#include "calibrate/growth.h"

static const qn_span all = {0, 8};

static void
test_round_trip(void **state)
{
	(void)state;
	for (size_t i = 0; qn_method_row(i) != NULL; i++) {
		if (qn_method_row(i)->passes == 0)
			continue;
		for (size_t first = 0; first < 8; first += 3) {
			qn_statistics *s = part(qn_method_row(i)->name, first, 8);

			for (;;) {
				const char *text = text_of(s);

				assert_string_equal(text_of(read_text(text)), text);
				if (first > 0 || s->pass + 1 == s->method.method->passes)
					break;
				assert_int_equal(qn_statistics_next(&rg->env, &rg->arena, s),
						 QN_OK);
				s->span = &all;
				s->nspan = 1;
			}
		}
	}
}

/* Parts that are read and merged in any order are the whole, to the byte. */
static void
test_merge(void **state)
{
	static const size_t cut[] = {0, 1, 3, 3, 6, 8};
	static const size_t order[][5] = {
		{0, 1, 2, 3, 4}, {4, 3, 2, 1, 0}, {2, 4, 0, 3, 1}, {1, 0, 4, 2, 3}};

	(void)state;
	for (size_t i = 0; qn_method_row(i) != NULL; i++) {
		const char *name = qn_method_row(i)->name;

		if (qn_method_row(i)->passes == 0)
			continue;
		for (size_t o = 0; o < QN_COUNT(order); o++) {
			qn_statistics *sum = NULL;

			for (size_t k = 0; k < 5; k++) {
				size_t n = order[o][k];
				qn_statistics *s =
					read_text(text_of(part(name, cut[n], cut[n + 1])));

				if (sum != NULL)
					assert_int_equal(qn_statistics_merge(&rg->env, &rg->arena,
									     sum, "s", s),
							 QN_OK);
				else
					sum = s;
			}
			assert_string_equal(text_of(sum), text_of(part(name, 0, 8)));
		}
	}
}

static qn_status
merge(qn_statistics *a, const qn_statistics *b)
{
	return qn_statistics_merge(&rg->env, &rg->arena, a, "b.json", b);
}

static void
test_merge_refuses(void **state)
{
	qn_statistics *a = part("ema", 0, 3), *b;

	(void)state;
	expect(merge(a, part("ema", 2, 5)), "stats.overlap");
	expect(merge(a, part("ema", 0, 3)), "stats.overlap");
	expect(merge(a, part("ema:c=0.5", 3, 5)), "stats.mismatch");
	expect(merge(a, part("avgmax", 3, 5)), "stats.mismatch");
	b = part("ema", 3, 5);
	b->hash++;
	expect(merge(a, b), "stats.mismatch");
	b = part("ema", 3, 5);
	b->nbatch++;
	expect(merge(a, b), "stats.mismatch");
	b = part("ema", 3, 5);
	b->data = (const char *const[]){"calib.npy:0badcaff"};
	expect(merge(a, b), "stats.mismatch");
	b = part("ema", 3, 5);
	b->value[0].name = "w";
	expect(merge(a, b), "stats.mismatch");
	b = part("ema", 3, 5);
	b->value[0].o.bin = NULL;
	expect(merge(a, b), "stats.mismatch");
	a = part("kl_ort", 0, 8);
	assert_int_equal(qn_statistics_next(&rg->env, &rg->arena, a), QN_OK);
	expect(merge(a, part("kl_ort", 0, 8)), "stats.mismatch"); /* another pass */
	assert_int_equal(merge(part("ema", 0, 3), part("ema", 5, 8)), QN_OK);
}

static void
test_passes(void **state)
{
	qn_statistics *s = part("kl_ort", 0, 7);

	(void)state;
	expect(qn_statistics_next(&rg->env, &rg->arena, s), "stats.incomplete");
	expect(qn_statistics_check_done(&rg->env, s), "stats.incomplete");
	s = part("kl_ort", 0, 8);
	expect(qn_statistics_check_done(&rg->env, s), "stats.pass");
	assert_int_equal(qn_statistics_next(&rg->env, &rg->arena, s), QN_OK);
	expect(qn_statistics_next(&rg->env, &rg->arena, s), "stats.incomplete");
	s->span = &all;
	s->nspan = 1;
	assert_int_equal(qn_statistics_check_done(&rg->env, s), QN_OK);
	expect(qn_statistics_next(&rg->env, &rg->arena, s), "stats.done");
}

/* Which samples are lacking: the first gap, in samples of the model's batch. */
static void
test_gaps(void **state)
{
	static const struct {
		size_t span[3][2]; /* of batches; [0, 0]: none */
		const char *words;
	} rows[] = {
		{{{0, 7}}, "miss samples 14 to 15 of 16 in pass 1"},
		{{{2, 8}}, "miss samples 0 to 3 of 16 in pass 1"},
		{{{0, 3}, {5, 8}}, "miss samples 6 to 9 of 16 in pass 1"},
		{{{1, 3}, {5, 6}}, "miss samples 0 to 1 of 16 in pass 1"},
		{{{0, 1}, {2, 3}, {5, 8}}, "miss samples 2 to 3 of 16 in pass 1"},
		{{{0, 0}}, "miss samples 0 to 15 of 16 in pass 1"},
	};

	(void)state;
	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		qn_statistics *s = part("kl_ort", rows[i].span[0][0], rows[i].span[0][1]);

		for (size_t k = 1; k < 3 && rows[i].span[k][1] > 0; k++)
			assert_int_equal(
				merge(s, part("kl_ort", rows[i].span[k][0], rows[i].span[k][1])),
				QN_OK);
		s->batch = 2;
		assert_int_equal(qn_statistics_next(&rg->env, &rg->arena, s), QN_EINVALID);
		if (strstr(rg->diags.item[0].message, rows[i].words) == NULL)
			fail_msg("%s", rg->diags.item[0].message);
		qn_diags_clear(&rg->env, &rg->diags);
	}
}

static void
is_near(double got, double want)
{
	assert_true(fabs(got - want) < 1e-15);
}

/* How much wider each further sample makes a range of eight batches. */
static void
test_growth(void **state)
{
	const float lone[] = {1, 2, 4, 3, 1, 2, 3, 3};
	const qn_finding whole = {.lo = 0, .hi = 4}, cut = {.lo = 0, .hi = 3};
	qn_statistics *s = blank("minmax", 8, false);

	(void)state;
	see(s, lone, 8, 0, 8, true);
	qn_seen seen = qn_statistics_seen(s, 0);
	is_near(qn_growth(&seen, &whole), 0.25 / 8); /* 4 is in one quarter alone */
	is_near(qn_growth(&seen, &cut), 0);          /* 3 is in two */
	is_near(qn_growth(&seen, &(qn_finding){.lo = 0, .hi = 5}), 0);
	s->batch = 2;
	seen = qn_statistics_seen(s, 0);
	is_near(qn_growth(&seen, &whole), 0.25 / 16);
	s->nbatch = 7;
	seen = qn_statistics_seen(s, 0);
	is_near(qn_growth(&seen, &whole), 0);
}

/* Quarters are the same in shards. */
static void
test_quarters(void **state)
{
	qn_statistics *whole = part("minmax", 0, 8), *a = part("minmax", 3, 8);

	(void)state;
	const qn_statistics *b = read_text(text_of(part("minmax", 0, 3)));
	assert_int_equal(qn_statistics_merge(&rg->env, &rg->arena, a, "b", b), QN_OK);
	assert_string_equal(text_of(a), text_of(whole));
	assert_non_null(strstr(text_of(a), "quarters"));
}

/* Quarters that are not those of the values, and files of older programs, which have none. */
static void
test_wrong_quarters(void **state)
{
	static const char *const rows[][2] = {
		{"\"quarters\": [", "\"quarters\": [[], "},
		{"\"quarters\": [[", "\"quarters\": [[\"0x0000000000000000\", "},
		{"\"quarters\": [[\"0xc", "\"quarters\": [[\"0x4"},     /* above its largest */
		{"\"quarters\": [[\"0xc00", "\"quarters\": [[\"0xc03"}, /* below all */
		{"\"quarters\": [", "\"quarters\": [[],[],[],[]], \"_quarters\": ["},
		{"\"quarters\": [", "\"quarters\": 1, \"_quarters\": ["},
	};
	qn_statistics *whole = part("minmax", 0, 8);
	const char *good = text_of(whole), *from = strstr(good, "\"quarters\"");

	(void)state;
	for (size_t i = 0; i < QN_COUNT(rows); i++)
		refuse(edit(good, rows[i][0], rows[i][1]), i == 5 ? "json.kind" : "stats.value");
	/* Without them nothing is known of growth, also after a merge with a part that has them. */
	char cut[600] = "";
	const char *end = strstr(from, "]],") + 3;
	assert_true((size_t)(end - from) < sizeof cut);
	memcpy(cut, from, (size_t)(end - from));
	char *text = edit(good, cut, "");
	(void)qn_statistics_seal(text, strlen(text));
	qn_statistics *old = (qn_statistics *)(uintptr_t)read_text(text);
	qn_seen seen = qn_statistics_seen(old, 0);
	assert_false(qn_observer_has_quarters(seen.o));
	assert_true(qn_growth(&seen, &(qn_finding){.lo = -4, .hi = 4}) == 0);
	qn_statistics *a = part("minmax", 3, 8);
	text = edit(text_of(part("minmax", 0, 3)), "\"quarters\"", "\"_quarters\"");
	(void)qn_statistics_seal(text, strlen(text));
	const qn_statistics *b = read_text(text);
	assert_int_equal(qn_statistics_merge(&rg->env, &rg->arena, a, "b", b), QN_OK);
	assert_null(strstr(text_of(a), "quarters"));
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, rig_setup, rig_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_round_trip),     TEST(test_merge),  TEST(test_merge_refuses),
		TEST(test_passes),         TEST(test_growth), TEST(test_quarters),
		TEST(test_wrong_quarters), TEST(test_gaps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
