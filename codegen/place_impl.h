/* SPDX-License-Identifier: Apache-2.0 */
/* place_impl.h - what place.c has of place_earlier.c. */
#ifndef QN_CODEGEN_PLACE_IMPL_H
#define QN_CODEGEN_PLACE_IMPL_H

#include "codegen/place.h"

#include <stdbool.h>
#include <stdint.h>

/* Sets offsets, each buffer in the smallest gap when it begins; returns the bytes needed.  *pairs: those of buffers
 * that live at the same time. */
size_t qn_place_earlier_first(qn_buffer *buf, size_t n, size_t nstep, qn_arena *a, uint64_t *pairs);

#endif
