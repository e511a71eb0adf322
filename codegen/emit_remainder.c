/* SPDX-License-Identifier: Apache-2.0 */
/* emit_remainder.c - mod and floor_div, which are not emitted. */
#include "codegen/emitter.h"

#define REASON "a remainder jumps where the codes of its operands are rounded"

const qn_emit_form qn_emit_op_mod = {.why = REASON};
const qn_emit_form qn_emit_op_floor_div = {.why = REASON};
