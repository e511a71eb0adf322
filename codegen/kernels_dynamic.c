/* SPDX-License-Identifier: Apache-2.0 */
/* kernels_dynamic.c - the kernels of quantization with a scale that is computed at run time. */
#include "codegen/emitter.h"
#include "runtime/impl_args.h"

static const char *
fits_symmetric(const qn_step_facts *f)
{
	return f->core->attr->dynamic.asymmetric == 0 ? NULL : "its values have a zero point";
}

static const char *
fits_asymmetric(const qn_step_facts *f)
{
	return f->core->attr->dynamic.asymmetric == 1 ? NULL : "its values have no zero point";
}

/* By what they read: the results have a storage of their own. */
#define FROM(kernel, family, ...)                                                                  \
	{                                                                                          \
		.name = "qn_dynamic_" kernel "_" #family, .args = "qn_dynamic_args", QN_CODES_1,   \
		.reads = 1 << QN_FAMILY_##family, __VA_ARGS__                                      \
	}
#define FROM_ALL(kernel, ...)                                                                      \
	FROM(kernel, s8, __VA_ARGS__), FROM(kernel, u8, __VA_ARGS__), FROM(kernel, s16, __VA_ARGS__)

static const qn_kernel values[] = {FROM_ALL("values", .fits = fits_symmetric),
				   FROM_ALL("centred", .fits = fits_asymmetric)};
static const qn_kernel mantissa[] = {FROM_ALL("mantissa", .fits = NULL)};
static const qn_kernel rescale[] = {
	{.name = "qn_dynamic_rescale_q",
	 .args = "qn_dynamic_rescale_args",
	 .families = QN_ALL_FAMILIES,
	 .in = {QN_AS_ANY, QN_AS_OWN},
	 .out = QN_AS_OWN,
	 .pointer = {{.operand = 2},
		     {.operand = 3},
		     QN_TABLE(qn_dynamic_rescale_args, mult, mult_n, 1),
		     QN_TABLE(qn_dynamic_rescale_args, shift, mult_n, 1)}},
};

const qn_op_kernels qn_emit_op_dynamic_fake_quant = {
	.why = "it reads float values; emitted code has none"};
/* dynamic_quantize is its fields by the time there are steps (inline.c). */
const qn_op_kernels qn_emit_op_dynamic_quantize = {.why = "a tuple has no bytes; use its fields"};
const qn_op_kernels qn_emit_op_dynamic_values = QN_KERNELS(values);
const qn_op_kernels qn_emit_op_dynamic_mantissa = QN_KERNELS(mantissa);
const qn_op_kernels qn_emit_op_dynamic_rescale = QN_KERNELS(rescale);
