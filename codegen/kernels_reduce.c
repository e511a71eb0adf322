/* SPDX-License-Identifier: Apache-2.0 */
/* kernels_reduce.c - what looks at many elements for one: pools, reductions, softmax, norms. */
#include "codegen/kernel_table.h"
#include "runtime/impl_args.h"

#define ALONG .families = QN_ALL_FAMILIES, QN_CODES_1

/* ---- pools ---- */

#define POOL .args = "qn_pool_args", ALONG, .rows = offsetof(qn_pool_args, k_h), .reads_rows = true

enum { MOST_SUMMED = 256 }; /* values of 8 bits whose sum fits into 16 bits */

/* Pools of blocks of channels, and averages of so many values at once. */
static const char *
fits_blocks(const qn_step_facts *f, int32_t channels, int32_t summed)
{
	const qn_pool_args *a = f->step->args;

	if (a->c < channels)
		return channels == 4 ? "fewer than four channels" : "fewer than eight channels";
	if (a->dil_h != 1 || a->dil_w != 1)
		return "its windows have gaps";
	return a->end_h != 0 || summed > MOST_SUMMED ? "padding counts, or a window is too large"
						     : NULL;
}

static const char *
fits_vector(const qn_step_facts *f)
{
	const qn_pool_args *a = f->step->args;

	return fits_blocks(f, 8, f->core->op == QN_OP_avg_pool ? a->k_w : 1);
}

static const char *
fits_dsp(const qn_step_facts *f)
{
	const qn_pool_args *a = f->step->args;
	const bool average = f->core->op == QN_OP_avg_pool;

	return fits_blocks(f, average ? 4 : 8, average ? a->k_h * a->k_w : 1);
}

#define BLOCKS(kind, feature)                                                                      \
	.args = "qn_pool_args", .reads_rows = true, .families = 1 << QN_FAMILY_s8,                 \
	.reads = 1 << QN_FAMILY_s8, QN_CODES_1, .needs = feature, .fits = fits_##kind

static const qn_kernel max_pool[] = {
	{.name = "qn_max_pool_vector", BLOCKS(vector, QN_TARGET_VECTORS)},
	{.name = "qn_max_pool_dsp", BLOCKS(dsp, QN_TARGET_DSP)},
	{.name = "qn_max_pool_q", POOL},
};
static const qn_kernel avg_pool[] = {
	{.name = "qn_avg_pool_vector", BLOCKS(vector, QN_TARGET_VECTORS)},
	{.name = "qn_avg_pool_dsp", BLOCKS(dsp, QN_TARGET_DSP)},
	{.name = "qn_avg_pool_q", POOL},
};
static const qn_kernel max_pool3d[] = {
	{.name = "qn_max_pool3d_q", .args = "qn_pool3d_args", ALONG}};
static const qn_kernel avg_pool3d[] = {
	{.name = "qn_avg_pool3d_q", .args = "qn_pool3d_args", ALONG}};
static const qn_kernel mean[] = {{.name = "qn_mean_q", .args = "qn_mean_args", ALONG}};

const qn_op_kernels qn_emit_op_max_pool = QN_KERNELS(max_pool);
const qn_op_kernels qn_emit_op_avg_pool = QN_KERNELS(avg_pool);
const qn_op_kernels qn_emit_op_max_pool3d = QN_KERNELS(max_pool3d);
const qn_op_kernels qn_emit_op_avg_pool3d = QN_KERNELS(avg_pool3d);
const qn_op_kernels qn_emit_op_global_avg_pool = QN_KERNELS(mean);

/* ---- along any axes ---- */

#define REDUCE .args = "qn_reduce_args", ALONG

static const qn_kernel total[] = {{.name = "qn_reduce_sum_q", REDUCE}};
static const qn_kernel extreme[] = {{.name = "qn_reduce_max_q", REDUCE}};
static const qn_kernel product[] = {{.name = "qn_reduce_prod_q", REDUCE}};

const qn_op_kernels qn_emit_op_reduce_mean = QN_KERNELS(total);
const qn_op_kernels qn_emit_op_reduce_sum = QN_KERNELS(total);
const qn_op_kernels qn_emit_op_reduce_max = QN_KERNELS(extreme);
const qn_op_kernels qn_emit_op_reduce_min = QN_KERNELS(extreme);
const qn_op_kernels qn_emit_op_reduce_prod = QN_KERNELS(product);

/* ---- along one axis ---- */

static const char *
fits_i64(const qn_step_facts *f)
{
	return f->node->type->elem->plain == QN_PLAIN_i64 ? NULL : "its indices are i32";
}

static const qn_kernel argmax[] = {
	{.name = "qn_argmax_q_s64", .args = "qn_argmax_args", ALONG, .fits = fits_i64},
	{.name = "qn_argmax_q_s32", .args = "qn_argmax_args", ALONG},
};
/* top_k is top_k_indices and gather_elements by the time there are steps (inline.c). */
static const qn_kernel top_k_indices[] = {
	{.name = "qn_top_places_q_s64", .args = "qn_top_args", ALONG, .fits = fits_i64},
	{.name = "qn_top_places_q_s32", .args = "qn_top_args", ALONG},
};
static const qn_kernel cumsum[] = {{.name = "qn_cumsum_q", .args = "qn_cumsum_args", ALONG}};

const qn_op_kernels qn_emit_op_argmax = QN_KERNELS(argmax);
const qn_op_kernels qn_emit_op_argmin = QN_KERNELS(argmax);
const qn_op_kernels qn_emit_op_top_k = {.why = "a tuple has no bytes; use its fields"};
const qn_op_kernels qn_emit_op_top_k_indices = QN_KERNELS(top_k_indices);
const qn_op_kernels qn_emit_op_cumsum = QN_KERNELS(cumsum);

/* ---- softmax and norms: kernels for the result that the op prefers, and for any ---- */

#define LINES(field)                                                                               \
	{                                                                                          \
		.table = #field, .at = offsetof(qn_softmax16_args, field),                         \
		.each = QN_LUT_LINES + 1                                                           \
	}

static const qn_kernel softmax[] = {
	{.name = "qn_softmax_q",
	 .args = "qn_softmax16_args",
	 .families = 1 << QN_FAMILY_s16,
	 QN_CODES_1,
	 .in_place = 1,
	 .pointer = {LINES(exp), LINES(inverse)}},
	{.name = "qn_softmax_q",
	 .args = "qn_softmax_args",
	 .families = QN_8BIT_FAMILIES,
	 QN_CODES_1,
	 .in_place = 1,
	 .fits = qn_fits_fixed},
	{.name = "qn_softmax_any_q",
	 .args = "qn_softmax_any_args",
	 .families = QN_8BIT_FAMILIES,
	 QN_CODES_1,
	 .in_place = 1},
};
static const qn_kernel log_softmax[] = {
	{.name = "qn_log_softmax_q",
	 .args = "qn_log_softmax_args",
	 ALONG,
	 .in_place = 1,
	 .fits = qn_fits_fixed},
	{.name = "qn_log_softmax_any_q", .args = "qn_log_softmax_any_args", ALONG, .in_place = 1},
};
static const qn_kernel l2_norm[] = {
	{.name = "qn_l2_norm_q",
	 .args = "qn_l2_norm_args",
	 .families = QN_8BIT_FAMILIES,
	 QN_CODES_1,
	 .fits = qn_fits_fixed},
	{.name = "qn_l2_norm_any_q",
	 .args = "qn_l2_norm_any_args",
	 .families = QN_8BIT_FAMILIES,
	 QN_CODES_1},
};
/* rms_norm has no bias. */
static const qn_kernel norm[] = {{.name = "qn_norm_q",
				  .args = "qn_norm_args",
				  .families = QN_ALL_FAMILIES,
				  .in = {QN_AS_OWN, QN_AS_OWN, QN_AS_OWN},
				  .out = QN_AS_OWN,
				  .in_place = 1}};

const qn_op_kernels qn_emit_op_softmax = QN_KERNELS(softmax);
const qn_op_kernels qn_emit_op_log_softmax = QN_KERNELS(log_softmax);
const qn_op_kernels qn_emit_op_l2_norm = QN_KERNELS(l2_norm);
const qn_op_kernels qn_emit_op_lrn = {.why = "it has no integer implementation"};
const qn_op_kernels qn_emit_op_layer_norm = QN_KERNELS(norm);
const qn_op_kernels qn_emit_op_instance_norm = QN_KERNELS(norm);
const qn_op_kernels qn_emit_op_rms_norm = QN_KERNELS(norm);
const qn_op_kernels qn_emit_op_batch_norm = {
	.why = "it has no integer implementation; the pass clean folds it into a convolution or "
	       "converts it to one",
};
