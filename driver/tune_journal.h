/* SPDX-License-Identifier: Apache-2.0 */
/* tune_journal.h - what the two halves of a journal share: tune_journal.c writes and merges, tune_journal_read.c reads. */
#ifndef QN_DRIVER_TUNE_JOURNAL_H
#define QN_DRIVER_TUNE_JOURNAL_H

#include "driver/tune.h"

/* What a journal is of. */
typedef struct qn_tune_head {
	uint32_t model, samples, options;
} qn_tune_head;

/* Adds the entries of the file that `to` does not have.  Errors: file.open, file.read, json.syntax, tune.journal. */
qn_status qn_tune_journal_load(qn_env *env, const char *path, qn_arena *a, qn_tune_head *h,
			       qn_tune_entries *to) QN_MUST_CHECK;

/* The CRC of an entry as it is written. */
uint32_t qn_tune_check_of(const qn_tune_entry *e, qn_arena *a);

#endif
