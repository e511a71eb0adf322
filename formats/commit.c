/* SPDX-License-Identifier: Apache-2.0 */
/* commit.c - see commit.h.  The journal is carried out in one of two directions, and both can be
 * begun again wherever they were stopped:
 *
 *   F  forward: old file -> .old, temporary file -> its name; where there is none, that is done;
 *      of a file that goes the first half alone
 *   B  back:    .old -> its name; a name that was new goes; temporary files go */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700
#endif

#include "formats/commit_journal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/file.h"
#include "formats/file_open.h"
#include "ir/diag.h"

enum { MOST_BYTES = 1 << 22 }; /* of a journal */

/* ---- carrying it out: an errno, 0 when all is done ---- */

static bool
is_there(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0;
}

static int
removed(const char *path)
{
	return unlink(path) == 0 || errno == ENOENT ? 0 : errno;
}

/* The file keeps a second name where the file system has hard links; elsewhere it loses its own
 * for a moment. */
static int
set_aside(const qn_journal_step *s)
{
	if (s->fresh || link(s->name, s->old) == 0 || errno == EEXIST || errno == ENOENT)
		return 0;
	return rename(s->name, s->old) == 0 || errno == ENOENT ? 0 : errno;
}

static int
go_forward(const qn_journal *j)
{
	for (size_t i = 0; i < j->n; i++) {
		const qn_journal_step *s = &j->step[i];

		if (s->gone && rename(s->name, s->old) != 0 && errno != ENOENT)
			return errno;
		if (s->gone || !is_there(s->tmp))
			continue;
		int error = set_aside(s);
		if (error != 0)
			return error;
		if (rename(s->tmp, s->name) != 0)
			return errno;
	}
	return qn_folder_lock_sync(j->lock);
}

static int
go_back(const qn_journal *j)
{
	int error = 0;

	for (size_t i = 0; i < j->n; i++) {
		const qn_journal_step *s = &j->step[i];
		int e = 0;

		if (s->fresh && !s->gone && !is_there(s->tmp))
			e = removed(s->name);
		else if (!s->fresh && rename(s->old, s->name) != 0 && errno != ENOENT)
			e = errno;
		if (e == 0)
			(void)unlink(s->tmp);
		error = error != 0 ? error : e;
	}
	return error != 0 ? error : qn_folder_lock_sync(j->lock);
}

/* After the last rename, in either direction.  Old files without a journal are swept, so the
 * journal goes first. */
static void
finish(const qn_journal *j)
{
	if (removed(j->path) != 0)
		return;
	for (size_t i = 0; i < j->n; i++)
		(void)unlink(j->step[i].old);
}

/* ---- its file ---- */

/* Each user has a journal of his own: that of another one is not to be trusted. */
static const char *
journal_path(qn_arena *a, const char *folder)
{
	qn_buf b;

	qn_buf_init(&b, a);
	qn_buff(&b, "%s.quern-%u.commit", folder, (unsigned)geteuid());
	return qn_buf_str(&b);
}

/* Whether there is one of this user's. */
static bool
has_journal(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid();
}

/* Whether a file of the folder is part of the change. */
static bool
concerns(const qn_journal *j, const char *name)
{
	for (size_t i = 0; i < j->n; i++)
		if (strcmp(qn_path_base(j->step[i].name), name) == 0)
			return true;
	return false;
}

/* What a process that was killed had begun; name: only if this file is part of it, NULL: in any
 * case. */
static qn_status
recover(qn_arena *a, const char *folder, const char *name, const qn_folder_lock *lock)
{
	qn_journal j = {.path = journal_path(a, folder), .folder = folder, .lock = lock};
	const char *text;
	size_t n;

	if (!has_journal(j.path))
		return QN_OK;
	QN_TRY(qn_file_map_as_is(a, j.path, &text, &n));
	if (n > MOST_BYTES || !qn_journal_parse(a, &j, text, n))
		return qn_report(a->env, QN_EIO, "file.commit", j.path,
				 "the journal of an interrupted command is damaged; remove it and "
				 "create the files of this folder again");
	if (name != NULL && !concerns(&j, name))
		return QN_OK;
	int error = text[0] == 'F' ? go_forward(&j) : go_back(&j);
	if (error != 0)
		return qn_file_fail(a->env, "file.commit", j.path, error);
	finish(&j);
	qn_log(a->env, "%s: the files of an interrupted command are %s",
	       folder[0] != '\0' ? folder : ".", text[0] == 'F' ? "complete now" : "as before it");
	return QN_OK;
}

/* ---- before a file is read ---- */

/* With the lock, which is waited for: the command may be running. */
static qn_status
settle(qn_arena *a, const char *folder, const char *name)
{
	qn_folder_lock *lock;

	QN_TRY(qn_folder_lock_take(a, folder, true, &lock));
	qn_status status = qn_folder_lock_held(lock) ? recover(a, folder, name, lock) : QN_EIO;
	qn_folder_lock_release(lock);
	return status;
}

void
qn_files_settle(qn_arena *a, const char *path)
{
	qn_env *env = a->env;
	qn_arena *tmp = qn_arena_child(a);
	char real[PATH_MAX];
	struct stat st;

	if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode) && realpath(path, real) != NULL)
		path = real; /* written there too */
	const char *folder = qn_path_folder(tmp, path), *file = journal_path(tmp, folder);
	if (has_journal(file)) {
		const qn_diag_mark mark = qn_diag_mark_now(env);

		if (settle(tmp, folder, qn_path_base(path)) != QN_OK) {
			qn_diag_forget(env, mark);
			qn_warn(env, "file.commit", path,
				"a command was interrupted while it changed the files of this "
				"folder, "
				"and its changes (%s) cannot be completed now: the files may not "
				"belong "
				"together; create them again",
				qn_path_base(file));
		}
	}
	qn_arena_release(tmp);
}

/* ---- a commit ---- */

static int
write_journal(const qn_journal *j, const char *text, size_t n)
{
	int fd = qn_file_open(j->tmp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (fd < 0)
		return errno;
	int error = qn_file_put(fd, text, n);
	if (error == 0)
		error = qn_file_sync(fd);
	if (close(fd) != 0 && error == 0 && errno != EINTR)
		error = errno;
	if (error == 0 && rename(j->tmp, j->path) != 0)
		error = errno;
	if (error != 0)
		(void)unlink(j->tmp);
	return error;
}

/* From now on the journal goes the other way. */
static bool
turn_back(const qn_journal *j)
{
	int fd = qn_file_open(j->path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0);

	if (fd < 0)
		return false;
	bool ok = qn_file_put(fd, "B", 1) == 0 && qn_file_sync(fd) == 0;
	return close(fd) == 0 && ok;
}

static qn_status
commit_set(qn_arena *a, qn_journal *j, const qn_commit_file *file, bool *kept)
{
	qn_env *env = a->env;
	const char *place = j->step[0].name;
	qn_buf text;

	for (size_t i = 0; i < j->n; i++) /* carrying it out would take it for done */
		if (!j->step[i].gone && !is_there(j->step[i].tmp))
			return qn_file_fail(env, "file.write", j->step[i].name, ENOENT);
	qn_buf_init(&text, a);
	qn_journal_print(&text, j->n, file);
	int error = write_journal(j, text.data, text.n);
	if (error != 0)
		return qn_file_fail(env, "file.write", place, error);
	error = qn_folder_lock_sync(j->lock);
	if (error == 0)
		error = go_forward(j);
	if (error == 0) {
		finish(j);
		return QN_OK;
	}
	qn_status status = qn_file_fail(env, "file.write", place, error);
	(void)turn_back(j);
	error = go_back(j);
	if (error == 0) {
		finish(j);
		return status;
	}
	*kept = true;
	return qn_report(
		env, QN_EIO, "file.commit", j->path,
		"the previous files cannot be restored now; the next command that writes to "
		"this folder restores them");
}

static void
prepare(qn_arena *a, qn_journal *j, uint64_t id, size_t n, qn_commit_file *file)
{
	char tmp[QN_TMP_NAME_CAPACITY];

	j->path = journal_path(a, j->folder);
	qn_tmp_name(tmp, sizeof tmp, "", id, SIZE_MAX);
	j->tmp = qn_journal_path_in(a, j->folder, tmp);
	j->n = n;
	j->step = QN_NEW(a, qn_journal_step, n);
	for (size_t i = 0; i < n; i++) {
		qn_buf old;

		qn_buf_init(&old, a);
		qn_buff(&old, "%.*s.old", (int)(strlen(file[i].tmp) - 4), file[i].tmp);
		file[i].old = qn_buf_str(&old);
		j->step[i] = (qn_journal_step){qn_journal_path_in(a, j->folder, file[i].tmp),
					       qn_journal_path_in(a, j->folder, file[i].old),
					       qn_journal_path_in(a, j->folder, file[i].name),
					       file[i].fresh, file[i].gone};
	}
}

qn_status
qn_files_commit(qn_arena *a, const char *folder, uint64_t id, size_t n, qn_commit_file *file,
		bool *kept)
{
	qn_journal j = {.folder = folder};
	qn_folder_lock *lock;

	*kept = false;
	prepare(a, &j, id, n, file);
	QN_TRY(qn_folder_lock_take(a, folder, n > 1 || has_journal(j.path), &lock));
	j.lock = lock;
	qn_status status = QN_OK;
	if (qn_folder_lock_held(lock))
		status = recover(a, folder, NULL, lock);
	if (status == QN_OK && qn_folder_lock_held(lock))
		qn_folder_sweep(a, folder, n, file);
	for (size_t i = 0; i < n; i++) /* it may have come meanwhile */
		file[i].fresh = j.step[i].fresh = !is_there(j.step[i].name);
	if (status == QN_OK && (n > 1 || file[0].gone)) {
		status = commit_set(a, &j, file, kept);
	} else if (status == QN_OK && rename(j.step[0].tmp, j.step[0].name) != 0) {
		status = qn_file_fail(a->env, "file.write", j.step[0].name, errno);
	}
	qn_folder_lock_release(lock);
	return status;
}
