/* SPDX-License-Identifier: Apache-2.0 */
/* hashes.h - a hash table of numbers whose keys are stored elsewhere: 8 bytes per slot, no allocation per
 * entry.
 *
 *   uint32_t hash = qn_hash(name, strlen(name), 0);
 *   for (size_t at = 0; (id = qn_hashes_next(&x, hash, &at)) != 0;)      all with this hash
 *           if (strcmp(node[id].name, name) == 0) return id;
 *   qn_hashes_add(&x, hash, new_id); */
#ifndef QN_IR_HASHES_H
#define QN_IR_HASHES_H

#include "ir/arena.h"

typedef struct qn_hashes_slot {
	uint32_t hash;
	uint32_t id; /* 0: free */
} qn_hashes_slot;

typedef struct qn_hashes {
	qn_arena *arena;
	qn_hashes_slot *slot;
	size_t cap; /* 0 or a power of two */
	size_t n;
} qn_hashes;

/* FNV-1a, its bits mixed; seed: the hash of what stands before. */
uint32_t qn_hash(const void *data, size_t n, uint32_t seed);

void qn_hashes_init(qn_hashes *x, qn_arena *arena);
/* id is not 0; it may be there already. */
void qn_hashes_add(qn_hashes *x, uint32_t hash, uint32_t id);
/* The next id with this hash, 0 after the last; *at is 0 for the first, in order of adding. */
uint32_t qn_hashes_next(const qn_hashes *x, uint32_t hash, size_t *at);

#endif
