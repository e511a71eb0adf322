/* SPDX-License-Identifier: Apache-2.0 */
/* arena.h - compiler memory: objects are allocated one by one and released all at once.
 *
 *   qn_arena a;
 *   qn_arena_init(&a, env);
 *   int64_t *dims = QN_NEW(&a, int64_t, rank);      never NULL, zeroed
 *   qn_arena_defer(&a, close_file, f);              runs when the arena is released, last registered first
 *   qn_arena_release(&a);
 *
 * Out of memory is the only long jump of the library: the arena jumps to env->oom, which the
 * API's entry has set; the entry releases its arenas and returns QN_ENOMEM.  So inside the
 * library nothing but arena memory and deferred objects may be held across a call. */
#ifndef QN_IR_ARENA_H
#define QN_IR_ARENA_H

#include "ir/env.h"

typedef struct qn_chunk qn_chunk;
typedef struct qn_deferred qn_deferred;

typedef struct qn_arena {
	qn_env *env;
	qn_chunk *chunk;       /* the newest chunk; objects are cut from its end */
	qn_chunk *large;       /* objects with a chunk of their own, newest first */
	qn_deferred *deferred; /* newest first */
	size_t used;           /* bytes handed out, for reports */
} qn_arena;

void qn_arena_init(qn_arena *a, qn_env *env);

/* Runs the deferred functions and gives all memory back.  The arena is empty and usable
 * afterwards. */
void qn_arena_release(qn_arena *a);

/* An empty arena that is released with its parent at the latest. */
qn_arena *qn_arena_child(qn_arena *parent);

/* Calls fn(arg, a) with env->oom set to come back here: QN_ENOMEM when memory ran out, else what fn
 * returned.  The arena stays as it is then; the caller releases it. */
typedef qn_status qn_arena_fn(void *arg, qn_arena *a);
qn_status qn_arena_try(qn_arena *a, qn_arena_fn *fn, void *arg) QN_MUST_CHECK;

/* n * size zeroed bytes, aligned for any object; jumps to env->oom when there are none (also
 * when n * size overflows). */
void *qn_arena_alloc(qn_arena *a, size_t n, size_t size);

/* Registers fn(ptr) to be called at release.  Jumps like qn_arena_alloc; in that case fn(ptr)
 * has been called, so nothing leaks. */
void qn_arena_defer(qn_arena *a, void (*fn)(void *), void *ptr);

/* Copies; the string forms add a NUL. */
void *qn_arena_copy(qn_arena *a, const void *p, size_t bytes);
char *qn_arena_str(qn_arena *a, const char *s);
char *qn_arena_strn(qn_arena *a, const char *s, size_t n);

/* Returns an array of at least `need` objects whose first `*cap` are those of p, the others zeroed;
 * about doubles *cap.  p may be freed afterwards. */
void *qn_arena_grow(qn_arena *a, void *p, size_t *cap, size_t need, size_t size);
/* Gives an object of `bytes` bytes back where it has memory of its own, which large ones have;
 * others stay until release. */
void qn_arena_free(qn_arena *a, void *p, size_t bytes);

#define QN_NEW(arena, T, n) ((T *)qn_arena_alloc((arena), (n), sizeof(T)))

#endif
