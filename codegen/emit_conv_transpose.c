/* SPDX-License-Identifier: Apache-2.0 */
/* emit_conv_transpose.c - conv2d_transpose, alone (accumulators out) or with its requantize. */
#include "codegen/emitter.h"
#include "codegen/sum.h"
#include "runtime/form_args.h"

static const char fields[] = "batch, in_h, in_w, in_c\n"
			     "out_h, out_w, out_c\n"
			     "k_h, k_w\n"
			     "stride_h, stride_w\n"
			     "pad_t, pad_l\n"
			     "groups\n"
			     "zi\n"
			     "zo, lo, hi\n"
			     "mode\n"
			     "mult_n\n";

static bool
fuse(void *args, const qn_requantize_args *r)
{
	qn_conv_transpose_args *c = &((qn_conv_transpose_call *)args)->args;
	qn_sum_fields f = {&c->zo, &c->lo, &c->hi, &c->mode, &c->mult_n, &c->mult, &c->shift};

	return qn_sum_fuse(&f, c->out_c, r);
}

static void
emit(qn_emitter *e, const qn_step *s, const void *args)
{
	const qn_conv_transpose_args *c = &((const qn_conv_transpose_call *)args)->args;
	const qn_sum sum = {
		.type = "qn_conv_transpose_args_a",
		.kernel = c->mult != NULL ? "qn_conv_transpose_qw" : "qn_conv_transpose_acc_ow",
		.fields = fields,
		.rows = true,
		.mult_n = c->mult_n,
		.mult = c->mult,
		.shift = c->shift,
	};

	qn_emit_window(e, s, c->k_h);
	qn_emit_sum(e, s, c, &sum);
}

const qn_emit_form qn_emit_op_conv2d_transpose = {.fuse = fuse, .emit = emit};
