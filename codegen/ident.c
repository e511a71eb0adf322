/* SPDX-License-Identifier: Apache-2.0 */
/* ident.c - see ident.h.  Letters are ASCII, whatever the locale. */
#include "codegen/ident.h"

#include <string.h>

#include "ir/reserved.h"
#include "ir/buf.h"
#include "ir/tensor.h"

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool
is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

const char *
qn_ident_upper(qn_arena *a, const char *text)
{
	char *s = qn_arena_str(a, text);
	char *p;

	for (p = s; *p != '\0'; p++)
		if (*p >= 'a' && *p <= 'z')
			*p = (char)(*p - 'a' + 'A');
	return s;
}

/* Letters and digits of the text, everything between them as one underscore. */
static const char *
letters(qn_arena *a, const char *text)
{
	bool gap = false;
	const char *p;
	qn_buf b;

	qn_buf_init(&b, a);
	for (p = text; *p != '\0'; p++) {
		if (!is_digit(*p) && !is_letter(*p)) {
			gap = true;
			continue;
		}
		if (b.n == 0 && is_digit(*p))
			qn_buf_putc(&b, 'n');
		else if (gap && b.n > 0)
			qn_buf_putc(&b, '_');
		qn_buf_putc(&b, *p);
		gap = false;
	}
	return b.n > 0 ? qn_buf_str(&b) : "x";
}

/* A long name is cut, and gets a hash of all of it. */
static const char *
shorten(qn_arena *a, const char *name, size_t most)
{
	enum { HASH = 9 };
	const size_t n = strlen(name);
	size_t k = most - HASH;
	qn_buf b;

	if (n <= most)
		return name;
	while (k > 0 && name[k - 1] == '_')
		k--;
	qn_buf_init(&b, a);
	qn_buff(&b, "%.*s_%08x", (int)k, name, (unsigned)qn_crc32(0, name, n));
	return qn_buf_str(&b);
}

const char *
qn_ident_clean(qn_arena *a, const char *text)
{
	return letters(a, text);
}

void
qn_names_init(qn_names *s, qn_arena *arena)
{
	size_t i;

	*s = (qn_names){.arena = arena};
	qn_buf_init(&s->symbol, arena);
	qn_map_init(&s->taken, arena);
	for (i = 0; qn_reserved_words[i] != NULL; i++)
		qn_map_puts(&s->taken, qn_ident_upper(arena, qn_reserved_words[i]), s);
}

void
qn_names_init_as(qn_names *s, qn_arena *arena, qn_name_kind kind, const char *prefix)
{
	qn_names_init(s, arena);
	s->kind = kind;
	s->prefix = prefix;
}

static bool
is_reserved(qn_names *s, const char *name)
{
	switch (s->kind) {
	case QN_NAME_PLAIN:
		return false;
	case QN_NAME_MEMBER:
		return qn_reserved_member(name);
	case QN_NAME_MODEL:
		return qn_reserved_model(name);
	case QN_NAME_SYMBOL:
		break;
	}
	s->symbol.n = 0;
	qn_buff(&s->symbol, "%s_%s", s->prefix, name);
	return qn_reserved_symbol(qn_buf_str(&s->symbol));
}

/* Symbols and macros of a model "qn_dense" would be those of kernels, whatever is added to it. */
static const char *
away_from_kernels(qn_arena *a, const char *name)
{
	qn_buf b;

	if (strncmp(qn_ident_upper(a, name), "QN_", 3) != 0)
		return name;
	qn_buf_init(&b, a);
	qn_buff(&b, "model_%s", name);
	return qn_buf_str(&b);
}

/* Where another end does not help, as for "PRId8", another beginning does: n_PRId8. */
static const char *
away_from_family(qn_names *s, const char *name)
{
	qn_buf b;

	qn_buf_init(&b, s->arena);
	qn_buff(&b, "%s_2", name);
	if (!is_reserved(s, qn_buf_str(&b)))
		return name;
	qn_buf_init(&b, s->arena);
	qn_buff(&b, "n_%s", name);
	return qn_buf_str(&b);
}

const char *
qn_names_add(qn_names *s, const char *text)
{
	const bool model = s->kind == QN_NAME_MODEL;
	const char *base = letters(s->arena, text);

	if (model)
		base = away_from_kernels(s->arena, base);
	base = shorten(s->arena, base, model ? QN_MODEL_NAME_MOST : QN_NAME_MOST);
	if (is_reserved(s, base))
		base = away_from_family(s, base);
	const char *name = base;
	const char *key = qn_ident_upper(s->arena, name);
	for (unsigned k = 2; qn_map_gets(&s->taken, key) != NULL || is_reserved(s, name); k++) {
		qn_buf b;

		qn_buf_init(&b, s->arena);
		qn_buff(&b, "%s_%u", base, k);
		name = qn_buf_str(&b);
		key = qn_ident_upper(s->arena, name);
	}
	qn_map_puts(&s->taken, key, s);
	return name;
}
