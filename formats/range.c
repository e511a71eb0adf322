/* SPDX-License-Identifier: Apache-2.0 */
/* range.c - see range.h. */
#include "formats/range.h"

#include <stdlib.h>
#include <string.h>

static int
by_begin(const void *left, const void *right)
{
	const qn_file_range *a = left;
	const qn_file_range *b = right;

	if (a->begin != b->begin)
		return a->begin < b->begin ? -1 : 1;
	if (a->end != b->end)
		return a->end < b->end ? -1 : 1;
	return strcmp(a->name, b->name);
}

void
qn_file_ranges_sort(qn_file_range *range, size_t n)
{
	if (n > 1)
		qsort(range, n, sizeof *range, by_begin);
}
