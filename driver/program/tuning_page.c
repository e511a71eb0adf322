/* SPDX-License-Identifier: Apache-2.0 */
/* tuning_page.c - the front of quern tune as a page: page/front.html. */
#include "page.h"
#include "tuning.h"

/* Names may have a '<', which the page would take for an element. */
static void
put_data(FILE *to, const void *user)
{
	for (const char *s = user; *s != '\0'; s++)
		if (*s == '<')
			fputs("\\u003c", to);
		else
			(void)putc(*s, to);
}

qn_status
tuning_write_page(qn_ctx *ctx, const qn_tuned *out, const char *path)
{
	return page_write(ctx, &(page_text){"front.html", "tune", put_data, out->front}, path);
}
