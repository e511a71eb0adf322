/* SPDX-License-Identifier: Apache-2.0 */
/* test_commit.c - files of one folder change together, whenever their process dies.
 *
 *   a child writes "new" over "old" and is killed before its call 1, 2, 3 …; the next write in the
 *   folder finds all files old or all new, and nothing is left over */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE /* flock, mkdtemp */
#endif
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "formats/file.h"
#include "ir/diag.h"
#include "tests/robust/disk.h"

enum { NFILE = 4 };

static const char *const name[NFILE] = {"net.h", "net.c", "net_weights.c", "net.report.json"};

static struct {
	qn_env env;
	qn_diags diags;
	char folder[64];
} t;

static void *
allocate(void *user, void *p, size_t old, size_t n)
{
	(void)user;
	(void)old;
	if (n > 0)
		return realloc(p, n);
	free(p);
	return NULL;
}

static const char *
path_of(const char *file)
{
	static char path[2 * NFILE][400];
	static unsigned k;
	char *to = path[k++ % (2 * NFILE)];

	(void)snprintf(to, sizeof path[0], "%s/%s", t.folder, file);
	return to;
}

/* ---- writing ---- */

static qn_status
write_set(const char *text)
{
	qn_file_out out[NFILE];

	for (size_t i = 0; i < NFILE; i++)
		out[i] = (qn_file_out){.path = path_of(name[i]), .data = text, .n = strlen(text)};
	return qn_files_write(&t.env, NULL, NFILE, out);
}

/* The next command: it has nothing to do with the set. */
static qn_status
write_other(void)
{
	return qn_file_write(&t.env, path_of("other"), "x", 1);
}

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

/* ---- looking ---- */

/* What a file holds; "" when there is none. */
static const char *
content(const char *file)
{
	static char text[16];
	FILE *f = fopen(path_of(file), "rb");
	size_t n = f != NULL ? fread(text, 1, sizeof text - 1, f) : 0;

	if (f != NULL)
		(void)fclose(f);
	text[n] = '\0';
	return text;
}

static size_t
leftovers(void)
{
	DIR *d = opendir(t.folder);
	struct dirent *e;
	size_t n = 0;

	assert_non_null(d);
	while ((e = readdir(d)) != NULL)
		n += strstr(e->d_name, "quern") != NULL;
	(void)closedir(d);
	return n;
}

/* All files hold one text of the two, which is returned: 0, 1; -1 when they differ. */
static int
which(const char *before)
{
	const bool is_new = strcmp(content(name[0]), "new") == 0;

	for (size_t i = 0; i < NFILE; i++)
		if (strcmp(content(name[i]), is_new ? "new" : before) != 0)
			return -1;
	return is_new ? 1 : 0;
}

static void
start(const char *before)
{
	DIR *d = opendir(t.folder);
	struct dirent *e;

	while ((e = readdir(d)) != NULL)
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			(void)unlink(path_of(e->d_name));
	(void)closedir(d);
	qn_diags_clear(&t.env, &t.diags);
	if (before[0] != '\0')
		assert_int_equal(write_set(before), QN_OK);
}

/* ---- killing ---- */

/* A child does it and is killed before its call `at`; false when it made fewer calls. */
static bool
killed(qn_status (*job)(void), size_t at)
{
	int status = 0;
	pid_t child = fork();

	assert_true(child >= 0);
	if (child == 0) {
		disk_arm(DISK_ANY, at, DISK_KILL, false);
		_exit((int)job());
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	if (!WIFSIGNALED(status))
		assert_int_equal(status, 0);
	return WIFSIGNALED(status);
}

static qn_status
write_new(void)
{
	return write_set("new");
}

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

/* Reads the set: 0: all are of before, 1: all are new, -1: files of two sets. */
static int
read_set(const char *before)
{
	size_t count[2] = {0, 0};

	for (size_t i = 0; i < NFILE; i++) {
		const char *text = "";
		size_t n = 0;
		qn_arena a;

		qn_arena_init(&a, &t.env);
		if (qn_file_map(&a, path_of(name[i]), &text, &n) != QN_OK)
			text = "";
		count[0] += n == strlen(before) && memcmp(text, before, n) == 0;
		count[1] += n == 3 && memcmp(text, "new", 3) == 0;
		qn_arena_release(&a);
	}
	return count[1] == NFILE ? 1 : count[0] == NFILE ? 0 : -1;
}

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

/* ---- several at once ---- */

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

static int
begin(void **state)
{
	(void)state;
	t.env = (qn_env){.alloc = allocate, .diags = &t.diags};
	/* in memory where there is such a folder: thousands of files are flushed */
	strcpy(t.folder, "/dev/shm/quern-commit-XXXXXX");
	if (mkdtemp(t.folder) != NULL)
		return 0;
	strcpy(t.folder, "/tmp/quern-commit-XXXXXX");
	return mkdtemp(t.folder) == NULL;
}

static int
end(void **state)
{
	(void)state;
	start("");
	qn_diags_clear(&t.env, &t.diags);
	return rmdir(t.folder);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kills),
		cmocka_unit_test(removes),
		cmocka_unit_test(kills_twice),
		cmocka_unit_test(errors),
		cmocka_unit_test(tmp_is_gone),
		cmocka_unit_test(writers),
		cmocka_unit_test(sweep),
		cmocka_unit_test(bad_journals),
		cmocka_unit_test(read_after_kills),
		cmocka_unit_test(read_only),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
