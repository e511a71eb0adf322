/* SPDX-License-Identifier: Apache-2.0 */
/* kernels_by4.h - which layers the kernels of four channels at a time take (runtime/kernels/products.h,
 * products_transpose.h), which of 16-bit values those with sums of 32 bits, and the constants that these have in another
 * order or size. */
#ifndef QN_CODEGEN_KERNELS_BY4_H
#define QN_CODEGEN_KERNELS_BY4_H

#include "codegen/kernel_table.h"
#include "runtime/kernels/conv2d.h"
#include "runtime/kernels/dense.h"

/* Packed arguments and how many entries their arrays have. */
typedef struct qn_by4_packed {
	qn_conv2d_args args;
	int32_t weights, biases;
} qn_by4_packed;

typedef struct qn_dense_narrow_packed {
	qn_dense_args args;
	int32_t biases;
} qn_dense_narrow_packed;

/* The weights' quantized values, NULL when they vary. */
const qn_tensor *qn_weights_of(const qn_step_facts *f);

const char *qn_fits_dense_by4(const qn_step_facts *f);
const char *qn_fits_conv2d_by4(const qn_step_facts *f);
const char *qn_fits_transposed_by4(const qn_step_facts *f);
const char *qn_fits_depthwise_by4(const qn_step_facts *f);
void *qn_pack_depthwise_by4(const qn_step_facts *f, qn_arena *a);

/* Of values of 16 bits, whose sums fit into 32 bits. */
const char *qn_fits_dense_narrow(const qn_step_facts *f);
const char *qn_fits_dense_by4_narrow(const qn_step_facts *f);
const char *qn_fits_conv2d_narrow(const qn_step_facts *f);
const char *qn_fits_conv2d_by4_narrow(const qn_step_facts *f);
const char *qn_fits_depthwise_by4_narrow(const qn_step_facts *f);
void *qn_pack_dense_narrow(const qn_step_facts *f, qn_arena *a);
void *qn_pack_conv2d_narrow(const qn_step_facts *f, qn_arena *a);
void *qn_pack_depthwise_by4_narrow(const qn_step_facts *f, qn_arena *a);

#define QN_SCALES(type) QN_TABLE(type, mult, mult_n, 1), QN_TABLE(type, shift, mult_n, 1)
/* A packed array that `number` counts. */
#define QN_PACKED_TABLE(type, field, number)                                                       \
	{                                                                                          \
		.table = #field, .at = offsetof(type, args.field),                                 \
		.count = offsetof(type, number), .each = 1, .packs = true                          \
	}
/* The row `which` of sums of 32 bits; need: what it needs; packs: the type of its packed arguments, type: that of their args. */
#define QN_NARROW_ROW(which, need, packs, type, weights_from, channels)                            \
	.families = 1 << QN_FAMILY_s16, .reads = 1 << QN_FAMILY_s16, QN_CODES_1,                   \
	.pointer = {weights_from, QN_PACKED_TABLE(packs, bias, biases), QN_SCALES(type)},          \
	.narrow = true, .needs = need, .fused = QN_FUSED(type, channels),                          \
	.fits = qn_fits_##which##_narrow

#endif
