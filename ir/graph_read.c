/* SPDX-License-Identifier: Apache-2.0 */
/* graph_read.c - the small steps of reading a model: places, names, types. */
#include "ir/graph_text.h"

#include <string.h>

/* Lines are counted once while the reader goes forward: a large file with a place for every node
 * costs one scan. */
const char *
qn_read_place(qn_reader *r)
{
	qn_buf b;

	qn_text_skip(&r->text);
	for (; r->counted < r->text.at; r->counted++) {
		if (*r->counted == '\n') {
			r->line++;
			r->line_start = r->counted + 1;
		}
	}
	qn_buf_init(&b, r->m->arena);
	if (r->text.file[0] != '\0')
		qn_buff(&b, "%s:", r->text.file);
	qn_buff(&b, "%zu:%zu", r->line, (size_t)(r->text.at - r->line_start) + 1);
	return qn_buf_str(&b);
}

bool
qn_read_fail(qn_reader *r, const char *fmt, ...)
{
	const char *place = qn_read_place(r);
	va_list args;
	qn_buf b;

	qn_buf_init(&b, r->m->arena);
	va_start(args, fmt);
	qn_bufvf(&b, fmt, args);
	va_end(args);
	if (r->text.at == r->text.end) {
		qn_buf_puts(&b, ", found the end");
	} else {
		/* A few characters of what is there, up to the end of the line and of a UTF-8
		 * sequence. */
		size_t n = 0;

		while (n < 20 && r->text.at + n < r->text.end &&
		       (unsigned char)r->text.at[n] >= 0x20)
			n++;
		while (n > 0 && r->text.at + n < r->text.end &&
		       ((unsigned char)r->text.at[n] & 0xC0) == 0x80)
			n--;
		qn_buff(&b, ", found '%.*s'", (int)n, r->text.at);
	}
	(void)qn_report(r->m->env, QN_EINVALID,
			r->syntax_id != NULL ? r->syntax_id : "graph.syntax", place, "%s",
			qn_buf_str(&b));
	return false;
}

bool
qn_read_expect(qn_reader *r, const char *token)
{
	return qn_text_eat(&r->text, token) || qn_read_fail(r, "expected '%s'", token);
}

static int
hex_digit(char c)
{
	static const char digits[] = "0123456789abcdefABCDEF";
	const char *d = c != '\0' ? strchr(digits, c) : NULL;

	return d == NULL ? -1 : (int)(d - digits) - (d - digits >= 16 ? 6 : 0);
}

static void
put_utf8(qn_buf *b, uint32_t c)
{
	if (c < 0x80) {
		qn_buf_putc(b, (char)c);
	} else if (c < 0x800) {
		qn_buf_putc(b, (char)(0xC0 | c >> 6));
		qn_buf_putc(b, (char)(0x80 | (c & 0x3F)));
	} else {
		qn_buf_putc(b, (char)(0xE0 | c >> 12));
		qn_buf_putc(b, (char)(0x80 | (c >> 6 & 0x3F)));
		qn_buf_putc(b, (char)(0x80 | (c & 0x3F)));
	}
}

/* After a backslash.  \u stands for a character that is neither NUL nor half of a pair; others can
 * be written as they are. */
static bool
read_escape(qn_reader *r, qn_buf *b)
{
	static const char from[] = "\"\\/bfnrt";
	static const char to[] = "\"\\/\b\f\n\r\t";
	qn_text *t = &r->text;
	const char *f = t->at < t->end && *t->at != '\0' ? strchr(from, *t->at) : NULL;

	if (f != NULL) {
		qn_buf_putc(b, to[f - from]);
		t->at++;
		return true;
	}
	if (t->end - t->at < 5 || *t->at != 'u')
		return qn_read_fail(r, "expected one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX "
				       "in the quoted text");
	uint32_t c = 0;
	for (int i = 1; i <= 4; i++) {
		int d = hex_digit(t->at[i]);

		if (d < 0)
			return qn_read_fail(r, "expected four hex digits after \\u");
		c = c * 16 + (uint32_t)d;
	}
	if (c == 0 || (c >= 0xD800 && c <= 0xDFFF))
		return qn_read_fail(
			r, "expected a character after \\u that is not NUL and not half of a pair");
	put_utf8(b, c);
	t->at += 5;
	return true;
}

bool
qn_read_quoted(qn_reader *r, const char **out)
{
	qn_text *t = &r->text;
	qn_buf b;

	if (!qn_read_expect(r, "\""))
		return false;
	qn_buf_init(&b, r->m->arena);
	while (t->at < t->end && *t->at != '"') {
		char c = *t->at;

		if ((unsigned char)c < 0x20)
			return qn_read_fail(
				r,
				"expected the end of the quoted text before a control character");
		t->at++;
		if (c != '\\')
			qn_buf_putc(&b, c);
		else if (!read_escape(r, &b))
			return false;
	}
	if (t->at == t->end)
		return qn_read_fail(r, "expected '\"'");
	if (b.n == 0)
		return qn_read_fail(r, "expected a name that is not empty");
	t->at++;
	*out = qn_buf_str(&b);
	return true;
}

bool
qn_read_name(qn_reader *r, const char *sigil, const char **out)
{
	qn_text *t = &r->text;

	if (!qn_read_expect(r, sigil))
		return false;
	const char *from = t->at;
	if (t->at < t->end && *t->at == '"')
		return qn_read_quoted(r, out);
	while (t->at < t->end && qn_text_is_bare(*t->at))
		t->at++;
	if (t->at == from)
		return qn_read_fail(r, "expected a name after '%s'", sigil);
	*out = qn_arena_strn(r->m->arena, from, (size_t)(t->at - from));
	return true;
}

bool
qn_read_skip(qn_reader *r, const char *stop)
{
	qn_text *t = &r->text;
	int64_t depth = 0;

	for (; t->at < t->end; t->at++) {
		char c = *t->at;

		if (depth == 0 && c != '\0' && strchr(stop, c) != NULL)
			return true;
		if (c == '"') {
			const char *skipped;

			if (!qn_read_quoted(r, &skipped))
				return false;
			t->at--;
		} else if (c == '[' || c == '{' || c == '(' || c == '<') {
			depth++;
		} else if (c == ']' || c == '}' || c == ')' || c == '>') {
			depth--;
		}
	}
	return qn_read_fail(r, "expected one of '%s'", stop);
}

bool
qn_read_type(qn_reader *r, const qn_type **out)
{
	qn_text start = r->text;
	const char *word;

	*out = NULL;
	qn_text_skip(&start);
	if (qn_type_parse(&r->m->types, &r->text, out) == QN_OK)
		return true;
	/* The error has been reported.  Goes on after the closing bracket, so that the rest of
	 * the text is checked too. */
	*out = NULL;
	r->text = start;
	if (qn_text_word(&r->text, &word) == 0 || !qn_text_peek(&r->text, "<"))
		return false;
	r->text.at++;
	if (!qn_read_skip(r, ">"))
		return false;
	r->text.at++;
	return true;
}
