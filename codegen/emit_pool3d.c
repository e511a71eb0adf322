/* SPDX-License-Identifier: Apache-2.0 */
/* emit_pool3d.c - max_pool3d and avg_pool3d. */
#include "codegen/emitter.h"
#include "runtime/form_args.h"

static void
emit_pool3d(qn_emitter *e, const qn_step *s, const void *args)
{
	bool mean = qn_graph_node(e->g, s->node)->op == QN_OP_avg_pool3d;

	qn_emit_open(e, s, "qn_pool3d_args", 0);
	qn_emit_args(e, args, NULL);
	const char *symbol = qn_emit_close(e);
	qn_emit_call(e, s, mean ? "qn_avg_pool3d_q" : "qn_max_pool3d_q", symbol, QN_OWN, 1, false);
}

const qn_emit_form qn_emit_op_max_pool3d = {.emit = emit_pool3d};
const qn_emit_form qn_emit_op_avg_pool3d = {.emit = emit_pool3d};
