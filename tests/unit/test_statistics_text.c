/* SPDX-License-Identifier: Apache-2.0 */
/* test_statistics_text.c - a file of statistics to the byte. */
#include "tests/unit/methods_fixture.h"

/* The text itself: files of one version are read by the next. */
static void
test_text(void **state)
{
	const float x[] = {0.5f, -2, 3, 1};
	qn_statistics *s = blank("minmax", 4, true);

	(void)state;
	s->value[0].o.bin = NULL; /* minmax needs none */
	s->hash = 0x0badcafe;
	assert_string_equal(text_of(s), "{\n"
					"  \"quern_statistics\": 2,\n"
					"  \"model\": \"m\",\n"
					"  \"model_hash\": \"0badcafe\",\n"
					"  \"method\": \"minmax\",\n"
					"  \"data\": [],\n"
					"  \"batches\": 4,\n"
					"  \"batch\": 1,\n"
					"  \"pass\": 1,\n"
					"  \"observed\": [],\n"
					"  \"values\": [\n"
					"    {\n"
					"      \"name\": \"v\",\n"
					"      \"symmetric\": true,\n"
					"      \"qmin\": -127,\n"
					"      \"qmax\": 127,\n"
					"      \"n\": 0,\n"
					"      \"nonfinite\": false\n"
					"    }\n"
					"  ],\n"
					"  \"checksum\": \"f2e374af\"\n"
					"}\n");
	see(s, x, 4, 0, 3, false);
	s->value[0].o.nonfinite = true;
	s->value[0].o.masked = true;
	assert_string_equal(
		text_of(s),
		"{\n"
		"  \"quern_statistics\": 2,\n"
		"  \"model\": \"m\",\n"
		"  \"model_hash\": \"0badcafe\",\n"
		"  \"method\": \"minmax\",\n"
		"  \"data\": [],\n"
		"  \"batches\": 4,\n"
		"  \"batch\": 1,\n"
		"  \"pass\": 1,\n"
		"  \"observed\": [[0, 3]],\n"
		"  \"values\": [\n"
		"    {\n"
		"      \"name\": \"v\",\n"
		"      \"symmetric\": true,\n"
		"      \"qmin\": -127,\n"
		"      \"qmax\": 127,\n"
		"      \"n\": 3,\n"
		"      \"nonfinite\": true,\n"
		"      \"masked\": true,\n"
		"      \"min\": \"0xc000000000000000\",\n"
		"      \"max\": \"0x4008000000000000\",\n"
		"      \"min_at\": 1,\n"
		"      \"max_at\": 2,\n"
		"      \"quarters\": [[\"0x3fe0000000000000\", \"0x3fe0000000000000\"], "
		"[\"0xc000000000000000\", \"0xc000000000000000\"], [\"0x4008000000000000\", "
		"\"0x4008000000000000\"], []]\n"
		"    }\n"
		"  ],\n"
		"  \"checksum\": \"ed1661f5\"\n"
		"}\n");
	const qn_statistics *again = read_text(text_of(s));
	assert_true(again->value[0].o.nonfinite && again->value[0].o.masked);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_text, rig_setup, rig_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
