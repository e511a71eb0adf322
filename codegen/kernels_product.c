/* SPDX-License-Identifier: Apache-2.0 */
/* kernels_product.c - sums of products with weights: convolutions and dense, each with the requantize of
 * its result, so that no accumulator is stored, or alone, accumulators out. */
#include "codegen/kernels_by4.h"
#include "codegen/kernels_dsp.h"
#include "codegen/kernels_scalar.h"
#include "codegen/kernels_vector.h"
#include "runtime/impl_args.h"

#define WEIGHTS                                                                                    \
	{                                                                                          \
		.operand = 1, .packs = true                                                        \
	}
/* Of a layer with weights and a bias. */
#define LAYER(type)                                                                                \
	.families = QN_ALL_FAMILIES, QN_CODES_1,                                                   \
	.pointer = {WEIGHTS, {.operand = 2}, QN_SCALES(type)}

/* Values of 16 bits, weights as they are. */
static const char *
fits_dense_rows16(const qn_step_facts *f)
{
	const qn_dense_args *a = f->step->args;
	const qn_tensor *w = qn_weights_of(f);

	if (a->zi != 0 || a->zw != 0)
		return "its data or its weights have a zero point";
	return w == NULL || w->type->elem->bits != 8 ? "its weights are not a constant of 8 bits"
						     : NULL;
}

/* Sums alone, as of data with a scale of run time. */
static const char *
fits_dense_sums(const qn_step_facts *f)
{
	const qn_dense_args *a = f->step->args;

	if (f->from != QN_FAMILY_s8 || qn_weights_of(f) == NULL ||
	    qn_weights_of(f)->type->elem->bits != 8)
		return "it is for 8-bit values and constant weights of 8 bits";
	return a->zi != 0 || a->zw != 0 || f->core->nin > 2
		       ? "its data has a zero point, or it has a bias"
		       : NULL;
}

/* over: the result may lie where the operand does; costs: its estimate, NULL: it has none. */
#define DSP(kernel, which, costs, more, over, fitting)                                             \
	{                                                                                          \
		.name = kernel, .args = "qn_dsp_args", QN_DSP_ROW(qn_dsp_packed, which##_dsp),     \
		.in_place = over, .fused = QN_FUSED(qn_conv2d_args, out_c), .fits = fitting,       \
		.by_rows = sizeof(qn_dsp_args), .work_over = more, .cost = costs                   \
	}

/* Of 16-bit values. */
#define DSP16(which, type, packs, channels)                                                        \
	.args = type, .families = 1 << QN_FAMILY_s16, .reads = 1 << QN_FAMILY_s16, QN_CODES_1,     \
	.pointer = {QN_PACKED(packs, w, nw)}, .needs = QN_TARGET_SMLAD, .fits = qn_fits_##which,   \
	.pack = qn_pack_##which, .fused = channels
#define CONV16(which)                                                                              \
	DSP16(which, "qn_dsp_args", qn_dsp_packed, QN_FUSED(qn_conv2d_args, out_c)),               \
		.by_rows = sizeof(qn_dsp_args)

#define SCALAR(which, work_of, more, over, fitting)                                                \
	{                                                                                          \
		.name = "qn_" #which "_ow", .args = "qn_scalar_args",                              \
		QN_SCALAR_ROW(qn_scalar_packed, which), .in_place = over,                          \
		.fused = QN_FUSED(qn_conv2d_args, out_c), .fits = fitting,                         \
		.work = qn_work_##which, .work_type = work_of, .by_rows = sizeof(qn_scalar_args),  \
		.work_over = more                                                                  \
	}

static const qn_kernel conv2d[] = {
	{.name = "qn_depthwise_vector_ow",
	 .args = "qn_vector_args",
	 .by_rows = sizeof(qn_vector_packed),
	 QN_VECTOR_ROW(qn_vector_packed, depthwise_vector, QN_TARGET_VECTORS),
	 .rows = offsetof(qn_vector_args, ring),
	 .fused = QN_FUSED(qn_conv2d_args, out_c)},
	{.name = "qn_depthwise_up_vector_ow",
	 .args = "qn_vector_args",
	 .by_rows = sizeof(qn_vector_packed),
	 QN_VECTOR_ROW(qn_vector_packed, depthwise_up_vector, QN_TARGET_VECTORS),
	 .rows = offsetof(qn_vector_args, ring),
	 .fused = QN_FUSED(qn_conv2d_args, out_c)},
	{.name = "qn_conv2d_wide_ow",
	 .args = "qn_vector_args",
	 .by_rows = sizeof(qn_vector_args),
	 QN_VECTOR_ROW(qn_vector_packed, conv2d_wide, QN_TARGET_VECTORS | QN_TARGET_WIDE),
	 .fused = QN_FUSED(qn_conv2d_args, out_c)},
	{.name = "qn_conv2d_vector_ow",
	 .args = "qn_vector_args",
	 .by_rows = sizeof(qn_vector_args),
	 QN_VECTOR_ROW(qn_vector_packed, conv2d_vector, QN_TARGET_VECTORS),
	 .fused = QN_FUSED(qn_conv2d_args, out_c)},
	DSP("qn_depthwise3_relu_dsp_ow", depthwise3, NULL, NULL, 1,
	    qn_fits_depthwise3_relu_over_dsp),
	DSP("qn_depthwise3_relu_dsp_ow", depthwise3, NULL, NULL, 0, qn_fits_depthwise3_relu_dsp),
	DSP("qn_depthwise3_dsp_ow", depthwise3, NULL, NULL, 1, qn_fits_depthwise3_over_dsp),
	DSP("qn_depthwise3_dsp_ow", depthwise3, NULL, NULL, 0, qn_fits_depthwise3_dsp),
	DSP("qn_depthwise_relu_dsp_ow", depthwise, NULL, NULL, 1, qn_fits_depthwise_relu_over_dsp),
	DSP("qn_depthwise_relu_dsp_ow", depthwise, NULL, NULL, 0, qn_fits_depthwise_relu_dsp),
	DSP("qn_depthwise_dsp_ow", depthwise, NULL, NULL, 1, qn_fits_depthwise_over_dsp),
	DSP("qn_depthwise_dsp_ow", depthwise, NULL, NULL, 0, qn_fits_depthwise_dsp),
	DSP("qn_depthwise_up_dsp_ow", depthwise, NULL, NULL, 1, qn_fits_depthwise_up_over_dsp),
	DSP("qn_depthwise_up_dsp_ow", depthwise, NULL, NULL, 0, qn_fits_depthwise_up_dsp),
	DSP("qn_winograd_relu_dsp", winograd, qn_cost_winograd_dsp, qn_ring_winograd_dsp, 1,
	    qn_fits_winograd_relu_over_dsp),
	DSP("qn_winograd_relu_dsp", winograd, qn_cost_winograd_dsp, NULL, 0,
	    qn_fits_winograd_relu_dsp),
	DSP("qn_winograd_dsp", winograd, qn_cost_winograd_dsp, qn_ring_winograd_dsp, 1,
	    qn_fits_winograd_over_dsp),
	DSP("qn_winograd_dsp", winograd, qn_cost_winograd_dsp, NULL, 0, qn_fits_winograd_dsp),
	DSP("qn_conv2d_relu_dsp_ow", conv2d, qn_cost_conv2d_dsp, qn_ring_conv2d_dsp, 1,
	    qn_fits_conv2d_relu_over_dsp),
	DSP("qn_conv2d_relu_dsp_ow", conv2d, qn_cost_conv2d_dsp, NULL, 0, qn_fits_conv2d_relu_dsp),
	DSP("qn_conv2d_dsp_ow", conv2d, qn_cost_conv2d_dsp, qn_ring_conv2d_dsp, 1,
	    qn_fits_conv2d_over_dsp),
	DSP("qn_conv2d_dsp_ow", conv2d, qn_cost_conv2d_dsp, NULL, 0, qn_fits_conv2d_dsp),
	{.name = "qn_conv2d_apart_dsp",
	 .args = "qn_dsp_args",
	 QN_DSP_ROW_OF(qn_dsp_packed, conv2d_apart_dsp, conv2d_dsp),
	 .fused = QN_FUSED(qn_conv2d_args, out_c),
	 .fits = qn_fits_conv2d_apart_dsp,
	 .by_rows = sizeof(qn_dsp_args),
	 .cost = qn_cost_conv2d_dsp},
	SCALAR(depthwise3_scalar, "uint8_t", NULL, 1, qn_fits_depthwise3_over_scalar),
	SCALAR(depthwise3_scalar, "uint8_t", NULL, 0, qn_fits_depthwise3_scalar),
	SCALAR(conv2d_scalar, "uint32_t", qn_ring_conv2d_scalar, 1, qn_fits_conv2d_over_scalar),
	SCALAR(conv2d_scalar, "uint32_t", NULL, 0, qn_fits_conv2d_scalar),
	{.name = "qn_conv2d_rows16_dsp",
	 CONV16(conv2d_rows16_dsp),
	 .work = qn_work_conv2d_rows16_dsp,
	 .work_type = "uint32_t"},
	{.name = "qn_depthwise_rows16_dsp", CONV16(depthwise_rows16_dsp)},
	{.name = "qn_depthwise_by4_qw",
	 .args = "qn_conv2d_args_a",
	 .by_rows = sizeof(qn_conv2d_args),
	 .rows = offsetof(qn_conv2d_args, k_h),
	 .pack = qn_pack_depthwise_by4_narrow,
	 QN_NARROW_ROW(depthwise_by4, QN_TARGET_ANY, qn_by4_packed, qn_conv2d_args,
		       QN_PACKED_TABLE(qn_by4_packed, w, weights), out_c)},
	{.name = "qn_depthwise_by4_qw",
	 .needs = QN_TARGET_ANY,
	 .by_rows = sizeof(qn_conv2d_args),
	 .args = "qn_conv2d_args_a",
	 .families = QN_ALL_FAMILIES,
	 QN_CODES_1,
	 .pointer = {QN_PACKED_TABLE(qn_by4_packed, w, weights),
		     {.operand = 2},
		     QN_SCALES(qn_conv2d_args)},
	 .rows = offsetof(qn_conv2d_args, k_h),
	 .fused = QN_FUSED(qn_conv2d_args, out_c),
	 .fits = qn_fits_depthwise_by4,
	 .pack = qn_pack_depthwise_by4},
	{.name = "qn_conv2d_by4_qw",
	 .args = "qn_conv2d_args_a",
	 .by_rows = sizeof(qn_conv2d_args),
	 .rows = offsetof(qn_conv2d_args, k_h),
	 .pack = qn_pack_conv2d_narrow,
	 QN_NARROW_ROW(conv2d_by4, QN_TARGET_ANY, qn_by4_packed, qn_conv2d_args, WEIGHTS, out_c)},
	{.name = "qn_conv2d_by4_qw",
	 .needs = QN_TARGET_ANY,
	 .by_rows = sizeof(qn_conv2d_args),
	 .args = "qn_conv2d_args_a",
	 LAYER(qn_conv2d_args),
	 .rows = offsetof(qn_conv2d_args, k_h),
	 .fused = QN_FUSED(qn_conv2d_args, out_c),
	 .fits = qn_fits_conv2d_by4},
	{.name = "qn_conv2d_qw",
	 .args = "qn_conv2d_args_a",
	 .by_rows = sizeof(qn_conv2d_args),
	 .rows = offsetof(qn_conv2d_args, k_h),
	 .pack = qn_pack_conv2d_narrow,
	 QN_NARROW_ROW(conv2d, 0, qn_by4_packed, qn_conv2d_args, WEIGHTS, out_c)},
	{.name = "qn_conv2d_qw",
	 .by_rows = sizeof(qn_conv2d_args),
	 .args = "qn_conv2d_args_a",
	 LAYER(qn_conv2d_args),
	 .rows = offsetof(qn_conv2d_args, k_h),
	 .fused = QN_FUSED(qn_conv2d_args, out_c)},
	{.name = "qn_conv2d_by4_acc_ow",
	 .needs = QN_TARGET_ANY,
	 .args = "qn_conv2d_args_a",
	 LAYER(qn_conv2d_args),
	 .rows = offsetof(qn_conv2d_args, k_h),
	 .fits = qn_fits_conv2d_by4},
	{.name = "qn_conv2d_acc_ow",
	 .args = "qn_conv2d_args_a",
	 LAYER(qn_conv2d_args),
	 .rows = offsetof(qn_conv2d_args, k_h)},
};

static const qn_kernel transposed[] = {
	{.name = "qn_conv_transpose_by4_qw",
	 .needs = QN_TARGET_ANY,
	 .args = "qn_conv_transpose_args_a",
	 LAYER(qn_conv_transpose_args),
	 .rows = offsetof(qn_conv_transpose_args, k_h),
	 .fused = QN_FUSED(qn_conv_transpose_args, out_c),
	 .fits = qn_fits_transposed_by4},
	{.name = "qn_conv_transpose_qw",
	 .args = "qn_conv_transpose_args_a",
	 LAYER(qn_conv_transpose_args),
	 .rows = offsetof(qn_conv_transpose_args, k_h),
	 .fused = QN_FUSED(qn_conv_transpose_args, out_c)},
	{.name = "qn_conv_transpose_acc_ow",
	 .args = "qn_conv_transpose_args_a",
	 LAYER(qn_conv_transpose_args),
	 .rows = offsetof(qn_conv_transpose_args, k_h)},
};

static const qn_kernel conv3d[] = {
	{.name = "qn_conv3d_qw",
	 .args = "qn_conv3d_args_a",
	 LAYER(qn_conv3d_args),
	 .fused = QN_FUSED(qn_conv3d_args, out_c)},
	{.name = "qn_conv3d_acc_ow", .args = "qn_conv3d_args_a", LAYER(qn_conv3d_args)},
};

static const qn_kernel dense[] = {
	{.name = "qn_dense_vector_ow",
	 .args = "qn_dense_vector_args",
	 QN_VECTOR_ROW(qn_dense_vector_packed, dense_vector, QN_TARGET_VECTORS),
	 .fused = QN_FUSED(qn_dense_args, out)},
	{.name = "qn_dense_rows16_vector",
	 .args = "qn_dense_args_a",
	 .families = 1 << QN_FAMILY_s16,
	 .reads = 1 << QN_FAMILY_s16,
	 QN_CODES_1,
	 .pointer = {{.operand = 1}, {.operand = 2}, QN_SCALES(qn_dense_args)},
	 .needs = QN_TARGET_VECTORS,
	 .fits = fits_dense_rows16,
	 .fused = QN_FUSED(qn_dense_args, out)},
	{.name = "qn_dense_dsp_ow",
	 .args = "qn_dense_dsp_args",
	 QN_DSP_ROW(qn_dense_dsp_packed, dense_dsp),
	 .fits = qn_fits_dense_dsp,
	 .fused = QN_FUSED(qn_dense_args, out)},
	{.name = "qn_dense_long_dsp",
	 .args = "qn_dense_dsp_args",
	 QN_DSP_ROW_OF(qn_dense_dsp_packed, dense_long_dsp, dense_dsp),
	 .fits = qn_fits_dense_long_dsp,
	 .fused = QN_FUSED(qn_dense_args, out)},
	{.name = "qn_dense_rows16_dsp",
	 DSP16(dense_rows16_dsp, "qn_dense_rows16_args", qn_dense_rows16_packed,
	       QN_FUSED(qn_dense_args, out)),
	 .work = qn_work_dense_rows16_dsp,
	 .work_type = "uint32_t"},
	{.name = "qn_dense_scalar_ow",
	 .args = "qn_dense_scalar_args",
	 QN_SCALAR_ROW(qn_dense_scalar_packed, dense_scalar),
	 .fits = qn_fits_dense_scalar,
	 .fused = QN_FUSED(qn_dense_args, out)},
	{.name = "qn_dense_by4_qw",
	 .args = "qn_dense_args_a",
	 .pack = qn_pack_dense_narrow,
	 QN_NARROW_ROW(dense_by4, QN_TARGET_ANY, qn_dense_narrow_packed, qn_dense_args, WEIGHTS,
		       out)},
	{.name = "qn_dense_by4_qw",
	 .needs = QN_TARGET_ANY,
	 .args = "qn_dense_args_a",
	 LAYER(qn_dense_args),
	 .fused = QN_FUSED(qn_dense_args, out),
	 .fits = qn_fits_dense_by4},
	{.name = "qn_dense_qw",
	 .args = "qn_dense_args_a",
	 .pack = qn_pack_dense_narrow,
	 QN_NARROW_ROW(dense, 0, qn_dense_narrow_packed, qn_dense_args, WEIGHTS, out)},
	{.name = "qn_dense_qw",
	 .args = "qn_dense_args_a",
	 LAYER(qn_dense_args),
	 .fused = QN_FUSED(qn_dense_args, out)},
	{.name = "qn_dense_sums_dsp",
	 .needs = QN_TARGET_DSP,
	 .args = "qn_dense_args",
	 .families = 1 << QN_FAMILY_s8,
	 QN_CODES_1,
	 .pointer = {{.operand = 1}, {.operand = 2}, QN_SCALES(qn_dense_args)},
	 .fits = fits_dense_sums},
	{.name = "qn_dense_by4_acc_ow",
	 .needs = QN_TARGET_ANY,
	 .args = "qn_dense_args_a",
	 LAYER(qn_dense_args),
	 .fits = qn_fits_dense_by4},
	{.name = "qn_dense_acc_ow", .args = "qn_dense_args_a", LAYER(qn_dense_args)},
};

const qn_op_kernels qn_emit_op_conv1d = QN_KERNELS(conv2d); /* of height 1 */
const qn_op_kernels qn_emit_op_conv2d = QN_KERNELS(conv2d);
const qn_op_kernels qn_emit_op_conv2d_transpose = QN_KERNELS(transposed);
const qn_op_kernels qn_emit_op_conv3d = QN_KERNELS(conv3d);
const qn_op_kernels qn_emit_op_dense = QN_KERNELS(dense);
