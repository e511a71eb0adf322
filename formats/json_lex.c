/* SPDX-License-Identifier: Apache-2.0 */
/* json_lex.c - the lexical half of strict JSON, RFC 8259, checked before the tree is built.
 *
 *   { "a\n" : -0.5e3 , … }       each string, number, word and bracket by itself
 *
 * The library that builds the tree is lenient here: it takes 01 and 1. as numbers, any byte up
 * to 32 as a blank, raw control characters and invalid UTF-8 in strings, and ends a string at an
 * escaped NUL. */
#include "formats/json_tree.h"

#include <string.h>

typedef struct lexer {
	const char *at;
	const char *end;
	const char *reason;
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
		return refuse(x, "a number of more than 63 characters");
	}
	return true;
}

static bool
escape(lexer *x)
{
	if (++x->at == x->end || *x->at == '\0' || strchr("\"\\/bfnrtu", *x->at) == NULL)
		return refuse(x, "an unknown escape in a string");
	if (*x->at++ != 'u')
		return true;
	for (int i = 0; i < 4; i++, x->at++) {
		char c = x->at < x->end ? *x->at : ' ';

		if (!(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'f') && !(c >= 'A' && c <= 'F'))
			return refuse(x, "\\u needs four hex digits");
	}
	if (memcmp(x->at - 4, "0000", 4) == 0)
		return refuse(x, "a string holds the character U+0000");
	return true;
}

/* One UTF-8 sequence of several bytes: shortest form, no surrogates, up to U+10FFFF. */
static bool
sequence(lexer *x)
{
	const unsigned char *p = (const unsigned char *)x->at;
	size_t left = (size_t)(x->end - x->at);
	size_t n = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
	unsigned lo = p[0] == 0xe0 ? 0xa0 : p[0] == 0xf0 ? 0x90 : 0x80;
	unsigned hi = p[0] == 0xed ? 0x9f : p[0] == 0xf4 ? 0x8f : 0xbf;

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
	return refuse(x, "a character that begins no JSON value");
}

const char *
qn_json_lex(const char *s, size_t n, const char **where)
{
	lexer x = {.at = s, .end = s + n};
	int depth = 0;
	bool ok = true;

	while (ok && x.at < x.end) {
		char c = *x.at;

		if (c == '"') {
			ok = string(&x);
		} else if (c == '-' || (c >= '0' && c <= '9')) {
			ok = number(&x);
		} else if (c == '\0' || strchr(" \t\r\n{}[],:", c) == NULL) {
			ok = word(&x);
		} else {
			depth += c == '{' || c == '[' ? 1 : c == '}' || c == ']' ? -1 : 0;
			if (depth > QN_JSON_DEPTH)
				ok = refuse(&x, "more than 64 levels of brackets");
			else
				x.at++;
		}
	}
	*where = x.at;
	return x.reason;
}
