/* SPDX-License-Identifier: Apache-2.0 */
/* analysis_page.c - what quern analyze has found, as a page: page/page.html. */
#include "analysis.h"
#include "page.h"

static void
put_data(FILE *to, const void *user)
{
	analysis_print_json(to, user);
}

qn_status
analysis_write_page(qn_ctx *ctx, const analysis *a, const char *path)
{
	return page_write(ctx, &(page_text){"page.html", "analyze", put_data, a}, path);
}
