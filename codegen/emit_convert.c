/* SPDX-License-Identifier: Apache-2.0 */
/* emit_convert.c - cast between plain integer types. */
#include "codegen/emitter.h"
#include "runtime/form_args.h"

static void
emit_cast(qn_emitter *e, const qn_step *s, const void *args)
{
	qn_emit_open(e, s, "qn_cast_args", 0);
	qn_emit_args(e, args, NULL);
	const char *symbol = qn_emit_close(e);
	qn_emit_call(e, s, "qn_cast", symbol, QN_NPLAIN, 1, false);
}

const qn_emit_form qn_emit_op_cast = {.emit = emit_cast};
