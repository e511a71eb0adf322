/* SPDX-License-Identifier: Apache-2.0 */
/* test_glob.c - names with wildcards: what they match, what is wrong with them, what is near. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "patterns/glob.h"

static void
test_matches(void **state)
{
	static const struct {
		const char *glob, *name;
		bool is;
	} rows[] = {
		{"", "", true},
		{"", "a", false},
		{"*", "", true},
		{"conv1", "conv1", true},
		{"conv1", "conv", false},
		{"conv", "conv1", false},
		{"conv*", "conv1.add", true},
		{"*add", "conv1.add", true},
		{"*a*b*", "xaybz", true},
		{"*a*b*", "xbya", false},
		{"conv?", "conv12", false},
		{"?", "\xc3\xa4", true}, /* one character of two bytes */
		{"??", "\xc3\xa4", false},
		{"[\xc3\xa4-\xc3\xbc]", "\xc3\xb6", true},
		{"*?", "\xc3\xb6", true},
		{"[abc]", "b", true},
		{"[abc]", "d", false},
		{"[abc]", "", false},
		{"[!abc]", "d", true},
		{"[!abc]", "a", false},
		{"[!abc]", "", false},
		{"conv[0-3]", "conv3", true},
		{"conv[0-3]", "conv4", false},
		{"conv[!0-3]", "conv4", true},
		{"[0-9a-f]x", "bx", true},
		{"[0-9a-f]x", "gx", false},
		{"[]]", "]", true},
		{"[!]]", "]", false},
		{"[!]]", "a", true},
		{"a[[]0]", "a[0]", true},
		{"[a-]", "-", true},
		{"[a-]", "b", false},
		{"[-a]", "-", true},
		{"*[0-9].w", "block.12.w", true},
		{"*[!0-9]", "block.12", false},
		{"*[ab]*[cd]", "xxaxxbxxc", true},
		{"[*]", "*", true},
		{"[*]", "a", false},
		{"[?]", "a", false},
		{"?", "\xe2\x82\xac", true},
		{"?", "\xf0\x9f\x98\x80", true},
		{"[\xe2\x82\xac-\xe2\x82\xae]", "\xe2\x82\xad", true},
		{"[\xe2\x82\xac-\xe2\x82\xae]", "\xe2\x82\xaf", false},
		/* bytes that are not UTF-8 are a character each */
		{"??", "\xc3z", true},
		{"?", "\xc3z", false},
		{"?z", "\xc3z", true},
		{"??", "\xe2\x82", true},
		{"?", "\xe2\x82", false},
		{"???z", "\xf0\x9f\x98z", true},
		{"\xc3z", "\xc3z", true},
		{"\xc3z", "\xc3y", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		if (qn_glob(rows[i].glob, rows[i].name) != rows[i].is)
			fail_msg("'%s' and '%s'", rows[i].glob, rows[i].name);
		assert_null(qn_glob_fault(rows[i].glob));
		assert_int_equal(qn_glob_distance(rows[i].glob, rows[i].name, 9) == 0, rows[i].is);
	}
}

static void
test_faults(void **state)
{
	static const char *const bad[] = {"[",   "a[",  "[]",    "[!",        "[!]",
					  "x[0", "[a-", "[z-a]", "[0-9][b-a]"};

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		assert_non_null(qn_glob_fault(bad[i]));
		(void)qn_glob(bad[i], "abc");
		(void)qn_glob_distance(bad[i], "abc", 3);
	}
}

static void
test_distance(void **state)
{
	char name[1000];

	(void)state;
	assert_int_equal(qn_glob_distance("conv1", "conv2", 9), 1);
	assert_int_equal(qn_glob_distance("cnov1", "conv1", 9), 2);
	assert_int_equal(qn_glob_distance("convv*", "conv1", 9), 1);
	assert_int_equal(qn_glob_distance("conv[0-3]", "conv7", 9), 1);
	assert_int_equal(qn_glob_distance("", "conv", 9), 4);
	assert_int_equal(qn_glob_distance("", "conv", 2), 3);
	memset(name, 'a', sizeof name - 1);
	name[sizeof name - 1] = '\0';
	assert_int_equal(qn_glob_distance("b", name, 5), 6);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_matches),
		cmocka_unit_test(test_faults),
		cmocka_unit_test(test_distance),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
