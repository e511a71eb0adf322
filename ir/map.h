/* SPDX-License-Identifier: Apache-2.0 */
/* map.h - hash maps, the one place that includes uthash.  Iteration is never offered: no output
 * may depend on a hash order. */
#ifndef QN_IR_MAP_H
#define QN_IR_MAP_H

#include "ir/arena.h"

typedef struct qn_map {
	qn_arena *arena;
	struct qn_map_entry *head;
} qn_map;

void qn_map_init(qn_map *m, qn_arena *arena);

/* The value stored under the `len` bytes of key, NULL when there is none. */
void *qn_map_get(const qn_map *m, const void *key, size_t len);

/* Stores value (not NULL) under a copy of the key; the key must be new. */
void qn_map_put(qn_map *m, const void *key, size_t len, void *value);

/* How many there are; back to the first n of them, which takes out those that came later. */
size_t qn_map_count(const qn_map *m);
void qn_map_shrink(qn_map *m, size_t n);

/* The same for strings. */
void *qn_map_gets(const qn_map *m, const char *key);
void qn_map_puts(qn_map *m, const char *key, void *value);

#endif
