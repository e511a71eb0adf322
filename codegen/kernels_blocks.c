/* SPDX-License-Identifier: Apache-2.0 */
/* kernels_blocks.c - products with weights in blocks (runtime/kernels/products_blocks.h, windows_blocks.h): dense and
 * convolutions, each with the requantize of its result, or alone, sums out. */
#include "codegen/kernels_blocks.h"

#include "codegen/emitter.h"
#include "runtime/accumulator.h"
#include "runtime/impl_args.h"

#define TABLES(type)                                                                               \
	QN_CODES_1, .pointer = {{.operand = 1, .packs = true},                                     \
				QN_TABLE(type, mantissa, mantissas, 1),                            \
				QN_TABLE(type, offset, offsets, 1),                                \
				{.operand = 2},                                                    \
				QN_TABLE(type, mult, mult_n, 1),                                   \
				QN_TABLE(type, shift, mult_n, 1)}

#define BLOCKS(type) .families = QN_ALL_FAMILIES, TABLES(type)

static const char *
fits_four(int32_t channels)
{
	return channels < 4 ? "fewer than four output channels" : NULL;
}

static const char *
fits_dense(const qn_step_facts *f)
{
	return fits_four(((const qn_dense_blocks_args *)f->step->args)->out);
}

/* Values of 16 bits, weights as they are. */
static const char *
fits_dense_rows16(const qn_step_facts *f)
{
	const qn_dense_blocks_args *a = f->step->args;

	if (a->zi != 0 || a->offsets != 0)
		return "its data or its blocks have zero points";
	return qn_graph_node(f->g, f->step->in[1])->type->elem->bits != 8
		       ? "its weights have other bits"
		       : NULL;
}

static const char *
fits_conv2d(const qn_step_facts *f)
{
	const qn_conv2d_blocks_args *a = &((const qn_conv2d_blocks_call *)f->step->args)->args;

	return a->groups != 1 ? "its channels are in groups" : fits_four(a->out_c);
}

static const qn_kernel dense[] = {
	{.name = "qn_dense_blocks_vector_ow",
	 .args = "qn_dense_vector_args",
	 QN_VECTOR_ROW(qn_dense_vector_packed, dense_blocks_vector, QN_TARGET_VECTORS),
	 .fused = QN_FUSED(qn_dense_blocks_args, out)},
	{.name = "qn_dense_blocks_rows16_vector",
	 .args = "qn_dense_blocks_args_ax",
	 .families = 1 << QN_FAMILY_s16,
	 .reads = 1 << QN_FAMILY_s16,
	 TABLES(qn_dense_blocks_args),
	 .needs = QN_TARGET_VECTORS,
	 .fits = fits_dense_rows16,
	 .fused = QN_FUSED(qn_dense_blocks_args, out)},
	{.name = "qn_dense_blocks_dsp_ow",
	 .args = "qn_dense_dsp_args",
	 QN_DSP_ROW(qn_dense_dsp_packed, dense_blocks_dsp),
	 .fits = qn_fits_dense_blocks_dsp,
	 .fused = QN_FUSED(qn_dense_blocks_args, out)},
	{.name = "qn_dense_blocks_dsp_ow",
	 .args = "qn_dense_dsp16_args",
	 .families = 1 << QN_FAMILY_s16,
	 .reads = 1 << QN_FAMILY_s16,
	 QN_CODES_1,
	 .pointer = {QN_PACKED(qn_dense_dsp16_packed, w, nw)},
	 .needs = QN_TARGET_DSP,
	 .pack = qn_pack_dense_blocks_dsp16,
	 .work = qn_work_dense_blocks_dsp16,
	 .work_type = "uint32_t",
	 .fits = qn_fits_dense_blocks_dsp16,
	 .fused = QN_FUSED(qn_dense_blocks_args, out)},
	{.name = "qn_dense_blocks_by4_qx",
	 .needs = QN_TARGET_ANY,
	 .args = "qn_dense_blocks_args_ax",
	 BLOCKS(qn_dense_blocks_args),
	 .fused = QN_FUSED(qn_dense_blocks_args, out),
	 .fits = fits_dense},
	{.name = "qn_dense_blocks_qx",
	 .args = "qn_dense_blocks_args_ax",
	 BLOCKS(qn_dense_blocks_args),
	 .fused = QN_FUSED(qn_dense_blocks_args, out)},
	{.name = "qn_dense_blocks_acc_ox",
	 .args = "qn_dense_blocks_args_ax",
	 BLOCKS(qn_dense_blocks_args)},
};

static const qn_kernel conv2d[] = {
	{.name = "qn_conv2d_blocks_vector_ow",
	 .args = "qn_vector_args",
	 QN_VECTOR_ROW(qn_vector_packed, conv2d_blocks_vector, QN_TARGET_VECTORS),
	 .fused = QN_FUSED(qn_conv2d_blocks_args, out_c)},
	{.name = "qn_conv2d_blocks_dsp_w4",
	 .args = "qn_dsp_args",
	 QN_DSP_ROW(qn_dsp_packed, conv2d_blocks_dsp),
	 .fits = qn_fits_conv2d_blocks_dsp,
	 .fused = QN_FUSED(qn_conv2d_blocks_args, out_c)},
	{.name = "qn_conv2d_blocks_rows_dsp_ow",
	 .args = "qn_dsp_args",
	 QN_DSP_ROW(qn_dsp_packed, conv2d_blocks_rows_dsp),
	 .fits = qn_fits_conv2d_blocks_rows_dsp,
	 .fused = QN_FUSED(qn_conv2d_blocks_args, out_c)},
	{.name = "qn_conv2d_blocks_by4_qx",
	 .needs = QN_TARGET_ANY,
	 .args = "qn_conv2d_blocks_args_ax",
	 BLOCKS(qn_conv2d_blocks_args),
	 .rows = offsetof(qn_conv2d_blocks_args, k_h),
	 .fused = QN_FUSED(qn_conv2d_blocks_args, out_c),
	 .fits = fits_conv2d},
	{.name = "qn_conv2d_blocks_qx",
	 .args = "qn_conv2d_blocks_args_ax",
	 BLOCKS(qn_conv2d_blocks_args),
	 .rows = offsetof(qn_conv2d_blocks_args, k_h),
	 .fused = QN_FUSED(qn_conv2d_blocks_args, out_c)},
	{.name = "qn_conv2d_blocks_acc_ox",
	 .args = "qn_conv2d_blocks_args_ax",
	 BLOCKS(qn_conv2d_blocks_args),
	 .rows = offsetof(qn_conv2d_blocks_args, k_h)},
};

static const qn_kernel transposed[] = {
	{.name = "qn_conv_transpose_blocks_qx",
	 .args = "qn_conv2d_blocks_args_ax",
	 BLOCKS(qn_conv2d_blocks_args),
	 .fused = QN_FUSED(qn_conv2d_blocks_args, out_c)},
	{.name = "qn_conv_transpose_blocks_acc_ox",
	 .args = "qn_conv2d_blocks_args_ax",
	 BLOCKS(qn_conv2d_blocks_args)},
};

static const qn_kernel conv3d[] = {
	{.name = "qn_conv3d_blocks_qx",
	 .args = "qn_conv3d_blocks_args_ax",
	 BLOCKS(qn_conv3d_blocks_args),
	 .fused = QN_FUSED(qn_conv3d_blocks_args, out_c)},
	{.name = "qn_conv3d_blocks_acc_ox",
	 .args = "qn_conv3d_blocks_args_ax",
	 BLOCKS(qn_conv3d_blocks_args)},
};

const qn_op_kernels qn_emit_dense_blocks = QN_KERNELS(dense);
const qn_op_kernels qn_emit_conv2d_blocks = QN_KERNELS(conv2d);
const qn_op_kernels qn_emit_conv2d_transpose_blocks = QN_KERNELS(transposed);
const qn_op_kernels qn_emit_conv3d_blocks = QN_KERNELS(conv3d);

static const qn_kernel gather[] = {
	{.name = "qn_gather_blocks_q",
	 .args = "qn_gather_blocks_args",
	 .families = QN_ALL_FAMILIES,
	 .pointer = {{.operand = 0, .packs = true},
		     QN_TABLE(qn_gather_blocks_args, mantissa, mantissas, 1),
		     QN_TABLE(qn_gather_blocks_args, zp, zero_points, 1),
		     QN_TABLE(qn_gather_blocks_args, offset, offsets, 1),
		     QN_TABLE(qn_gather_blocks_args, shift, shifts, 1)},
	 .emit = qn_emit_gather_blocks},
};

static const qn_op_kernels gather_kernels = QN_KERNELS(gather);

const qn_op_kernels *
qn_blocks_kernels(const qn_graph *g, const qn_node *n)
{
	if (qn_gather_rescales(g, n))
		return &gather_kernels;
	if (!qn_has_blocks(g, n))
		return NULL;
	return n->op == QN_OP_dense              ? &qn_emit_dense_blocks
	       : n->op == QN_OP_conv2d_transpose ? &qn_emit_conv2d_transpose_blocks
	       : n->op == QN_OP_conv3d           ? &qn_emit_conv3d_blocks
						 : &qn_emit_conv2d_blocks;
}
