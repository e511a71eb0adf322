/* SPDX-License-Identifier: Apache-2.0 */
/* emit_top_k.c - the places of the largest or smallest codes.  Those of a top_k, and what stands
 * there, are top_places and gather_elements by the time there are steps (inline.c). */
#include "codegen/emitter.h"
#include "runtime/form_args.h"

static void
emit_top_places(qn_emitter *e, const qn_step *s, const void *args)
{
	bool wide = qn_graph_node(e->g, s->node)->type->elem->plain == QN_PLAIN_i64;

	qn_emit_open(e, s, "qn_top_args", 0);
	qn_emit_args(e, args, NULL);
	const char *symbol = qn_emit_close(e);
	qn_emit_call(e, s, wide ? "qn_top_places_q_s64" : "qn_top_places_q_s32", symbol, QN_OWN, 1,
		     false);
}

const qn_emit_form qn_emit_op_top_k = {.why = "a tuple has no bytes; use its fields"};
const qn_emit_form qn_emit_op_top_places = {.emit = emit_top_places};
