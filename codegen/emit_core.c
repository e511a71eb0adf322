/* SPDX-License-Identifier: Apache-2.0 */
/* emit_core.c - the table of emitted forms, one row for each op of ir/ops.def, and the core ops,
 * none of which is a step. */
#include "codegen/emitter.h"

#define OP(name, min_in, max_in, attrs, behaviour, family)                                         \
	extern const qn_emit_form qn_emit_op_##name;
#include "ir/ops.def"
#undef OP

const qn_emit_form qn_emit_op_input = {0};
const qn_emit_form qn_emit_op_const = {0};
const qn_emit_form qn_emit_op_call = {.why = "calls are inlined before steps are made"};
const qn_emit_form qn_emit_op_tuple = {.why = "a tuple has no bytes; use its fields"};
const qn_emit_form qn_emit_op_get = {.why = "a tuple has no bytes; use its fields"};

static const qn_emit_form *const form_table[QN_NOP] = {
#define OP(name, min_in, max_in, attrs, behaviour, family) [QN_OP_##name] = &qn_emit_op_##name,
#include "ir/ops.def"
#undef OP
};

const qn_emit_form *
qn_emit_form_get(qn_op op)
{
	return form_table[op];
}
