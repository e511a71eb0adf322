/* SPDX-License-Identifier: Apache-2.0 */
/* kernels_dsp.h - rows of products for cores with the DSP extension (runtime/kernels/dsp.h), which
 * stand before the other rows of their ops. */
#ifndef QN_CODEGEN_KERNELS_DSP_H
#define QN_CODEGEN_KERNELS_DSP_H

#include "codegen/kernel_table.h"
#include "runtime/kernels/dsp_conv.h"
#include "runtime/kernels/dsp_dense.h"
#include "runtime/kernels/dsp_depthwise.h"

/* Packed arguments and how many entries their arrays have. */
typedef struct qn_dsp_packed {
	qn_dsp_args args;
	int32_t nw, nbias, nscale;
} qn_dsp_packed;

typedef struct qn_dense_dsp_packed {
	qn_dense_dsp_args args;
	int32_t nw, nbias, nscale;
} qn_dense_dsp_packed;

const char *qn_fits_conv2d_dsp(const qn_step_facts *f);
const char *qn_fits_depthwise3_dsp(const qn_step_facts *f);
const char *qn_fits_dense_dsp(const qn_step_facts *f);
void *qn_pack_conv2d_dsp(const qn_step_facts *f, qn_arena *a);
void *qn_pack_depthwise3_dsp(const qn_step_facts *f, qn_arena *a);
void *qn_pack_dense_dsp(const qn_step_facts *f, qn_arena *a);
size_t qn_work_conv2d_dsp(const void *args);
size_t qn_work_depthwise3_dsp(const void *args);
size_t qn_work_dense_dsp(const void *args);

#define QN_PACKED(type, field, number)                                                             \
	{                                                                                          \
		.table = #field, .at = offsetof(type, args.field),                                 \
		.count = offsetof(type, number), .each = 1                                         \
	}
/* Codes and weights of i8, everything else packed. */
#define QN_DSP_ROW(type, which, of_work)                                                           \
	.families = 1 << QN_FAMILY_s8, .reads = 1 << QN_FAMILY_s8, QN_CODES_1,                     \
	.pointer = {QN_PACKED(type, w, nw), QN_PACKED(type, bias, nbias),                          \
		    QN_PACKED(type, scale, nscale)},                                               \
	.needs = QN_TARGET_DSP, .fits = qn_fits_##which, .pack = qn_pack_##which,                  \
	.work = qn_work_##which, .work_type = of_work

#endif
