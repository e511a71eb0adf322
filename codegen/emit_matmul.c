/* SPDX-License-Identifier: Apache-2.0 */
/* emit_matmul.c - matmul, alone (accumulators out) or with its requantize (codes out). */
#include "codegen/emitter.h"
#include "codegen/sum.h"
#include "runtime/form_args.h"

static bool
fuse_matmul(void *args, const qn_requantize_args *r)
{
	qn_matmul_args *d = args;
	qn_sum_fields f = {&d->zo, &d->lo, &d->hi, &d->mode, &d->mult_n, &d->mult, &d->shift};

	return qn_sum_fuse(&f, d->n, r);
}

static void
emit_matmul(qn_emitter *e, const qn_step *s, const void *args)
{
	const qn_matmul_args *d = args;
	const char *mult = qn_emit_table(e, s, "mult", QN_PLAIN_i32, d->mult_n, d->mult);
	const char *shift = qn_emit_table(e, s, "shift", QN_PLAIN_i8, d->mult_n, d->shift);
	qn_emit_open(e, s, "qn_matmul_args", 0);
	bool codes = d->mult != NULL;

	qn_emit_args(e, args, (const char *const[]){mult, shift});
	const char *symbol = qn_emit_close(e);
	qn_emit_call(e, s, codes ? "qn_matmul_q" : "qn_matmul_acc_o", symbol, QN_OWN, 2, false);
}

const qn_emit_form qn_emit_op_matmul = {.fuse = fuse_matmul, .emit = emit_matmul};
