/* SPDX-License-Identifier: Apache-2.0 */
/* kernels_product.c - sums of products: convolutions, dense and matmul, each with the requantize of
 * its result, so that no accumulator is stored, or alone, accumulators out. */
#include "codegen/kernel_table.h"
#include "runtime/form_args.h"

#define FUSED(type, channel_count)                                                                 \
	&(const qn_fused)                                                                          \
	{                                                                                          \
		.channels = offsetof(type, channel_count), .zo = offsetof(type, zo),               \
		.lo = offsetof(type, lo), .hi = offsetof(type, hi), .mode = offsetof(type, mode),  \
		.mult_n = offsetof(type, mult_n), .mult = offsetof(type, mult),                    \
		.shift = offsetof(type, shift)                                                     \
	}
#define SCALES(type) QN_TABLE(type, mult, mult_n, 1), QN_TABLE(type, shift, mult_n, 1)

/* Of a layer with weights and a bias. */
#define LAYER(type)                                                                                \
	.families = QN_ALL_FAMILIES, QN_CODES_1,                                                   \
	.pointer = {{.operand = 1, .packs = true}, {.operand = 2}, SCALES(type)}

static const qn_kernel conv2d[] = {
	{.name = "qn_conv2d_qw",
	 .args = "qn_conv2d_args_a",
	 LAYER(qn_conv2d_args),
	 .rows = offsetof(qn_conv2d_args, k_h),
	 .fused = FUSED(qn_conv2d_args, out_c)},
	{.name = "qn_conv2d_acc_ow",
	 .args = "qn_conv2d_args_a",
	 LAYER(qn_conv2d_args),
	 .rows = offsetof(qn_conv2d_args, k_h)},
};

static const qn_kernel transposed[] = {
	{.name = "qn_conv_transpose_qw",
	 .args = "qn_conv_transpose_args_a",
	 LAYER(qn_conv_transpose_args),
	 .rows = offsetof(qn_conv_transpose_args, k_h),
	 .fused = FUSED(qn_conv_transpose_args, out_c)},
	{.name = "qn_conv_transpose_acc_ow",
	 .args = "qn_conv_transpose_args_a",
	 LAYER(qn_conv_transpose_args),
	 .rows = offsetof(qn_conv_transpose_args, k_h)},
};

static const qn_kernel conv3d[] = {
	{.name = "qn_conv3d_qw",
	 .args = "qn_conv3d_args_a",
	 LAYER(qn_conv3d_args),
	 .fused = FUSED(qn_conv3d_args, out_c)},
	{.name = "qn_conv3d_acc_ow", .args = "qn_conv3d_args_a", LAYER(qn_conv3d_args)},
};

static const qn_kernel dense[] = {
	{.name = "qn_dense_qw",
	 .args = "qn_dense_args_a",
	 LAYER(qn_dense_args),
	 .fused = FUSED(qn_dense_args, out)},
	{.name = "qn_dense_acc_ow", .args = "qn_dense_args_a", LAYER(qn_dense_args)},
};

#define MATMUL                                                                                     \
	.args = "qn_matmul_args", .families = QN_ALL_FAMILIES, QN_CODES_2,                         \
	.pointer = {SCALES(qn_matmul_args)}

static const qn_kernel matmul[] = {
	{.name = "qn_matmul_q", MATMUL, .fused = FUSED(qn_matmul_args, n)},
	{.name = "qn_matmul_acc_o", MATMUL},
};

const qn_emit_form qn_emit_op_conv1d = QN_KERNELS(conv2d); /* of height 1 */
const qn_emit_form qn_emit_op_conv2d = QN_KERNELS(conv2d);
const qn_emit_form qn_emit_op_conv2d_transpose = QN_KERNELS(transposed);
const qn_emit_form qn_emit_op_conv3d = QN_KERNELS(conv3d);
const qn_emit_form qn_emit_op_dense = QN_KERNELS(dense);
const qn_emit_form qn_emit_op_matmul = QN_KERNELS(matmul);
