/* SPDX-License-Identifier: Apache-2.0 */
/* kernels_dsp.h - rows of products for cores with the DSP extension (runtime/kernels/dsp.h), which
 * stand before the other rows of their ops. */
#ifndef QN_CODEGEN_KERNELS_DSP_H
#define QN_CODEGEN_KERNELS_DSP_H

#include "codegen/layer.h"
#include "runtime/impl_args.h"
#include "runtime/kernels/dsp_conv.h"
#include "runtime/kernels/dsp_conv16.h"
#include "runtime/kernels/dsp_dense.h"
#include "runtime/kernels/dsp_depthwise.h"
#include "runtime/kernels/dsp_depthwise_any.h"
#include "runtime/kernels/dsp_winograd.h"

enum { QN_DSP_MOST_SHIFT = 21 }; /* of a multiplier */

/* Packed arguments and how many words their constants are. */
typedef struct qn_dsp_packed {
	qn_dsp_args args;
	int32_t nw;
} qn_dsp_packed;

/* The members that both the plain arguments of dense and those of blocks give. */
#define QN_DENSE_DSP_ARGS(d)                                                                       \
	(qn_dense_dsp_args)                                                                        \
	{                                                                                          \
		.batch = (d)->batch, .in = (d)->in, .out = (d)->out, .zo = (d)->zo, .lo = (d)->lo, \
		.hi = (d)->hi                                                                      \
	}

typedef struct qn_dense_dsp_packed {
	qn_dense_dsp_args args;
	int32_t nw;
} qn_dense_dsp_packed;

typedef struct qn_dense_rows16_packed {
	qn_dense_rows16_args args;
	int32_t nw;
} qn_dense_rows16_packed;

/* relu: where no value is below the zero point; over: where the result may lie where the operand does. */
const char *qn_fits_conv2d_dsp(const qn_step_facts *f);
const char *qn_fits_conv2d_apart_dsp(const qn_step_facts *f);
const char *qn_fits_conv2d_rows16_dsp(const qn_step_facts *f);
const char *qn_fits_depthwise_rows16_dsp(const qn_step_facts *f);
const char *qn_fits_dense_rows16_dsp(const qn_step_facts *f);
const char *qn_fits_conv2d_over_dsp(const qn_step_facts *f);
const char *qn_fits_conv2d_relu_dsp(const qn_step_facts *f);
const char *qn_fits_conv2d_relu_over_dsp(const qn_step_facts *f);
const char *qn_fits_depthwise3_dsp(const qn_step_facts *f);
const char *qn_fits_depthwise3_over_dsp(const qn_step_facts *f);
const char *qn_fits_depthwise3_relu_dsp(const qn_step_facts *f);
const char *qn_fits_depthwise3_relu_over_dsp(const qn_step_facts *f);
const char *qn_fits_depthwise_dsp(const qn_step_facts *f);
const char *qn_fits_depthwise_over_dsp(const qn_step_facts *f);
const char *qn_fits_depthwise_up_dsp(const qn_step_facts *f);
const char *qn_fits_depthwise_up_over_dsp(const qn_step_facts *f);
const char *qn_fits_depthwise_relu_dsp(const qn_step_facts *f);
const char *qn_fits_depthwise_relu_over_dsp(const qn_step_facts *f);
const char *qn_fits_winograd_dsp(const qn_step_facts *f);
const char *qn_fits_winograd_over_dsp(const qn_step_facts *f);
const char *qn_fits_winograd_relu_dsp(const qn_step_facts *f);
const char *qn_fits_winograd_relu_over_dsp(const qn_step_facts *f);
const char *qn_fits_dense_dsp(const qn_step_facts *f);
const char *qn_fits_dense_long_dsp(const qn_step_facts *f);
void *qn_pack_conv2d_dsp(const qn_step_facts *f, qn_arena *a);
void *qn_pack_conv2d_apart_dsp(const qn_step_facts *f, qn_arena *a);
void *qn_pack_conv2d_rows16_dsp(const qn_step_facts *f, qn_arena *a);
void *qn_pack_depthwise_rows16_dsp(const qn_step_facts *f, qn_arena *a);
void *qn_pack_dense_rows16_dsp(const qn_step_facts *f, qn_arena *a);
void *qn_pack_depthwise3_dsp(const qn_step_facts *f, qn_arena *a);
void *qn_pack_depthwise_dsp(const qn_step_facts *f, qn_arena *a);
void *qn_pack_winograd_dsp(const qn_step_facts *f, qn_arena *a);
void *qn_pack_dense_dsp(const qn_step_facts *f, qn_arena *a);
void *qn_pack_dense_long_dsp(const qn_step_facts *f, qn_arena *a);
size_t qn_work_conv2d_dsp(const void *args);
size_t qn_work_conv2d_rows16_dsp(const void *args);
size_t qn_work_dense_rows16_dsp(const void *args);
/* What it wants more where its result lies over its operand: rows of that. */
size_t qn_ring_conv2d_dsp(const void *args);
size_t qn_work_winograd_dsp(const void *args);
size_t qn_ring_winograd_dsp(const void *args);
/* Instructions of a Cortex-M4, about. */
uint64_t qn_cost_conv2d_dsp(const qn_step_facts *f);
uint64_t qn_cost_winograd_dsp(const qn_step_facts *f);
size_t qn_work_depthwise3_dsp(const void *args);
size_t qn_work_depthwise_dsp(const void *args);
size_t qn_work_dense_dsp(const void *args);

/* What convolutions have in common: their arguments, and packed ones without the constants. */
const qn_conv2d_args *qn_dsp_conv_args(const qn_step_facts *f);
qn_dsp_packed *qn_dsp_conv_packed(const qn_step_facts *f, qn_arena *a);
/* Why a 256 b + a of two channels is not a number of 16 bits: b is -128 and a is negative; else NULL. */
const char *qn_pairs_differ(const qn_layer *l);
/* The word of two channels from `channel` on for inputs k and k + 2; what is beyond the ends is 0. */
uint32_t qn_pack_two(const qn_layer *l, int64_t channel, int64_t k);
/* A word of two int16. */
uint32_t qn_dsp_halves(int32_t low, int32_t high);
/* Why values may be below the zero point, and why a convolution cannot write over its operand; else NULL. */
const char *qn_dsp_goes_below(const qn_step_facts *f);
const char *qn_dsp_conv_over(const qn_conv2d_args *a);

/* The kernels of a layer, some of which are for less: with no result below the zero point, and over their
 * operand. */
#define QN_DSP_FITS_OVER(which, over)                                                              \
	const char *qn_fits_##which##_over_dsp(const qn_step_facts *f)                             \
	{                                                                                          \
		const char *why = qn_fits_##which##_dsp(f);                                        \
		return why != NULL ? why : over(qn_dsp_conv_args(f));                              \
	}
#define QN_DSP_FITS(which, over)                                                                   \
	QN_DSP_FITS_OVER(which, over)                                                              \
	const char *qn_fits_##which##_relu_dsp(const qn_step_facts *f)                             \
	{                                                                                          \
		const char *why = qn_fits_##which##_dsp(f);                                        \
		return why != NULL ? why : qn_dsp_goes_below(f);                                   \
	}                                                                                          \
	const char *qn_fits_##which##_relu_over_dsp(const qn_step_facts *f)                        \
	{                                                                                          \
		const char *why = qn_fits_##which##_relu_dsp(f);                                   \
		return why != NULL ? why : over(qn_dsp_conv_args(f));                              \
	}

#define QN_PACKED(type, field, number)                                                             \
	{                                                                                          \
		.table = #field, .at = offsetof(type, args.field),                                 \
		.count = offsetof(type, number), .each = 1, .packs = true                          \
	}
/* Data of i8, weights of i8 or i4, all constants packed. */
#define QN_DSP_ROW(type, which) QN_DSP_ROW_OF(type, which, which)
#define QN_DSP_ROW_OF(type, packs, works)                                                          \
	.families = 1 << QN_FAMILY_s8, .reads = 1 << QN_FAMILY_s8, QN_CODES_1,                     \
	.pointer = {QN_PACKED(type, w, nw)}, .needs = QN_TARGET_DSP, .pack = qn_pack_##packs,      \
	.work = qn_work_##works, .work_type = "uint32_t"

#endif
