/* SPDX-License-Identifier: Apache-2.0 */
/* emit_argmax.c - the place of the largest or smallest code, as int32_t or int64_t. */
#include "codegen/emitter.h"
#include "runtime/form_args.h"

static void
emit_argmax(qn_emitter *e, const qn_step *s, const void *args)
{
	bool wide = qn_graph_node(e->g, s->node)->type->elem->plain == QN_PLAIN_i64;

	qn_emit_open(e, s, "qn_argmax_args", 0);
	qn_emit_args(e, args, NULL);
	const char *symbol = qn_emit_close(e);
	qn_emit_call(e, s, wide ? "qn_argmax_q_s64" : "qn_argmax_q_s32", symbol, QN_OWN, 1, false);
}

const qn_emit_form qn_emit_op_argmax = {.emit = emit_argmax};
const qn_emit_form qn_emit_op_argmin = {.emit = emit_argmax};
