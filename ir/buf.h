/* SPDX-License-Identifier: Apache-2.0 */
/* buf.h - a growing text, and the only place where numbers become text.  Independent of the locale.
 *
 *   qn_buf b;
 *   qn_buf_init(&b, arena);
 *   qn_buff(&b, "%s has %zu channels, scale %g", name, n, s);
 *   const char *text = qn_buf_str(&b); */
#ifndef QN_IR_BUF_H
#define QN_IR_BUF_H

#include <stdarg.h>

#include "ir/arena.h"

/* Where a text goes piece by piece. */
typedef void qn_sink_fn(void *user, const char *text, size_t n);

typedef struct qn_buf {
	qn_arena *arena;
	qn_sink_fn *sink; /* NULL: the text stays here */
	void *sink_user;
	char *data; /* n bytes and a NUL once there is any text */
	size_t n;
	size_t cap;
	bool decimal; /* types are for people: reals as decimals, never as bits */
} qn_buf;

void qn_buf_init(qn_buf *b, qn_arena *arena);
void qn_buf_put(qn_buf *b, const char *s, size_t n);
void qn_buf_puts(qn_buf *b, const char *s);
void qn_buf_putc(qn_buf *b, char c);

/* A text that goes to a sink: where a writer calls qn_buf_flush, what is there is handed on once it
 * is long enough, and b->n begins at 0 again.  qn_buf_end hands on the rest. */
void qn_buf_to(qn_buf *b, qn_arena *arena, qn_sink_fn *sink, void *user);
void qn_buf_flush(qn_buf *b);
void qn_buf_end(qn_buf *b);
/* The same text as qn_buf_put gives, but past the buffer where there is a sink. */
void qn_buf_pass(qn_buf *b, const char *s, size_t n);

/* Formatted text.  Conversions: %s %.*s %d %u %lld %llu %zu %x %08x %c %% and %g, which is the shortest
 * text that reads back as the same double (always with a '.', an exponent, or "inf"/"nan").  %.*s is at
 * most that many bytes, as in C.  %.9g-like precisions and widths other than a zero-padded one are not
 * known. */
void qn_buff(qn_buf *b, const char *fmt, ...) QN_PRINTF(2, 3);
void qn_bufvf(qn_buf *b, const char *fmt, va_list args);

/* The shortest decimal text that reads back as the same f32 (as f32) or f64. */
void qn_buf_f32(qn_buf *b, float v);
void qn_buf_f64(qn_buf *b, double v);

/* MLIR's real literal: "%.6e" when that text, rounded to f32 if as_f32, gives v; else 0x and the
 * 16 hex digits of the double. */
void qn_buf_real(qn_buf *b, double v, bool as_f32);

/* s in double quotes with JSON's escapes. */
void qn_buf_quoted(qn_buf *b, const char *s);

/* The text so far; "" when there is none.  Valid until the next put. */
const char *qn_buf_str(qn_buf *b);

#endif
