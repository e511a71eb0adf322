/* SPDX-License-Identifier: Apache-2.0 */
/* range.h - where the bytes of the tensors of a file lie, for the search for overlaps and holes. */
#ifndef QN_FORMATS_RANGE_H
#define QN_FORMATS_RANGE_H

#include <stddef.h>
#include <stdint.h>

typedef struct qn_file_range {
	uint64_t begin, end;
	const char *name; /* of the tensor */
} qn_file_range;

/* In the order of the bytes; equal ranges by name, so that reports do not depend on the sort. */
void qn_file_ranges_sort(qn_file_range *range, size_t n);

#endif
