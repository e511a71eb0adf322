/* SPDX-License-Identifier: Apache-2.0 */
/* commit.h - files of one folder that get their names together.
 *
 *   out/.quern-5f…c2-0.tmp  ─┐                                                     ┌─▶ out/net.h
 *   out/.quern-5f…c2-1.tmp  ─┴─▶ lock out/, journal out/.quern-1000.commit, rename ┴─▶ out/net.c
 *
 * The temporary files hold the whole set, on the disk, before the journal appears; it is the moment
 * of the change.  A process that is killed before it leaves the old set and temporary files, which
 * the next commit in the folder sweeps; one that is killed after it leaves the journal, which the
 * next commit carries out, or whoever reads one of its files.  A rename that fails puts the old files
 * back. */
#ifndef QN_FORMATS_COMMIT_H
#define QN_FORMATS_COMMIT_H

#include "ir/buf.h"

typedef struct qn_commit_file {
	const char *tmp;  /* in the folder, from qn_tmp_name */
	const char *name; /* that it gets, in the folder too */
	bool gone;        /* it has no temporary file: the one of this name goes */
	bool fresh;       /* no file has this name yet */
	const char *old;  /* set here: the name of the file that was there, until all is done */
} qn_commit_file;

/* The name of temporary file `index` of a call: ".quern-<id>-0.tmp" after the folder.  The process
 * holds flock(2) on the file as long as it needs it. */
void qn_tmp_name(char *to, size_t room, const char *folder, uint64_t id, size_t index);
enum { QN_TMP_NAME_CAPACITY = 64 }; /* bytes after the folder */
/* Random, so that no journal of a dead process names the same files, whatever its number was. */
uint64_t qn_tmp_id(void);

/* What a commit holds until the arena is released: the folder's lock and the signals of this
 * thread, which would end the program between two renames. */
typedef struct qn_folder_lock qn_folder_lock;

/* Gives n files (1 or more) their names. folder: with '/' at its end, or "".  Errors (QN_EIO):
 * file.lock when another program holds the folder for a minute, file.write with the system's
 * reason: the old files are there then, unless file.commit says otherwise. *kept: the temporary
 * files belong to a journal now and must stay. */
qn_status qn_files_commit(qn_arena *a, const char *folder, uint64_t id, size_t n,
			  qn_commit_file *file, bool *kept) QN_MUST_CHECK;

/* Before a file is read: where the journal of a killed command, of this user, names the file, carries
 * it out; a command that runs is waited for.  Where that cannot be, as in a folder that is read-only,
 * warns (file.commit): the file may not belong to the others. */
void qn_files_settle(qn_arena *a, const char *path);

/* ---- the lock (folder_lock.c) ---- */

/* Waits for other programs where `must` is set; without it the lock may not be held afterwards. */
qn_status qn_folder_lock_take(qn_arena *a, const char *folder, bool must,
			      qn_folder_lock **out) QN_MUST_CHECK;
bool qn_folder_lock_held(const qn_folder_lock *l);
/* Flushes the folder itself; an errno, 0 when that is done or cannot be on this file system. */
int qn_folder_lock_sync(const qn_folder_lock *l);
void qn_folder_lock_release(qn_folder_lock *l);

/* Removes what dead processes of this user left, and not the n temporary files.  Only with the
 * lock, and without a journal. */
void qn_folder_sweep(qn_arena *a, const char *folder, size_t n, const qn_commit_file *file);

#endif
