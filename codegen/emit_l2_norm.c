/* SPDX-License-Identifier: Apache-2.0 */
/* emit_l2_norm.c - l2_norm; lrn has no integer form. */
#include "codegen/emitter.h"
#include "runtime/form_args.h"

static void
emit_l2_norm(qn_emitter *e, const qn_step *s, const void *args)
{
	const bool fixed = qn_step_is_fixed(e, s);

	qn_emit_open(e, s, fixed ? "qn_l2_norm_args" : "qn_l2_norm_any_args", 0);
	qn_emit_args(e, args, NULL);
	const char *symbol = qn_emit_close(e);
	qn_emit_call(e, s, fixed ? "qn_l2_norm_q" : "qn_l2_norm_any_q", symbol, QN_OWN, 1, false);
}

const qn_emit_form qn_emit_op_l2_norm = {.emit = emit_l2_norm};
const qn_emit_form qn_emit_op_lrn = {.why = "it has no integer form"};
