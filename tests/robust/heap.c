/* SPDX-License-Identifier: Apache-2.0 */
/* heap.c - see heap.h.  Behind the fault stands the real allocator: glibc's, or AddressSanitizer's,
 * so that a sanitizer build still sees what is used after it was freed. */
#define _POSIX_C_SOURCE 200809L /* posix_memalign, strdup */

#include "tests/robust/heap.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The build defines HEAP_SANITIZER where there is one, and compiles this file without it: it is
 * called before a sanitizer has set itself up. */
#if defined(HEAP_SANITIZER)
#define REAL(name) __interceptor_##name
#else
#define REAL(name) __libc_##name
#endif

extern void *REAL(malloc)(size_t n);
extern void *REAL(calloc)(size_t n, size_t size);
extern void *REAL(realloc)(void *p, size_t n);
extern void *REAL(memalign)(size_t align, size_t n);
extern void REAL(free)(void *p);

enum { SLOTS = 1 << 16 }; /* of the set of live blocks, a power of two */

static struct {
	bool armed, and_after;
	size_t calls, fail_at;
	size_t live;
	bool overflow;
	void *slot[SLOTS];
} heap;

static size_t
slot_of(const void *p)
{
	return (size_t)((uintptr_t)p >> 4) * 2654435761u % SLOTS;
}

static void
enter(void *p)
{
	size_t i = slot_of(p);

	if (!heap.armed || p == NULL)
		return;
	if (++heap.live > SLOTS / 2) {
		heap.overflow = true;
		return;
	}
	while (heap.slot[i] != NULL)
		i = (i + 1) % SLOTS;
	heap.slot[i] = p;
}

/* Takes p out, and moves up what stood behind it (linear probing). */
static void
leave(void *p)
{
	size_t i = slot_of(p);
	size_t k;

	if (!heap.armed || p == NULL)
		return;
	while (heap.slot[i] != NULL && heap.slot[i] != p)
		i = (i + 1) % SLOTS;
	if (heap.slot[i] == NULL)
		return; /* older than heap_arm */
	heap.live--;
	for (k = (i + 1) % SLOTS; heap.slot[k] != NULL; k = (k + 1) % SLOTS)
		if ((k + SLOTS - slot_of(heap.slot[k])) % SLOTS >= (k + SLOTS - i) % SLOTS) {
			heap.slot[i] = heap.slot[k];
			i = k;
		}
	heap.slot[i] = NULL;
}

/* Whether this allocation is one that fails. */
static bool
fails(void)
{
	if (!heap.armed)
		return false;
	heap.calls++;
	if (heap.fail_at == 0 || heap.calls < heap.fail_at ||
	    (heap.calls > heap.fail_at && !heap.and_after))
		return false;
	errno = ENOMEM;
	return true;
}

#define OWN __attribute__((visibility("default")))

OWN void *
malloc(size_t n)
{
	void *p = fails() ? NULL : REAL(malloc)(n);

	enter(p);
	return p;
}

OWN void *
calloc(size_t n, size_t size)
{
	void *p = fails() ? NULL : REAL(calloc)(n, size);

	enter(p);
	return p;
}

OWN void *
realloc(void *p, size_t n)
{
	void *q;

	if (fails())
		return NULL;
	leave(p);
	q = REAL(realloc)(p, n);
	enter(q != NULL || n == 0 ? q : p);
	return q;
}

OWN void
free(void *p)
{
	leave(p);
	REAL(free)(p);
}

OWN int
posix_memalign(void **out, size_t align, size_t n)
{
	void *p = fails() ? NULL : REAL(memalign)(align, n);

	enter(p);
	if (p == NULL)
		return ENOMEM;
	*out = p;
	return 0;
}

OWN void *
aligned_alloc(size_t align, size_t n)
{
	void *p = fails() ? NULL : REAL(memalign)(align, n);

	enter(p);
	return p;
}

/* glibc's own strdup goes through malloc; a sanitizer's does not. */
OWN char *
strdup(const char *s)
{
	size_t n = strlen(s) + 1;
	char *p = malloc(n);

	if (p != NULL)
		memcpy(p, s, n);
	return p;
}

void
heap_arm(size_t fail_at, bool and_after)
{
	memset(&heap, 0, sizeof heap);
	heap.fail_at = fail_at;
	heap.and_after = and_after;
	heap.armed = true;
}

size_t
heap_disarm(size_t *calls)
{
	heap.armed = false;
	*calls = heap.calls;
	return heap.overflow ? SIZE_MAX : heap.live;
}
