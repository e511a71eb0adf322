/* SPDX-License-Identifier: Apache-2.0 */
/* emit_reduce.c - sums, means, products, largest and smallest elements over any axes. */
#include "codegen/emitter.h"
#include "runtime/form_args.h"

static void
emit_reduce(qn_emitter *e, const qn_step *s, const void *args, const char *kernel)
{
	qn_emit_open(e, s, "qn_reduce_args", 0);
	qn_emit_args(e, args, NULL);
	const char *symbol = qn_emit_close(e);
	qn_emit_call(e, s, kernel, symbol, QN_OWN, 1, false);
}

static void
emit_sum(qn_emitter *e, const qn_step *s, const void *args)
{
	emit_reduce(e, s, args, "qn_reduce_sum_q");
}

static void
emit_prod(qn_emitter *e, const qn_step *s, const void *args)
{
	emit_reduce(e, s, args, "qn_reduce_prod_q");
}

static void
emit_max(qn_emitter *e, const qn_step *s, const void *args)
{
	emit_reduce(e, s, args, "qn_reduce_max_q");
}

const qn_emit_form qn_emit_op_reduce_mean = {.emit = emit_sum};
const qn_emit_form qn_emit_op_reduce_sum = {.emit = emit_sum};
const qn_emit_form qn_emit_op_reduce_max = {.emit = emit_max};
const qn_emit_form qn_emit_op_reduce_min = {.emit = emit_max};
const qn_emit_form qn_emit_op_reduce_prod = {.emit = emit_prod};
