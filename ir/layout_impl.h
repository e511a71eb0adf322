/* SPDX-License-Identifier: Apache-2.0 */
/* layout_impl.h - what the table of layouts points at (private to layout*.c).
 *
 *   layout_scaled.c    plain, TensorScaled, BlockScaled, BlockScaledI4: checks, formulas
 *   layout_super.c     SuperBlockOffsetScaled_4_6
 *   layout_ggml.c      packed blocks of 32, layout_k.c of 256: unpack
 *   layout_ggml_quantize.c, layout_k_quantize.c   the reference's rounding; layout_k_fit.c its search for scales */
#ifndef QN_IR_LAYOUT_IMPL_H
#define QN_IR_LAYOUT_IMPL_H

#include "ir/layout.h"

extern const qn_packed qn_packed_q4_0, qn_packed_q4_1, qn_packed_q5_0, qn_packed_q5_1,
	qn_packed_q8_0, qn_packed_q2_K, qn_packed_q3_K, qn_packed_q4_K, qn_packed_q5_K,
	qn_packed_q6_K;

qn_status qn_layout_check_plain(qn_env *env, const char *place, const qn_layout_tensor *t);
qn_status qn_layout_check_scaled(qn_env *env, const char *place, const qn_layout_tensor *t);
qn_status qn_layout_check_blocks(qn_env *env, const char *place, const qn_layout_tensor *t);
qn_status qn_layout_check_blocks_i4(qn_env *env, const char *place, const qn_layout_tensor *t);

void qn_layout_dequant_plain(const qn_layout_tensor *t, float *out);
void qn_layout_dequant_scaled(const qn_layout_tensor *t, float *out);
void qn_layout_dequant_blocks(const qn_layout_tensor *t, float *out);
void qn_layout_dequant_super(const qn_layout_tensor *t, float *out);
void qn_layout_dequant_host(const qn_layout_tensor *t, float *out);

/* Value i of a plane of 4-bit integers, two in a byte, the lower half first. */
int32_t qn_nibble(const uint8_t *data, int64_t i, bool is_signed);
bool qn_layout_is_signed(const qn_layout_tensor *t); /* metadata of BlockScaledI4Layout */

/* Super-blocks of q4_K and of SuperBlockOffsetScaled_4_6: 8 scales and 8 offsets of 6 bits. */
typedef struct qn_scales_6 {
	uint8_t scale[8], offset[8];
} qn_scales_6;
qn_scales_6 qn_scales_6_get(const uint8_t bytes[12]);
void qn_scales_6_put(const qn_scales_6 *s, uint8_t bytes[12]);
/* Planes of a tensor of q4_K blocks, with d and dmin of f16, and back: without these two. */
void qn_super_to_planes(const uint8_t *block, uint8_t *const plane[7], int64_t i);
void qn_super_from_planes(const uint8_t *const plane[7], int64_t i, uint8_t *block);

/* An integer of the metadata; -1: it is missing, or none from 0 to `most`. */
int32_t qn_layout_meta_int(const qn_layout_tensor *t, const char *key, int32_t most);

float qn_half_get(const uint8_t *bytes);
void qn_half_put(uint8_t *bytes, float v);

/* The reference's quantizers of blocks of 256 (layout_k_quantize.c). */
void qn_quantize_q2_K(const float *x, uint8_t *block);
void qn_quantize_q3_K(const float *x, uint8_t *block);
void qn_quantize_q4_K(const float *x, uint8_t *block);
void qn_quantize_q5_K(const float *x, uint8_t *block);
void qn_quantize_q6_K(const float *x, uint8_t *block);

enum { QN_K = 256 };

#endif
