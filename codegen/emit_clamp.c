/* SPDX-License-Identifier: Apache-2.0 */
/* emit_clamp.c - clamp, and relu, relu6 and clip where a graph still has them. */
#include "codegen/emitter.h"
#include "runtime/form_args.h"

static void
emit_clip(qn_emitter *e, const qn_step *s, const void *args)
{
	qn_emit_open(e, s, "qn_clip_args", 0);
	qn_emit_args(e, args, NULL);
	const char *symbol = qn_emit_close(e);
	qn_emit_call(e, s, "qn_clip_q", symbol, QN_OWN, 1, false);
}

const qn_emit_form qn_emit_op_relu = {.in_place = 1, .emit = emit_clip};
const qn_emit_form qn_emit_op_relu6 = {.in_place = 1, .emit = emit_clip};
const qn_emit_form qn_emit_op_clip = {.in_place = 1, .emit = emit_clip};
const qn_emit_form qn_emit_op_clamp = {.in_place = 1, .emit = emit_clip};
