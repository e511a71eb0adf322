/* SPDX-License-Identifier: Apache-2.0 */
/* file_write.c - files written whole or not at all, on POSIX systems.
 *
 *   out/net.c     ──write──▶ out/net.c.tmp-0 ──fsync──▶ ┐
 *   out/net.h     ──write──▶ out/net.h.tmp-0 ──fsync──▶ ┴ all written? ──rename──▶ out/net.c, out/net.h
 *
 * A reader sees the old file or the new one, never half of one.  When anything fails the
 * temporary files are removed. What is open and written stands in a list that was made before the
 * first file was opened, so that running out of memory leaves nothing behind either. */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700
#endif

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/file.h"
#include "formats/file_open.h"
#include "ir/diag.h"

enum { MAX_TRIES = 1000 }; /* temporary names tried for one file */

/* One file on its way: its temporary name, "" while there is no such file. */
typedef struct pending {
	const char *path; /* the target, links followed */
	bool direct;      /* the target is a device or a pipe: written as it is, never replaced */
	bool fresh;       /* there is no such file yet */
	bool done;        /* renamed */
	int fd;           /* -1: not open */
	int error;        /* errno of a write that failed; nothing is written behind it */
	char *tmp;
	size_t cap;
} pending;

static bool
write_bytes(int fd, const char *p, size_t n)
{
	const size_t piece = (size_t)1 << 30; /* some systems refuse more at once */

	while (n > 0) {
		ssize_t k = write(fd, p, n < piece ? n : piece);

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0) {
			if (k == 0)
				errno = ENOSPC;
			return false;
		}
		p += k;
		n -= (size_t)k;
	}
	return true;
}

/* Creates path.tmp-0, or the first of .tmp-1, .tmp-2 … that does not exist yet. */
static int
create_tmp(pending *p)
{
	for (int i = 0; i < MAX_TRIES; i++) {
		(void)snprintf(p->tmp, p->cap, "%s.tmp-%d", p->path, i);
		int fd = qn_file_open(p->tmp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (fd >= 0 || errno != EEXIST) {
			if (fd < 0)
				p->tmp[0] = '\0';
			return fd;
		}
	}
	p->tmp[0] = '\0';
	errno = EEXIST;
	return -1;
}

static int
fsync_retry(int fd)
{
	int r;

	do {
		r = fsync(fd);
	} while (r != 0 && errno == EINTR);
	return r;
}

static void
write_piece(void *user, const char *text, size_t n)
{
	pending *p = user;

	if (p->error == 0 && !write_bytes(p->fd, text, n))
		p->error = errno;
}

static qn_status
write_tmp(qn_arena *a, const qn_file_out *f, pending *p)
{
	p->fd = p->direct ? qn_file_open(p->path, O_WRONLY | O_CLOEXEC, 0) : create_tmp(p);
	if (p->fd < 0)
		return qn_file_fail(a->env, "file.write", f->path, errno);
	if (f->print != NULL) {
		qn_buf b;

		qn_buf_to(&b, a, write_piece, p);
		f->print(f->user, &b);
		qn_buf_end(&b);
	} else {
		write_piece(p, f->data, f->n);
	}
	if (p->error == 0 && !p->direct && fsync_retry(p->fd) != 0)
		p->error = errno;
	int fd = p->fd;
	p->fd = -1;
	if (close(fd) != 0 && p->error == 0 && errno != EINTR)
		p->error = errno;
	return p->error != 0 ? qn_file_fail(a->env, "file.write", f->path, p->error) : QN_OK;
}

/* Renames cannot be taken back, so what would make one fail is looked for first. */
static qn_status
check_targets(qn_env *env, size_t n, pending *p)
{
	for (size_t i = 0; i < n; i++) {
		struct stat st;

		p[i].fresh = stat(p[i].path, &st) != 0;
		if (p[i].fresh)
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

/* The file that a link stands for, in the arena; path itself where it is no link. */
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

/* Sets *made when the folder was not there before. */
static qn_status
make_folder(qn_env *env, const char *path, bool *made)
{
	struct stat st;

	*made = mkdir(path, 0777) == 0;
	int error = *made ? 0 : errno;
	if (*made || (error == EEXIST && stat(path, &st) == 0 && S_ISDIR(st.st_mode)))
		return QN_OK;
	return qn_file_fail(env, "file.mkdir", path, error);
}

typedef struct write_call {
	const char *folder;
	size_t n;
	const qn_file_out *files;
	pending *file; /* NULL until the list is whole */
	bool made;     /* the folder was not there before */
} write_call;

/* Removes temporary files, and after a failure also those that have got their name already, unless
 * they took the place of an older file: that one is gone. */
static void
clean_up(const write_call *c, bool ok)
{
	const pending *p = c->file;

	for (size_t i = 0; p != NULL && i < c->n; i++) {
		if (p[i].fd >= 0)
			(void)close(p[i].fd);
		if (p[i].done && !ok && p[i].fresh && !p[i].direct)
			(void)unlink(p[i].path);
		else if (!p[i].done && p[i].tmp[0] != '\0')
			(void)unlink(p[i].tmp);
	}
	if (!ok && c->made)
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
		p[i].cap = strlen(p[i].path) + 32;
		p[i].tmp = QN_NEW(a, char, p[i].cap);
		p[i].fd = -1;
	}
	c->file = p;
	if (c->folder != NULL)
		status = make_folder(a->env, c->folder, &c->made);
	if (status == QN_OK)
		status = check_targets(a->env, n, p);
	for (size_t i = 0; i < n && status == QN_OK; i++)
		status = write_tmp(a, &files[i], &p[i]);
	for (size_t i = 0; i < n && status == QN_OK; i++) {
		if (!p[i].direct && rename(p[i].tmp, p[i].path) != 0)
			status = qn_file_fail(a->env, "file.write", files[i].path, errno);
		else
			p[i].done = true;
	}
	return status;
}

qn_status
qn_files_write(qn_env *env, const char *folder, size_t n, const qn_file_out *files)
{
	write_call c = {.folder = folder, .n = n, .files = files};
	qn_arena a;

	/* The arena is this function's own, so the jump of an allocation is caught here and goes
	 * on after the release. */
	qn_arena_init(&a, env);
	qn_status status = qn_arena_try(&a, write_all, &c);
	clean_up(&c, status == QN_OK);
	qn_arena_release(&a);
	if (status == QN_ENOMEM && env->oom != NULL)
		qn_env_oom(env);
	return status;
}

qn_status
qn_file_write(qn_env *env, const char *path, const void *data, size_t n)
{
	return qn_files_write(env, NULL, 1, &(qn_file_out){.path = path, .data = data, .n = n});
}
