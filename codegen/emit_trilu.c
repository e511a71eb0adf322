/* SPDX-License-Identifier: Apache-2.0 */
/* emit_trilu.c - the triangles of matrices. */
#include "codegen/emitter.h"

static void
emit_trilu(qn_emitter *e, const qn_step *s, const void *args)
{
	qn_emit_open(e, s, "qn_trilu_args", 0);
	qn_emit_args(e, args, NULL);
	const char *symbol = qn_emit_close(e);
	qn_emit_call(e, s, "qn_trilu", symbol, QN_NPLAIN, 1, false);
}

const qn_emit_form qn_emit_op_trilu = {.emit = emit_trilu};
