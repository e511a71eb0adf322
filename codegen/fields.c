/* SPDX-License-Identifier: Apache-2.0 */
/* fields.c - see fields.h.  A reader of exactly that convention, not of C. */
#include "codegen/fields.h"

#include <string.h>

#include "ir/buf.h"

typedef struct reader {
	const char *s;
	qn_arena *arena;
	qn_fields f;
	size_t cap;
} reader;

static const struct {
	const char *name;
	qn_plain plain;
} element[] = {
	{"int8_t", QN_PLAIN_i8},    {"uint8_t", QN_PLAIN_u8},   {"int16_t", QN_PLAIN_i16},
	{"uint16_t", QN_PLAIN_u16}, {"int32_t", QN_PLAIN_i32},  {"uint32_t", QN_PLAIN_u32},
	{"int64_t", QN_PLAIN_i64},  {"uint64_t", QN_PLAIN_u64},
};

static bool
refuse(reader *r, const char *why)
{
	qn_buf b;

	qn_buf_init(&b, r->arena);
	qn_buff(&b, "%s at '%.*s'", why, (int)strcspn(r->s, "\n"), r->s);
	r->f.wrong = qn_buf_str(&b);
	return false;
}

static void
skip_space(reader *r)
{
	while (*r->s != '\0') {
		r->s += strspn(r->s, " \t\n");
		if (strncmp(r->s, "/*", 2) != 0)
			return;
		const char *end = strstr(r->s, "*/");

		r->s = end != NULL ? end + 2 : r->s + strlen(r->s);
	}
}

/* Moves past the text when it is next. */
static bool
take(reader *r, const char *text)
{
	size_t n = strlen(text);

	if (strncmp(r->s, text, n) != 0)
		return false;
	r->s += n;
	return true;
}

/* A word, NULL when none is next. */
static const char *
take_word(reader *r)
{
	size_t n = strspn(r->s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");

	if (n == 0)
		return NULL;
	r->s += n;
	return qn_arena_strn(r->arena, r->s - n, n);
}

static void
add(reader *r, const qn_field *field)
{
	r->f.item = qn_arena_grow(r->arena, r->f.item, &r->cap, r->f.n + 1, sizeof(*r->f.item));
	r->f.item[r->f.n++] = *field;
}

/* "[4]", of at most two digits, or nothing. */
static bool
take_length(reader *r, uint32_t *length)
{
	*length = 0;
	if (!take(r, "["))
		return true;
	for (int i = 0; i < 2 && *r->s >= '0' && *r->s <= '9'; i++)
		*length = *length * 10 + (uint32_t)(*r->s++ - '0');
	return *length > 0 && take(r, "]") ? true : refuse(r, "expected the length of an array");
}

/* The names of one declaration, up to its semicolon; each begins with `before`. */
static bool
take_names(reader *r, qn_plain type, const char *before)
{
	const bool pointer = *before != '\0';
	qn_field f = {.type = type};

	for (;;) {
		if (!take(r, before) || (f.name = take_word(r)) == NULL)
			return refuse(r, "expected the name of a field");
		if (!pointer && !take_length(r, &f.length))
			return false;
		f.ends_line = take(r, ";");
		add(r, &f);
		if (!pointer)
			r->f.nint = r->f.n;
		if (f.ends_line)
			return true;
		if (!take(r, ", "))
			return refuse(r, "expected ', ' or ';' after a field");
	}
}

static bool
take_pointers(reader *r)
{
	(void)take(r, "QN_ROM ");
	const char *word = take_word(r);

	for (size_t i = 0; word != NULL && i < QN_COUNT(element); i++)
		if (strcmp(word, element[i].name) == 0)
			return take(r, " ") ? take_names(r, element[i].plain, "*")
					    : refuse(r, "expected a pointer");
	return refuse(r, "pointer to elements of an unsupported type");
}

static bool
take_declaration(reader *r)
{
	if (take(r, "const "))
		return take_pointers(r);
	if (!take(r, "int32_t "))
		return refuse(r, "expected int32_t or a pointer to const");
	if (r->f.n > r->f.nint)
		return refuse(r, "int32_t after a pointer");
	return take_names(r, QN_PLAIN_i32, "");
}

qn_fields
qn_fields_read(const char *text, const char *name, qn_arena *a)
{
	reader r = {.s = text, .arena = a};
	qn_buf open;

	qn_buf_init(&open, a);
	qn_buff(&open, "typedef struct %s {\n", name);
	r.s = strstr(text, qn_buf_str(&open));
	if (r.s == NULL) {
		r.s = text;
		(void)refuse(&r, "expected the declaration of the struct");
		return r.f;
	}
	r.s += open.n;
	for (skip_space(&r); !take(&r, "} "); skip_space(&r))
		if (!take_declaration(&r))
			return r.f;
	if (!take(&r, name) || !take(&r, ";\n"))
		(void)refuse(&r, "another name after the struct");
	return r.f;
}
