/* SPDX-License-Identifier: Apache-2.0 */
/* file.c - the bytes of files, on POSIX systems.
 *
 *   out/net.json    up to QN_FILE_MAPPED bytes: read into memory, where they cannot be changed
 *   out/net.bin     of more: mapped; cut short by another program meanwhile, it ends this one with
 *                   SIGBUS */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700
#endif
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE /* madvise */
#endif

#include "formats/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/commit.h"
#include "formats/file_open.h"
#include "ir/diag.h"
#include "ir/limits.h"

qn_status
qn_file_fail(qn_env *env, const char *id, const char *path, int error)
{
	char reason[256];

	if (strerror_r(error, reason, sizeof reason) != 0)
		(void)snprintf(reason, sizeof reason, "error %d", error);
	return qn_report(env, QN_EIO, id, path, "%s", reason);
}

int
qn_file_open(const char *path, int flags, mode_t mode)
{
	int fd;

	do {
		fd = open(path, flags, mode);
	} while (fd < 0 && errno == EINTR);
	return fd;
}

/* ---- reading ---- */

/* What a file holds on to until the arena is released. */
typedef struct source {
	int fd; /* -1: closed */
	const char *data;
	size_t n;
	struct qn_mapping *mapping; /* NULL: read */
} source;

typedef struct qn_mapping {
	qn_env *env;
	void *data;
	size_t n;
	struct qn_mapping *next;
} mapping;

static void
unmap(mapping *m)
{
	for (mapping **p = &m->env->mappings; *p != NULL; p = &(*p)->next)
		if (*p == m) {
			*p = m->next;
			break;
		}
	(void)munmap(m->data, m->n);
}

static void
let_go(void *ptr)
{
	source *s = ptr;

	if (s->mapping != NULL)
		unmap(s->mapping);
	if (s->fd >= 0)
		(void)close(s->fd);
	s->mapping = NULL;
	s->fd = -1;
}

/* Lets the system take the whole pages of a mapped range: they are the file's, which is still
 * there. */
static void
drop_pages(qn_env *env, const void *data, size_t n)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t from = ((uintptr_t)data + page - 1) / page * page;
	uintptr_t to = ((uintptr_t)data + n) / page * page;

	for (const mapping *m = env->mappings; m != NULL; m = m->next)
		if ((uintptr_t)m->data <= (uintptr_t)data &&
		    (uintptr_t)data + n <= (uintptr_t)m->data + m->n && from < to)
			(void)madvise((char *)m->data + (from - (uintptr_t)m->data), to - from,
				      MADV_DONTNEED);
}

/* Up to n bytes; fewer at the end of the file.  -1: errno has the reason. */
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
		return qn_file_fail(a->env, "file.read", path, errno);
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
		return qn_file_fail(env, "file.read", path, errno);
	if (!S_ISREG(st.st_mode))
		return qn_report(env, QN_EIO, "file.read", path, "not a regular file");
	if (st.st_size < 0 || (uintmax_t)st.st_size > SIZE_MAX / 2)
		return qn_report(env, QN_EIO, "file.read", path, "too large for this machine");
	if ((uintmax_t)st.st_size > qn_limit(env, QN_LIMIT_BYTES))
		return qn_limit_report(env, QN_LIMIT_BYTES, path, (uint64_t)st.st_size);
	s->n = (size_t)st.st_size;
	if (s->n <= QN_FILE_MAPPED)
		return read_all(a, path, s);
	mapping *m =
		QN_NEW(a, mapping, 1); /* before the file is mapped: this may leave by a jump */
	void *data = mmap(NULL, s->n, PROT_READ, MAP_PRIVATE, s->fd, 0);
	if (data == MAP_FAILED) /* ENODEV: not in this file system */
		return errno == ENODEV ? read_all(a, path, s)
				       : qn_file_fail(env, "file.read", path, errno);
	*m = (mapping){.env = env, .data = data, .n = s->n, .next = env->mappings};
	env->mappings = s->mapping = m;
	env->unneeded = drop_pages;
	s->data = data;
	return QN_OK;
}

qn_status
qn_disk_map(qn_arena *a, const char *path, const char **data, size_t *n)
{
	qn_files_settle(a, path);
	return qn_file_map_as_is(a, path, data, n);
}

qn_status
qn_file_map_as_is(qn_arena *a, const char *path, const char **data, size_t *n)
{
	source *s = QN_NEW(a, source, 1);

	s->fd = -1;
	qn_arena_defer(a, let_go, s);
	/* O_NONBLOCK: a pipe without a writer must not hold us up; it is refused right after. */
	s->fd = qn_file_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
	if (s->fd < 0)
		return qn_file_fail(a->env, "file.open", path, errno);
	qn_status status = take_bytes(a, path, s);
	(void)close(s->fd);
	s->fd = -1;
	QN_TRY(status);
	*data = s->data;
	*n = s->n;
	return QN_OK;
}
