/* SPDX-License-Identifier: Apache-2.0 */
/* test_nearest.c - the known names that messages suggest for unknown ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ir/nearest.h"

static const char *
nearest(const char *wanted)
{
	static const char *const names[] = {
		"input",
		"sr",
		"state",
		"attention_mask",
		"const",
		"conv1d",
		"conv2d",
		"conv2d_transpose",
		"--calib",
		"/model/encoder/layers.0/self_attn/q_proj/MatMul_quant",
		"/model/encoder/layers.1/self_attn/q_proj/MatMul_quant"};

	return qn_nearest_name(wanted, sizeof names / sizeof *names, names);
}

/* Letters left out, too many, replaced, swapped; the fewest changes win, then the first name. */
static void
test_typos(void **state)
{
	(void)state;
	assert_string_equal(nearest("attentoin_mask"), "attention_mask");
	assert_string_equal(nearest("inptu"), "input");
	assert_string_equal(nearest("srr"), "sr");
	assert_string_equal(nearest("conv3d"), "conv1d");
	assert_string_equal(nearest("covn2d"), "conv2d");
	assert_string_equal(nearest("/model/encoder/layers.1/self_attn/q_proj/MatMl_quant"),
			    "/model/encoder/layers.1/self_attn/q_proj/MatMul_quant");
}

static void
test_case_and_beginnings(void **state)
{
	(void)state;
	assert_string_equal(nearest("Conv2D"), "conv2d");
	assert_string_equal(nearest("SR"), "sr");
	assert_string_equal(nearest("att"), "attention_mask");
	assert_string_equal(nearest("conv"),
			    "conv1d"); /* not const, which is as many changes away */
	assert_string_equal(nearest("--calibration"), "--calib");
	assert_string_equal(nearest("conv2d_t"),
			    "conv2d"); /* fewer letters than to the longer one */
	assert_null(nearest("at"));
}

/* Words of a name, between its separators; letters inside a word are not one. */
static void
test_words_of_a_name(void **state)
{
	static const char *const names[] = {"generic", "cortex-m4", "cortex-m33", "fc.x"};

	(void)state;
	assert_string_equal(qn_nearest_name("m4", 4, names), "cortex-m4");
	assert_string_equal(qn_nearest_name("M33", 4, names), "cortex-m33");
	assert_string_equal(qn_nearest_name("fc", 4, names), "fc.x");
	assert_null(qn_nearest_name("x", 4, names));
	assert_null(qn_nearest_name("ic", 4, names));
	assert_string_equal(nearest("mask"), "attention_mask");
	assert_string_equal(nearest("MatMul_quant"),
			    "/model/encoder/layers.0/self_attn/q_proj/MatMul_quant");
}

static void
test_too_far(void **state)
{
	char text[300];

	(void)state;
	assert_null(nearest("h0"));
	assert_null(nearest(""));
	assert_null(nearest("softmax"));
	assert_null(qn_nearest_name("x", 0, NULL));
	memset(text, 'q', sizeof text);
	text[sizeof text - 1] = '\0';
	assert_null(nearest(text));
}

/* The public function, which takes names one by one. */
static void
test_one_by_one(void **state)
{
	(void)state;
	assert_null(qn_nearer_name("minmx", NULL, "percentile"));
	assert_string_equal(qn_nearer_name("minmx", NULL, "minmax"), "minmax");
	assert_string_equal(qn_nearer_name("minmx", "minmax", "minmaxx"), "minmax");
	assert_string_equal(qn_nearer_name("minmx", "minmaxx", "minmax"), "minmax");
	assert_string_equal(qn_nearer_name("minmx", "minmax", NULL), "minmax");
	assert_null(qn_nearer_name(NULL, NULL, "minmax"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_typos),           cmocka_unit_test(test_case_and_beginnings),
		cmocka_unit_test(test_words_of_a_name), cmocka_unit_test(test_too_far),
		cmocka_unit_test(test_one_by_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
