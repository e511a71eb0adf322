/* SPDX-License-Identifier: Apache-2.0 */
/* repeats.h - where a list repeats itself at once: a b c a b c a b c is a b c, three times.
 *
 * What is equal has the same number; 0 is equal to nothing. */
#ifndef QN_CODEGEN_REPEATS_H
#define QN_CODEGEN_REPEATS_H

#include "ir/arena.h"

typedef struct qn_repeat {
	size_t begin;  /* of the first of them */
	size_t length; /* items of each */
	size_t count;  /* how many there are, at least 2 */
	size_t slack;  /* they can begin so much later, too */
} qn_repeat;

/* Longest sequence that is looked for: the work is this many comparisons per item. */
enum { QN_REPEAT_MOST = 512 };

/* Those that save most: a sequence saves the sum of its items' weights for each time after the first.
 * Only those that save `least` or more; they do not overlap, and come in order.  Returns how many. */
size_t qn_repeats_find(const uint32_t *item, const uint32_t *weight, size_t n, uint64_t least,
		       qn_arena *a, qn_repeat **out);

#endif
