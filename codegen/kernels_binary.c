/* SPDX-License-Identifier: Apache-2.0 */
/* kernels_binary.c - element-wise ops of two or three operands, with broadcasting.  The result may
 * lie where an operand of its size lies: only an operand that is not repeated has this size. */
#include "codegen/add_linear.h"
#include "runtime/impl_args.h"

#define BINARY .families = QN_ALL_FAMILIES, QN_CODES_2, .in_place = 3
/* Tables of `each` numbers for each channel. */
#define CHANNELS(type, numbers)                                                                    \
	.pointer = {{.table = "channels",                                                          \
		     .at = offsetof(type, table),                                                  \
		     .count = offsetof(type, channels),                                            \
		     .each = (numbers)}},                                                          \
	.fits = qn_fits_channels

static const char *
fits_aligned(const qn_step_facts *f)
{
	return f->core->attr->sum.align != 0 ? NULL : "its scales are not aligned";
}

static const char *
fits_add_linear_dsp(const qn_step_facts *f)
{
	const qn_add_args *a = f->step->args;

	if (a->lo > INT8_MIN || a->hi < INT8_MAX)
		return "its results do not use the full range of i8";
	return qn_fits_add_linear(f);
}

static const qn_kernel sum[] = {
	{.name = "qn_add_axis_q",
	 .args = "qn_add_axis_args",
	 BINARY,
	 CHANNELS(qn_add_axis_args, 9)},
	{.name = "qn_add_aligned_q", .args = "qn_add_aligned_args", BINARY, .fits = fits_aligned},
	{.name = "qn_add_linear_vector",
	 .args = "qn_add_linear_args",
	 .families = 1 << QN_FAMILY_s8,
	 .reads = 1 << QN_FAMILY_s8,
	 QN_CODES_2,
	 .in_place = 3,
	 .needs = QN_TARGET_VECTORS,
	 .fits = qn_fits_add_linear,
	 .pack = qn_pack_add_linear},
	{.name = "qn_add_linear_dsp",
	 .args = "qn_add_linear_args",
	 .families = 1 << QN_FAMILY_s8,
	 .reads = 1 << QN_FAMILY_s8,
	 QN_CODES_2,
	 .in_place = 3,
	 .needs = QN_TARGET_DSP,
	 .fits = fits_add_linear_dsp,
	 .pack = qn_pack_add_linear},
	{.name = "qn_add_linear_q",
	 .args = "qn_add_linear_args",
	 .families = QN_8BIT_FAMILIES,
	 .reads = QN_8BIT_FAMILIES,
	 QN_CODES_2,
	 .in_place = 3,
	 .fits = qn_fits_add_linear,
	 .pack = qn_pack_add_linear},
	{.name = "qn_add_q", .args = "qn_add_args", BINARY},
};

static const qn_kernel mul[] = {
	{.name = "qn_mul_axis_q",
	 .args = "qn_mul_axis_args",
	 BINARY,
	 CHANNELS(qn_mul_axis_args, 5)},
	{.name = "qn_mul_q", .args = "qn_mul_args", BINARY, .fits = qn_fits_own},
	{.name = "qn_mul_from_s16_q",
	 .args = "qn_mul_args",
	 .families = QN_8BIT_FAMILIES,
	 QN_CODES_2,
	 .in_place = 3,
	 .reads = 1 << QN_FAMILY_s16},
};

static const qn_kernel minmax[] = {{.name = "qn_minmax_q", .args = "qn_minmax_args", BINARY}};
static const qn_kernel quotient[] = {{.name = "qn_div_q", .args = "qn_div_args", BINARY}};
static const qn_kernel difference[] = {
	{.name = "qn_squared_difference_q", .args = "qn_difference_args", BINARY}};
static const qn_kernel compare[] = {{.name = "qn_compare_q",
				     .args = "qn_compare_args",
				     .families = QN_ALL_FAMILIES,
				     QN_CODES_2}};
static const qn_kernel logic[] = {
	{.name = "qn_logic", .args = "qn_logic_args", QN_CODES_2, .in_place = 3}};
static const qn_kernel negation[] = {
	{.name = "qn_not", .args = "qn_not_args", QN_CODES_1, .in_place = 1}};
static const qn_kernel where[] = {{.name = "qn_where",
				   .args = "qn_where_args",
				   .in = {QN_AS_ANY, QN_AS_ANY, QN_AS_ANY},
				   .out = QN_AS_ANY}};

const qn_op_kernels qn_emit_op_add = QN_KERNELS(sum);
const qn_op_kernels qn_emit_op_bias_add = QN_KERNELS(sum);
const qn_op_kernels qn_emit_op_sub = QN_KERNELS(sum);
const qn_op_kernels qn_emit_op_mul = QN_KERNELS(mul);
const qn_op_kernels qn_emit_op_minimum = QN_KERNELS(minmax);
const qn_op_kernels qn_emit_op_maximum = QN_KERNELS(minmax);
const qn_op_kernels qn_emit_op_div = QN_KERNELS(quotient);
const qn_op_kernels qn_emit_op_squared_difference = QN_KERNELS(difference);
const qn_op_kernels qn_emit_op_equal = QN_KERNELS(compare);
const qn_op_kernels qn_emit_op_not_equal = QN_KERNELS(compare);
const qn_op_kernels qn_emit_op_less = QN_KERNELS(compare);
const qn_op_kernels qn_emit_op_less_equal = QN_KERNELS(compare);
const qn_op_kernels qn_emit_op_greater = QN_KERNELS(compare);
const qn_op_kernels qn_emit_op_greater_equal = QN_KERNELS(compare);
const qn_op_kernels qn_emit_op_logical_and = QN_KERNELS(logic);
const qn_op_kernels qn_emit_op_logical_or = QN_KERNELS(logic);
const qn_op_kernels qn_emit_op_logical_xor = QN_KERNELS(logic);
const qn_op_kernels qn_emit_op_logical_not = QN_KERNELS(negation);
const qn_op_kernels qn_emit_op_where = QN_KERNELS(where);

#define REMAINDER "a remainder is not continuous where its quantized operands are rounded"
const qn_op_kernels qn_emit_op_mod = {.why = REMAINDER};
const qn_op_kernels qn_emit_op_floor_div = {.why = REMAINDER};

#define BITS(name)                                                                                 \
	const qn_op_kernels qn_emit_op_##name = {                                                  \
		.why = "it computes with plain integers, which are not quantized"};
BITS(bitwise_and)
BITS(bitwise_or)
BITS(bitwise_xor)
BITS(bitwise_not)
BITS(shift_left)
BITS(shift_right)

#define CLASSIFY "quantized values are always finite"
const qn_op_kernels qn_emit_op_is_nan = {.why = CLASSIFY};
const qn_op_kernels qn_emit_op_is_inf = {.why = CLASSIFY};
