/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_calibrate.c - quern calibrate and quern merge: statistics of values, from shards of the
 * samples, and what follows from them; journals of shards of quern tune. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program.h"
#include "quern/calibrate.h"
#include "quern/tune.h"

enum { MOST_SHARDS = 1000000 };

/* ---- calibrate ---- */

bool
program_read_shard(const char *text, size_t *k, size_t *n)
{
	char *end = NULL, *last = NULL;

	*k = *n = 0;
	if (text == NULL)
		return true;
	long a = text[0] >= '0' && text[0] <= '9' ? strtol(text, &end, 10) : 0;
	long b = end != NULL && end[0] == '/' && end[1] >= '0' && end[1] <= '9'
			 ? strtol(end + 1, &last, 10)
			 : 0;
	if (last == NULL || *last != '\0' || a < 1 || a > b || b > MOST_SHARDS) {
		(void)program_bad_value("--shard", text, "K/N with 1 <= K <= N");
		return false;
	}
	*k = (size_t)a;
	*n = (size_t)b;
	return true;
}

/* -o names a JSON file that is not an input; 0 or 2 after a message. */
static int
check_output(const char *name, const char *output, const char *model)
{
	size_t n = strlen(output);

	if (n < 6 || (strcmp(output + n - 5, ".json") != 0 && strncmp(output, "/dev/", 5) != 0)) {
		fprintf(stderr, "quern %s: -o '%s': statistics are written to FILE.json\n", name,
			output);
		return QN_EUSAGE;
	}
	if (model != NULL && program_same_file(output, model)) {
		fprintf(stderr, "quern %s: -o '%s' would overwrite the model; give another name\n",
			name, output);
		return QN_EUSAGE;
	}
	return 0;
}

static qn_status
explain(qn_model *m, const qn_stats *s, const options *o, const sample_list *calib)
{
	if (o->explain == NULL && o->output != NULL)
		return QN_OK;
	bool all = o->explain == NULL || strcmp(o->explain, "all") == 0;
	return qn_stats_explain(m, s, all ? NULL : o->explain, calib->n, calib->array,
				program_write_stdout, NULL);
}

static qn_status
calibrate(qn_ctx *ctx, const options *o, size_t k, size_t n)
{
	qn_model *m = NULL;
	qn_stats *s;
	sample_list calib = {0};
	qn_compile_opts opts;
	qn_status status = program_compile_opts(ctx, o, &calib, &opts);
	qn_status loaded = program_load_model(ctx, o, &m);

	if (status == QN_OK)
		status = program_check_used(o, &calib, NULL);
	if (status == QN_OK)
		status = loaded;
	if (status == QN_OK) /* the statistics are those of the window's network */
		status = program_check_stream(o, m);
	if (status == QN_OK)
		status = qn_calibrate(m, &opts, k, n, &s);
	if (status == QN_OK && o->output != NULL)
		status = qn_stats_save(s, o->output);
	if (status == QN_OK)
		status = explain(m, s, o, &calib);
	return status;
}

int
cmd_calibrate(const options *o)
{
	size_t k, n;

	if (!program_read_shard(o->shard, &k, &n))
		return QN_EUSAGE;
	if (n > 0 && (o->output == NULL || o->explain != NULL)) {
		fprintf(stderr, "quern calibrate: a shard is written with -o FILE.json, and "
				"explained when all are merged: quern merge\n");
		return QN_EUSAGE;
	}
	if (o->output != NULL && check_output("calibrate", o->output, o->model) != 0)
		return QN_EUSAGE;
	qn_ctx *ctx = program_open(o);
	return ctx == NULL ? 1 : program_close(ctx, calibrate(ctx, o, k, n));
}

/* ---- merge ---- */

/* Batches that are in none of the files. */
static void
tell_missing(const qn_stats *s)
{
	uint64_t first, last, all, missing = 0;

	for (size_t k = 0; qn_stats_missing(s, k, &first, &last, &all) != 0; k++)
		missing += last - first + 1;
	if (missing == 0)
		return;
	fprintf(stderr, "quern merge: %llu of %llu batches are merged; missing:",
		(unsigned long long)(all - missing), (unsigned long long)all);
	for (size_t k = 0; qn_stats_missing(s, k, &first, &last, NULL) != 0; k++)
		if (last > first)
			fprintf(stderr, "%s %llu to %llu", k > 0 ? "," : "",
				(unsigned long long)first, (unsigned long long)last);
		else
			fprintf(stderr, "%s %llu", k > 0 ? "," : "", (unsigned long long)first);
	fprintf(stderr, " (counted from 0); merge the other shards too\n");
}

/* The files one after the other, so that two are in memory at a time. */
static qn_status
merge(qn_ctx *ctx, const options *o)
{
	qn_stats *sum = NULL;
	qn_status status = qn_stats_load(ctx, o->model, &sum);

	for (int i = 0; status == QN_OK && i < o->narg; i++) {
		const char *names[] = {o->model, o->arg[i]};
		qn_stats *pair[] = {sum, NULL}, *both = NULL;

		status = qn_stats_load(ctx, o->arg[i], &pair[1]);
		if (status == QN_OK)
			status = qn_stats_merge(ctx, 2, pair, names, &both);
		qn_stats_free(pair[0]);
		qn_stats_free(pair[1]);
		sum = both;
	}
	if (status == QN_OK)
		status = qn_stats_save(sum, o->output);
	if (status == QN_OK && !o->quiet)
		tell_missing(sum);
	return status;
}

/* Journals of quern tune have names that end so. */
static bool
is_journal(const char *path)
{
	return program_ends(path, ".journal.json");
}

static qn_status
merge_journals(qn_ctx *ctx, const options *o)
{
	const char **journal = calloc((size_t)o->narg + 1, sizeof *journal);

	if (journal == NULL)
		return QN_ENOMEM;
	journal[0] = o->model;
	for (int i = 0; i < o->narg; i++)
		journal[i + 1] = o->arg[i];
	const qn_status status = qn_tune_merge(ctx, (size_t)o->narg + 1, journal, o->output);
	free(journal);
	return status;
}

int
cmd_merge(const options *o)
{
	if (o->output == NULL) {
		fprintf(stderr,
			"quern merge: missing option: -o FILE.json\ntry: quern merge --help\n");
		return QN_EUSAGE;
	}
	if (check_output("merge", o->output, NULL) != 0)
		return QN_EUSAGE;
	qn_ctx *ctx = program_open(o);
	if (ctx == NULL)
		return 1;
	return program_close(ctx, is_journal(o->model) ? merge_journals(ctx, o) : merge(ctx, o));
}
