/* SPDX-License-Identifier: Apache-2.0 */
/* kernels_matmul.c - products of two values, each with the requantize of its result, or alone, accumulators out. */
#include "codegen/kernel_table.h"
#include "runtime/impl_args.h"

#define SCALES(type) QN_TABLE(type, mult, mult_n, 1), QN_TABLE(type, shift, mult_n, 1)

static const qn_matmul_args *
matmul_args(const qn_step_facts *f)
{
	return f->step->args;
}

/* Of numbers of 16 bits and of 8: terms of both operands, or columns of b, lie side by side, of 16 bits without zero points. */
static const char *
fits_matmul_side_by_side(const qn_step_facts *f, int32_t b_stride, const char *apart)
{
	const qn_matmul_args *p = matmul_args(f);

	if (f->from == QN_FAMILY_s16 && (p->za != 0 || p->zb != 0))
		return "an operand has a zero point";
	return p->a_k == 1 && b_stride == 1 ? NULL : apart;
}

static const char *
fits_matmul_terms(const qn_step_facts *f)
{
	return fits_matmul_side_by_side(f, matmul_args(f)->b_k,
					"the terms do not lie side by side");
}

static const char *
fits_matmul_columns(const qn_step_facts *f)
{
	return fits_matmul_side_by_side(f, matmul_args(f)->b_n,
					"the columns, or the terms of a row, do not lie side "
					"by side");
}

/* Offsets of eight terms of a column are numbers of 16 bits. */
static const char *
fits_matmul_near_columns(const qn_step_facts *f)
{
	const char *why = fits_matmul_columns(f);

	return why != NULL || matmul_args(f)->b_k < 8192 ? why : "a row of columns is too long";
}

/* A row of a as numbers of 16 bits. */
static size_t
work_matmul8(const void *args)
{
	return (size_t)((const qn_matmul_args *)args)->k * sizeof(int16_t);
}

#define MATMUL                                                                                     \
	.args = "qn_matmul_args", .families = QN_ALL_FAMILIES, QN_CODES_2,                         \
	.pointer = {SCALES(qn_matmul_args)}

#define MATMUL_OF(family, which, features)                                                         \
	.args = "qn_matmul_args", .families = 1 << QN_FAMILY_##family,                             \
	.reads = 1 << QN_FAMILY_##family, QN_CODES_2, .pointer = {SCALES(qn_matmul_args)},         \
	.needs = features, .fused = QN_FUSED(qn_matmul_args, n), .fits = fits_matmul_##which

#define MATMUL8(which, features)                                                                   \
	MATMUL_OF(s8, which, features), .work = work_matmul8, .work_type = "uint32_t"

static const qn_kernel matmul[] = {
	{.name = "qn_matmul_terms_dsp", MATMUL_OF(s16, terms, QN_TARGET_DSP)},
	{.name = "qn_matmul_columns_dsp", MATMUL_OF(s16, columns, QN_TARGET_DSP)},
	{.name = "qn_matmul_terms_vector", MATMUL_OF(s16, terms, QN_TARGET_VECTORS)},
	{.name = "qn_matmul_columns_vector", MATMUL_OF(s16, near_columns, QN_TARGET_VECTORS)},
	{.name = "qn_matmul8_terms_dsp", MATMUL8(terms, QN_TARGET_DSP)},
	{.name = "qn_matmul8_columns_dsp", MATMUL8(columns, QN_TARGET_DSP)},
	{.name = "qn_matmul8_terms_vector", MATMUL8(terms, QN_TARGET_VECTORS)},
	{.name = "qn_matmul8_columns_vector", MATMUL8(near_columns, QN_TARGET_VECTORS)},
	{.name = "qn_matmul_q", MATMUL, .fused = QN_FUSED(qn_matmul_args, n)},
	{.name = "qn_matmul_acc_o", MATMUL},
};

const qn_op_kernels qn_emit_op_matmul = QN_KERNELS(matmul);
