/* SPDX-License-Identifier: Apache-2.0 */
/* arena.c - a list of chunks; each object is cut from the newest chunk, an object larger than a
 * chunk gets its own. */
#include "ir/arena.h"

#include <stdalign.h>
#include <string.h>

enum { CHUNK_BYTES = 64 * 1024 };

struct qn_chunk {
	qn_chunk *older;
	size_t size; /* bytes of data */
	size_t used;
	alignas(max_align_t) unsigned char data[];
};

struct qn_deferred {
	qn_deferred *older;
	void (*fn)(void *);
	void *ptr;
};

void
qn_arena_init(qn_arena *a, qn_env *env)
{
	*a = (qn_arena){.env = env};
}

void
qn_arena_release(qn_arena *a)
{
	while (a->deferred != NULL) {
		qn_deferred *d = a->deferred;

		a->deferred = d->older;
		d->fn(d->ptr);
	}
	while (a->chunk != NULL) {
		qn_chunk *c = a->chunk;

		a->chunk = c->older;
		qn_env_free(a->env, c, sizeof *c + c->size);
	}
	a->used = 0;
}

qn_status
qn_arena_try(qn_arena *a, qn_arena_fn *fn, void *arg)
{
	jmp_buf *outer = a->env->oom;
	jmp_buf here;
	volatile qn_status status = QN_ENOMEM;

	a->env->oom = &here;
	if (setjmp(here) == 0)
		status = fn(arg, a);
	a->env->oom = outer;
	return status;
}

/* NULL when there is no memory. */
static void *
cut(qn_arena *a, size_t bytes)
{
	const size_t align = alignof(max_align_t);
	const size_t chunk = a->env->chunk_bytes != 0 ? a->env->chunk_bytes : CHUNK_BYTES;
	size_t want = bytes > chunk / 4 ? bytes : chunk;
	qn_chunk *c = a->chunk;

	bytes = (bytes + align - 1) / align * align;
	if (c == NULL || c->size - c->used < bytes) {
		if (want < bytes)
			want = bytes;
		c = qn_env_realloc(a->env, NULL, 0, sizeof *c + want);
		if (c == NULL)
			return NULL;
		*c = (qn_chunk){.size = want};
		/* A large object's own chunk goes behind the newest, which may still have room. */
		if (want != chunk && a->chunk != NULL) {
			c->older = a->chunk->older;
			a->chunk->older = c;
		} else {
			c->older = a->chunk;
			a->chunk = c;
		}
	}
	void *p = c->data + c->used;
	c->used += bytes;
	a->used += bytes;
	return p;
}

void *
qn_arena_alloc(qn_arena *a, size_t n, size_t size)
{
	const size_t limit = SIZE_MAX / 4;
	void *p = NULL;

	if (n == 0 || size == 0)
		n = size = 1;
	if (n <= limit / size)
		p = cut(a, n * size);
	if (p == NULL)
		qn_env_oom(a->env);
	memset(p, 0, n * size);
	return p;
}

void
qn_arena_defer(qn_arena *a, void (*fn)(void *), void *ptr)
{
	qn_deferred *d = cut(a, sizeof *d);

	if (d == NULL) {
		fn(ptr);
		qn_env_oom(a->env);
	}
	*d = (qn_deferred){.older = a->deferred, .fn = fn, .ptr = ptr};
	a->deferred = d;
}

void *
qn_arena_copy(qn_arena *a, const void *p, size_t bytes)
{
	void *q = qn_arena_alloc(a, bytes, 1);

	if (bytes > 0)
		memcpy(q, p, bytes);
	return q;
}

char *
qn_arena_strn(qn_arena *a, const char *s, size_t n)
{
	char *q = qn_arena_alloc(a, n + 1, 1);

	if (n > 0)
		memcpy(q, s, n);
	return q;
}

char *
qn_arena_str(qn_arena *a, const char *s)
{
	return qn_arena_strn(a, s, strlen(s));
}

void *
qn_arena_grow(qn_arena *a, void *p, size_t *cap, size_t need, size_t size)
{
	if (need <= *cap)
		return p;
	size_t want = *cap < 8 ? 8 : *cap * 2;
	if (want < need)
		want = need;
	void *q = qn_arena_alloc(a, want, size);
	if (*cap > 0)
		memcpy(q, p, *cap * size);
	*cap = want;
	return q;
}
