/* SPDX-License-Identifier: Apache-2.0 */
/* type_parse.c - types from text, by recursive descent; docs/types.md has the whole grammar.
 *
 *     type := "tensor" "<" ( "*x" | { ( INT | "?" ) "x" } ) elem ">" | "tuple" "<" [ type { "," type } ] ">"
 *     elem: type_parse_elem.c
 *
 * The first thing that is wrong ends the parse: it is reported with its line and column.  Any
 * bytes may come in: nesting, numbers and lists are bounded, and the time is linear in the
 * length. */
#include <string.h>

#include "ir/type_impl.h"

/* ---- helpers of the parser ---- */

static qn_parser
parser_of(qn_types *t, qn_text *text)
{
	return (qn_parser){.t = t,
			   .text = text,
			   .w = {.env = t->arena->env, .place = text->file, .text = *text}};
}

/* Up to 16 printable characters in quotes. */
const char *
qn_parser_found(qn_parser *p)
{
	const char *s = p->text->at;
	size_t n = 0;

	if (s == p->text->end) {
		memcpy(p->found, "the end", sizeof "the end");
		return p->found;
	}
	p->found[n++] = '\'';
	for (; s < p->text->end && n < 17 && *s != '\n'; s++)
		p->found[n++] = *s;
	for (size_t i = 1; i < n; i++)
		if ((unsigned char)p->found[i] < 0x20 || (unsigned char)p->found[i] > 0x7e)
			p->found[i] = '?';
	p->found[n++] = '\'';
	p->found[n] = '\0';
	return p->found;
}

void
qn_parser_mark(qn_parser *p, int part)
{
	qn_text_skip(p->text);
	p->part[part] = p->text->at;
}

qn_status
qn_parser_expect(qn_parser *p, const char *token)
{
	if (qn_text_eat(p->text, token))
		return QN_OK;
	return QN_PARSE_FAIL(p, "type.syntax", "expected '%s', found %s", token,
			     qn_parser_found(p));
}

qn_status
qn_parser_enter(qn_parser *p)
{
	if (++p->depth <= QN_MAX_DEPTH)
		return QN_OK;
	return QN_PARSE_FAIL(p, "type.depth", "nested deeper than %d", QN_MAX_DEPTH);
}

qn_status
qn_parser_int(qn_parser *p, const char *what, int64_t *out)
{
	if (qn_text_int(p->text, out))
		return QN_OK;
	return QN_PARSE_FAIL(p, "type.literal", "expected an integer as %s, found %s", what,
			     qn_parser_found(p));
}

/* ---- tensors and tuples ---- */

static bool
at_digit(const qn_parser *p)
{
	return p->text->at < p->text->end && *p->text->at >= '0' && *p->text->at <= '9';
}

/* The 'x' after a dim, which the element type follows without a blank: 3xf32. */
static qn_status
dim_x(qn_parser *p)
{
	qn_text_skip(p->text);
	if (p->text->at == p->text->end || *p->text->at != 'x')
		return qn_parser_expect(p, "x");
	p->text->at++;
	return QN_OK;
}

static qn_status
dims(qn_parser *p, int32_t *rank, int64_t *dim)
{
	*rank = 0;
	if (qn_text_eat(p->text, "*")) {
		*rank = -1;
		return dim_x(p);
	}
	for (;;) {
		int64_t v = QN_DYNAMIC;

		qn_text_skip(p->text);
		if (at_digit(p))
			QN_TRY(qn_parser_int(p, "dim", &v));
		else if (!qn_text_eat(p->text, "?"))
			return QN_OK;
		if (*rank == QN_MAX_RANK)
			return QN_PARSE_FAIL(p, "type.rank", "a tensor has at most %d dimensions",
					     QN_MAX_RANK);
		dim[(*rank)++] = v;
		QN_TRY(dim_x(p));
	}
}

static qn_status
tensor(qn_parser *p, const qn_type **out)
{
	int64_t dim[QN_MAX_RANK];
	int32_t rank;
	const qn_elem *e = NULL;

	QN_TRY(qn_parser_expect(p, "<"));
	QN_TRY(dims(p, &rank, dim));
	qn_text_skip(p->text);
	qn_where at = p->w;
	at.text = *p->text;
	at.part = p->part;
	QN_TRY(qn_parse_elem(p, &e));
	QN_TRY(qn_parser_expect(p, ">"));
	QN_TRY(qn_elem_check_shape(&at, e, rank, dim));
	*out = qn_type_tensor(p->t, e, rank, dim);
	return QN_OK;
}

static qn_status type_of(qn_parser *p, const qn_type **out);

static qn_status
tuple(qn_parser *p, const qn_type **out)
{
	const qn_type **field = NULL;
	size_t cap = 0;
	uint32_t n = 0;

	QN_TRY(qn_parser_expect(p, "<"));
	if (!qn_text_eat(p->text, ">")) {
		do {
			field = qn_arena_grow(p->t->arena, (void *)field, &cap, (size_t)n + 1,
					      sizeof *field);
			QN_TRY(type_of(p, &field[n++]));
		} while (qn_text_eat(p->text, ","));
		QN_TRY(qn_parser_expect(p, ">"));
	}
	*out = qn_type_tuple(p->t, n, field);
	return QN_OK;
}

static qn_status
type_of(qn_parser *p, const qn_type **out)
{
	if (qn_text_eat(p->text, "tensor"))
		return tensor(p, out);
	if (!qn_text_eat(p->text, "tuple"))
		return QN_PARSE_FAIL(
			p, "type.unknown",
			"expected tensor<…> or tuple<…>, such as tensor<1x8xf32>, found %s",
			qn_parser_found(p));
	QN_TRY(qn_parser_enter(p));
	QN_TRY(tuple(p, out));
	p->depth--;
	return QN_OK;
}

qn_status
qn_type_parse(qn_types *t, qn_text *text, const qn_type **out)
{
	qn_parser p = parser_of(t, text);

	return type_of(&p, out);
}

qn_status
qn_elem_parse(qn_types *t, qn_text *text, const qn_elem **out)
{
	qn_parser p = parser_of(t, text);

	qn_text_skip(text);
	return qn_parse_elem(&p, out);
}

/* The cache saves reading the same text again for every value of a graph; a table that accepts zero
 * points out of range does not use it, because its switch changes what a text means. */
static qn_status
parse_string(qn_types *t, const char *place, bool placed, const char *s, const qn_type **out)
{
	qn_text text;
	const qn_type **cached = t->lax_zp ? NULL : qn_map_gets(&t->cache, s);

	if (cached != NULL) {
		*out = *cached;
		return QN_OK;
	}
	qn_text_init(&text, place != NULL ? place : "", s, strlen(s));
	text.placed = placed;
	qn_parser p = parser_of(t, &text);
	const qn_type *type = NULL;
	QN_TRY(type_of(&p, &type));
	qn_text_skip(&text);
	if (text.at != text.end)
		return QN_PARSE_FAIL(&p, "type.syntax", "the type ends here, but %s follows",
				     qn_parser_found(&p));
	if (!t->lax_zp)
		qn_map_puts(&t->cache, s, qn_arena_copy(t->arena, &type, sizeof type));
	*out = type;
	return QN_OK;
}

qn_status
qn_type_parse_str(qn_types *t, const char *place, const char *s, const qn_type **out)
{
	return parse_string(t, place, false, s, out);
}

qn_status
qn_type_parse_part(qn_types *t, const char *place, const char *s, const qn_type **out)
{
	return parse_string(t, place, true, s, out);
}
