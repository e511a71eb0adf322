/* SPDX-License-Identifier: Apache-2.0 */
/* emit_gather.c - gather, gather_elements, gather_nd, by a table of constant indices or by those of
 * a value. */
#include "codegen/emitter.h"
#include "runtime/form_args.h"

static void
emit_gather(qn_emitter *e, const qn_step *s, const void *args)
{
	const qn_gather_call *c = args;
	const char *index = qn_emit_table(e, s, "index", QN_PLAIN_i32, c->args.n, c->index);

	qn_emit_open(e, s, "qn_gather_args", 0);
	qn_emit_args(e, &c->args, NULL);
	const char *symbol = qn_emit_close(e);
	qn_buff(&e->run, "\tqn_gather%s(&%s, %s", c->wide ? "_wide" : "", symbol,
		qn_emit_ref(e, s->in[0], QN_NPLAIN));
	qn_buff(&e->run, ", %s",
		index != NULL ? index
			      : qn_emit_ref(e, s->in[1], c->wide ? QN_PLAIN_i64 : QN_PLAIN_i32));
	qn_buff(&e->run, ", %s);\n", qn_emit_ref(e, s->node, QN_NPLAIN));
}

const qn_emit_form qn_emit_op_gather = {.emit = emit_gather};

const char *
qn_emit_elements(qn_emitter *e, const qn_step *s, const void *args)
{
	qn_emit_open(e, s, "qn_elements_args", 0);
	qn_emit_args(e, args, NULL);
	return qn_emit_close(e);
}

const char *
qn_emit_nd(qn_emitter *e, const qn_step *s, const void *args)
{
	qn_emit_open(e, s, "qn_nd_args", 0);
	qn_emit_args(e, args, NULL);
	return qn_emit_close(e);
}

static void
emit_gather_elements(qn_emitter *e, const qn_step *s, const void *args)
{
	qn_emit_call(e, s, "qn_gather_elements", qn_emit_elements(e, s, args), QN_NPLAIN, 2, false);
}

static void
emit_gather_nd(qn_emitter *e, const qn_step *s, const void *args)
{
	qn_emit_call(e, s, "qn_gather_nd", qn_emit_nd(e, s, args), QN_NPLAIN, 2, false);
}

const qn_emit_form qn_emit_op_gather_elements = {.emit = emit_gather_elements};
const qn_emit_form qn_emit_op_gather_nd = {.emit = emit_gather_nd};
