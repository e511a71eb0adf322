/* SPDX-License-Identifier: Apache-2.0 */
/* tuning_jobs.c - quern tune --jobs N: each round of candidates in N processes, which are shards of the search.
 *
 *   NAME.journal.json ──▶ job 1 ─▶ NAME.job-1.journal.json ──▶ merged into NAME.journal.json, until nothing is missing
 *                    └──▶ job 2 ─▶ NAME.job-2.journal.json ──┘
 *
 * What jobs of a command that was ended have left is merged by the next one. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L /* fork, sysconf */
#endif
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tuning.h"

enum { MOST_JOBS = MAX_COUNT };

typedef struct jobs {
	tuning *t;
	int n;
	options one;                     /* of a job: its threads */
	char (*path)[MOST_TUNE_PATH];    /* journals of the jobs */
	const char *from[MOST_JOBS + 1]; /* journals that are there */
} jobs;

static bool
name_jobs(jobs *j)
{
	char what[32];

	for (int k = 0; k < MOST_JOBS; k++) {
		(void)snprintf(what, sizeof what, "job-%d.journal", k + 1);
		if (!tuning_file(j->t, what, j->path[k]))
			return false;
	}
	return true;
}

static size_t
find_journals(jobs *j)
{
	size_t n = 0;

	if (tuning_file_is_there(j->t->files.journal))
		j->from[n++] = j->t->files.journal;
	for (int k = 0; k < MOST_JOBS; k++)
		if (tuning_file_is_there(j->path[k]))
			j->from[n++] = j->path[k];
	return n;
}

/* What the jobs wrote becomes the journal of the search. */
static qn_status
merge(jobs *j, qn_ctx *ctx)
{
	const size_t n = find_journals(j);
	const qn_status status =
		n > 0 ? qn_tune_merge(ctx, n, j->from, j->t->files.journal) : QN_OK;

	for (int k = 0; k < MOST_JOBS && status == QN_OK; k++)
		if (tuning_file_is_there(j->path[k]))
			(void)remove(j->path[k]);
	return status;
}

static int
work(const jobs *j, int k, long parent)
{
	const char *from = j->t->files.journal;
	tuning t = *j->t;
	qn_tuned out;

	t.o = &j->one;
	const tune_run r = {.t = &t,
			    .shard = (size_t)k + 1,
			    .shards = (size_t)j->n,
			    .nfrom = tuning_file_is_there(from),
			    .from = &from,
			    .journal = j->path[k],
			    .measures = true,
			    .is_child = true,
			    .parent = parent};
	signals_context(NULL);
	qn_ctx *ctx = program_open(t.o);
	if (ctx == NULL)
		return 1;
	const qn_status status = tuning_run(ctx, &t, &r, &out);
	if (status == QN_OK)
		qn_diag_clear(ctx); /* warnings are those of the other jobs */
	return program_close(ctx, status);
}

/* The exit code of the first job that fails, 0 when none does. */
static int
run_jobs(const jobs *j)
{
	const long parent = (long)getpid();
	pid_t pid[MOST_JOBS];
	int code = 0;

	(void)fflush(stdout);
	(void)fflush(stderr);
	for (int k = 0; k < j->n; k++) {
		pid[k] = fork();
		if (pid[k] == 0)
			_exit(work(j, k, parent));
		if (pid[k] < 0 && code == 0) {
			perror("quern tune: --jobs");
			code = 1;
		}
	}
	for (int k = 0; k < j->n; k++) {
		int status = 0;

		if (pid[k] > 0 && waitpid(pid[k], &status, 0) == pid[k] && code == 0)
			code = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
	}
	return code;
}

/* Merges, prints what is new, and lets the best so far be written; *complete: nothing is missing. */
static qn_status
look(jobs *j, qn_ctx *ctx, bool *complete)
{
	const char *from = j->t->files.journal;
	qn_tuned out = {0};
	qn_status status = merge(j, ctx);
	const tune_run r = {
		.t = j->t, .nfrom = tuning_file_is_there(from), .from = &from, .measures = false};

	if (status == QN_OK)
		status = tuning_run(ctx, j->t, &r, &out);
	*complete = out.complete != 0;
	return status;
}

int
tuning_jobs(tuning *t, int n)
{
	jobs *j = calloc(1, sizeof *j);
	bool complete = false;
	int code = 0;

	if (j != NULL)
		j->path = calloc(MOST_JOBS, sizeof *j->path);
	if (j == NULL || j->path == NULL) {
		free(j);
		fprintf(stderr, "quern: out of memory\n");
		return 1;
	}
	j->t = t;
	j->n = n;
	j->one = *t->o;
	j->one.quiet = true;
	if (j->one.threads == 0) {
		const long all = sysconf(_SC_NPROCESSORS_ONLN);

		j->one.threads = all > n ? (int)(all / n) : 1;
	}
	if (!name_jobs(j))
		code = QN_EUSAGE;
	while (code == 0 && !complete) {
		qn_ctx *ctx = program_open(t->o);

		code = ctx == NULL ? 1 : program_close(ctx, look(j, ctx, &complete));
		if (code != 0 || complete ||
		    (t->limit > 0 && tuning_seconds() - t->begin > t->limit))
			break;
		code = run_jobs(j);
	}
	free(j->path);
	free(j);
	return code;
}
