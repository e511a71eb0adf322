/* SPDX-License-Identifier: Apache-2.0 */
/* test_commit.c - files of one folder change together, whenever their process dies.
 *
 *   a child writes "new" over "old" and is killed before its call 1, 2, 3 …; the next write in the
 *   folder finds all files old or all new, and nothing is left over */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE /* flock, mkdtemp */
#endif

#include "tests/robust/commit_rig.h"

#include <errno.h>

/* ---- writing ---- */

/* The last file of the set goes. */
static qn_status
write_fewer(void)
{
	qn_file_out out[NFILE];

	for (size_t i = 0; i < NFILE; i++)
		out[i] = (qn_file_out){
			.path = path_of(name[i]), .data = "new", .n = 3, .remove = i + 1 == NFILE};
	return qn_files_write(&t.env, NULL, NFILE, out);
}

/* ---- killing ---- */

static void
check_recovered(const char *before, size_t at, size_t second)
{
	if (write_other() != QN_OK)
		fail_msg("killed at %zu, %zu: the next command fails: %s", at, second,
			 t.diags.item[0].message);
	if (which(before) < 0)
		fail_msg("killed at %zu, %zu, before '%s': files of two sets", at, second, before);
	if (leftovers() != 0)
		fail_msg("killed at %zu, %zu, before '%s': files are left", at, second, before);
}

/* Returns the number of calls. */
static size_t
kill_everywhere(const char *before)
{
	bool both[2] = {false, false};
	size_t at = 1;

	for (; start(before), killed(write_new, at); at++) {
		const bool journal = leftovers() > 0;

		if (which(before) < 0)
			assert_true(journal);
		check_recovered(before, at, 0);
		both[which(before)] = true;
	}
	assert_int_equal(which(before), 1);
	assert_true(both[0] && both[1]);
	return at - 1;
}

/* A file that goes: it is there with the old ones, and is not with the new ones. */
static void
removes(void **state)
{
	bool both[2] = {false, false};

	(void)state;
	for (int links = 0; links < 2; links++) {
		disk_no_links(links == 0);
		for (size_t at = 1;; at++) {
			start("old");
			const bool was = killed(write_fewer, at);
			assert_int_equal(write_other(), QN_OK);
			const bool is_new = strcmp(content(name[0]), "new") == 0;
			for (size_t i = 0; i < NFILE; i++)
				assert_string_equal(content(name[i]), !is_new          ? "old"
								      : i + 1 == NFILE ? ""
										       : "new");
			assert_int_equal(leftovers(), 0);
			both[is_new] = true;
			if (!was)
				break;
		}
		assert_true(both[0] && both[1]);
		/* what is not there goes too; and what fails leaves it */
		assert_int_equal(write_fewer(), QN_OK);
		for (size_t at = 1; at < 6; at++) {
			start("old");
			disk_arm(DISK_RENAME, at, EIO, false);
			const qn_status status = write_fewer();
			if (disk_disarm() < at)
				break;
			assert_int_equal(status, QN_EIO);
			assert_int_equal(which("old"), 0);
			assert_int_equal(leftovers(), 0);
		}
	}
	disk_no_links(false);
}

static void
kills(void **state)
{
	(void)state;
	for (int links = 0; links < 2; links++) {
		disk_no_links(links == 0);
		assert_true(kill_everywhere("old") > 30);
		assert_true(kill_everywhere("") > 25);
	}
}

/* ---- reading ---- */

/* The command that finishes what another one began is killed too. */
static void
kills_twice(void **state)
{
	size_t n = 0;

	(void)state;
	for (int links = 0; links < 2; links++) {
		disk_no_links(links == 0);
		for (size_t at = 1; start("old"), killed(write_new, at); at++)
			for (size_t second = 1;; second++) {
				start("old");
				assert_true(killed(write_new, at));
				if (which("old") == 0)
					break;
				if (!killed(write_other, second))
					break;
				check_recovered("old", at, second);
				n++;
			}
	}
	assert_true(n > 50);
	disk_no_links(false);
}

/* ---- errors ---- */

/* A call that fails once: the old files stay, and nothing is left.  That is so for a call that fails
 * from then on too, as soon as the next command can do it. */
static void
errors(void **state)
{
	static const disk_call calls[] = {DISK_OPEN, DISK_WRITE, DISK_FSYNC, DISK_RENAME,
					  DISK_LINK};
	static const char *const before[] = {"old", ""};

	(void)state;
	for (size_t k = 0; k < sizeof calls / sizeof calls[0]; k++)
		for (size_t way = 0; way < 4; way++)
			for (size_t at = 1;; at++) {
				start(before[way / 2]);
				disk_arm(calls[k], at, EIO, way % 2 == 1);
				qn_status status = write_set("new");
				if (disk_disarm() < at)
					break;
				if (status == QN_OK && calls[k] != DISK_LINK)
					fail_msg("%s %zu: no error", disk_names[calls[k]], at);
				if (way % 2 == 1 && leftovers() > 0 && write_other() != QN_OK)
					fail_msg("%s %zu, way %zu: the next command fails: %s",
						 disk_names[calls[k]], at, way,
						 t.diags.item[t.diags.n - 1].message);
				if (which(before[way / 2]) != (status == QN_OK))
					fail_msg("%s %zu, way %zu: not the files from before",
						 disk_names[calls[k]], at, way);
				if (leftovers() != 0)
					fail_msg("%s %zu, way %zu: files are left",
						 disk_names[calls[k]], at, way);
			}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kills),
		cmocka_unit_test(removes),
		cmocka_unit_test(kills_twice),
		cmocka_unit_test(errors),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
