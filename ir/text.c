/* SPDX-License-Identifier: Apache-2.0 */
/* text.c - a cursor over text.  No character is classified by the locale. */
#include "ir/text.h"

#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool
is_word_start(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool
is_word(char c)
{
	return is_word_start(c) || is_digit(c) || c == '.';
}

void
qn_text_init(qn_text *t, const char *file, const char *s, size_t n)
{
	*t = (qn_text){.begin = s, .at = s, .end = s + n, .file = file};
}

void
qn_text_skip(qn_text *t)
{
	while (t->at < t->end) {
		char c = *t->at;

		if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
			t->at++;
		} else if (c == '#') {
			while (t->at < t->end && *t->at != '\n')
				t->at++;
		} else {
			break;
		}
	}
}

bool
qn_text_peek(qn_text *t, const char *token)
{
	size_t n = strlen(token);

	qn_text_skip(t);
	if ((size_t)(t->end - t->at) < n || memcmp(t->at, token, n) != 0)
		return false;
	if (is_word(token[n - 1]) && token[n - 1] != '.' && t->at + n < t->end &&
	    is_word(t->at[n]) && t->at[n] != '.')
		return false;
	return true;
}

bool
qn_text_eat(qn_text *t, const char *token)
{
	if (!qn_text_peek(t, token))
		return false;
	t->at += strlen(token);
	return true;
}

size_t
qn_text_word(qn_text *t, const char **word)
{
	qn_text_skip(t);
	*word = t->at;
	if (t->at == t->end || !is_word_start(*t->at))
		return 0;
	while (t->at < t->end && is_word(*t->at))
		t->at++;
	return (size_t)(t->at - *word);
}

bool
qn_text_int(qn_text *t, int64_t *out)
{
	qn_text_skip(t);
	const char *p = t->at;
	bool negative = false;
	uint64_t v = 0;

	if (p < t->end && (*p == '-' || *p == '+'))
		negative = *p++ == '-';
	if (p == t->end || !is_digit(*p))
		return false;
	const uint64_t limit = (uint64_t)INT64_MAX + (negative ? 1 : 0);
	for (; p < t->end && is_digit(*p); p++) {
		uint64_t digit = (uint64_t)(*p - '0');

		if (v > (limit - digit) / 10)
			return false;
		v = v * 10 + digit;
	}
	*out = negative ? (v == limit ? INT64_MIN : -(int64_t)v) : (int64_t)v;
	t->at = p;
	return true;
}

static bool
hex_bits(qn_text *t, const char *p, double *out)
{
	uint64_t bits = 0;

	for (int i = 0; i < 16; i++, p++) {
		if (p == t->end)
			return false;
		const char *digits = "0123456789abcdef";
		char c = (char)(*p >= 'A' && *p <= 'F' ? *p - 'A' + 'a' : *p);
		const char *d = c != '\0' ? strchr(digits, c) : NULL;
		if (d == NULL)
			return false;
		bits = bits << 4 | (uint64_t)(d - digits);
	}
	if (p < t->end && is_word(*p))
		return false;
	memcpy(out, &bits, sizeof *out);
	t->at = p;
	return true;
}

/* inf or nan at p: their length, else 0. */
static size_t
special(const qn_text *t, const char *p, double *out)
{
	if (t->end - p < 3 || (memcmp(p, "inf", 3) != 0 && memcmp(p, "nan", 3) != 0))
		return 0;
	uint64_t bits = *p == 'i' ? UINT64_C(0x7ff0000000000000) : UINT64_C(0x7ff8000000000000);
	memcpy(out, &bits, sizeof *out);
	return 3;
}

bool
qn_text_real(qn_text *t, bool need_dot, double *out)
{
	qn_text_skip(t);
	const char *p = t->at;
	bool dot = false;

	if (t->end - p > 2 && p[0] == '0' && p[1] == 'x')
		return hex_bits(t, p + 2, out);
	if (p < t->end && *p == '-')
		p++;
	if (!need_dot && special(t, p, out) > 0) {
		if (*t->at == '-')
			*out = -*out;
		t->at = p + 3;
		return true;
	}
	const char *digits = p;
	while (p < t->end && is_digit(*p))
		p++;
	if (p == digits)
		return false;
	if (p < t->end && *p == '.') {
		dot = true;
		p++;
		while (p < t->end && is_digit(*p))
			p++;
	}
	if (need_dot && !dot)
		return false;
	if (p < t->end && (*p == 'e' || *p == 'E')) {
		const char *e = p + 1;

		if (e < t->end && (*e == '-' || *e == '+'))
			e++;
		if (e < t->end && is_digit(*e)) {
			while (e < t->end && is_digit(*e))
				e++;
			p = e;
		}
	}
	if (!qn_parse_f64(t->at, (size_t)(p - t->at), out))
		return false;
	t->at = p;
	return true;
}

const char *
qn_text_place(const qn_text *t, char *buf, size_t cap)
{
	int line = 1;
	int column = 1;

	for (const char *p = t->begin; p < t->at; p++) {
		column = *p == '\n' ? 1 : column + 1;
		line += *p == '\n';
	}
	if (t->placed)
		(void)snprintf(buf, cap, "%s", t->file);
	else if (t->file != NULL && t->file[0] != '\0')
		(void)snprintf(buf, cap, "%s:%d:%d", t->file, line, column);
	else
		(void)snprintf(buf, cap, "%d:%d", line, column);
	return buf;
}

bool
qn_parse_f64(const char *s, size_t n, double *out)
{
	char tmp[512];
	const char *point = localeconv()->decimal_point;
	size_t plen = strlen(point);
	size_t k = 0;

	/* A number of more digits than this is not one that anybody wrote. */
	if (n == 0 || n + plen >= sizeof tmp)
		return false;
	for (size_t i = 0; i < n; i++) {
		if (s[i] == '.') {
			memcpy(tmp + k, point, plen);
			k += plen;
			point = "";
			plen = 0;
		} else {
			tmp[k++] = s[i];
		}
	}
	tmp[k] = '\0';
	char *end = NULL;
	*out = strtod(tmp, &end);
	return end == tmp + k;
}
