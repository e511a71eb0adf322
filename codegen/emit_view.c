/* SPDX-License-Identifier: Apache-2.0 */
/* emit_view.c - slice, expand, tile and reverse: one strided copy; squeeze and expand_dims move
 * nothing.
 *
 *   qn_transpose(&net_s_args, in->x + 9, s);     a slice that begins at element 9 */
#include "codegen/emitter.h"
#include "runtime/form_args.h"

void
qn_emit_view(qn_emitter *e, const qn_step *s, const void *args)
{
	const qn_strided_call *c = args;
	const qn_type *in = qn_graph_node(e->g, s->in[0])->type;

	qn_emit_open(e, s, "qn_transpose_args", 0);
	qn_emit_args(e, &c->args, NULL);
	const char *symbol = qn_emit_close(e);
	qn_buff(&e->run, "\tqn_transpose(&%s, %s", symbol,
		qn_emit_ref(e, s->in[0], qn_stored_plain(in)));
	if (c->start > 0)
		qn_buff(&e->run, " + %d", c->start);
	qn_buff(&e->run, ", %s);\n", qn_emit_ref(e, s->node, QN_NPLAIN));
}

const qn_emit_form qn_emit_op_squeeze = {.alias = true};
const qn_emit_form qn_emit_op_expand_dims = {.alias = true};
const qn_emit_form qn_emit_op_slice = {.emit = qn_emit_view};
const qn_emit_form qn_emit_op_expand = {.emit = qn_emit_view};
const qn_emit_form qn_emit_op_tile = {.emit = qn_emit_view};
const qn_emit_form qn_emit_op_reverse = {.emit = qn_emit_view};
