/* SPDX-License-Identifier: Apache-2.0 */
/* file.h - files as bytes: read whole or not at all, written whole or not at all. */
#ifndef QN_FORMATS_FILE_H
#define QN_FORMATS_FILE_H

#include "ir/buf.h"

enum { QN_FILE_MAPPED = 1 << 26 }; /* bytes; files of more are mapped, up to it they are read */

/* The bytes of a file, until the arena is released.  When a command was killed while it changed this
 * file together with others, the change is completed first (qn_files_settle).  An empty file gives a pointer to nothing and
 * 0.  Errors (QN_EIO): file.open, file.read with the system's reason, or that the file changed its
 * size meanwhile. */
qn_status qn_file_map(qn_arena *a, const char *path, const char **data, size_t *n) QN_MUST_CHECK;

/* Links are followed; a device or a pipe is written as it is.  Writes a temporary file in the same
 * folder, flushes it, and renames it to path; on failure removes it and reports file.write with path
 * and reason. */
qn_status qn_file_write(qn_env *env, const char *path, const void *data, size_t n) QN_MUST_CHECK;

/* Several files that appear together: all are written under temporary names first, then those of
 * one folder get their names as one change (formats/commit.h), which other writers wait for and
 * which is completed by the next one when this process is killed in it; two of one name are
 * file.twice (QN_EUSAGE).  folder (NULL: none) is made
 * first if it is not there, its parents are not (file.mkdir); it goes again when the files cannot be
 * written. */
typedef struct qn_file_out {
	const char *path;
	const void *data;
	size_t n;
	/* Not NULL: writes the content into b instead, which hands it on to the file in pieces.
	 * When memory runs out in it, the files go again as after any failure. */
	void (*print)(void *user, qn_buf *b);
	void *user;
	bool remove; /* nothing is written: the file of this name goes, if there is one, with the change */
} qn_file_out;
qn_status qn_files_write(qn_env *env, const char *folder, size_t n,
			 const qn_file_out *files) QN_MUST_CHECK;

/* Removes the temporary files of a call in progress, for a handler of signals that ends the process:
 * it calls nothing but unlink and rmdir. */
void qn_files_abandon(qn_env *env);

/* The folder part of path with its '/', "" when there is none; the last part; path relative to a
 * folder. In arena a. */
const char *qn_path_folder(qn_arena *a, const char *path);
const char *qn_path_base(const char *path);
const char *qn_path_join(qn_arena *a, const char *folder, const char *name);
/* The last part without its extension, in arena a; whether the path ends with `end`, an extension with its dot. */
const char *qn_path_stem(qn_arena *a, const char *path);
bool qn_path_ends(const char *path, const char *end);

/* The path of a file that the model file `model` in `folder` (with its '/', "": here) names; NULL: *wrong says why it is not
 * read (formats/file_named.c). */
const char *qn_path_named(qn_arena *a, const char *folder, const char *model, const char *name,
			  const char **wrong);

#endif
