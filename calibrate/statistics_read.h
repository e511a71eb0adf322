/* SPDX-License-Identifier: Apache-2.0 */
/* statistics_read.h - what statistics_read.c and statistics_values.c share while a file is read. */
#ifndef QN_CALIBRATE_STATISTICS_READ_H
#define QN_CALIBRATE_STATISTICS_READ_H

#include "calibrate/statistics.h"
#include "formats/json_tree.h"

/* d is the file; status becomes an error once, and reading goes on. */
typedef struct qn_stats_reader {
	const qn_json_doc *d;
	qn_arena *a;
	qn_env *env;
	qn_statistics *s;
	uint64_t covered; /* batches that were observed */
	uint64_t room;    /* bytes that histograms may take yet */
	qn_status status;
} qn_stats_reader;

/* stats.value: the value v and why it cannot be. */
void qn_stats_bad(qn_stats_reader *r, const qn_json *v, const char *why);
/* The member of v; NULL after a report. */
const qn_json *qn_stats_need(qn_stats_reader *r, const qn_json *v, const char *key,
			     qn_json_kind kind);
/* A number from 0 to most; 0 after a report. */
uint64_t qn_stats_number(qn_stats_reader *r, const qn_json *v, uint64_t most);
uint64_t qn_stats_need_number(qn_stats_reader *r, const qn_json *v, const char *key, uint64_t most);

/* All values, once the head of the file is known. */
void qn_stats_read_values(qn_stats_reader *r, const qn_json *list);

#endif
