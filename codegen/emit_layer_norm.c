/* SPDX-License-Identifier: Apache-2.0 */
/* emit_layer_norm.c - layer_norm, rms_norm, which has no bias, and instance_norm. */
#include "codegen/emitter.h"
#include "runtime/form_args.h"

static void
emit_norm(qn_emitter *e, const qn_step *s, const void *args)
{
	qn_emit_open(e, s, "qn_norm_args", 0);
	qn_emit_args(e, args, NULL);
	const char *symbol = qn_emit_close(e);
	if (qn_graph_node(e->g, s->node)->nin > 2) {
		qn_emit_call(e, s, "qn_norm_q", symbol, QN_OWN, 3, false);
		return;
	}
	qn_buff(&e->run, "\t%s(&%s, %s", qn_emit_name(e, s, "qn_norm_q"), symbol,
		qn_emit_ref(e, s->in[0], QN_OWN));
	qn_buff(&e->run, ", %s, NULL", qn_emit_ref(e, s->in[1], QN_OWN));
	qn_buff(&e->run, ", %s);\n", qn_emit_ref(e, s->node, QN_OWN));
}

const qn_emit_form qn_emit_op_layer_norm = {.in_place = 1, .emit = emit_norm};
const qn_emit_form qn_emit_op_instance_norm = {.in_place = 1, .emit = emit_norm};
const qn_emit_form qn_emit_op_rms_norm = {.in_place = 1, .emit = emit_norm};
