/* SPDX-License-Identifier: Apache-2.0 */
/* emit_args.c - argument structs: the fields of their declarations (fields.h), with the values that
 * `prepare` gave the step.
 *
 *   static const qn_dense_args net_fc_args = {
 *           1, 64, 10, / * batch, in, out * /
 *           …
 *           net_fc_w, / * w * / */
#include <string.h>

#include "codegen/emitter.h"

const qn_fields *
qn_emit_fields(qn_emitter *e, const char *type)
{
	qn_fields *f = qn_map_gets(&e->fields, type);
	const qn_piece *piece = qn_pieces_find(&e->pieces, type);

	if (f != NULL)
		return f;
	f = QN_NEW(e->arena, qn_fields, 1);
	*f = qn_fields_read(piece != NULL ? piece->text : "", type, e->arena);
	qn_map_puts(&e->fields, type, f);
	return f;
}

/* One field; returns what stands after its values. */
static const char *
put_field(qn_buf *b, const qn_field *f, const char *at)
{
	int32_t v;

	qn_buf_puts(b, f->length > 0 ? "{" : "");
	for (uint32_t i = 0; i < (f->length > 0 ? f->length : 1); i++, at += sizeof(v)) {
		memcpy(&v, at, sizeof(v));
		qn_buf_puts(b, i > 0 ? ", " : "");
		qn_emit_int(b, v, QN_PLAIN_i32);
	}
	qn_buf_puts(b, f->length > 0 ? "}" : "");
	return at;
}

/* The names of n fields, as they are declared; a semicolon between two declarations. */
static void
put_names(qn_buf *b, const qn_field *f, size_t n)
{
	qn_buf_puts(b, " /* ");
	for (size_t i = 0; i < n; i++) {
		qn_buf_puts(b, f[i].name);
		if (f[i].length > 0)
			qn_buff(b, "[%u]", f[i].length);
		if (i + 1 < n)
			qn_buf_puts(b, f[i].ends_line ? "; " : ", ");
	}
	qn_buf_puts(b, " */\n");
}

/* Opens "static const TYPE NAME_STEP_args = {"; count 0: no array. */
static void
open_struct(qn_emitter *e, const qn_step *s, const char *type, size_t count)
{
	qn_args_text t = {.type = type, .count = count, .from = e->args.n};
	qn_buf b;

	qn_buf_init(&b, e->arena);
	qn_buff(&b, "%s_args", s->name);
	const char *name = qn_names_add(&e->names, qn_buf_str(&b));
	qn_buf_init(&b, e->arena);
	qn_buff(&b, "%s_%s", e->plan->name, name);
	t.symbol = qn_buf_str(&b);
	qn_buff(&e->args, "static const %s%s %s", qn_emit_rom(e), t.type, t.symbol);
	if (count > 0)
		qn_buff(&e->args, "[%zu]", count);
	qn_buf_puts(&e->args, " = {\n");
	t.body = e->args.n;
	e->text = qn_arena_grow(e->arena, e->text, &e->text_cap, e->ntext + 1, sizeof(*e->text));
	e->text[e->ntext++] = t;
}

static bool
same_text(const qn_emitter *e, const qn_args_text *a, const qn_args_text *b)
{
	return a->count == b->count && a->n == b->n && strcmp(a->type, b->type) == 0 &&
	       memcmp(e->args.data + a->body, e->args.data + b->body, a->n) == 0;
}

/* Returns the symbol: that of an earlier step where its struct is equal, as for the steps of a
 * sequence, and the text of this one is taken back. */
static const char *
close_struct(qn_emitter *e)
{
	qn_args_text *t = &e->text[e->ntext - 1];
	uint32_t id, hash;

	qn_buf_puts(&e->args, "};\n\n");
	t->n = e->args.n - t->body;
	hash = qn_hash(e->args.data + t->body, t->n, 0);
	for (size_t at = 0; (id = qn_hashes_next(&e->by_text, hash, &at)) != 0;) {
		const qn_args_text *old = &e->text[id - 1];

		if (!same_text(e, old, t))
			continue;
		e->args.n = t->from;
		e->args.data[e->args.n] = '\0';
		e->ntext--;
		return old->symbol;
	}
	qn_hashes_add(&e->by_text, hash, (uint32_t)e->ntext);
	return t->symbol;
}

const char *
qn_emit_struct(qn_emitter *e, const qn_step *s, const char *type, const void *args,
	       const char *const *pointer)
{
	const qn_fields *f = qn_emit_fields(e, type);
	const char *at = args;
	size_t line = 0, i;

	open_struct(e, s, type, 0);
	for (i = 0; i < f->nint; i++) {
		qn_buf_puts(&e->args, i == line ? "\t" : " ");
		at = put_field(&e->args, &f->item[i], at);
		qn_buf_putc(&e->args, ',');
		if (!f->item[i].ends_line)
			continue;
		put_names(&e->args, &f->item[line], i + 1 - line);
		line = i + 1;
	}
	for (; i < f->n; i++) {
		const char *symbol = pointer[i - f->nint];

		qn_buff(&e->args, "\t%s, /* %s */\n", symbol != NULL ? symbol : "NULL",
			f->item[i].name);
	}
	return close_struct(e);
}

const char *
qn_emit_structs(qn_emitter *e, const qn_step *s, const char *type, const void *args, size_t n)
{
	const qn_fields *f = qn_emit_fields(e, type);
	const char *at = args;

	open_struct(e, s, type, n);
	for (size_t k = 0; k < n; k++) {
		for (size_t i = 0; i < f->nint; i++) {
			qn_buf_puts(&e->args, i == 0 ? "\t{" : ", ");
			at = put_field(&e->args, &f->item[i], at);
		}
		qn_buf_puts(&e->args, "},");
		put_names(&e->args, f->item, f->nint);
	}
	return close_struct(e);
}
