/* SPDX-License-Identifier: Apache-2.0 */
/* emit_plain.c - arithmetic on plain integers, whatever the op is on codes. */
#include "codegen/emitter.h"
#include "runtime/form_args.h"
#include "runtime/forms.h"

static void
emit_plain(qn_emitter *e, const qn_step *s, const void *args)
{
	const qn_plain_call *c = args;

	qn_emit_open(e, s, "qn_plain_args", 0);
	qn_emit_args(e, &c->args, NULL);
	const char *symbol = qn_emit_close(e);
	qn_buff(&e->run, "\tqn_plain_apply(&%s, %s, %s", symbol, c->name,
		qn_emit_ref(e, s->in[0], QN_NPLAIN));
	qn_buff(&e->run, ", %s", qn_emit_ref(e, s->in[s->nin - 1], QN_NPLAIN));
	qn_buff(&e->run, ", %s);\n", qn_emit_ref(e, s->node, QN_NPLAIN));
}

static const qn_emit_form plain_form = {.emit = emit_plain};

const qn_emit_form *
qn_emit_form_of(const qn_graph *g, const qn_node *n)
{
	return qn_node_on_plain(g, n) ? &plain_form : qn_emit_form_get(n->op);
}
