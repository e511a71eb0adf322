/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_inspect.c - quern inspect and quern supported-ops: looking at a model, and at what Quern can
 * do. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L /* popen */
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "program.h"

/* A text that grows. */
typedef struct text {
	char *data;
	size_t n, cap;
} text;

static int
add_text(void *user, const char *piece, size_t n)
{
	text *t = user;

	if (t->cap - t->n < n) {
		size_t cap = (t->n + n) * 2;
		char *data = realloc(t->data, cap);

		if (data == NULL)
			return 1;
		t->data = data;
		t->cap = cap;
	}
	memcpy(t->data + t->n, piece, n);
	t->n += n;
	return 0;
}

/* Starts a program with a file as its input; NULL: errno has the reason. */
static FILE *
start_with(const char *line, FILE *input)
{
	int own = dup(STDIN_FILENO);
	FILE *f = dup2(fileno(input), STDIN_FILENO) >= 0 ? popen(line, "r") : NULL;

	if (own >= 0) {
		(void)dup2(own, STDIN_FILENO);
		(void)close(own);
	} else {
		(void)close(STDIN_FILENO);
	}
	return f;
}

/* Graphviz's `dot` makes the image of the graph in a file; false after a message. */
static bool
lay_out(FILE *graph, text *image)
{
	char piece[4096];
	size_t n;
	bool ok = true;
	FILE *dot = start_with("dot -Tsvg", graph);

	if (dot == NULL) {
		perror("quern inspect: dot");
		return false;
	}
	while (ok && (n = fread(piece, 1, sizeof piece, dot)) > 0)
		ok = add_text(image, piece, n) == 0;
	if (pclose(dot) == 0 && ok)
		return true;
	fprintf(stderr, "quern inspect: --svg needs Graphviz's program dot (Debian: graphviz); "
			"--dot FILE works without it\n");
	return false;
}

static qn_status
draw_svg(qn_ctx *ctx, const text *graph, const char *path)
{
	text image = {0};
	FILE *f = tmpfile();
	qn_status status = QN_EIO;

	if (f == NULL || fwrite(graph->data, 1, graph->n, f) != graph->n || fflush(f) != 0 ||
	    fseek(f, 0, SEEK_SET) != 0)
		perror("quern inspect: temporary file");
	else if (lay_out(f, &image))
		status = qn_write_file(ctx, path, image.data, image.n);
	if (f != NULL)
		(void)fclose(f);
	free(image.data);
	return status;
}

static qn_status
draw(qn_ctx *ctx, qn_model *m, const options *o)
{
	text graph = {0};
	qn_status status = qn_print(m, QN_FORMAT_DOT, add_text, &graph);

	if (status == QN_OK && o->dot != NULL)
		status = qn_write_file(ctx, o->dot, graph.data, graph.n);
	if (status == QN_OK && o->svg != NULL)
		status = draw_svg(ctx, &graph, o->svg);
	free(graph.data);
	return status;
}

static qn_status
inspect(qn_ctx *ctx, const options *o)
{
	qn_model *m;
	qn_status status = program_load_model(ctx, o, &m);

	if (status == QN_OK)
		status = program_stream(o, m);
	if (status != QN_OK)
		return status;
	if (o->dot != NULL || o->svg != NULL)
		status = draw(ctx, m, o);
	if (status == QN_OK && o->json)
		return qn_print(m, QN_FORMAT_SUMMARY_JSON, program_write_stdout, NULL);
	if (status == QN_OK && o->dot == NULL && o->svg == NULL)
		return qn_print(m, QN_FORMAT_SUMMARY, program_write_stdout, NULL);
	return status;
}

int
cmd_inspect(const options *o)
{
	qn_ctx *ctx = program_open(o);

	return ctx == NULL ? 1 : program_close(ctx, inspect(ctx, o));
}
