/* SPDX-License-Identifier: Apache-2.0 */
/* emit_classify.c - is_nan and is_inf, which are not emitted. */
#include "codegen/emitter.h"

#define REASON "codes are numbers that are finite"

const qn_emit_form qn_emit_op_is_nan = {.why = REASON};
const qn_emit_form qn_emit_op_is_inf = {.why = REASON};
