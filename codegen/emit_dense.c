/* SPDX-License-Identifier: Apache-2.0 */
/* emit_dense.c - the fully connected layer, alone (accumulators out) or with its requantize. */
#include "codegen/emitter.h"
#include "runtime/form_args.h"
#include "codegen/sum.h"

static bool
fuse_dense(void *args, const qn_requantize_args *r)
{
	qn_dense_args *d = args;
	qn_sum_fields f = {&d->zo, &d->lo, &d->hi, &d->mode, &d->mult_n, &d->mult, &d->shift};

	return qn_sum_fuse(&f, d->out, r);
}

static void
emit_dense(qn_emitter *e, const qn_step *s, const void *args)
{
	const qn_dense_args *d = args;
	const qn_sum sum = {
		.type = "qn_dense_args_a",
		.kernel = d->mult != NULL ? "qn_dense_qw" : "qn_dense_acc_ow",
		.mult_n = d->mult_n,
		.mult = d->mult,
		.shift = d->shift,
	};

	qn_emit_sum(e, s, d, &sum);
}

const qn_emit_form qn_emit_op_dense = {.fuse = fuse_dense, .emit = emit_dense};
