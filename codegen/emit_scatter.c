/* SPDX-License-Identifier: Apache-2.0 */
/* emit_scatter.c - scatter_elements and scatter_nd.
 *
 *   qn_scatter_nd_s8(&net_y_args, in->x, net_index, s, out->y);     data, indices, updates, result */
#include "codegen/emitter.h"

/* Elements that are no codes are moved byte by byte. */
static void
emit_scatter(qn_emitter *e, const qn_step *s, const char *kernel, const char *bytes,
	     const char *symbol)
{
	bool codes = qn_step_family(e, s) != QN_NFAMILY;
	qn_plain as = codes ? QN_OWN : QN_PLAIN_i8;

	qn_buff(&e->run, "\t%s(&%s, %s", codes ? qn_emit_name(e, s, kernel) : bytes, symbol,
		qn_emit_ref(e, s->in[0], as));
	qn_buff(&e->run, ", %s", qn_emit_ref(e, s->in[1], QN_NPLAIN));
	qn_buff(&e->run, ", %s", qn_emit_ref(e, s->in[2], as));
	qn_buff(&e->run, ", %s);\n", qn_emit_ref(e, s->node, as));
}

static void
emit_scatter_elements(qn_emitter *e, const qn_step *s, const void *args)
{
	emit_scatter(e, s, "qn_scatter_elements_q", "qn_scatter_elements_s8",
		     qn_emit_elements(e, s, args));
}

static void
emit_scatter_nd(qn_emitter *e, const qn_step *s, const void *args)
{
	emit_scatter(e, s, "qn_scatter_nd_q", "qn_scatter_nd_s8", qn_emit_nd(e, s, args));
}

const qn_emit_form qn_emit_op_scatter_elements = {.emit = emit_scatter_elements};
const qn_emit_form qn_emit_op_scatter_nd = {.emit = emit_scatter_nd};
