/* SPDX-License-Identifier: Apache-2.0 */
/* emit_binary.c - minimum, maximum, div and the comparisons, with broadcasting.  The result may lie
 * where an operand of its size lies: only an operand that is not repeated has this size. */
#include "codegen/emitter.h"
#include "runtime/form_args.h"

static void
emit_binary(qn_emitter *e, const qn_step *s, const void *args, const char *type, const char *kernel)
{
	qn_emit_open(e, s, type, 0);
	qn_emit_args(e, args, NULL);
	const char *symbol = qn_emit_close(e);
	qn_emit_call(e, s, kernel, symbol, QN_OWN, 2, false);
}

static void
emit_minmax(qn_emitter *e, const qn_step *s, const void *args)
{
	emit_binary(e, s, args, "qn_minmax_args", "qn_minmax_q");
}

static void
emit_div(qn_emitter *e, const qn_step *s, const void *args)
{
	emit_binary(e, s, args, "qn_div_args", "qn_div_q");
}

static void
emit_compare(qn_emitter *e, const qn_step *s, const void *args)
{
	emit_binary(e, s, args, "qn_compare_args", "qn_compare_q");
}

const qn_emit_form qn_emit_op_minimum = {.in_place = 3, .emit = emit_minmax};
const qn_emit_form qn_emit_op_maximum = {.in_place = 3, .emit = emit_minmax};
const qn_emit_form qn_emit_op_div = {.in_place = 3, .emit = emit_div};
/* Codes and results of other C types do not share memory. */
const qn_emit_form qn_emit_op_equal = {.emit = emit_compare};
const qn_emit_form qn_emit_op_not_equal = {.emit = emit_compare};
const qn_emit_form qn_emit_op_less = {.emit = emit_compare};
const qn_emit_form qn_emit_op_less_equal = {.emit = emit_compare};
const qn_emit_form qn_emit_op_greater = {.emit = emit_compare};
const qn_emit_form qn_emit_op_greater_equal = {.emit = emit_compare};
