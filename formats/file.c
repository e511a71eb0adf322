/* SPDX-License-Identifier: Apache-2.0 */
/* file.c - files as bytes, on POSIX systems.
 *
 *   out/net.c     ──write──▶ out/net.c.tmp-0 ──fsync──▶ ┐
 *   out/net.h     ──write──▶ out/net.h.tmp-0 ──fsync──▶ ┴ all written? ──rename──▶ out/net.c, out/net.h
 *
 * A reader sees the old file or the new one, never half of one.  When anything fails the
 * temporary files are removed. Memory is asked for before the first file is opened, so that
 * running out of it cannot leave a descriptor behind.
 *
 * Files are read into memory, where nobody can change them.  Only those of more than QN_FILE_MAPPED
 * bytes are mapped: cut short by another program meanwhile, they end this one with SIGBUS. */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700
#endif

#include "formats/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ir/diag.h"
#include "ir/limits.h"

enum { MAX_TRIES = 1000 }; /* temporary names tried for one file */

/* ---- reading ---- */

/* What a file holds on to until the arena is released. */
typedef struct source {
	int fd;       /* -1: closed */
	void *mapped; /* NULL: read */
	const char *data;
	size_t n;
} source;

static void
let_go(void *ptr)
{
	source *s = ptr;

	if (s->mapped != NULL)
		(void)munmap(s->mapped, s->n);
	if (s->fd >= 0)
		(void)close(s->fd);
	s->mapped = NULL;
	s->fd = -1;
}

static qn_status
fail(qn_env *env, const char *id, const char *path, int error)
{
	char reason[256];

	if (strerror_r(error, reason, sizeof reason) != 0)
		(void)snprintf(reason, sizeof reason, "error %d", error);
	return qn_report(env, QN_EIO, id, path, "%s", reason);
}

static int
open_retry(const char *path, int flags, mode_t mode)
{
	int fd;

	do {
		fd = open(path, flags, mode);
	} while (fd < 0 && errno == EINTR);
	return fd;
}

/* Up to n bytes; fewer at the end of the file.  -1: errno tells why. */
static ssize_t
read_bytes(int fd, char *p, size_t n)
{
	const size_t piece = (size_t)1 << 30; /* some systems refuse more at once */
	size_t have = 0;

	while (have < n) {
		ssize_t k = read(fd, p + have, n - have < piece ? n - have : piece);

		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			return -1;
		if (k == 0)
			break;
		have += (size_t)k;
	}
	return (ssize_t)have;
}

static qn_status
read_all(qn_arena *a, const char *path, source *s)
{
	/* One byte more, which must not be there. */
	char *data = QN_NEW(a, char, s->n + 1);
	ssize_t k = read_bytes(s->fd, data, s->n + 1);

	s->data = data;
	if (k < 0)
		return fail(a->env, "file.read", path, errno);
	if ((size_t)k != s->n)
		return qn_report(a->env, QN_EIO, "file.read", path,
				 "its size changed while it was read: %zu bytes before, %s now",
				 s->n, (size_t)k < s->n ? "fewer" : "more");
	return QN_OK;
}

static qn_status
take_bytes(qn_arena *a, const char *path, source *s)
{
	qn_env *env = a->env;
	struct stat st;

	if (fstat(s->fd, &st) != 0)
		return fail(env, "file.read", path, errno);
	if (!S_ISREG(st.st_mode))
		return qn_report(env, QN_EIO, "file.read", path, "not a regular file");
	if (st.st_size < 0 || (uintmax_t)st.st_size > SIZE_MAX / 2)
		return qn_report(env, QN_EIO, "file.read", path, "too large for this machine");
	if ((uintmax_t)st.st_size > qn_limit(env, QN_LIMIT_BYTES))
		return qn_limit_report(env, QN_LIMIT_BYTES, path, (uint64_t)st.st_size);
	s->n = (size_t)st.st_size;
	if (s->n <= QN_FILE_MAPPED)
		return read_all(a, path, s);
	void *data = mmap(NULL, s->n, PROT_READ, MAP_PRIVATE, s->fd, 0);
	if (data == MAP_FAILED) /* ENODEV: not in this file system */
		return errno == ENODEV ? read_all(a, path, s) : fail(env, "file.read", path, errno);
	s->data = s->mapped = data;
	return QN_OK;
}

qn_status
qn_file_map(qn_arena *a, const char *path, const char **data, size_t *n)
{
	source *s = QN_NEW(a, source, 1);

	s->fd = -1;
	qn_arena_defer(a, let_go, s);
	/* O_NONBLOCK: a pipe without a writer must not hold us up; it is refused right after. */
	s->fd = open_retry(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
	if (s->fd < 0)
		return fail(a->env, "file.open", path, errno);
	qn_status status = take_bytes(a, path, s);
	(void)close(s->fd);
	s->fd = -1;
	QN_TRY(status);
	*data = s->data;
	*n = s->n;
	return QN_OK;
}

/* ---- writing ---- */

/* One file on its way: its temporary name, "" while there is no such file. */
typedef struct pending {
	const char *path; /* the target, links followed */
	bool direct;      /* the target is a device or a pipe: written as it is, never replaced */
	bool fresh;       /* there is no such file yet */
	bool done;        /* renamed */
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
		int fd = open_retry(p->tmp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
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

static qn_status
write_tmp(qn_env *env, const qn_file_out *f, pending *p)
{
	int fd = p->direct ? open_retry(p->path, O_WRONLY | O_CLOEXEC, 0) : create_tmp(p);

	if (fd < 0)
		return fail(env, "file.write", f->path, errno);
	int error =
		write_bytes(fd, f->data, f->n) && (p->direct || fsync_retry(fd) == 0) ? 0 : errno;
	if (close(fd) != 0 && error == 0 && errno != EINTR)
		error = errno;
	return error != 0 ? fail(env, "file.write", f->path, error) : QN_OK;
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
			return fail(env, "file.write", p[i].path, EISDIR);
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
	return fail(env, "file.mkdir", path, error);
}

typedef struct write_call {
	const char *folder;
	size_t n;
	const qn_file_out *files;
} write_call;

/* Removes temporary files, and after a failure also those that have got their name already, unless
 * they took the place of an older file: that one is gone. */
static void
clean_up(size_t n, const pending *p, bool ok)
{
	for (size_t i = 0; i < n; i++) {
		if (p[i].done && !ok && p[i].fresh && !p[i].direct)
			(void)unlink(p[i].path);
		else if (!p[i].done && p[i].tmp[0] != '\0')
			(void)unlink(p[i].tmp);
	}
}

/* Nothing is allocated after the first change on disk. */
static qn_status
write_all(void *arg, qn_arena *a)
{
	const write_call *c = arg;
	const char *folder = c->folder;
	const qn_file_out *files = c->files;
	size_t n = c->n;
	pending *p = QN_NEW(a, pending, n);
	qn_status status = QN_OK;
	bool made = false;

	for (size_t i = 0; i < n; i++) {
		p[i].path = follow(a, files[i].path);
		p[i].cap = strlen(p[i].path) + 32;
		p[i].tmp = QN_NEW(a, char, p[i].cap);
	}
	if (folder != NULL)
		status = make_folder(a->env, folder, &made);
	if (status == QN_OK)
		status = check_targets(a->env, n, p);
	for (size_t i = 0; i < n && status == QN_OK; i++)
		status = write_tmp(a->env, &files[i], &p[i]);
	for (size_t i = 0; i < n && status == QN_OK; i++) {
		if (!p[i].direct && rename(p[i].tmp, p[i].path) != 0)
			status = fail(a->env, "file.write", files[i].path, errno);
		else
			p[i].done = true;
	}
	clean_up(n, p, status == QN_OK);
	if (status != QN_OK && made)
		(void)rmdir(folder);
	return status;
}

qn_status
qn_files_write(qn_env *env, const char *folder, size_t n, const qn_file_out *files)
{
	write_call c = {folder, n, files};
	qn_arena a;

	/* The arena is this function's own, so the jump of an allocation is caught here and goes
	 * on after the release. */
	qn_arena_init(&a, env);
	qn_status status = qn_arena_try(&a, write_all, &c);
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

/* ---- names ---- */

const char *
qn_path_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

const char *
qn_path_folder(qn_arena *a, const char *path)
{
	return qn_arena_strn(a, path, (size_t)(qn_path_base(path) - path));
}

const char *
qn_path_join(qn_arena *a, const char *folder, const char *name)
{
	size_t n = strlen(folder);
	size_t k = strlen(name);
	bool slash = n > 0 && folder[n - 1] != '/' && name[0] != '/';

	if (name[0] == '/')
		n = 0; /* an absolute name stays what it is */
	char *s = QN_NEW(a, char, n + slash + k + 1);
	/* NOLINTNEXTLINE(bugprone-not-null-terminated-result): the name follows */
	memcpy(s, folder, n);
	if (slash)
		s[n] = '/';
	memcpy(s + n + slash, name, k + 1);
	return s;
}
