/* SPDX-License-Identifier: Apache-2.0 */
/* commit_journal.h - the journal of a commit as text: what it says of the files on their way (private to
 * commit*.c).
 *
 *   "F" crc32 "quern-commit-1" NUL { kind  tmp NUL old NUL name NUL }…
 *   kind: "n" a new name, "r" a file is replaced, "d" it goes
 *
 * It begins with "F" while it is carried out forward, with "B" back. */
#ifndef QN_FORMATS_COMMIT_JOURNAL_H
#define QN_FORMATS_COMMIT_JOURNAL_H

#include "formats/commit.h"

/* Paths of one file on its way. */
typedef struct qn_journal_step {
	const char *tmp, *old, *name;
	bool fresh, gone;
} qn_journal_step;

typedef struct qn_journal {
	const char *path, *tmp;
	const char *folder;
	size_t n;
	qn_journal_step *step;
	const qn_folder_lock *lock;
} qn_journal;

/* folder, which ends with '/' or is "", and name. */
const char *qn_journal_path_in(qn_arena *a, const char *folder, const char *name);
/* The text for n files, which begins with "F". */
void qn_journal_print(qn_buf *b, size_t n, const qn_commit_file *f);
/* Adds the steps of a text of n bytes to j, which has a folder; false: the text is damaged. */
bool qn_journal_parse(qn_arena *a, qn_journal *j, const char *text, size_t n);

#endif
