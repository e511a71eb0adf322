/* SPDX-License-Identifier: Apache-2.0 */
/* buf.c - a growing text.  Numbers are made with the C library's correctly rounded conversions
 * and the locale's decimal point replaced by '.'. */
#include "ir/buf.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ir/text.h"

void
qn_buf_init(qn_buf *b, qn_arena *arena)
{
	*b = (qn_buf){.arena = arena};
}

void
qn_buf_put(qn_buf *b, const char *s, size_t n)
{
	b->data = qn_arena_grow(b->arena, b->data, &b->cap, b->n + n + 1, 1);
	if (n > 0)
		memcpy(b->data + b->n, s, n);
	b->n += n;
	b->data[b->n] = '\0';
}

enum { FLUSH_BYTES = 16 * 1024 };

void
qn_buf_to(qn_buf *b, qn_arena *arena, qn_sink_fn *sink, void *user)
{
	*b = (qn_buf){.arena = arena, .sink = sink, .sink_user = user};
}

void
qn_buf_end(qn_buf *b)
{
	if (b->sink == NULL || b->n == 0)
		return;
	b->sink(b->sink_user, b->data, b->n);
	b->n = 0;
}

void
qn_buf_flush(qn_buf *b)
{
	if (b->n >= FLUSH_BYTES)
		qn_buf_end(b);
}

void
qn_buf_pass(qn_buf *b, const char *s, size_t n)
{
	if (b->sink == NULL) {
		qn_buf_put(b, s, n);
		return;
	}
	qn_buf_end(b);
	b->sink(b->sink_user, s, n);
}

void
qn_buf_puts(qn_buf *b, const char *s)
{
	qn_buf_put(b, s, strlen(s));
}

void
qn_buf_putc(qn_buf *b, char c)
{
	qn_buf_put(b, &c, 1);
}

const char *
qn_buf_str(qn_buf *b)
{
	return b->n > 0 ? b->data : "";
}

void
qn_buff(qn_buf *b, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	qn_bufvf(b, fmt, args);
	va_end(args);
}

static void
put_unsigned(qn_buf *b, unsigned long long v, unsigned base, size_t width, bool zero, bool negative)
{
	char tmp[32];
	size_t n = 0;

	do {
		tmp[n++] = "0123456789abcdef"[v % base];
		v /= base;
	} while (v != 0);
	while (zero && n < width && n < sizeof tmp - 1)
		tmp[n++] = '0';
	if (negative)
		tmp[n++] = '-';
	for (size_t i = n + 0; i < width; i++)
		qn_buf_putc(b, ' ');
	while (n > 0)
		qn_buf_putc(b, tmp[--n]);
}

static void
put_signed(qn_buf *b, long long v, size_t width)
{
	unsigned long long u = v < 0 ? 0ULL - (unsigned long long)v : (unsigned long long)v;

	put_unsigned(b, u, 10, width, false, v < 0);
}

/* n bytes at most; negative: up to the NUL. */
static void
put_text(qn_buf *b, const char *s, int n)
{
	const char *end = n >= 0 ? memchr(s, '\0', (size_t)n) : NULL;

	qn_buf_put(b, s, n < 0 ? strlen(s) : end != NULL ? (size_t)(end - s) : (size_t)n);
}

/* One conversion that starts after '%'; returns what follows it. */
static const char *
convert(qn_buf *b, const char *f, va_list *args)
{
	bool zero = *f == '0';
	size_t width = 0;
	int precision = -1;
	int size = 0; /* 2: long long, 3: size_t */

	while (*f >= '0' && *f <= '9')
		width = width * 10 + (size_t)(*f++ - '0');
	if (f[0] == '.' && f[1] == '*') {
		precision = va_arg(*args, int);
		f += 2;
	}
	if (f[0] == 'l' && f[1] == 'l') {
		size = 2;
		f += 2;
	} else if (f[0] == 'l') {
		size = 1;
		f++;
	} else if (f[0] == 'z') {
		size = 3;
		f++;
	}
	switch (*f) {
	case 's':
		put_text(b, va_arg(*args, const char *), precision);
		break;
	case 'd':
		put_signed(b,
			   size == 2   ? va_arg(*args, long long)
			   : size == 1 ? va_arg(*args, long)
				       : va_arg(*args, int),
			   width);
		break;
	case 'u':
	case 'x': {
		unsigned long long v = size == 2   ? va_arg(*args, unsigned long long)
				       : size == 1 ? va_arg(*args, unsigned long)
				       : size == 3 ? va_arg(*args, size_t)
						   : va_arg(*args, unsigned);

		put_unsigned(b, v, *f == 'x' ? 16 : 10, width, zero, false);
		break;
	}
	case 'g':
		qn_buf_f64(b, va_arg(*args, double));
		break;
	case 'c':
		qn_buf_putc(b, (char)va_arg(*args, int));
		break;
	default:
		qn_buf_putc(b, '%');
		break;
	}
	return f + 1;
}

void
qn_bufvf(qn_buf *b, const char *fmt, va_list args)
{
	va_list copy;

	va_copy(copy, args);
	while (*fmt != '\0') {
		size_t n = strcspn(fmt, "%");

		qn_buf_put(b, fmt, n);
		fmt += n;
		if (*fmt == '%')
			fmt = convert(b, fmt + 1, &copy);
	}
	va_end(copy);
}

/* snprintf with the locale's decimal point replaced; a point is one or more bytes. */
static void
format_real(char *out, size_t cap, const char *fmt, int precision, double v)
{
	const char *point = localeconv()->decimal_point;
	size_t n = strlen(point);

	(void)snprintf(out, cap, fmt, precision, v);
	char *p = n > 0 ? strstr(out, point) : NULL;
	if (p != NULL && strcmp(point, ".") != 0) {
		*p = '.';
		memmove(p + 1, p + n, strlen(p + n) + 1);
	}
}

/* v with p digits in tmp; whether that is v again. */
static bool
reads_back(char *tmp, size_t cap, double v, int p, bool as_f32)
{
	double back = 0;

	format_real(tmp, cap, "%.*g", p, v);
	return qn_parse_f64(tmp, strlen(tmp), &back) &&
	       (as_f32 ? (double)(float)back == v : back == v);
}

static void
put_shortest(qn_buf *b, double v, int most, bool as_f32)
{
	char tmp[64];

	if (isnan(v)) {
		qn_buf_puts(b, "nan");
		return;
	}
	if (isinf(v)) {
		qn_buf_puts(b, v < 0 ? "-inf" : "inf");
		return;
	}
	/* If p digits read back, so do p + 1: the least p by halving. */
	int least = 1;
	while (least < most) {
		int p = (least + most) / 2;

		if (reads_back(tmp, sizeof tmp, v, p, as_f32))
			most = p;
		else
			least = p + 1;
	}
	(void)reads_back(tmp, sizeof tmp, v, most, as_f32);
	if (strchr(tmp, 'e') != NULL && fabs(v) >= 1 && fabs(v) < 1e6)
		format_real(tmp, sizeof tmp, "%.*g", 6, v); /* 50, not 5e+01 */
	qn_buf_puts(b, tmp);
	if (strpbrk(tmp, ".e") == NULL)
		qn_buf_puts(b, ".0");
}

void
qn_buf_f32(qn_buf *b, float v)
{
	put_shortest(b, (double)v, 9, true);
}

void
qn_buf_f64(qn_buf *b, double v)
{
	put_shortest(b, v, 17, false);
}

void
qn_buf_real(qn_buf *b, double v, bool as_f32)
{
	char tmp[64];
	double back = 0;

	format_real(tmp, sizeof tmp, "%.*e", 6, v);
	if (qn_parse_f64(tmp, strlen(tmp), &back) &&
	    (as_f32 ? (double)(float)back == v : back == v)) {
		qn_buf_puts(b, tmp);
		return;
	}
	uint64_t bits;
	memcpy(&bits, &v, sizeof bits);
	qn_buf_puts(b, "0x");
	for (int shift = 60; shift >= 0; shift -= 4)
		qn_buf_putc(b, "0123456789ABCDEF"[(bits >> shift) & 15]);
}

void
qn_buf_quoted(qn_buf *b, const char *s)
{
	qn_buf_putc(b, '"');
	for (; *s != '\0'; s++) {
		unsigned char c = (unsigned char)*s;

		if (c == '"' || c == '\\')
			qn_buff(b, "\\%c", *s);
		else if (c == '\n')
			qn_buf_puts(b, "\\n");
		else if (c == '\t')
			qn_buf_puts(b, "\\t");
		else if (c < 0x20)
			qn_buff(b, "\\u%04x", (unsigned)c);
		else
			qn_buf_putc(b, *s);
	}
	qn_buf_putc(b, '"');
}
