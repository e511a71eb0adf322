/* SPDX-License-Identifier: Apache-2.0 */
/* test_commit_lock.c - several processes change the files of one folder, or find what another one left: locks, temporary files,
 * damaged journals. */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE /* flock, mkdtemp */
#endif

#include "tests/robust/commit_rig.h"

#include <errno.h>
#include <fcntl.h>

static void
remove_first_tmp(void *folder, qn_buf *b)
{
	DIR *d = opendir(folder);
	const struct dirent *e;

	assert_non_null(d);
	while ((e = readdir(d)) != NULL)
		if (strstr(e->d_name, "-0.tmp") != NULL)
			assert_int_equal(unlink(path_of(e->d_name)), 0);
	(void)closedir(d);
	qn_buf_puts(b, "new");
}

/* A temporary file that is gone before the commit: an error, not a set without it. */
static void
tmp_is_gone(void **state)
{
	qn_file_out out[NFILE];

	(void)state;
	start("old");
	for (size_t i = 0; i < NFILE; i++)
		out[i] = (qn_file_out){.path = path_of(name[i]), .data = "new", .n = 3};
	out[NFILE - 1].print = remove_first_tmp;
	out[NFILE - 1].user = t.folder;
	assert_int_equal(qn_files_write(&t.env, NULL, NFILE, out), QN_EIO);
	assert_string_equal(t.diags.item[t.diags.n - 1].id, "file.write");
	assert_int_equal(which("old"), 0);
	assert_int_equal(leftovers(), 0);
}

static void
writers(void **state)
{
	enum { CHILDREN = 6, ROUNDS = 30 };
	pid_t child[CHILDREN];

	(void)state;
	start("");
	for (int i = 0; i < CHILDREN; i++) {
		child[i] = fork();
		assert_true(child[i] >= 0);
		if (child[i] == 0) {
			int bad = 0;

			for (int k = 0; k < ROUNDS; k++)
				bad |= write_set(i % 2 == 0 ? "old" : "new") != QN_OK;
			_exit(bad);
		}
	}
	for (int i = 0; i < CHILDREN; i++) {
		int status = -1;

		assert_int_equal(waitpid(child[i], &status, 0), child[i]);
		assert_int_equal(status, 0);
	}
	assert_true(which("old") >= 0);
	assert_int_equal(leftovers(), 0);
}

static size_t held_at_removal;

/* Somebody's file that goes is locked until it is gone: the process that has just made it and has
 * not locked it yet must not take it for its own afterwards. */
static void
look_at_lock(const char *path)
{
	int fd = open(path, O_RDONLY);

	held_at_removal += flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
	(void)close(fd);
}

/* A temporary file whose process lives stays, one of a dead one goes, files of others stay. */
static void
sweep(void **state)
{
	static const char *const file[] = {".quern-1-0.0.tmp", ".quern-1-0.0.old", ".quern-notes",
					   "x.quern-1.tmp"};
	int gate[2], ready[2];
	char c;

	(void)state;
	start("");
	for (size_t i = 0; i < 4; i++) {
		FILE *f = fopen(path_of(file[i]), "w");

		assert_non_null(f);
		assert_int_equal(fclose(f), 0);
	}
	assert_true(pipe(gate) == 0 && pipe(ready) == 0);
	pid_t child = fork();
	if (child == 0) {
		int fd;

		(void)close(gate[1]);
		fd = open(path_of(".quern-2-0.0.tmp"), O_CREAT | O_RDWR, 0600);
		_exit(fd < 0 || flock(fd, LOCK_EX) != 0 || write(ready[1], "r", 1) != 1 ||
		      read(gate[0], &c, 1) != 0);
	}
	(void)close(gate[0]);
	assert_int_equal(read(ready[0], &c, 1), 1);
	held_at_removal = 0;
	disk_before_unlink(look_at_lock);
	assert_int_equal(write_other(), QN_OK);
	disk_before_unlink(NULL);
	assert_int_equal(held_at_removal, 2);
	assert_int_equal(access(path_of(file[0]), F_OK), -1);
	assert_int_equal(access(path_of(file[1]), F_OK), -1);
	assert_int_equal(access(path_of(file[2]), F_OK), 0);
	assert_int_equal(access(path_of(file[3]), F_OK), 0);
	assert_int_equal(access(path_of(".quern-2-0.0.tmp"), F_OK), 0);
	(void)close(gate[1]);
	(void)close(ready[0]);
	(void)close(ready[1]);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(write_other(), QN_OK);
	assert_int_equal(access(path_of(".quern-2-0.0.tmp"), F_OK), -1);
}

/* A journal that is damaged, or names files elsewhere, is refused with its name. */
static void
bad_journals(void **state)
{
	static const char *const text[] = {"", "F00000000", "F00000000quern-commit-1",
					   "F12345678quern-commit-1n../x"};
	char journal[40];

	(void)state;
	(void)snprintf(journal, sizeof journal, ".quern-%u.commit", (unsigned)geteuid());
	for (size_t i = 0; i < 4; i++) {
		start("old");
		FILE *f = fopen(path_of(journal), "w");

		assert_non_null(f);
		assert_true(fwrite(text[i], 1, strlen(text[i]), f) == strlen(text[i]));
		assert_int_equal(fclose(f), 0);
		assert_int_equal(write_set("new"), QN_EIO);
		assert_string_equal(t.diags.item[t.diags.n - 1].id, "file.commit");
		qn_diags_clear(&t.env, &t.diags);
		assert_int_equal(which("old"), 0);
		assert_int_equal(read_set("old"), 0);
		assert_true(t.diags.n > 0 && t.diags.nerrors == 0);
		qn_diags_clear(&t.env, &t.diags);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tmp_is_gone),
		cmocka_unit_test(writers),
		cmocka_unit_test(sweep),
		cmocka_unit_test(bad_journals),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
