/* SPDX-License-Identifier: Apache-2.0 */
/* text.h - a cursor over text for the hand-written parsers (types, graphs, patterns), with line
 * and column for messages. */
#ifndef QN_IR_TEXT_H
#define QN_IR_TEXT_H

#include "ir/env.h"

typedef struct qn_text {
	const char *begin;
	const char *at;
	const char *end;
	const char *file; /* for messages; "" for a string */
	bool placed;      /* file is the place already: a part of a text, made of others */
} qn_text;

void qn_text_init(qn_text *t, const char *file, const char *s, size_t n);

/* Skips blanks, newlines and comments (# to the end of the line). */
void qn_text_skip(qn_text *t);

/* True, and past it, when the next token begins with `token` (after blanks).  A token that ends
 * in a word character must not be followed by one. */
bool qn_text_eat(qn_text *t, const char *token);
bool qn_text_peek(qn_text *t, const char *token);

/* [A-Za-z_][A-Za-z0-9_.]* ; returns its length and start, 0 when there is none. */
size_t qn_text_word(qn_text *t, const char **word);

/* A character of a name that needs no quotes: [A-Za-z0-9_.] */
static inline bool
qn_text_is_bare(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '.';
}

/* Optional sign and digits, within int64; false when there is none or it does not fit (then `at`
 * is unchanged). */
bool qn_text_int(qn_text *t, int64_t *out);

/* A real literal: ["-"] digits "." [digits] [exponent], or 0x and 16 hex digits (bits of a
 * double).  need_dot: false takes "2", "1e5", "inf", "nan" too. */
bool qn_text_real(qn_text *t, bool need_dot, double *out);

/* "file:line:column" of `at` (or "line:column" when file is ""), into buf; returns buf.  cap >=
 * 1. */
const char *qn_text_place(const qn_text *t, char *buf, size_t cap);

/* Locale-independent strtod of the n characters at s, all of which must be used. */
bool qn_parse_f64(const char *s, size_t n, double *out);

#endif
