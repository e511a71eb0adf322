/* SPDX-License-Identifier: Apache-2.0 */
/* analysis_page.c - what quern analyze has found, as a page that loads nothing from elsewhere: page/page.html with
 * styles, scripts and the JSON in it.
 *
 *   @charts.js        a line of page.html that stands for a file
 *   @data             … for the JSON, in which no '<' stands (json_values.h) */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis.h"
#include "page.h"

static const page_file *
find_file(const char *name, size_t n)
{
	for (size_t i = 0; i < page_nfile; i++)
		if (strlen(page_files[i].name) == n && memcmp(page_files[i].name, name, n) == 0)
			return &page_files[i];
	return NULL;
}

static void
put_page(FILE *to, const page_file *f, const analysis *a)
{
	for (size_t i = 0; i < f->nline; i++) {
		const char *line = f->line[i];
		const page_file *part =
			line[0] == '@' ? find_file(line + 1, strcspn(line + 1, "\n")) : NULL;

		if (part != NULL)
			put_page(to, part, a);
		else if (strcmp(line, "@data\n") == 0)
			analysis_print_json(to, a);
		else
			fputs(line, to);
	}
}

/* All of a file that was just written; NULL after a failure. */
static char *
read_back(FILE *f, size_t *n)
{
	const long end = fflush(f) == 0 && fseek(f, 0, SEEK_END) == 0 ? ftell(f) : -1;
	char *text = end > 0 ? malloc((size_t)end) : NULL;

	rewind(f);
	*n = end > 0 ? (size_t)end : 0;
	if (text != NULL && fread(text, 1, *n, f) == *n && ferror(f) == 0)
		return text;
	free(text);
	return NULL;
}

qn_status
analysis_write_page(qn_ctx *ctx, const analysis *a, const char *path)
{
	FILE *f = tmpfile();
	char *text = NULL;
	size_t n = 0;

	if (f != NULL) {
		put_page(f, find_file("page.html", strlen("page.html")), a);
		text = read_back(f, &n);
	}
	const qn_status status = text != NULL ? qn_write_file(ctx, path, text, n) : QN_EIO;
	if (text == NULL)
		fprintf(stderr, "quern analyze: %s: temporary file: %s\n", path, strerror(errno));
	if (f != NULL)
		(void)fclose(f);
	free(text);
	return status;
}
