/* SPDX-License-Identifier: Apache-2.0 */
/* json_lex.c - strict JSON, RFC 8259, checked before the tree is built.
 *
 *   { "a\n" : -0.5e3 , … }       each string, number, word and bracket, and what may follow it
 *
 * The library that builds the tree is lenient: it takes 01 and 1. as numbers, any byte up to 32
 * as a blank, raw control characters and invalid UTF-8 in strings, and ends a string at an
 * escaped NUL.  And it does not tell a wrong text from missing memory: what passes here is right,
 * so there only memory can fail. */
#include "formats/json_tree.h"

#include <string.h>

/* What may come next. */
typedef enum want { VALUE, VALUE_OR_END, KEY, KEY_OR_END, COLON, COMMA_OR_END, NOTHING } want;

#define MISSING "a bracket, comma, colon or value is missing here"

typedef struct lexer {
	const char *at;
	const char *end;
	const char *reason;
	want want;
	int depth;
	uint64_t objects; /* bit d: the bracket at depth d + 1 is a '{' */
} lexer;

static bool
refuse(lexer *x, const char *reason)
{
	x->reason = reason;
	return false;
}

static bool
is_digit(const lexer *x)
{
	return x->at < x->end && *x->at >= '0' && *x->at <= '9';
}

static bool
digits(lexer *x)
{
	if (!is_digit(x))
		return refuse(x, "a digit is missing in a number");
	while (is_digit(x))
		x->at++;
	return true;
}

/* -? (0 | [1-9][0-9]*) (. [0-9]+)? ([eE] [+-]? [0-9]+)? */
static bool
number(lexer *x)
{
	const char *begin = x->at;

	if (*x->at == '-')
		x->at++;
	if (x->at + 1 < x->end && x->at[0] == '0' && x->at[1] >= '0' && x->at[1] <= '9')
		return refuse(x, "a number begins with 0");
	if (!digits(x))
		return false;
	if (x->at < x->end && *x->at == '.') {
		x->at++;
		if (!digits(x))
			return false;
	}
	if (x->at < x->end && (*x->at == 'e' || *x->at == 'E')) {
		x->at++;
		if (x->at < x->end && (*x->at == '+' || *x->at == '-'))
			x->at++;
		if (!digits(x))
			return false;
	}
	if (x->at - begin > QN_JSON_DIGITS) {
		x->at = begin;
		return refuse(x, "a number has more than 63 characters");
	}
	return true;
}

/* The four digits of \u; -1 after refusing. */
static int
hex4(lexer *x)
{
	static const char digits[] = "0123456789abcdef0123456789ABCDEF";
	int v = 0;

	for (int i = 0; i < 4; i++, x->at++) {
		const char *d = x->at < x->end && *x->at != '\0' ? strchr(digits, *x->at) : NULL;

		if (d == NULL) {
			(void)refuse(x, "\\u needs four hex digits");
			return -1;
		}
		v = v * 16 + (int)((d - digits) % 16);
	}
	return v;
}

static bool
escape(lexer *x)
{
	if (++x->at == x->end || *x->at == '\0' || strchr("\"\\/bfnrtu", *x->at) == NULL)
		return refuse(x, "unknown escape sequence in a string");
	if (*x->at++ != 'u')
		return true;
	int v = hex4(x);
	if (v < 0)
		return false;
	if (v == 0)
		return refuse(x, "a string holds the character U+0000");
	if (v < 0xd800 || v > 0xdfff)
		return true;
	if (v < 0xdc00 && x->end - x->at >= 2 && x->at[0] == '\\' && x->at[1] == 'u') {
		x->at += 2;
		v = hex4(x);
		if (v < 0 || (v >= 0xdc00 && v <= 0xdfff))
			return v >= 0;
	}
	return refuse(x, "half of a surrogate pair in a string");
}

/* One UTF-8 sequence of several bytes: shortest form, no surrogates, up to U+10FFFF. */
static bool
sequence(lexer *x)
{
	const unsigned char *p = (const unsigned char *)x->at;
	size_t left = (size_t)(x->end - x->at);
	size_t n = 2 + (size_t)(p[0] >= 0xe0) + (size_t)(p[0] >= 0xf0);
	unsigned lo = 0x80, hi = 0xbf;

	if (p[0] == 0xe0)
		lo = 0xa0;
	else if (p[0] == 0xed)
		hi = 0x9f;
	else if (p[0] == 0xf0)
		lo = 0x90;
	else if (p[0] == 0xf4)
		hi = 0x8f;

	if (p[0] < 0xc2 || p[0] > 0xf4 || left < n || p[1] < lo || p[1] > hi)
		return refuse(x, "a string is not valid UTF-8");
	for (size_t i = 2; i < n; i++)
		if (p[i] < 0x80 || p[i] > 0xbf)
			return refuse(x, "a string is not valid UTF-8");
	x->at += n;
	return true;
}

static bool
string(lexer *x)
{
	const char *begin = x->at++;

	while (x->at < x->end && *x->at != '"') {
		unsigned char c = (unsigned char)*x->at;

		if (c < 0x20)
			return refuse(x, "a control character in a string; escape it");
		if (c == '\\') {
			if (!escape(x))
				return false;
		} else if (c < 0x80) {
			x->at++;
		} else if (!sequence(x)) {
			return false;
		}
	}
	if (x->at == x->end) {
		x->at = begin;
		return refuse(x, "a string does not end");
	}
	x->at++;
	return true;
}

static bool
word(lexer *x)
{
	static const char *const words[] = {"true", "false", "null"};

	for (size_t i = 0; i < QN_COUNT(words); i++) {
		size_t n = strlen(words[i]);

		if ((size_t)(x->end - x->at) >= n && memcmp(x->at, words[i], n) == 0) {
			x->at += n;
			return true;
		}
	}
	return refuse(x, "unexpected character (expected a JSON value)");
}

/* ---- how the tokens follow each other ---- */

static bool
in_object(const lexer *x)
{
	return x->depth > 0 && (x->objects >> (x->depth - 1) & 1) != 0;
}

/* Whether a token that begins with c may stand here. */
static bool
fits(const lexer *x, char c)
{
	bool closes = c == (in_object(x) ? '}' : ']');
	bool value = strchr("}],:", c) == NULL;

	switch (x->want) {
	case VALUE:
		return value;
	case VALUE_OR_END:
		return value || closes;
	case KEY:
		return c == '"';
	case KEY_OR_END:
		return c == '"' || closes;
	case COLON:
		return c == ':';
	case COMMA_OR_END:
		return c == ',' || closes;
	case NOTHING:
		return false;
	}
	return false;
}

/* What may follow the token that begins with c. */
static void
follow(lexer *x, char c)
{
	if (c == '{' || c == '[') {
		uint64_t bit = UINT64_C(1) << x->depth++;

		x->objects = c == '{' ? x->objects | bit : x->objects & ~bit;
		x->want = c == '{' ? KEY_OR_END : VALUE_OR_END;
	} else if (c == ',') {
		x->want = in_object(x) ? KEY : VALUE;
	} else if (c == ':') {
		x->want = VALUE;
	} else if (x->want == KEY || (x->want == KEY_OR_END && c == '"')) {
		x->want = COLON;
	} else {
		x->depth -= c == '}' || c == ']';
		x->want = x->depth > 0 ? COMMA_OR_END : NOTHING;
	}
}

static bool
token(lexer *x)
{
	const char *begin = x->at;
	char c = *begin;
	bool ok = true;

	if (c == '"')
		ok = string(x);
	else if (c == '-' || (c >= '0' && c <= '9'))
		ok = number(x);
	else if (c == '\0' || strchr("{}[],:", c) == NULL)
		ok = word(x);
	else
		x->at++;
	if (!ok)
		return false;
	if (!fits(x, c)) {
		x->at = begin;
		return refuse(x, x->want == NOTHING ? "text after the end of the value" : MISSING);
	}
	if ((c == '{' || c == '[') && x->depth == QN_JSON_DEPTH) {
		x->at = begin;
		return refuse(x, "more than 64 levels of brackets");
	}
	follow(x, c);
	return true;
}

const char *
qn_json_lex(const char *s, size_t n, const char **where)
{
	lexer x = {.at = s, .end = s + n};
	bool ok = true;

	while (ok && x.at < x.end) {
		if (*x.at != '\0' && strchr(" \t\r\n", *x.at) != NULL)
			x.at++;
		else
			ok = token(&x);
	}
	if (ok && x.want != NOTHING)
		(void)refuse(&x, n == 0 ? "the text is empty" : MISSING);
	*where = x.at;
	return x.reason;
}
