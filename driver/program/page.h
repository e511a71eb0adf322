/* SPDX-License-Identifier: Apache-2.0 */
/* page.h - the text of the page that quern analyze writes (page/), as the program carries it. */
#ifndef QN_PROGRAM_PAGE_H
#define QN_PROGRAM_PAGE_H

#include <stddef.h>

typedef struct page_file {
	const char *name; /* without folder */
	const char *const *line;
	size_t nline;
} page_file;

extern const page_file page_files[];
extern const size_t page_nfile;

#endif
