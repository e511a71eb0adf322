/* SPDX-License-Identifier: Apache-2.0 */
/* page_write.c - a page that loads nothing from elsewhere: a file of page/ with styles, scripts and data in it.
 *
 *   @charts.js        a line that stands for a file
 *   @data             … for the JSON, in which no '<' stands */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "page.h"
#include "program.h"

static const page_file *
find_file(const char *name, size_t n)
{
	for (size_t i = 0; i < page_nfile; i++)
		if (strlen(page_files[i].name) == n && memcmp(page_files[i].name, name, n) == 0)
			return &page_files[i];
	return NULL;
}

static void
put_page(FILE *to, const page_file *f, page_data_fn *put, const void *user)
{
	for (size_t i = 0; i < f->nline; i++) {
		const char *line = f->line[i];
		const page_file *part =
			line[0] == '@' ? find_file(line + 1, strcspn(line + 1, "\n")) : NULL;

		if (part != NULL)
			put_page(to, part, put, user);
		else if (strcmp(line, "@data\n") == 0)
			put(to, user);
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
page_write(qn_ctx *ctx, const page_text *page, const char *path)
{
	FILE *f = tmpfile();
	char *text = NULL;
	size_t n = 0;

	if (f != NULL) {
		put_page(f, find_file(page->file, strlen(page->file)), page->put, page->user);
		text = read_back(f, &n);
	}
	const qn_status status = text != NULL ? qn_write_file(ctx, path, text, n) : QN_EIO;
	if (text == NULL)
		fprintf(stderr, "quern %s: %s: temporary file: %s\n", page->command, path,
			strerror(errno));
	if (f != NULL)
		(void)fclose(f);
	free(text);
	return status;
}
