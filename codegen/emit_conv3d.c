/* SPDX-License-Identifier: Apache-2.0 */
/* emit_conv3d.c - conv3d, alone (accumulators out) or with its requantize. */
#include "codegen/emitter.h"
#include "codegen/sum.h"
#include "runtime/form_args.h"

static bool
fuse_conv3d(void *args, const qn_requantize_args *r)
{
	qn_conv3d_args *c = args;
	qn_sum_fields f = {&c->zo, &c->lo, &c->hi, &c->mode, &c->mult_n, &c->mult, &c->shift};

	return qn_sum_fuse(&f, c->out_c, r);
}

static void
emit_conv3d(qn_emitter *e, const qn_step *s, const void *args)
{
	const qn_conv3d_args *c = args;
	const qn_sum sum = {
		.type = "qn_conv3d_args_a",
		.kernel = c->mult != NULL ? "qn_conv3d_qw" : "qn_conv3d_acc_ow",
		.mult_n = c->mult_n,
		.mult = c->mult,
		.shift = c->shift,
	};

	qn_emit_sum(e, s, c, &sum);
}

const qn_emit_form qn_emit_op_conv3d = {.fuse = fuse_conv3d, .emit = emit_conv3d};
