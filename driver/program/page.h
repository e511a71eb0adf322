/* SPDX-License-Identifier: Apache-2.0 */
/* page.h - pages that the program writes: their texts (page/), as the program carries them. */
#ifndef QN_PROGRAM_PAGE_H
#define QN_PROGRAM_PAGE_H

#include <stdio.h>

#include "quern/quern.h"

typedef struct page_file {
	const char *name; /* without folder */
	const char *const *line;
	size_t nline;
} page_file;

extern const page_file page_files[];
extern const size_t page_nfile;

/* Prints JSON in which no '<' stands. */
typedef void page_data_fn(FILE *to, const void *user);

typedef struct page_text {
	const char *file, *command; /* of page/; for messages */
	page_data_fn *put;
	const void *user;
} page_text;

/* Writes the page as a whole. */
qn_status page_write(qn_ctx *ctx, const page_text *page, const char *path);

#endif
