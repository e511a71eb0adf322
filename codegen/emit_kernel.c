/* SPDX-License-Identifier: Apache-2.0 */
/* emit_kernel.c - the call of a kernel as its row describes it.
 *
 *   static const qn_dense_args net_fc_args = {…        qn_dense_s8(&net_fc_args, s + 64, out->y);
 *
 * Where an operand of a pointer field is not constant, it has no symbol; the call then works on a
 * copy of the argument struct:
 *
 *   qn_dense_args a = net_product_args;
 *   a.w = s + 64;
 *   qn_dense_acc(&a, in->x, out->y); */
#include <string.h>

#include "codegen/emitter.h"

/* The symbol of a pointer field's constant, NULL when it has none. */
static const char *
symbol_of(qn_emitter *e, const qn_step *s, const qn_pointer *p, qn_plain type, const char *args)
{
	if (p->table == NULL)
		return p->packs && qn_step_weight_bits(e, s) < 8
			       ? qn_emit_packed(e, s, p->operand)
			       : qn_emit_operand(e, s, p->operand);
	const int64_t n = p->count > 0 ? qn_kernel_int(args, p->count) : 1;
	const void *data;

	memcpy(&data, args + p->at, sizeof(data));
	if (data == NULL) /* a layer without biases */
		return NULL;
	return qn_emit_table(e, s, p->table, type, n * (int64_t)p->each, data);
}

/* Opens a block with a copy of the struct when a pointer field comes from an operand that varies. */
static bool
put_copy(qn_emitter *e, const qn_step *s, const qn_kernel *k, const char *type, const char *symbol)
{
	const qn_fields *f = qn_emit_fields(e, type);
	bool copied = false;

	for (size_t i = 0; i < f->n - f->nint; i++) {
		const qn_pointer *p = &k->pointer[i];

		if (p->table != NULL || !qn_operand_varies(e, s, p->operand))
			continue;
		if (!copied)
			qn_buff(&e->run, "\t{\n\t%s a = %s;\n\n", type, symbol);
		copied = true;
		e->rom_reads_ram = true;
		qn_buff(&e->run, "\ta.%s = %s;\n", f->item[f->nint + i].name,
			qn_emit_ref(e, s->in[p->operand], QN_OWN));
	}
	return copied;
}

/* Row pointers at the end of the step's working memory. */
static void
put_planned_rows(qn_emitter *e, const qn_step *s, const qn_kernel *k, const void *args)
{
	const size_t bytes = (size_t)qn_kernel_int(args, k->rows) * QN_POINTER_BYTES;

	e->uses_scratch = true;
	qn_buff(&e->run, ", (const %s **)(void *)(s + %zu)", qn_emit_row_type(e, s),
		s->work_offset + s->work - bytes);
}

/* What operand j of the kernel is in C, pointed to as the type. */
static const char *
operand(qn_emitter *e, const qn_step *s, const qn_call *c, uint32_t j, qn_plain type)
{
	if (j >= qn_graph_node(e->g, s->core)->nin)
		return "NULL";
	return j == 0 && c->x != NULL ? c->x : qn_emit_ref(e, s->in[j], type);
}

void
qn_emit_kernel_call(qn_emitter *e, const qn_step *s, const qn_kernel *k, const void *args,
		    const qn_call *c)
{
	static const qn_plain pointed[] = {
		[QN_AS_OWN] = QN_OWN, [QN_AS_ANY] = QN_NPLAIN, [QN_AS_BYTES] = QN_PLAIN_i8};
	qn_buff(&e->run, "\t%s(&%s", qn_emit_name(e, s, k->name), c->args);
	for (uint32_t j = 0; j < QN_KERNEL_OPERANDS && k->in[j] != QN_AS_NONE; j++)
		qn_buff(&e->run, ", %s", operand(e, s, c, j, pointed[k->in[j]]));
	if (k->rows > 0 && !s->rows_planned)
		qn_buff(&e->run, ", %s", qn_emit_row_name(e, s));
	else if (k->rows > 0)
		put_planned_rows(e, s, k, args);
	if (k->work != NULL && s->work == 0) {
		qn_buf_puts(&e->run, ", NULL");
	} else if (k->work != NULL) {
		e->uses_scratch = true;
		qn_buff(&e->run, ", (%s *)(void *)(s + %zu)", k->work_type, s->work_offset);
	}
	qn_buff(&e->run, ", %s);\n",
		c->y != NULL ? c->y : qn_emit_ref(e, s->node, pointed[k->out]));
}

const char *
qn_emit_kernel_args(qn_emitter *e, const qn_step *s, const qn_kernel *k, const void *args)
{
	const char *type = qn_emit_name(e, s, k->args);
	const qn_fields *f = qn_emit_fields(e, type);
	const char *pointer[QN_KERNEL_POINTERS] = {NULL};

	for (size_t i = 0; i < f->n - f->nint; i++)
		pointer[i] = symbol_of(e, s, &k->pointer[i], f->item[f->nint + i].type, args);
	if (k->rows > 0 && !s->rows_planned)
		qn_emit_window(e, s, qn_kernel_int(args, k->rows));
	return qn_emit_struct(e, s, type, args, pointer);
}

void
qn_emit_kernel(qn_emitter *e, const qn_step *s, const qn_kernel *k, const void *args)
{
	const char *type = qn_emit_name(e, s, k->args),
		   *symbol = qn_emit_kernel_args(e, s, k, args);

	if (put_copy(e, s, k, type, symbol)) {
		qn_emit_kernel_call(e, s, k, args, &(qn_call){.args = "a"});
		qn_buf_puts(&e->run, "\t}\n");
		return;
	}
	qn_emit_kernel_call(e, s, k, args, &(qn_call){.args = qn_emit_args_begin(e, type, symbol)});
	qn_emit_args_end(e);
}
