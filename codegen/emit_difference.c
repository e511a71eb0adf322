/* SPDX-License-Identifier: Apache-2.0 */
/* emit_difference.c - squared_difference, with broadcasting.  The result may lie where an operand
 * of its size lies: only an operand that is not repeated has this size. */
#include "codegen/emitter.h"
#include "runtime/form_args.h"

static void
emit_squared_difference(qn_emitter *e, const qn_step *s, const void *args)
{
	qn_emit_open(e, s, "qn_difference_args", 0);
	qn_emit_args(e, args, NULL);
	const char *symbol = qn_emit_close(e);
	qn_emit_call(e, s, "qn_squared_difference_q", symbol, QN_OWN, 2, false);
}

const qn_emit_form qn_emit_op_squared_difference = {.in_place = 3, .emit = emit_squared_difference};
