/* SPDX-License-Identifier: Apache-2.0 */
/* emit_split.c - depth_to_space and space_to_depth: one strided copy.  The parts of a split are
 * slices by the time there are steps (inline.c). */
#include "codegen/emitter.h"

const qn_emit_form qn_emit_op_depth_to_space = {.emit = qn_emit_view};
const qn_emit_form qn_emit_op_space_to_depth = {.emit = qn_emit_view};
const qn_emit_form qn_emit_op_split = {.why = "a tuple has no bytes; use its fields"};
