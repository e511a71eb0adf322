/* SPDX-License-Identifier: Apache-2.0 */
/* heap.h - the C library's heap with a fault in it: this program's own malloc, calloc, realloc,
 * free and their kin stand before all others, so every library of the process is included.
 *
 *   heap_arm(7, false);   the 7th allocation from here gives NULL (true: and all after it)
 *   …
 *   size_t lost = heap_disarm(&calls);      blocks allocated since and still there */
#ifndef QN_TESTS_HEAP_H
#define QN_TESTS_HEAP_H

#include <stdbool.h>
#include <stddef.h>

/* fail_at 0: none fails. */
void heap_arm(size_t fail_at, bool and_after);
size_t heap_disarm(size_t *calls);

#endif
