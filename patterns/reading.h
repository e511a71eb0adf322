/* SPDX-License-Identifier: Apache-2.0 */
/* reading.h - the bindings of a match as a host reads them, each in constant time: by slot, and those
 * that have a name in the order of the pattern.  Made when they are first read. */
#ifndef QN_PATTERNS_READING_H
#define QN_PATTERNS_READING_H

#include "patterns/memo.h"

typedef struct qn_reading {
	qn_arena *arena;
	/* A match with the bindings only of parts that can match one value: who finds the others,
	 * and what parts may match.  NULL: it has all. */
	qn_matcher *matcher;
	const qn_pat *pat;
	const qn_memo_count *count;
	size_t ncount;
	bool several; /* a part with a name may match several values */
	/* Private, from the first reading on; a value that says again what its slot's first one
	 * said is left out. */
	bool made, made_all;
	const qn_bound **told; /* with a name */
	size_t ntold;
	const qn_bound **value; /* those of slot k from first[k] to end[k] - 1 */
	size_t *first, *end, nslot;
} qn_reading;

/* A reading of a match that has its bindings, in this arena. */
qn_reading *qn_reading_new(qn_arena *a);
/* The match's, with all bindings or only with those of parts that match one value and the first ones
 * of those that are a part of themselves; made if it is not yet.  One that reads nothing when the
 * search takes too many steps, which the matcher remembers. */
const qn_reading *qn_reading_of(const qn_match *m, bool all);
/* What a part with this slot may match. */
qn_memo_count qn_reading_count(const qn_reading *r, int slot);
/* The name of a bound part of a pattern that was built (build.h); NULL: it has none. */
const char *qn_reading_name(const qn_bound *b);

#endif
