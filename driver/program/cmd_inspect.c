/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_inspect.c - quern inspect and quern supported-ops: looking at a model, and at what Quern can
 * do. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L /* popen */
#endif
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "program.h"

static int
write_file(void *user, const char *text, size_t n)
{
	return fwrite(text, 1, n, user) == n ? 0 : 1;
}

/* Graphviz's `dot` makes the picture; it reads the graph from a pipe and writes the file, whose
 * name stays out of the command line of the shell. */
static qn_status
draw_svg(qn_model *m, const char *path)
{
	FILE *old = freopen(path, "wb", stdout); /* dot inherits it */

	if (old == NULL) {
		perror(path);
		return QN_EIO;
	}
	FILE *dot = popen("dot -Tsvg", "w");
	if (dot == NULL) {
		perror("dot");
		return QN_EIO;
	}
	qn_status status = qn_print(m, QN_FORMAT_DOT, write_file, dot);
	if (pclose(dot) != 0 && status == QN_OK) {
		fprintf(stderr,
			"quern inspect: --svg needs Graphviz's program dot (Debian: graphviz); "
			"--dot FILE works without it\n");
		(void)unlink(path);
		return QN_EIO;
	}
	return status;
}

static qn_status
draw_dot(qn_model *m, const char *path)
{
	FILE *f = fopen(path, "wb");

	if (f == NULL) {
		perror(path);
		return QN_EIO;
	}
	qn_status status = qn_print(m, QN_FORMAT_DOT, write_file, f);
	return fclose(f) == 0 ? status : QN_EIO;
}

static qn_status
inspect(qn_ctx *ctx, const options *o)
{
	qn_model *m;
	qn_status status = program_load_model(ctx, o, &m);

	if (status != QN_OK)
		return status;
	if (o->dot != NULL)
		status = draw_dot(m, o->dot);
	if (status == QN_OK && o->svg != NULL)
		return draw_svg(m, o->svg);
	if (status == QN_OK && o->dot == NULL)
		status = qn_print(m, QN_FORMAT_SUMMARY, program_write_stdout, NULL);
	return status;
}

int
cmd_inspect(const options *o)
{
	qn_ctx *ctx = program_open(o);

	return ctx == NULL ? 1 : program_close(ctx, inspect(ctx, o));
}
