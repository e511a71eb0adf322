/* SPDX-License-Identifier: Apache-2.0 */
/* place.h - buffers in the activation arena that live from one step to another.
 *
 *   buffer   first  last   bytes   offset
 *   A        0      2      64      0
 *   B        1      3      16      64      lives beside A
 *   C        3      4      64      0       reuses A's bytes */
#ifndef QN_CODEGEN_PLACE_H
#define QN_CODEGEN_PLACE_H

#include "ir/arena.h"

typedef struct qn_buffer {
	size_t bytes;
	size_t first, last; /* steps, both included */
	size_t offset;      /* of its place */
} qn_buffer;

/* Sets the offsets of n buffers, which are in the order of their first steps, so that those that
 * live at the same time do not overlap; returns the bytes needed.  nstep: more than any `last`. */
size_t qn_buffers_place(qn_buffer *buf, size_t n, size_t nstep, qn_arena *a);
/* The most bytes that live at one step, less than which no placing needs; *step, unless NULL: the first such one. */
size_t qn_buffers_alive(const qn_buffer *buf, size_t n, size_t nstep, qn_arena *a, size_t *step);

#endif
