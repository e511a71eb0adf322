/* SPDX-License-Identifier: Apache-2.0 */
/* folder_lock.c - one process at a time changes a folder; files left over by ended ones are removed.
 *
 * The lock is flock(2) on the folder itself: it needs no file, and it ends with its process however
 * that ends.  It is held during the renames only, for milliseconds. */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE /* flock, getentropy */
#endif
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700
#endif

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "formats/commit.h"
#include "formats/file_open.h"
#include "ir/diag.h"

enum { NAP_MS = 20, PATIENCE_MS = 60000 };

struct qn_folder_lock {
	int fd; /* -1: not open */
	bool held, masked;
	sigset_t before;
};

uint64_t
qn_tmp_id(void)
{
	uint64_t id = 0;

	if (getentropy(&id, sizeof id) != 0)
		id = (uint64_t)getpid() << 32 | (uint32_t)(uintptr_t)&id;
	return id;
}

void
qn_tmp_name(char *to, size_t room, const char *folder, uint64_t id, size_t index)
{
	(void)snprintf(to, room, "%s.quern-%016llx-%zu.tmp", folder, (unsigned long long)id, index);
}

/* ---- the lock ---- */

void
qn_folder_lock_release(qn_folder_lock *l)
{
	if (l->fd >= 0)
		(void)close(l->fd);
	l->fd = -1;
	l->held = false;
	if (l->masked)
		(void)pthread_sigmask(SIG_SETMASK, &l->before, NULL);
	l->masked = false;
}

static void
let_go(void *p)
{
	qn_folder_lock_release(p);
}

/* A file system without locks: what is written is still whole. */
static bool
cannot_lock(int error)
{
	return error == ENOLCK || error == EOPNOTSUPP || error == ENOSYS || error == EINVAL ||
	       error == EBADF;
}

/* 0: locked; else an errno. */
static int
lock_patiently(qn_env *env, const char *name, int fd, bool must)
{
	for (int waited = 0;; waited += NAP_MS) {
		if (flock(fd, LOCK_EX | LOCK_NB) == 0)
			return 0;
		if (errno == EINTR)
			continue;
		if (errno != EWOULDBLOCK || !must || waited >= PATIENCE_MS)
			return errno;
		if (waited == 25 * NAP_MS)
			qn_log(env, "waiting for another program that writes to %s", name);
		(void)nanosleep(&(struct timespec){.tv_nsec = NAP_MS * 1000000L}, NULL);
	}
}

/* From here to the release no signal ends the program, if it is for this thread. */
static void
mask_signals(qn_folder_lock *l)
{
	sigset_t most;

	(void)sigfillset(&most);
	/* those that a fault of the program itself raises cannot wait */
	(void)sigdelset(&most, SIGSEGV);
	(void)sigdelset(&most, SIGBUS);
	(void)sigdelset(&most, SIGFPE);
	(void)sigdelset(&most, SIGILL);
	(void)sigdelset(&most, SIGABRT);
	l->masked = pthread_sigmask(SIG_SETMASK, &most, &l->before) == 0;
}

qn_status
qn_folder_lock_take(qn_arena *a, const char *folder, bool must, qn_folder_lock **out)
{
	const char *name = folder[0] != '\0' ? folder : ".";
	qn_folder_lock *l = *out = QN_NEW(a, qn_folder_lock, 1);

	l->fd = -1;
	qn_arena_defer(a, let_go, l);
	l->fd = qn_file_open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	if (l->fd < 0)
		return qn_file_fail(a->env, "file.write", name, errno);
	int error = lock_patiently(a->env, name, l->fd, must);
	l->held = error == 0;
	if (error == 0)
		mask_signals(l);
	else if (must && error == EWOULDBLOCK)
		return qn_report(a->env, QN_EIO, "file.lock", name,
				 "another program has held the lock of this folder for %d seconds; "
				 "end it, or use another folder",
				 PATIENCE_MS / 1000);
	else if (must && cannot_lock(error))
		qn_warn(a->env, "file.lock", name,
			"this file system has no locks: let one program at a time write to it");
	else if (must)
		return qn_file_fail(a->env, "file.lock", name, error);
	return QN_OK;
}

bool
qn_folder_lock_held(const qn_folder_lock *l)
{
	return l->held;
}

int
qn_folder_lock_sync(const qn_folder_lock *l)
{
	int r;

	do {
		r = l->fd >= 0 ? fsync(l->fd) : 0;
	} while (r != 0 && errno == EINTR);
	return r == 0 || errno == EINVAL || errno == EBADF || errno == EOPNOTSUPP ? 0 : errno;
}

/* ---- what dead processes left ---- */

static bool
ends_with(const char *s, const char *end)
{
	size_t n = strlen(s), k = strlen(end);

	return n > k && strcmp(s + n - k, end) == 0;
}

/* Removes a file that is not locked: its process has ended.  Files of other users may belong to their
 * journals.  The lock is held over the removal, so that a process that has just made the file and
 * waits for the lock finds afterwards that it has no name (create_tmp). */
static void
remove_dead(const char *path)
{
	struct stat st;
	int fd = qn_file_open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0);

	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
	    flock(fd, LOCK_EX | LOCK_NB) == 0)
		(void)unlink(path);
	(void)close(fd);
}

static void
close_folder(void *d)
{
	(void)closedir(d);
}

static bool
is_own(const char *name, size_t n, const qn_commit_file *file)
{
	size_t i = 0;

	while (i < n && strcmp(file[i].tmp, name) != 0)
		i++;
	return i < n;
}

void
qn_folder_sweep(qn_arena *a, const char *folder, size_t n, const qn_commit_file *file)
{
	qn_arena *tmp = qn_arena_child(a);
	DIR *d = opendir(folder[0] != '\0' ? folder : ".");
	const struct dirent *e;

	if (d == NULL && errno == ENOMEM)
		qn_env_oom(a->env);
	if (d == NULL)
		return;
	qn_arena_defer(tmp, close_folder, d);
	while ((e = readdir(d)) != NULL) {
		qn_buf path;

		if (strncmp(e->d_name, ".quern-", 7) != 0 || is_own(e->d_name, n, file) ||
		    (!ends_with(e->d_name, ".tmp") && !ends_with(e->d_name, ".old")))
			continue;
		qn_buf_init(&path, tmp);
		qn_buff(&path, "%s%s", folder, e->d_name);
		remove_dead(qn_buf_str(&path));
	}
	qn_arena_release(tmp);
}
