/* SPDX-License-Identifier: Apache-2.0 */
/* commit_rig.h - for tests of files that change together: sets of files, what a folder holds, processes that are killed. */
#ifndef TESTS_ROBUST_COMMIT_RIG_H
#define TESTS_ROBUST_COMMIT_RIG_H

#include "tests/robust/disk.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "formats/file.h"
#include "ir/diag.h"

enum { NFILE = 4 };

static const char *const name[NFILE] = {"net.h", "net.c", "net_weights.c", "net.report.json"};

static struct {
	qn_env env;
	qn_diags diags;
	char folder[64];
} t;

static inline void *
allocate(void *user, void *p, size_t old, size_t n)
{
	(void)user;
	(void)old;
	if (n > 0)
		return realloc(p, n);
	free(p);
	return NULL;
}

static inline const char *
path_of(const char *file)
{
	static char path[2 * NFILE][400];
	static unsigned k;
	char *to = path[k++ % (2 * NFILE)];

	(void)snprintf(to, sizeof path[0], "%s/%s", t.folder, file);
	return to;
}

static inline qn_status
write_set(const char *text)
{
	qn_file_out out[NFILE];

	for (size_t i = 0; i < NFILE; i++)
		out[i] = (qn_file_out){.path = path_of(name[i]), .data = text, .n = strlen(text)};
	return qn_files_write(&t.env, NULL, NFILE, out);
}

/* The next command: it has nothing to do with the set. */
static inline qn_status
write_other(void)
{
	return qn_file_write(&t.env, path_of("other"), "x", 1);
}

/* What a file holds; "" when there is none. */
static inline const char *
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

static inline size_t
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
static inline int
which(const char *before)
{
	const bool is_new = strcmp(content(name[0]), "new") == 0;

	for (size_t i = 0; i < NFILE; i++)
		if (strcmp(content(name[i]), is_new ? "new" : before) != 0)
			return -1;
	return is_new ? 1 : 0;
}

static inline void
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

/* A child does it and is killed before its call `at`; false when it made fewer calls. */
static inline bool
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

static inline qn_status
write_new(void)
{
	return write_set("new");
}

/* Reads the set: 0: all are of before, 1: all are new, -1: files of two sets. */
static inline int
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

static inline int
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

static inline int
end(void **state)
{
	(void)state;
	start("");
	qn_diags_clear(&t.env, &t.diags);
	return rmdir(t.folder);
}

#endif
