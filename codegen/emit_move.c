/* SPDX-License-Identifier: Apache-2.0 */
/* emit_move.c - calls that differ from those of emit_kernel.c.
 *
 *   qn_transpose(&net_s_args, in->x + 9, s);     a slice that begins at element 9
 *   qn_concat_part(&net_c_args[1], s, out->y + 16);
 *   qn_gather(&net_g_args, in->x, net_g_index, s);
 *   qn_plain_apply(&net_p_args, qn_plain_add, in->x, in->y, s); */
#include "codegen/emitter.h"
#include "runtime/impl_args.h"

/* Opens a call with the struct of a kernel without pointers; qn_emit_args_end closes it. */
static void
open_call(qn_emitter *e, const qn_step *s, const void *args)
{
	const char *type = s->kernel->args, *symbol = qn_emit_struct(e, s, type, args, NULL);

	symbol = qn_emit_args_begin(e, type, symbol);
	qn_buff(&e->run, "\t%s(&%s", s->kernel->name, symbol);
}

void
qn_emit_view(qn_emitter *e, const qn_step *s, const void *args)
{
	const qn_strided_call *c = args;

	open_call(e, s, &c->args);
	qn_buff(&e->run, ", %s", qn_emit_ref(e, s->in[0], QN_OWN));
	if (c->start > 0)
		qn_buff(&e->run, " + %d", c->start);
	qn_buff(&e->run, ", %s);\n", qn_emit_ref(e, s->node, QN_NPLAIN));
	qn_emit_args_end(e);
}

/* The place of a part in a result whose type need not be one byte wide. */
static void
put_part_place(qn_emitter *e, const qn_step *s, int32_t offset)
{
	const qn_type *type = qn_graph_node(e->g, s->node)->type;

	qn_buff(&e->run, "%s", qn_emit_ref(e, s->node, QN_OWN));
	if (offset > 0)
		qn_buff(&e->run, " + %zu", (size_t)offset / qn_elem_bytes(type->elem));
}

void
qn_emit_concat(qn_emitter *e, const qn_step *s, const void *args)
{
	const qn_concat_call *c = args;
	const char *symbol = NULL; /* of all parts, as soon as one is to be moved */

	for (int32_t i = 0; i < c->n; i++) {
		const uint32_t w = e->step_of[s->in[i]];
		qn_buf part;

		if (w != 0 && e->plan->step[w - 1].part_of != 0)
			continue; /* it lies there */
		if (symbol == NULL)
			symbol = qn_emit_structs(e, s, s->kernel->args, c->part, (size_t)c->n);
		qn_buf_init(&part, e->arena);
		qn_buff(&part, "%s[%d]", symbol, i);
		qn_buff(&e->run, "\t%s(&%s", s->kernel->name,
			qn_emit_args_begin(e, s->kernel->args, qn_buf_str(&part)));
		qn_buff(&e->run, ", %s, ", qn_emit_ref(e, s->in[i], QN_NPLAIN));
		put_part_place(e, s, c->offset[i]);
		qn_buf_puts(&e->run, ");\n");
		qn_emit_args_end(e);
	}
}

/* A table of n constant indices; NULL: they are those of a value. */
static const char *
index_table(qn_emitter *e, const qn_step *s, int32_t n, const int32_t *index)
{
	return qn_emit_load_table(e, qn_emit_table(e, s, "index", QN_PLAIN_i32, n, index), n);
}

void
qn_emit_gather(qn_emitter *e, const qn_step *s, const void *args)
{
	const qn_gather_call *c = args;
	const char *index = index_table(e, s, c->args.n, c->index);

	open_call(e, s, &c->args);
	qn_buff(&e->run, ", %s", qn_emit_ref(e, s->in[0], QN_NPLAIN));
	qn_buff(&e->run, ", %s",
		index != NULL ? index
			      : qn_emit_ref(e, s->in[1], c->wide ? QN_PLAIN_i64 : QN_PLAIN_i32));
	qn_buff(&e->run, ", %s);\n", qn_emit_ref(e, s->node, QN_NPLAIN));
	qn_emit_args_end(e);
}

void
qn_emit_gather_blocks(qn_emitter *e, const qn_step *s, const void *args)
{
	const qn_gather_blocks_call *c = args;
	const char *index = index_table(e, s, c->args.n, c->index);
	const char *type = s->kernel->args;
	const char *symbol = qn_emit_kernel_args(e, s, s->kernel, &c->args);

	qn_buff(&e->run, "\t%s(&%s", qn_emit_name(e, s, s->kernel->name),
		qn_emit_args_begin(e, type, symbol));
	qn_buff(&e->run, ", %s", index != NULL ? index : qn_emit_ref(e, s->in[1], QN_NPLAIN));
	qn_buff(&e->run, ", %s);\n", qn_emit_ref(e, s->node, QN_OWN));
	qn_emit_args_end(e);
}

/* kernel(&args, function, the operands, the result) */
static void
call_with(qn_emitter *e, const qn_step *s, const void *args, const char *function, uint32_t n,
	  const qn_id *operand)
{
	open_call(e, s, args);
	qn_buff(&e->run, ", %s", function);
	for (uint32_t i = 0; i < n; i++)
		qn_buff(&e->run, ", %s", qn_emit_ref(e, operand[i], QN_NPLAIN));
	qn_buff(&e->run, ", %s);\n", qn_emit_ref(e, s->node, QN_NPLAIN));
	qn_emit_args_end(e);
}

/* What goes along axes of plain integers. */
void
qn_emit_plain_along(qn_emitter *e, const qn_step *s, const void *args)
{
	const qn_plain_along_call *c = args;

	call_with(e, s, &c->args, c->name, 1, s->in);
}

/* Arithmetic on plain integers, whatever the op is on quantized values. */
void
qn_emit_plain(qn_emitter *e, const qn_step *s, const void *args)
{
	const qn_plain_call *c = args;
	const qn_id operand[2] = {s->in[0], s->in[s->nin - 1]};

	call_with(e, s, &c->args, c->name, 2, operand);
}
