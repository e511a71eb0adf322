/* SPDX-License-Identifier: Apache-2.0 */
/* arena.c - a list of chunks; each object is cut from the newest chunk, an object larger than a
 * quarter of a chunk gets its own, which can be grown and freed separately.
 *
 *   chunk  [a|b|c|  free ]  <- [ … ]  <- [ … ]
 *   large  [ node table ]  <-> [ text ] */
#include "ir/arena.h"

#include <stdalign.h>
#include <string.h>

#include "ir/poison.h"

enum { CHUNK_BYTES = 64 * 1024 };

struct qn_chunk {
	qn_chunk *older;
	qn_chunk *newer; /* in the list of large objects */
	size_t size;     /* bytes of data */
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

static void
free_list(qn_env *env, qn_chunk **list)
{
	while (*list != NULL) {
		qn_chunk *c = *list;

		*list = c->older;
		QN_UNPOISON(c->data, c->size);
		qn_env_free(env, c, sizeof *c + c->size);
	}
}

void
qn_arena_release(qn_arena *a)
{
	while (a->deferred != NULL) {
		qn_deferred *d = a->deferred;

		a->deferred = d->older;
		d->fn(d->ptr);
	}
	free_list(a->env, &a->chunk);
	free_list(a->env, &a->large);
	a->used = 0;
}

static void
release(void *arena)
{
	qn_arena_release(arena);
}

qn_arena *
qn_arena_child(qn_arena *parent)
{
	qn_arena *a = QN_NEW(parent, qn_arena, 1);

	qn_arena_init(a, parent->env);
	qn_arena_defer(parent, release, a);
	return a;
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

static size_t
chunk_bytes(const qn_arena *a)
{
	return a->env->chunk_bytes != 0 ? a->env->chunk_bytes : CHUNK_BYTES;
}

/* What an object takes up. */
static size_t
rounded(size_t bytes)
{
	const size_t align = alignof(max_align_t);

	return (bytes + align - 1) / align * align;
}

static bool
is_large(const qn_arena *a, size_t bytes)
{
	return rounded(bytes) > chunk_bytes(a) / 4;
}

static qn_chunk *
chunk_of(void *p)
{
	return (qn_chunk *)(void *)((char *)p - offsetof(qn_chunk, data));
}

/* Makes the neighbours of a large object's chunk, which may have moved, know it. */
static void
link_large(qn_arena *a, qn_chunk *c)
{
	if (c->older != NULL)
		c->older->newer = c;
	if (c->newer != NULL)
		c->newer->older = c;
	else
		a->large = c;
}

static void *
cut_large(qn_arena *a, size_t bytes)
{
	qn_chunk *c = qn_env_realloc(a->env, NULL, 0, sizeof *c + bytes);

	if (c == NULL)
		return NULL;
	*c = (qn_chunk){.size = bytes, .used = bytes, .older = a->large};
	link_large(a, c);
	a->used += bytes;
	return c->data;
}

/* NULL when out of memory. */
static void *
cut(qn_arena *a, size_t bytes)
{
	const size_t size = chunk_bytes(a), room = rounded(bytes) + QN_RED_ZONE;
	qn_chunk *c = a->chunk;

	if (is_large(a, bytes))
		return cut_large(a, rounded(bytes));
	if (c == NULL || c->size - c->used < room) {
		c = qn_env_realloc(a->env, NULL, 0, sizeof *c + size);
		if (c == NULL)
			return NULL;
		*c = (qn_chunk){.size = size, .older = a->chunk};
		QN_POISON(c->data, size);
		a->chunk = c;
	}
	void *p = c->data + c->used;
	QN_UNPOISON(p, bytes);
	c->used += room;
	a->used += rounded(bytes);
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

void
qn_arena_free(qn_arena *a, void *p, size_t bytes)
{
	if (p == NULL || !is_large(a, bytes))
		return;
	qn_chunk *c = chunk_of(p);
	if (c->older != NULL)
		c->older->newer = c->newer;
	if (c->newer != NULL)
		c->newer->older = c->older;
	else
		a->large = c->older;
	a->used -= c->size;
	qn_env_free(a->env, c, sizeof *c + c->size);
}

/* p of `old` bytes with `bytes` of them, or NULL where it cannot be had without a copy: a large
 * object's chunk grows, and so does the newest object of the newest chunk while there is room. */
static void *
extend(qn_arena *a, void *p, size_t old, size_t bytes)
{
	const size_t want = rounded(bytes);
	qn_chunk *c = a->chunk;

	if (is_large(a, old)) {
		qn_chunk *l = chunk_of(p);
		size_t had = l->size;

		l = qn_env_realloc(a->env, l, sizeof *l + had, sizeof *l + want);
		if (l == NULL)
			qn_env_oom(a->env);
		l->size = l->used = want;
		link_large(a, l);
		a->used += want - had;
		return l->data;
	}
	if (c == NULL || is_large(a, want) ||
	    (unsigned char *)p + rounded(old) + QN_RED_ZONE != c->data + c->used ||
	    c->size - c->used < want - rounded(old))
		return NULL;
	QN_UNPOISON(p, bytes);
	c->used += want - rounded(old);
	a->used += want - rounded(old);
	return p;
}

/* Twice as many, from some size on half as many again. */
static size_t
more(size_t cap, size_t size)
{
	const size_t many = (size_t)1 << 20; /* bytes */

	if (cap == 0)
		return size >= 32 ? 1 : 32 / size;
	return cap >= many / size ? cap + cap / 2 + 1 : cap * 2;
}

void *
qn_arena_grow(qn_arena *a, void *p, size_t *cap, size_t need, size_t size)
{
	if (need <= *cap)
		return p;
	size_t want = more(*cap, size);
	if (want < need)
		want = need;
	if (want > SIZE_MAX / 4 / size)
		qn_env_oom(a->env);
	char *q = *cap > 0 ? extend(a, p, *cap * size, want * size) : NULL;
	if (q != NULL) {
		memset(q + *cap * size, 0, (want - *cap) * size);
	} else {
		q = qn_arena_alloc(a, want, size);
		if (p != NULL && *cap > 0)
			memcpy(q, p, *cap * size);
	}
	*cap = want;
	return q;
}
