/* SPDX-License-Identifier: Apache-2.0 */
/* emit_log_softmax.c - the logarithm of softmax along the last axis. */
#include "codegen/emitter.h"
#include "runtime/form_args.h"

static void
emit_log_softmax(qn_emitter *e, const qn_step *s, const void *args)
{
	const bool fixed = qn_step_is_fixed(e, s);

	qn_emit_open(e, s, fixed ? "qn_log_softmax_args" : "qn_log_softmax_any_args", 0);
	qn_emit_args(e, args, NULL);
	const char *symbol = qn_emit_close(e);
	qn_emit_call(e, s, fixed ? "qn_log_softmax_q" : "qn_log_softmax_any_q", symbol, QN_OWN, 1,
		     false);
}

const qn_emit_form qn_emit_op_log_softmax = {.in_place = 1, .emit = emit_log_softmax};
