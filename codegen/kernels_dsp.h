/* SPDX-License-Identifier: Apache-2.0 */
/* kernels_dsp.h - rows of products for cores with the DSP extension (runtime/kernels/dsp.h), which
 * stand before the other rows of their ops. */
#ifndef QN_CODEGEN_KERNELS_DSP_H
#define QN_CODEGEN_KERNELS_DSP_H

#include "codegen/kernel_table.h"
#include "runtime/kernels/dsp_conv.h"
#include "runtime/kernels/dsp_dense.h"
#include "runtime/kernels/dsp_depthwise.h"
#include "runtime/kernels/dsp_depthwise_any.h"

/* Packed arguments and how many words their constants are. */
typedef struct qn_dsp_packed {
	qn_dsp_args args;
	int32_t nw;
} qn_dsp_packed;

typedef struct qn_dense_dsp_packed {
	qn_dense_dsp_args args;
	int32_t nw;
} qn_dense_dsp_packed;

/* relu: where no code is below the zero point; over: where the result may lie where the operand does. */
const char *qn_fits_conv2d_dsp(const qn_step_facts *f);
const char *qn_fits_conv2d_over_dsp(const qn_step_facts *f);
const char *qn_fits_conv2d_relu_dsp(const qn_step_facts *f);
const char *qn_fits_conv2d_relu_over_dsp(const qn_step_facts *f);
const char *qn_fits_depthwise3_dsp(const qn_step_facts *f);
const char *qn_fits_depthwise3_over_dsp(const qn_step_facts *f);
const char *qn_fits_depthwise3_relu_dsp(const qn_step_facts *f);
const char *qn_fits_depthwise3_relu_over_dsp(const qn_step_facts *f);
const char *qn_fits_depthwise_dsp(const qn_step_facts *f);
const char *qn_fits_depthwise_over_dsp(const qn_step_facts *f);
const char *qn_fits_depthwise_relu_dsp(const qn_step_facts *f);
const char *qn_fits_depthwise_relu_over_dsp(const qn_step_facts *f);
const char *qn_fits_dense_dsp(const qn_step_facts *f);
void *qn_pack_conv2d_dsp(const qn_step_facts *f, qn_arena *a);
void *qn_pack_depthwise3_dsp(const qn_step_facts *f, qn_arena *a);
void *qn_pack_depthwise_dsp(const qn_step_facts *f, qn_arena *a);
void *qn_pack_dense_dsp(const qn_step_facts *f, qn_arena *a);
size_t qn_work_conv2d_dsp(const void *args);
/* What it wants more where its result lies over its operand: rows of that. */
size_t qn_ring_conv2d_dsp(const void *args);
size_t qn_work_depthwise3_dsp(const void *args);
size_t qn_work_depthwise_dsp(const void *args);
size_t qn_work_dense_dsp(const void *args);

#define QN_PACKED(type, field, number)                                                             \
	{                                                                                          \
		.table = #field, .at = offsetof(type, args.field),                                 \
		.count = offsetof(type, number), .each = 1                                         \
	}
/* Codes and weights of i8, all constants packed. */
#define QN_DSP_ROW(type, which)                                                                    \
	.families = 1 << QN_FAMILY_s8, .reads = 1 << QN_FAMILY_s8, QN_CODES_1,                     \
	.pointer = {QN_PACKED(type, w, nw)}, .needs = QN_TARGET_DSP, .pack = qn_pack_##which,      \
	.work = qn_work_##which, .work_type = "uint32_t"

#endif
