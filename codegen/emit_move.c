/* SPDX-License-Identifier: Apache-2.0 */
/* emit_move.c - what moves codes: transpose, concat; reshape and flatten move nothing. */
#include "codegen/emitter.h"
#include "runtime/form_args.h"

static void
emit_transpose(qn_emitter *e, const qn_step *s, const void *args)
{
	qn_emit_open(e, s, "qn_transpose_args", 0);
	qn_emit_args(e, args, NULL);
	const char *symbol = qn_emit_close(e);
	qn_emit_call(e, s, "qn_transpose", symbol, QN_NPLAIN, 1, false);
}

/* The place of a part in a result whose type need not be one byte wide. */
static void
put_part_place(qn_emitter *e, const qn_step *s, int32_t offset)
{
	const qn_type *type = qn_graph_node(e->g, s->node)->type;

	qn_buff(&e->run, "%s", qn_emit_ref(e, s->node, qn_stored_plain(type)));
	if (offset > 0)
		qn_buff(&e->run, " + %zu", (size_t)offset / qn_elem_bytes(type->elem));
}

static void
emit_concat(qn_emitter *e, const qn_step *s, const void *args)
{
	const qn_concat_call *c = args;
	int32_t i;

	qn_emit_open(e, s, "qn_concat_args", (size_t)c->n);
	for (i = 0; i < c->n; i++) {
		const qn_concat_args *p = &c->part[i];

		qn_buff(&e->args, "\t{%d, %d, %d}, /* outer; run, stride */\n", p->outer, p->run,
			p->stride);
	}
	const char *symbol = qn_emit_close(e);
	for (i = 0; i < c->n; i++) {
		qn_buff(&e->run, "\tqn_concat_part(&%s[%d], %s, ", symbol, i,
			qn_emit_ref(e, s->in[i], QN_NPLAIN));
		put_part_place(e, s, c->offset[i]);
		qn_buf_puts(&e->run, ");\n");
	}
}

const qn_emit_form qn_emit_op_reshape = {.alias = true};
const qn_emit_form qn_emit_op_flatten = {.alias = true};
const qn_emit_form qn_emit_op_transpose = {.emit = emit_transpose};
const qn_emit_form qn_emit_op_concat = {.emit = emit_concat};
