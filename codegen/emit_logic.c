/* SPDX-License-Identifier: Apache-2.0 */
/* emit_logic.c - operations on truth values; those on the bits of integers are not emitted. */
#include "codegen/emitter.h"
#include "runtime/form_args.h"

static void
emit_logic(qn_emitter *e, const qn_step *s, const void *args)
{
	qn_emit_open(e, s, "qn_logic_args", 0);
	qn_emit_args(e, args, NULL);
	const char *symbol = qn_emit_close(e);
	qn_emit_call(e, s, "qn_logic", symbol, QN_OWN, 2, false);
}

static void
emit_not(qn_emitter *e, const qn_step *s, const void *args)
{
	qn_emit_open(e, s, "qn_not_args", 0);
	qn_emit_args(e, args, NULL);
	const char *symbol = qn_emit_close(e);
	qn_emit_call(e, s, "qn_not", symbol, QN_OWN, 1, false);
}

#define BITS(name)                                                                                 \
	const qn_emit_form qn_emit_op_##name = {                                                   \
		.why = "it computes with plain integers, which are no codes"};

const qn_emit_form qn_emit_op_logical_and = {.in_place = 3, .emit = emit_logic};
const qn_emit_form qn_emit_op_logical_or = {.in_place = 3, .emit = emit_logic};
const qn_emit_form qn_emit_op_logical_xor = {.in_place = 3, .emit = emit_logic};
const qn_emit_form qn_emit_op_logical_not = {.in_place = 1, .emit = emit_not};
BITS(bitwise_and)
BITS(bitwise_or)
BITS(bitwise_xor)
BITS(bitwise_not)
BITS(shift_left)
BITS(shift_right)
