/* SPDX-License-Identifier: Apache-2.0 */
/* test_statistics.c - the file of statistics: written and read, merged, refused. */
#include "tests/unit/methods_fixture.h"

#include <math.h>

#include "calibrate/growth.h"

static const qn_span all = {0, 8};

/* A value by a method, batches first … last - 1 of 8 observed. */
static qn_statistics *
part(const char *method, size_t first, size_t last)
{
	static const char *const data[] = {"calib.npy:0badcafe"};
	qn_statistics *s = blank(method, 8, true);
	float x[64];

	for (int i = 0; i < 64; i++)
		x[i] = (float)((i * 37) % 64 - 31) / 8;
	s->hash = 0x12345678;
	s->ndata = 1;
	s->data = data;
	see(s, x, 64, first, last, false);
	return s;
}

static void
expect(qn_status status, const char *id)
{
	assert_int_not_equal(status, QN_OK);
	assert_true(rg->diags.n > 0);
	assert_string_equal(rg->diags.item[0].id, id);
	qn_diags_clear(&rg->env, &rg->diags);
}

/* Of a text with a checksum that is right. */
static void
refuse(char *text, const char *id)
{
	qn_statistics *s;

	(void)qn_statistics_seal(text, strlen(text));
	if (qn_statistics_read(&rg->env, &rg->arena, "s.json", text, strlen(text), &s) == QN_OK)
		fail_msg("is read: %s", text);
	expect(QN_EINVALID, id);
}

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

/* ---- files that are wrong ---- */

/* The text with the first `from` replaced. */
static char *
edit(const char *text, const char *from, const char *to)
{
	const char *at = strstr(text, from);
	qn_buf b;

	if (at == NULL)
		fail_msg("no %s in %s", from, text);
	qn_buf_init(&b, &rg->arena);
	qn_buf_put(&b, text, (size_t)(at - text));
	qn_buff(&b, "%s%s", to, at + strlen(from));
	return b.data;
}

/* Of the one input, before the batches. */
#define PREP(of) "\"preprocessing\": [" of "], \"batches\": 8"
#define PREP_OF(scale, mean, std, layout)                                                          \
	"{\"zero\": 0, \"scale\": " scale ", \"mean\": [" mean "], \"std\": [" std                 \
	"], \"layout\": \"" layout "\"}"

static void
test_files(void **state)
{
	static const struct {
		const char *from, *to, *id;
	} rows[] = {
		{"\"quern_statistics\": 2", "\"quern_statistics\": 1", "stats.version"},
		{"\"quern_statistics\": 2,", "", "stats.version"},
		{"\"model\":", "\"modell\":", "json.key.unknown"},
		{"\"12345678\"", "\"1234567g\"", "stats.value"},
		{"\"12345678\"", "\"123456789\"", "stats.value"},
		{"\"ema:c=0.01\"", "\"emma\"", "method.unknown"},
		{"\"ema:c=0.01\"", "\"global\"", "stats.value"},
		{"\"ema:c=0.01\"", "\"kl_tvm\"", "stats.value"},
		{"\"batches\": 8", "\"batches\": 0", "stats.value"},
		{"\"batches\": 8", "\"batches\": 3", "stats.value"},
		{"\"batches\": 8", "\"batches\": \"99999999999999999999\"", "stats.value"},
		{"\"batches\": 8", "\"batches\": 1099511627777", "stats.value"},
		{"\"batches\": 8", "\"preprocessing\": [null, null, null], \"batches\": 8",
		 "stats.value"},
		{"\"batches\": 8", "\"preprocessing\": {}, \"batches\": 8", "json.kind"},
		{"\"batches\": 8", PREP("{\"zero\": 0}"), "json.key.missing"},
		{"\"batches\": 8", PREP(PREP_OF("0", "0", "1", "nhwc")), "stats.value"},
		{"\"batches\": 8", PREP(PREP_OF("1", "0", "0", "nhwc")), "stats.value"},
		{"\"batches\": 8", PREP(PREP_OF("1", "\"inf\"", "1", "nhwc")), "stats.value"},
		{"\"batches\": 8", PREP(PREP_OF("1", "0", "1", "hwc")), "stats.value"},
		{"\"batch\": 1", "\"batch\": -1", "stats.value"},
		{"\"batch\": 1", "\"batch\": 1048577", "stats.value"},
		{"\"pass\": 1", "\"pass\": 2", "stats.value"},
		{"\"pass\": 1", "\"pass\": 0", "stats.value"},
		{"[[0, 4]]", "[[4, 0]]", "stats.value"},
		{"[[0, 4]]", "[[0, 2], [2, 4]]", "stats.value"},
		{"[[0, 4]]", "[[0, 2], [1, 4]]", "stats.value"},
		{"[[0, 4]]", "[[0, 5]]", "stats.value"},
		{"[[0, 4]]", "[0, 4]", "json.kind"},
		{"\"qmax\": 127", "\"qmax\": 0", "stats.value"},
		{"\"n\": 32", "\"n\": 31", "stats.value"},
		{"\"n\": 32", "\"n\": 33", "stats.value"},
		{"\"symmetric\": true", "\"symmetric\": 1", "json.kind"},
		{"\"min\": \"0xc", "\"min\": \"0x4", "stats.value"},
		{"\"min\": \"0x", "\"min\": \"0y", "stats.value"},
		{"\"max_at\": ", "\"max_at\": 8", "stats.value"},
		{"\"exponent\": -", "\"exponent\": -1", "stats.value"},
		{"\"exponent\": -", "\"exponent\": 200", "stats.value"},
		{"\"first\": ", "\"first\": 9", "stats.value"},
		{"\"count\": [", "\"count\": [1, ", "stats.value"},
		{"\"count\": [", "\"count\": [-1, ", "stats.value"},
		{"\"pairs\": [", "\"pairs\": [\"0x0000000000000000\", ", "stats.value"},
		{"\"pairs\"", "\"pears\"", "json.key.unknown"},
		{"\"data\": [", "\"data\": [1, ", "json.kind"},
		{"\"values\": [", "\"values\": [1, ", "json.kind"},
		{"\"qmin\": -127,", "", "json.key.missing"},
		{"\"qmin\": -127", "\"qmin\": 1", "stats.value"},
		{"\"qmin\": -127", "\"qmin\": -65537", "stats.value"},
		{"\"qmax\": 127", "\"qmax\": 65537", "stats.value"},
		{"\"n\": 32,", "", "json.key.missing"},
		{"\"min_at\": ", "\"min_at\": 8", "stats.value"},
		{"\"grid\"", "\"gird\"", "json.key.unknown"},
		{"[[0, 4]]", "[[0, 4, 5]]", "stats.value"},
		{"[[0, 4]]", "[[9, 10]]", "stats.value"},
		{"\"batch\": 1", "\"batch\": 0", "stats.value"},
		{"\"12345678\"", "\"1234567 \"", "stats.value"},
	};

	(void)state;
	const char *good = text_of(part("ema", 0, 4));
	(void)read_text(good);
	for (size_t i = 0; i < QN_COUNT(rows); i++)
		refuse(edit(good, rows[i].from, rows[i].to), rows[i].id);
	/* the largest numbers that a file may have */
	static const char *const most[][2] = {
		{"\"batches\": 8", "\"batches\": 1099511627776"},
		{"\"batch\": 1", "\"batch\": 1048576"},
		{"\"qmin\": -127", "\"qmin\": -65536"},
		{"\"qmax\": 127", "\"qmax\": 65536"},
	};
	for (size_t i = 0; i < QN_COUNT(most); i++) {
		char *text = edit(good, most[i][0], most[i][1]);

		(void)qn_statistics_seal(text, strlen(text));
		(void)read_text(text);
	}
	/* one report, be there several digits wrong */
	char *text = edit(good, "\"12345678\"", "\"12xy5678z\"");
	qn_statistics *s;
	(void)qn_statistics_seal(text, strlen(text));
	assert_int_equal(qn_statistics_read(&rg->env, &rg->arena, "s", text, strlen(text), &s),
			 QN_EINVALID);
	assert_int_equal(rg->diags.n, 1);
	qn_diags_clear(&rg->env, &rg->diags);
	refuse((char[]){""}, "json.syntax");
	refuse((char[]){"[]"}, "json.kind");
	refuse((char[]){"{\"quern_statistics\": 2,\"checksum\": \"00000000\"\n}\n"},
	       "json.key.missing");
	/* a whole above itself; numbers of more bits than an f32, not finite, or followed by others */
	static const char *const reals[] = {"0x7ff0000000000000",  "0x7ff8000000000000",
					    "0x3ff0000000000001",  "0x47f0000000000000",
					    "0x3ff00000000000000", "1.0"};
	good = text_of(part("avgmax", 0, 4));
	const char *min = strstr(good, "\"min\": \"");
	assert_non_null(min);
	char *old = qn_arena_copy(&rg->arena, min, 28);
	old[27] = '\0'; /* "min": "0x…16 digits…" */
	for (size_t i = 0; i < QN_COUNT(reals); i++) {
		qn_buf to;

		qn_buf_init(&to, &rg->arena);
		qn_buff(&to, "\"min\": \"%s\"", reals[i]);
		refuse(edit(good, old, qn_buf_str(&to)), "stats.value");
	}
	/* a number in the place of one of a pair */
	const char *pair = strstr(good, "\"pairs\": [\"");
	assert_non_null(pair);
	char *first = qn_arena_copy(&rg->arena, pair, 31);
	first[30] = '\0'; /* "pairs": ["0x…16 digits…" */
	refuse(edit(good, first, "\"pairs\": [5"), "stats.value");
	/* what a method wants and the file lacks, or the other way round */
	refuse(edit(good, "avgmax", "kl"), "stats.value");
	refuse(edit(text_of(part("minmax", 0, 4)), "minmax", "avgmax"), "json.key.missing");
	refuse(edit(good, "avgmax", "minmax"), "stats.value");
	refuse(edit(good, "\"pairs\": [", "\"pairs\": [], \"bins\": ["), "stats.value");
	good = text_of(part("percentile_tvm", 0, 8));
	refuse(edit(good, "\"first\": ", "\"frist\": "), "json.key.missing");
	refuse(edit(good, "\"first\": ", "\"first\": 9999999"), "stats.value");
	refuse(edit(good, "\"prefix\": 0", "\"prefix\": 1"), "stats.value");
	refuse(edit(good, "\"below\": 0", "\"below\": 65"), "stats.value");
	refuse(edit(good, "\"bins\": {", "\"binz\": {"), "json.key.unknown");
	/* every beginning of a file is an error, none a crash */
	for (size_t n = 0; n + 2 < strlen(good); n += 7) {
		assert_int_not_equal(qn_statistics_read(&rg->env, &rg->arena, "s", good, n, &s),
				     QN_OK);
		qn_diags_clear(&rg->env, &rg->diags);
	}
}

/* Whatever byte is changed, also one between tokens: an error that says so. */
static void
test_checksum(void **state)
{
	const char *good = text_of(part("ema", 0, 4));
	const size_t n = strlen(good);
	qn_statistics *s;

	(void)state;
	for (size_t i = 0; i < n; i++) {
		char *text = qn_arena_copy(&rg->arena, good, n + 1);

		text[i] = text[i] == ' ' ? '\t' : ' ';
		assert_int_not_equal(
			qn_statistics_read(&rg->env, &rg->arena, "s.json", text, n, &s), QN_OK);
		/* in the last line the checksum itself is not to be found any more */
		if (i + 32 < n)
			assert_string_equal(rg->diags.item[0].id, "stats.checksum");
		qn_diags_clear(&rg->env, &rg->diags);
	}
	/* without it; with another tool's layout */
	const char *digits = strstr(good, ",\n  \"checksum\"");
	assert_non_null(digits);
	qn_buf b;
	qn_buf_init(&b, &rg->arena);
	qn_buf_put(&b, good, (size_t)(digits - good));
	qn_buf_puts(&b, "\n}\n");
	expect(qn_statistics_read(&rg->env, &rg->arena, "s.json", b.data, b.n, &s),
	       "stats.checksum");
	qn_buf_puts(&b, " ");
	expect(qn_statistics_read(&rg->env, &rg->arena, "s.json", b.data, b.n, &s),
	       "stats.checksum");
}

/* Values of 300 bytes that ask for histograms of 32 KiB, or of half a megabyte. */
static void
test_bomb(void **state)
{
	static const char value[] =
		"{\"name\":\"a\",\"symmetric\":true,\"qmin\":-127,\"qmax\":127,\"n\":1,"
		"\"nonfinite\":false,\"min\":\"0x3ff0000000000000\",\"max\":\"0x3ff0000000000000\","
		"\"min_at\":0,\"max_at\":0,\"grid\":{\"exponent\":-10,\"first\":3072,\"count\":[1]}"
		"%s}%s";
	static const struct {
		const char *method, *more;
		int pass, values;
	} rows[] = {{"kl", "", 1, 8000},
		    {"percentile_ort:bins=65536", ",\"bins\":{\"first\":0,\"count\":[1]}", 2, 300}};

	(void)state;
	for (size_t k = 0; k < QN_COUNT(rows); k++) {
		qn_buf b;

		qn_buf_init(&b, &rg->arena);
		qn_buff(&b,
			"{\"quern_statistics\":2,\"model\":\"m\",\"model_hash\":\"0\","
			"\"method\":\"%s\",\"data\":[],\"batches\":1,\"batch\":1,\"pass\":%d,"
			"\"observed\":[[0,1]],\"values\":[",
			rows[k].method, rows[k].pass);
		for (int i = 0; i < rows[k].values; i++)
			qn_buff(&b, value, rows[k].more, i + 1 < rows[k].values ? "," : "");
		qn_buf_puts(&b, "],\n  \"checksum\": \"00000000\"\n}\n");
		refuse(b.data, "stats.size");
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
		TEST(test_passes),         TEST(test_files),  TEST(test_checksum),
		TEST(test_bomb),           TEST(test_growth), TEST(test_quarters),
		TEST(test_wrong_quarters), TEST(test_gaps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
