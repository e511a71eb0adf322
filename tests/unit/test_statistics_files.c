/* SPDX-License-Identifier: Apache-2.0 */
/* test_statistics_files.c - files of statistics that are wrong, altered, or made to need much memory. */
#include "tests/unit/statistics_rig.h"

/* Of the one input, before the batches. */
#define PREP(of) "\"preprocessing\": [" of "], \"batches\": 8"
#define PREP_OF(scale, mean, std, layout)                                                          \
	"{\"zero\": 0, \"scale\": " scale ", \"mean\": [" mean "], \"std\": [" std                 \
	"], \"layout\": \"" layout "\"}"

static void
test_changed(void **state)
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
}

/* The largest numbers that a file may have. */
static void
test_largest(void **state)
{
	static const char *const most[][2] = {
		{"\"batches\": 8", "\"batches\": 1099511627776"},
		{"\"batch\": 1", "\"batch\": 1048576"},
		{"\"qmin\": -127", "\"qmin\": -65536"},
		{"\"qmax\": 127", "\"qmax\": 65536"},
	};

	(void)state;
	const char *good = text_of(part("ema", 0, 4));
	for (size_t i = 0; i < QN_COUNT(most); i++) {
		char *text = edit(good, most[i][0], most[i][1]);

		(void)qn_statistics_seal(text, strlen(text));
		(void)read_text(text);
	}
}

static void
test_syntax(void **state)
{
	(void)state;
	const char *good = text_of(part("ema", 0, 4));
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
}

static void
test_pairs(void **state)
{
	/* a whole above itself; numbers of more bits than an f32, not finite, or followed by others */
	static const char *const reals[] = {"0x7ff0000000000000",  "0x7ff8000000000000",
					    "0x3ff0000000000001",  "0x47f0000000000000",
					    "0x3ff00000000000000", "1.0"};

	(void)state;
	const char *good = text_of(part("avgmax", 0, 4));
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
}

static void
test_methods(void **state)
{
	qn_statistics *s;

	(void)state;
	const char *good = text_of(part("avgmax", 0, 4));
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

int
main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, rig_setup, rig_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_changed), TEST(test_largest),  TEST(test_syntax), TEST(test_pairs),
		TEST(test_methods), TEST(test_checksum), TEST(test_bomb),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
