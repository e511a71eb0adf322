/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_quantize.c - quern quantize: the symbolic graph, or what became of each match of a
 * pattern. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program.h"
#include "quern/patterns.h"

typedef struct table {
	qn_explained *row;
	size_t n, cap;
	bool full;         /* memory ran out */
	int pattern, root; /* widths of columns */
} table;

/* Matches that were taken are reported twice; the second time with their symbols. */
static void
add_row(void *user, const qn_explained *e)
{
	table *t = user;

	if (e->why == NULL && strcmp(e->pass, "partition") == 0)
		return;
	if (t->n == t->cap) {
		size_t cap = t->cap > 0 ? 2 * t->cap : 64;
		qn_explained *row = realloc(t->row, cap * sizeof *row);

		t->full = t->full || row == NULL;
		if (row == NULL)
			return;
		t->row = row;
		t->cap = cap;
	}
	t->row[t->n++] = *e;
	if ((int)strlen(e->pattern) > t->pattern)
		t->pattern = (int)strlen(e->pattern);
	if ((int)strlen(e->root) > t->root)
		t->root = (int)strlen(e->root);
}

static void
print_list(const char *before, size_t n, const char *const *text, const char *mark)
{
	for (size_t i = 0; i < n; i++)
		printf("%s%s%s", i == 0 ? before : " ", mark, text[i]);
}

/* "taken    conv2d_bias  conv1  x=image  …": those that were taken, then the others. */
static void
print_table(const table *t)
{
	for (int taken = 1; taken >= 0; taken--)
		for (size_t i = 0; i < t->n; i++) {
			const qn_explained *e = &t->row[i];

			if ((e->why == NULL) != (taken == 1))
				continue;
			printf("%-9s %-*s  %-*s ", taken ? "taken" : "not taken", t->pattern,
			       e->pattern, t->root, e->root);
			if (taken) {
				print_list(" from ", e->nin, e->in, "");
				print_list("; symbols ", e->nsymbol, e->symbol, "$");
			} else {
				printf(" %s", e->why);
			}
			printf("\n");
		}
}

static qn_status
quantize(qn_ctx *ctx, const options *o, table *t)
{
	sample_list calib = {0};
	qn_compile_opts opts;
	qn_model *m;
	qn_status status = program_compile_opts(ctx, o, &calib, &opts);
	qn_status loaded = program_load_model(ctx, o, &m); /* the model's problems too */

	if (status == QN_OK)
		status = loaded;
	if (status != QN_OK)
		return status;
	opts.passes = "axes,clean,partition,quantize";
	if (o->explain_matches) {
		opts.explain = add_row;
		opts.explain_user = t;
	}
	status = qn_compile(m, &opts);
	if (status != QN_OK)
		return status;
	if (!o->explain_matches)
		return qn_print(m, QN_FORMAT_IR, program_write_stdout, NULL);
	if (t->full) {
		fprintf(stderr, "quern quantize: out of memory\n");
		return QN_ENOMEM;
	}
	print_table(t);
	return QN_OK;
}

int
cmd_quantize(const options *o)
{
	qn_ctx *ctx = program_open(o);
	table t = {0};

	if (ctx == NULL)
		return 1;
	int code = program_close(ctx, quantize(ctx, o, &t));
	free(t.row);
	return code;
}
