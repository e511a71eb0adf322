/* SPDX-License-Identifier: Apache-2.0 */
/* emit_one_hot.c - one_hot: elements on and off. */
#include "codegen/emitter.h"

static void
emit_one_hot(qn_emitter *e, const qn_step *s, const void *args)
{
	qn_emit_open(e, s, "qn_one_hot_args", 0);
	qn_emit_args(e, args, NULL);
	const char *symbol = qn_emit_close(e);
	qn_emit_call(e, s, "qn_one_hot", symbol, QN_NPLAIN, 2, false);
}

const qn_emit_form qn_emit_op_one_hot = {.emit = emit_one_hot};
