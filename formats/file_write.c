/* SPDX-License-Identifier: Apache-2.0 */
/* file_write.c - files written whole or not at all, on POSIX systems.
 *
 *   out/net.c     ──write──▶ out/.quern-5f…c2-0.tmp ──fsync──▶ ┐
 *   out/net.h     ──write──▶ out/.quern-5f…c2-1.tmp ──fsync──▶ ┴ all written? commit: out/net.c, out/net.h
 *
 * A reader sees the old file or the new one, never half of one; files of one folder change together
 * (commit.h).  When anything fails the temporary files are removed. What is open and written is
 * in a list that was made before the first file was opened, so that nothing is left over when memory
 * runs out either; a signal handler finds it in the environment. */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE /* flock, F_DUPFD_CLOEXEC */
#endif
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700
#endif

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/commit.h"
#include "formats/disk.h"
#include "formats/file_open.h"
#include "ir/diag.h"

enum { MAX_TRIES = 1000 }; /* to create a temporary file that no other process removes */

/* One file on its way. */
typedef struct pending {
	const char *path;   /* the target, links followed */
	const char *folder; /* of it, with '/' at its end, or "" */
	bool direct;        /* the target is a device or a pipe: written as it is, never replaced */
	bool gone;          /* nothing is written: the file goes */
	bool done;          /* it has its name, or belongs to a journal */
	int fd;             /* -1: not open */
	int held;           /* the same, until the temporary file is not needed any more */
	int error;          /* errno of a write that failed; nothing is written after it */
	char *tmp;          /* the temporary file … */
	volatile sig_atomic_t made; /* … that is there */
} pending;

/* A call in progress. */
typedef struct qn_writing {
	const char *folder;
	uint64_t id; /* of its temporary files */
	size_t n;
	const qn_file_out *files;
	pending *file;              /* NULL until the list is whole */
	volatile sig_atomic_t made; /* the folder was not there before */
} write_call;

int
qn_file_put(int fd, const char *p, size_t n)
{
	const size_t piece = (size_t)1 << 30; /* some systems refuse more at once */

	while (n > 0) {
		ssize_t k = write(fd, p, n < piece ? n : piece);

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return k < 0 ? errno : ENOSPC;
		p += k;
		n -= (size_t)k;
	}
	return 0;
}

int
qn_file_sync(int fd)
{
	int r;

	do {
		r = fsync(fd);
	} while (r != 0 && errno == EINTR);
	return r == 0 ? 0 : errno;
}

/* Creates the temporary file.  Its lock says that this process lives; a sweep may come between the
 * file and its lock: it has no name then, and another one is made. */
static int
create_tmp(pending *p)
{
	struct stat st = {0};
	int fd = -1;

	for (int tries = 0; tries < MAX_TRIES && st.st_nlink == 0; tries++) {
		if (fd >= 0)
			(void)close(fd);
		p->made = 1; /* a signal may come as soon as it is there */
		fd = qn_file_open(p->tmp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
				  0666);
		p->fd = fd;
		if (fd < 0)
			return -1;
		p->made = 1;              /* clean_up knows it from now on */
		(void)flock(fd, LOCK_EX); /* where there are no locks nothing is swept */
		if (fstat(fd, &st) != 0)
			return -1;
	}
	return fd;
}

static void
write_piece(void *user, const char *text, size_t n)
{
	pending *p = user;

	if (p->error == 0)
		p->error = qn_file_put(p->fd, text, n);
}

static int
open_target(pending *p)
{
	if (p->direct)
		return p->fd = qn_file_open(p->path, O_WRONLY | O_CLOEXEC, 0);
	if (create_tmp(p) < 0)
		return -1;
	p->held = fcntl(p->fd, F_DUPFD_CLOEXEC, 0); /* closing one of them does not end the lock */
	return p->held;
}

static qn_status
write_tmp(qn_arena *a, const qn_file_out *f, pending *p)
{
	if (open_target(p) < 0)
		return qn_file_fail(a->env, "file.write", f->path, errno);
	if (f->print != NULL) {
		qn_buf b;

		qn_buf_to(&b, a, write_piece, p);
		f->print(f->user, &b);
		qn_buf_end(&b);
	} else {
		write_piece(p, f->data, f->n);
	}
	if (p->error == 0 && !p->direct)
		p->error = qn_file_sync(p->fd);
	int fd = p->fd;
	p->fd = -1;
	if (close(fd) != 0 && p->error == 0 && errno != EINTR)
		p->error = errno;
	return p->error != 0 ? qn_file_fail(a->env, "file.write", f->path, p->error) : QN_OK;
}

/* What would make a rename fail is looked for first. */
static qn_status
check_targets(qn_env *env, size_t n, pending *p)
{
	for (size_t i = 0; i < n; i++) {
		struct stat st;

		if (stat(p[i].path, &st) != 0)
			continue;
		if (S_ISDIR(st.st_mode))
			return qn_file_fail(env, "file.write", p[i].path, EISDIR);
		p[i].direct = !S_ISREG(st.st_mode);
	}
	return QN_OK;
}

static void
release(void *p)
{
	free(p);
}

/* The target of a symbolic link, in the arena; path itself if it is not a link. */
static const char *
follow(qn_arena *a, const char *path)
{
	struct stat st;
	char *real = lstat(path, &st) == 0 && S_ISLNK(st.st_mode) ? realpath(path, NULL) : NULL;

	if (real == NULL)
		return path;
	qn_arena_defer(a, release, real);
	return real;
}

static qn_status
make_folder(qn_env *env, write_call *c)
{
	struct stat st;

	c->made = stat(c->folder, &st) != 0; /* a signal may come as soon as it is there */
	int error = mkdir(c->folder, 0777) == 0 ? 0 : errno;
	c->made = error == 0;
	if (error == 0 || (error == EEXIST && stat(c->folder, &st) == 0 && S_ISDIR(st.st_mode)))
		return QN_OK;
	return qn_file_fail(env, "file.mkdir", c->folder, error);
}

/* ---- giving names ---- */

static bool
same_folder(const pending *a, const pending *b)
{
	struct stat x, y;

	return strcmp(a->folder, b->folder) == 0 ||
	       (stat(a->folder[0] != '\0' ? a->folder : ".", &x) == 0 &&
		stat(b->folder[0] != '\0' ? b->folder : ".", &y) == 0 && x.st_dev == y.st_dev &&
		x.st_ino == y.st_ino);
}

/* Two results of one name: the later one would replace the other. */
static qn_status
check_names(qn_env *env, size_t n, const pending *const *p)
{
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < i; j++)
			if (strcmp(qn_path_base(p[i]->path), qn_path_base(p[j]->path)) == 0)
				return qn_report(env, QN_EUSAGE, "file.twice", p[i]->path,
						 "two outputs would be written to this file; give "
						 "each its own name");
	return QN_OK;
}

/* All files that wait and lie in the folder of the first of them. */
static qn_status
commit_folder(qn_arena *a, const write_call *c, size_t first)
{
	qn_commit_file *set = QN_NEW(a, qn_commit_file, c->n);
	const pending **of = QN_NEW(a, const pending *, c->n);
	pending *p = c->file;
	bool kept;
	size_t k = 0;

	for (size_t i = first; i < c->n; i++)
		if (!p[i].done && !p[i].direct && same_folder(&p[first], &p[i])) {
			set[k].tmp = qn_path_base(p[i].tmp);
			set[k].name = qn_path_base(p[i].path);
			set[k].gone = p[i].gone;
			of[k++] = &p[i];
		}
	QN_TRY(check_names(a->env, k, of));
	qn_status status = qn_files_commit(a, p[first].folder, c->id, k, set, &kept);
	for (size_t i = 0, j = first; i < k; i++) {
		while (&p[j] != of[i])
			j++;
		p[j].done = status == QN_OK || kept;
		p[j].made = p[j].made && !p[j].done;
	}
	return status;
}

/* Removes temporary files, and the folder after a failure. */
static void
clean_up(const write_call *c, bool ok)
{
	const pending *p = c->file;

	for (size_t i = 0; p != NULL && i < c->n; i++) {
		if (p[i].made)
			(void)unlink(p[i].tmp);
		if (p[i].fd >= 0)
			(void)close(p[i].fd);
		if (p[i].held >= 0)
			(void)close(p[i].held);
	}
	if (!ok && c->made)
		(void)rmdir(c->folder);
}

void
qn_files_abandon(qn_env *env)
{
	const write_call *c = env->writing;

	for (size_t i = 0; c != NULL && c->file != NULL && i < c->n; i++)
		if (c->file[i].made)
			(void)unlink(c->file[i].tmp);
	if (c != NULL && c->made)
		(void)rmdir(c->folder);
}

static qn_status
write_all(void *arg, qn_arena *a)
{
	write_call *c = arg;
	const qn_file_out *files = c->files;
	size_t n = c->n;
	pending *p = QN_NEW(a, pending, n);
	qn_status status = QN_OK;

	for (size_t i = 0; i < n; i++) {
		p[i].path = follow(a, files[i].path);
		p[i].folder = qn_path_folder(a, p[i].path);
		p[i].tmp = QN_NEW(a, char, strlen(p[i].folder) + QN_TMP_NAME_CAPACITY);
		qn_tmp_name(p[i].tmp, strlen(p[i].folder) + QN_TMP_NAME_CAPACITY, p[i].folder,
			    c->id, i);
		p[i].fd = p[i].held = -1;
		p[i].gone = files[i].remove;
	}
	c->file = p;
	if (c->folder != NULL)
		status = make_folder(a->env, c);
	if (status == QN_OK)
		status = check_targets(a->env, n, p);
	for (size_t i = 0; i < n && status == QN_OK; i++)
		status = p[i].gone ? QN_OK : write_tmp(a, &files[i], &p[i]);
	for (size_t i = 0; i < n && status == QN_OK; i++)
		if (!p[i].done && !p[i].direct)
			status = commit_folder(a, c, i);
	return status;
}

qn_status
qn_disk_write(qn_env *env, const char *folder, size_t n, const qn_file_out *files)
{
	write_call c = {.folder = folder, .id = qn_tmp_id(), .n = n, .files = files};
	qn_arena a;

	/* The arena is this function's own, so the jump of an allocation is caught here and goes
	 * on after the release. */
	qn_arena_init(&a, env);
	env->writing = &c;
	qn_status status = qn_arena_try(&a, write_all, &c);
	clean_up(&c, status == QN_OK);
	env->writing = NULL;
	qn_arena_release(&a);
	if (status == QN_ENOMEM && env->oom != NULL)
		qn_env_oom(env);
	return status;
}
