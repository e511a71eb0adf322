/* SPDX-License-Identifier: Apache-2.0 */
/* folder.h - the files of a folder in byte order of their names, or those of its subfolders, which
 * are classes.
 *
 *   digits/0/a.png digits/0/b.png digits/1/a.png  ──▶  three files, labels 0 0 1 */
#ifndef QN_FORMATS_FOLDER_H
#define QN_FORMATS_FOLDER_H

#include "ir/arena.h"

enum { QN_FOLDER_MOST = 1 << 20 }; /* files */

typedef struct qn_folder {
	size_t n;
	const char *const *path;
	const int64_t *label; /* one per file; NULL when the files are in the folder itself */
	/* labels are below it, unless the subfolders' names are numbers: 0 then */
	size_t nclass;
	const char *const *class_name; /* of the subfolders */
} qn_folder;

typedef bool qn_wanted_fn(const char *name);

/* Files whose name is wanted; names that begin with a dot are not looked at.  Only when the folder
 * holds none, one level of subfolders is: they are numbered in byte order of their names, or by the
 * names where all of them are integers.  Id: folder.size; file.open with the system's
 * reason. */
qn_status qn_folder_list(qn_arena *a, const char *path, qn_wanted_fn *wanted,
			 qn_folder *out) QN_MUST_CHECK;

/* The file "input_3.pb" of a folder, number 3. */
const char *qn_folder_test_data(qn_arena *a, const char *path, size_t k);

/* How many of them there are, without a gap from input_0.pb on: a folder of ONNX's test data. */
size_t qn_folder_count_test_data(qn_arena *a, const char *path);

/* Whether a path is a folder. */
bool qn_folder_is(const char *path);

/* Whether a name ends so, whatever the case of its letters (ASCII). */
bool qn_name_ends(const char *name, const char *end);

#endif
