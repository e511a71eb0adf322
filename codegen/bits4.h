/* SPDX-License-Identifier: Apache-2.0 */
/* bits4.h - constants with weights of 4 bits, for the kernels that unpack them themselves. */
#ifndef QN_CODEGEN_BITS4_H
#define QN_CODEGEN_BITS4_H

#include "codegen/layer.h"

/* Why the sums of four channels, blocks of which stand in words (runtime/kernels/dsp_bits4.h), may not come apart;
 * NULL: they do for all inputs that i8 can hold. */
const char *qn_fours_differ(const qn_layer *l);
/* Blocks of `fours` times four channels: what their sums begin with, blocks of four inputs, scales. */
uint32_t *qn_pack_fours(const qn_layer *l, int32_t fours, int32_t *n, qn_arena *a);
/* The word of four channels from `channel` on for inputs k and k + 2; what is beyond the ends is 0. */
uint32_t qn_pack_four(const qn_layer *l, int64_t channel, int64_t k);
/* Two weights in a byte. */
int8_t qn_both4(int32_t low, int32_t high);
/* Eight weights of a channel from input k on, the first one lowest. */
uint32_t qn_pack_nibbles(const qn_layer *l, int64_t channel, int64_t k);

#endif
