/* SPDX-License-Identifier: Apache-2.0 */
/* kernels_scalar.h - rows of products for cores that multiply words (runtime/kernels/scalar.h), which
 * stand before the portable rows of their ops. */
#ifndef QN_CODEGEN_KERNELS_SCALAR_H
#define QN_CODEGEN_KERNELS_SCALAR_H

#include "codegen/kernel_table.h"
#include "runtime/kernels/scalar_conv.h"
#include "runtime/kernels/scalar_dense.h"
#include "runtime/kernels/scalar_depthwise.h"

/* Packed arguments and how many entries their arrays have. */
typedef struct qn_scalar_packed {
	qn_scalar_args args;
	int32_t nw, nscale, nshift;
} qn_scalar_packed;

typedef struct qn_dense_scalar_packed {
	qn_dense_scalar_args args;
	int32_t nw, nscale, nshift;
} qn_dense_scalar_packed;

/* over: where the result may lie where the operand does. */
const char *qn_fits_conv2d_scalar(const qn_step_facts *f);
const char *qn_fits_conv2d_over_scalar(const qn_step_facts *f);
const char *qn_fits_depthwise3_scalar(const qn_step_facts *f);
const char *qn_fits_depthwise3_over_scalar(const qn_step_facts *f);
const char *qn_fits_dense_scalar(const qn_step_facts *f);
void *qn_pack_conv2d_scalar(const qn_step_facts *f, qn_arena *a);
void *qn_pack_depthwise3_scalar(const qn_step_facts *f, qn_arena *a);
void *qn_pack_dense_scalar(const qn_step_facts *f, qn_arena *a);
size_t qn_work_conv2d_scalar(const void *args);
/* What it wants more where its result lies over its operand: rows of that. */
size_t qn_ring_conv2d_scalar(const void *args);
size_t qn_work_depthwise3_scalar(const void *args);

#define QN_SCALAR_TABLE(type, field, number)                                                       \
	{                                                                                          \
		.table = #field, .at = offsetof(type, args.field),                                 \
		.count = offsetof(type, number), .each = 1, .packs = true                          \
	}
/* Values of i8, weights of i8 or i4, all constants packed. */
#define QN_SCALAR_ROW(type, which)                                                                 \
	.families = 1 << QN_FAMILY_s8, .reads = 1 << QN_FAMILY_s8, QN_CODES_1,                     \
	.pointer = {QN_SCALAR_TABLE(type, w, nw), QN_SCALAR_TABLE(type, scale, nscale),            \
		    QN_SCALAR_TABLE(type, shift, nshift)},                                         \
	.needs = QN_TARGET_SCALAR, .pack = qn_pack_##which

#endif
