/* SPDX-License-Identifier: Apache-2.0 */
/* emit_pad.c - pad: with one code, or with copies of the input's. */
#include "codegen/emitter.h"
#include "runtime/form_args.h"

static void
emit_pad(qn_emitter *e, const qn_step *s, const void *args)
{
	bool fills = qn_graph_node(e->g, s->node)->attr->pad.mode == QN_PAD_constant;
	qn_emit_open(e, s, fills ? "qn_pad_args" : "qn_pad_copy_args", 0);
	bool codes = qn_step_family(e, s) != QN_NFAMILY;
	qn_plain as = !fills ? QN_NPLAIN : codes ? QN_OWN : QN_PLAIN_i8;

	qn_emit_args(e, args, NULL);
	const char *symbol = qn_emit_close(e);
	qn_emit_call(e, s,
		     !fills  ? "qn_pad_copy"
		     : codes ? "qn_pad_q"
			     : "qn_pad_s8",
		     symbol, as, 1, false);
}

const qn_emit_form qn_emit_op_pad = {.emit = emit_pad};
