/* SPDX-License-Identifier: Apache-2.0 */
/* test_commit_read.c - files of one folder are read after the death of the process that changed them: all old or all new. */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE /* flock, mkdtemp */
#endif

#include "tests/robust/commit_rig.h"

#include <errno.h>

/* What only reads finds all files old or all new too. */
static void
read_after_kills(void **state)
{
	static const char *const before[] = {"old", ""};

	(void)state;
	for (int k = 0; k < 4; k++) {
		size_t settled = 0;

		disk_no_links(k % 2 == 0);
		for (size_t at = 1; start(before[k / 2]), killed(write_new, at); at++) {
			const bool mixed = which(before[k / 2]) < 0;
			const int have = read_set(before[k / 2]);

			if (have < 0 || have != which(before[k / 2]))
				fail_msg("killed at %zu, before '%s': two sets are read", at,
					 before[k / 2]);
			settled += mixed;
		}
		assert_true(settled > 0);
	}
	disk_no_links(false);
}

/* A folder that cannot be written: each file of the set is read with a warning, others without. */
static void
read_only(void **state)
{
	size_t at = 1, warned = 0;

	(void)state;
	while (start("old"), killed(write_new, at) && which("old") >= 0)
		at++;
	assert_int_equal(which("old"), -1);
	for (int k = 0; k < 2; k++) {
		disk_arm(DISK_RENAME, 1, EROFS, true);
		assert_int_equal(read_set("old"), -1);
		(void)disk_disarm();
		assert_int_equal(t.diags.nerrors, 0);
		assert_true(t.diags.n > warned);
		for (; warned < t.diags.n; warned++) {
			assert_int_equal(t.diags.item[warned].severity, QN_WARNING);
			assert_string_equal(t.diags.item[warned].id, "file.commit");
		}
		qn_diags_clear(&t.env, &t.diags); /* a warning is stored once */
		warned = 0;
	}
	/* A file that the change is not about. */
	FILE *f = fopen(path_of("other"), "w");
	const char *text;
	qn_arena a;
	size_t n;
	assert_int_equal(fclose(f), 0);
	qn_arena_init(&a, &t.env);
	disk_arm(DISK_RENAME, 1, EROFS, true);
	assert_int_equal(qn_file_map(&a, path_of("other"), &text, &n), QN_OK);
	(void)disk_disarm();
	qn_arena_release(&a);
	assert_int_equal(t.diags.n, warned);
	assert_int_equal(read_set("old"), 1);
	assert_int_equal(t.diags.n, warned);
	assert_int_equal(leftovers(), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(read_after_kills),
		cmocka_unit_test(read_only),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
