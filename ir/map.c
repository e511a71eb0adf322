/* SPDX-License-Identifier: Apache-2.0 */
/* map.c - hash maps over uthash.  Its memory comes from the arena, which never returns NULL, and
 * is given back with it. */
#include "ir/map.h"

#include <string.h>

struct qn_map_entry;
static void *map_alloc(struct qn_arena *arena, size_t bytes);

#define uthash_malloc(sz) map_alloc(map_arena, (sz))
#define uthash_free(ptr, sz) ((void)(ptr))
#define uthash_fatal(msg) ((void)0) /* not reached: map_alloc jumps instead of returning NULL */
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wconversion" /* in the macros of uthash.h */
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wshadow"
#endif
#include <uthash.h>

typedef struct qn_map_entry {
	const void *key;
	void *value;
	UT_hash_handle hh;
} qn_map_entry;

static void *
map_alloc(qn_arena *arena, size_t bytes)
{
	return qn_arena_alloc(arena, bytes, 1);
}

void
qn_map_init(qn_map *m, qn_arena *arena)
{
	*m = (qn_map){.arena = arena};
}

void *
qn_map_get(const qn_map *m, const void *key, size_t len)
{
	qn_map_entry *e = NULL;

	HASH_FIND(hh, m->head, key, (unsigned)len, e);
	return e != NULL ? e->value : NULL;
}

void
qn_map_put(qn_map *m, const void *key, size_t len, void *value)
{
	qn_arena *map_arena = m->arena;
	qn_map_entry *e = QN_NEW(m->arena, qn_map_entry, 1);

	e->key = qn_arena_copy(m->arena, key, len);
	e->value = value;
	HASH_ADD_KEYPTR(hh, m->head, e->key, (unsigned)len, e);
}

size_t
qn_map_count(const qn_map *m)
{
	return HASH_COUNT(m->head);
}

/* uthash keeps the items in the order in which they came, too. */
void
qn_map_shrink(qn_map *m, size_t n)
{
	while (qn_map_count(m) > n) {
		UT_hash_table *t = m->head->hh.tbl;
		qn_map_entry *newest = ELMT_FROM_HH(t, t->tail);

		HASH_DELETE(hh, m->head, newest);
	}
}

void *
qn_map_gets(const qn_map *m, const char *key)
{
	return qn_map_get(m, key, strlen(key));
}

void
qn_map_puts(qn_map *m, const char *key, void *value)
{
	qn_map_put(m, key, strlen(key), value);
}
