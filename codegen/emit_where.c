/* SPDX-License-Identifier: Apache-2.0 */
/* emit_where.c - where: one of two elements by a condition. */
#include "codegen/emitter.h"
#include "runtime/form_args.h"

static void
emit_where(qn_emitter *e, const qn_step *s, const void *args)
{
	qn_emit_open(e, s, "qn_where_args", 0);
	qn_emit_args(e, args, NULL);
	const char *symbol = qn_emit_close(e);
	qn_emit_call(e, s, "qn_where", symbol, QN_NPLAIN, 3, false);
}

const qn_emit_form qn_emit_op_where = {.emit = emit_where};
