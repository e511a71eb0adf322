/* SPDX-License-Identifier: Apache-2.0 */
/* tuning.h - quern tune: one search of a command, in this process or in several. */
#ifndef QN_PROGRAM_TUNING_H
#define QN_PROGRAM_TUNING_H

#include "program.h"
#include "quern/tune.h"

enum { MOST_TUNE_PATH = 4096 };

/* The files of a search: NAME.recipe.json, NAME.front.json, NAME.journal.json. */
typedef struct tune_files {
	char recipe[MOST_TUNE_PATH], front[MOST_TUNE_PATH], journal[MOST_TUNE_PATH];
} tune_files;

typedef struct tuning {
	const options *o;
	const char *program; /* for messages */
	double begin,
		limit; /* seconds: when the command began, how long it may take; 0: any time */
	size_t shard, shards;
	double threshold;
	bool has_threshold;
	char metric[32]; /* "": that of the samples */
	size_t max_weights, max_arena;
	uint64_t max_instructions;
	tune_files files;
	size_t told; /* candidates that were printed */
	double best_value, best_sqnr;
	const char *unit;
	char name[32]; /* of the metric, as it was printed */
} tuning;

double tuning_seconds(void);
bool tuning_file_is_there(const char *path);
/* NAME.WHAT.json beside the recipe; false after a message when the name is too long. */
bool tuning_file(const tuning *t, const char *what, char *to);

/* One call of qn_tune in a context of its own: loads the model and the samples of the command line.  from: journals
 * that are read; journal: the one that is written, NULL: none.  measures 0: nothing new is measured. */
typedef struct tune_run {
	const tuning *t;
	size_t shard, shards;
	size_t nfrom;
	const char *const *from;
	const char *journal;
	bool measures;
	bool is_child; /* a process of --jobs: nothing is printed, and it ends with its parent */
	long parent;
} tune_run;
/* *out is of the context; its texts live until it is closed. */
qn_status tuning_run(qn_ctx *ctx, tuning *t, const tune_run *r, qn_tuned *out);

/* Rounds of candidates in several processes, until all are measured or time is over; the exit code of the first that
 * fails, else 0.  Then a run in this process finds all in the journal. */
int tuning_jobs(tuning *t, int jobs);

/* The table on stdout. */
void tuning_print_point(void *user, const qn_tune_point *p); /* a qn_tune_fn; user: a tuning */
void tuning_print_result(const tuning *t, const qn_tuned *out);

/* The front as a page (tuning_page.c). */
qn_status tuning_write_page(qn_ctx *ctx, const qn_tuned *out, const char *path);

#endif
