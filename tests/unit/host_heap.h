/* SPDX-License-Identifier: Apache-2.0 */
/* host_heap.h - an allocator of the host's that counts what is alive and fails where it is told to.
 *
 *   heap h = {.fail_at = 7};      the seventh call gives no memory
 *   qn_open(&(qn_config){.alloc = host_alloc, .alloc_user = &h});  */
#ifndef TESTS_UNIT_HOST_HEAP_H
#define TESTS_UNIT_HOST_HEAP_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

/* Unlocked on purpose: ThreadSanitizer sees when two threads call it at once. */
typedef struct heap {
	size_t live, calls;
	size_t fail_at; /* the call that returns NULL; 0: none */
} heap;

#define MOST ((size_t)1 << 36) /* bytes of one object */

static inline void *
host_alloc(void *user, void *p, size_t old_size, size_t new_size)
{
	heap *h = user;

	if (new_size > MOST || (new_size > 0 && ++h->calls == h->fail_at))
		return NULL;
	h->live -= p != NULL ? old_size : 0;
	h->live += new_size;
	if (new_size == 0) {
		free(p);
		return NULL;
	}
	return realloc(p, new_size);
}

#endif
