/* SPDX-License-Identifier: Apache-2.0 */
/* kernels_plain.c - the kernels of fixed-point arithmetic on plain integers. */
#include "codegen/emitter.h"
#include "runtime/impl_args.h"

static const qn_kernel divide[] = {
	{.name = "qn_divide_pot", .args = "qn_divide_pot_args", QN_ANY_1, .in_place = 1}};
static const qn_kernel add[] = {
	{.name = "qn_saturating_add", .args = "qn_saturating_add_args", QN_ANY_2}};

/* A program rounds in one way, which its kernels are compiled for. */
static const char *
fits_rounding(const qn_step_facts *f)
{
	return f->core->attr->fixed_multiply.rounding == f->g->model->rounding
		       ? NULL
		       : "its rounding must be that of the model";
}

static const qn_kernel multiply[] = {
	{.name = "qn_fixed_multiply",
	 .args = "qn_fixed_multiply_args",
	 QN_ANY_1,
	 .in_place = 1,
	 .pointer = {QN_TABLE(qn_fixed_multiply_args, mult, mult_n, 1),
		     QN_TABLE(qn_fixed_multiply_args, shift, mult_n, 1)},
	 .fits = fits_rounding}};
static const qn_kernel dense[] = {{.name = "qn_integer_dense",
				   .args = "qn_integer_dense_args",
				   .in = {QN_AS_ANY, QN_AS_ANY, QN_AS_ANY},
				   .out = QN_AS_ANY}};

const qn_op_kernels qn_emit_op_rounding_divide_by_pot = QN_KERNELS(divide);
const qn_op_kernels qn_emit_op_saturating_add = QN_KERNELS(add);
const qn_op_kernels qn_emit_op_fixed_multiply = QN_KERNELS(multiply);
const qn_op_kernels qn_emit_op_integer_dense = QN_KERNELS(dense);
