/* SPDX-License-Identifier: Apache-2.0 */
/* kernels_product.c - sums of products with weights: convolutions and dense, each with the requantize of
 * its result, so that no accumulator is stored, or alone, accumulators out. */
#include "codegen/bits4.h"
#include "codegen/kernels_dsp.h"
#include "codegen/kernels_scalar.h"
#include "codegen/kernels_vector.h"
#include "runtime/impl_args.h"

#define SCALES(type) QN_TABLE(type, mult, mult_n, 1), QN_TABLE(type, shift, mult_n, 1)

/* Of a layer with weights and a bias. */
#define LAYER(type)                                                                                \
	.families = QN_ALL_FAMILIES, QN_CODES_1,                                                   \
	.pointer = {{.operand = 1, .packs = true}, {.operand = 2}, SCALES(type)}

/* ---- four channels at a time (runtime/kernels/products.h, products_transpose.h) ---- */

/* The weights' quantized values, NULL when they vary or are of more than a byte. */
static const qn_tensor *
weights_of(const qn_step_facts *f)
{
	const qn_node *w = qn_graph_node(f->g, f->step->in[1]);

	return w->op == QN_OP_const ? w->value : NULL;
}

static bool
is_packed(const qn_step_facts *f)
{
	return qn_graph_node(f->g, f->step->in[1])->type->elem->bits == 4;
}

static const char *
fits_blocks(int32_t channels)
{
	return channels < 4 ? "fewer than four output channels" : NULL;
}

static const char *
fits_dense_by4(const qn_step_facts *f)
{
	const qn_dense_args *a = f->step->args;

	return a->zw != 0 || weights_of(f) == NULL ? "the weights are not constant"
						   : fits_blocks(a->out);
}

/* Values of 16 bits, weights as they are. */
static const char *
fits_dense_rows16(const qn_step_facts *f)
{
	const qn_dense_args *a = f->step->args;
	const qn_tensor *w = weights_of(f);

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

	if (f->from != QN_FAMILY_s8 || weights_of(f) == NULL || is_packed(f) ||
	    weights_of(f)->type->elem->bits != 8)
		return "it is for 8-bit values and constant weights of 8 bits";
	return a->zi != 0 || a->zw != 0 || f->core->nin > 2
		       ? "its data has a zero point, or it has a bias"
		       : NULL;
}

static const char *
fits_conv2d_by4(const qn_step_facts *f)
{
	const qn_conv2d_args *a = &((const qn_conv2d_call *)f->step->args)->args;

	return a->groups != 1 ? "its channels are in groups" : fits_blocks(a->out_c);
}

static const char *
fits_transposed_by4(const qn_step_facts *f)
{
	const qn_conv_transpose_args *a = &((const qn_conv_transpose_call *)f->step->args)->args;

	if (a->groups != 1)
		return "its channels are in groups";
	return a->dil_h != 1 || a->dil_w != 1 ? "its kernel is dilated" : fits_blocks(a->out_c);
}

static const char *
fits_depthwise(const qn_step_facts *f)
{
	const qn_conv2d_args *a = &((const qn_conv2d_call *)f->step->args)->args;

	if (a->groups != a->in_c || a->out_c != a->in_c)
		return "it is not depthwise";
	if (weights_of(f) == NULL)
		return "the weights are not constant";
	if (qn_graph_node(f->g, f->step->in[1])->type->elem->bits == 2)
		return "its weights have 2 bits";
	return fits_blocks(a->out_c);
}

typedef struct depthwise_args {
	qn_conv2d_args args;
	int32_t weights; /* how many */
} depthwise_args;

/* Weights [c, k_h, k_w, 1] of 4 bits as blocks of four channels, the last one of which begins early, in them
 * [k_h, k_w, 2] bytes. */
static int8_t *
pack_depthwise4(const qn_tensor *w, int32_t taps, int32_t channels, int32_t *n, qn_arena *a)
{
	int8_t *packed = QN_NEW(a, int8_t, 2 * (size_t)taps * (size_t)((channels + 3) / 4)),
	       *to = packed;

	for (int32_t k = 0; k < channels; k += 4) {
		const int32_t first = k + 4 <= channels ? k : channels - 4;

		for (int32_t t = 0; t < taps; t++)
			for (int32_t i = first; i < first + 4; i += 2)
				*to++ = qn_both4(
					(int32_t)qn_tensor_i64(w, (int64_t)i * taps + t),
					(int32_t)qn_tensor_i64(w, (int64_t)(i + 1) * taps + t));
	}
	*n = (int32_t)(to - packed);
	return packed;
}

/* Weights [c, k_h, k_w, 1] as [k_h, k_w, c]. */
static int8_t *
pack_depthwise8(const qn_tensor *w, int32_t taps, int32_t channels, int32_t *n, qn_arena *a)
{
	int8_t *to = QN_NEW(a, int8_t, (size_t)taps * (size_t)channels);

	for (int32_t i = 0; i < channels; i++)
		for (int32_t t = 0; t < taps; t++)
			to[t * channels + i] = (int8_t)qn_tensor_i64(w, (int64_t)i * taps + t);
	*n = taps * channels;
	return to;
}

static void *
pack_depthwise(const qn_step_facts *f, qn_arena *a)
{
	depthwise_args *d = QN_NEW(a, depthwise_args, 1);

	d->args = ((const qn_conv2d_call *)f->step->args)->args;
	d->args.w = (is_packed(f) ? pack_depthwise4 : pack_depthwise8)(
		weights_of(f), d->args.k_h * d->args.k_w, d->args.in_c, &d->weights, a);
	return d;
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
	 .needs = QN_TARGET_ANY,
	 .by_rows = sizeof(qn_conv2d_args),
	 .args = "qn_conv2d_args_a",
	 .families = QN_ALL_FAMILIES,
	 QN_CODES_1,
	 .pointer = {{.table = "w",
		      .at = offsetof(depthwise_args, args.w),
		      .count = offsetof(depthwise_args, weights),
		      .each = 1,
		      .packs = true},
		     {.operand = 2},
		     SCALES(qn_conv2d_args)},
	 .rows = offsetof(qn_conv2d_args, k_h),
	 .fused = QN_FUSED(qn_conv2d_args, out_c),
	 .fits = fits_depthwise,
	 .pack = pack_depthwise},
	{.name = "qn_conv2d_by4_qw",
	 .needs = QN_TARGET_ANY,
	 .by_rows = sizeof(qn_conv2d_args),
	 .args = "qn_conv2d_args_a",
	 LAYER(qn_conv2d_args),
	 .rows = offsetof(qn_conv2d_args, k_h),
	 .fused = QN_FUSED(qn_conv2d_args, out_c),
	 .fits = fits_conv2d_by4},
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
	 .fits = fits_conv2d_by4},
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
	 .fits = fits_transposed_by4},
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
	 .pointer = {{.operand = 1}, {.operand = 2}, SCALES(qn_dense_args)},
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
	 .needs = QN_TARGET_ANY,
	 .args = "qn_dense_args_a",
	 LAYER(qn_dense_args),
	 .fused = QN_FUSED(qn_dense_args, out),
	 .fits = fits_dense_by4},
	{.name = "qn_dense_qw",
	 .args = "qn_dense_args_a",
	 LAYER(qn_dense_args),
	 .fused = QN_FUSED(qn_dense_args, out)},
	{.name = "qn_dense_sums_dsp",
	 .needs = QN_TARGET_DSP,
	 .args = "qn_dense_args",
	 .families = 1 << QN_FAMILY_s8,
	 QN_CODES_1,
	 .pointer = {{.operand = 1}, {.operand = 2}, SCALES(qn_dense_args)},
	 .fits = fits_dense_sums},
	{.name = "qn_dense_by4_acc_ow",
	 .needs = QN_TARGET_ANY,
	 .args = "qn_dense_args_a",
	 LAYER(qn_dense_args),
	 .fits = fits_dense_by4},
	{.name = "qn_dense_acc_ow", .args = "qn_dense_args_a", LAYER(qn_dense_args)},
};

const qn_op_kernels qn_emit_op_conv1d = QN_KERNELS(conv2d); /* of height 1 */
const qn_op_kernels qn_emit_op_conv2d = QN_KERNELS(conv2d);
const qn_op_kernels qn_emit_op_conv2d_transpose = QN_KERNELS(transposed);
const qn_op_kernels qn_emit_op_conv3d = QN_KERNELS(conv3d);
const qn_op_kernels qn_emit_op_dense = QN_KERNELS(dense);
