/* SPDX-License-Identifier: Apache-2.0 */
/* pnm.c - portable anymaps (netpbm): grey and colour, as text and as bytes.
 *
 *   P2                 P2 grey, P3 RGB: numbers; P5 grey, P6 RGB: bytes, two of them when the
 *   # comment          largest value is above 255, the more significant first
 *   3 2 255
 *   0 128 255 … */
#include <string.h>

#include "formats/image.h"
#include "ir/diag.h"

typedef struct cursor {
	const unsigned char *at, *end;
} cursor;

static bool
is_space(unsigned char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* A number up to 65535 after blanks and comments; -1 when it is missing. */
static int64_t
number(cursor *c)
{
	int64_t v = 0;

	while (c->at < c->end && (is_space(*c->at) || *c->at == '#')) {
		if (*c->at++ != '#')
			continue;
		while (c->at < c->end && *c->at != '\n')
			c->at++;
	}
	if (c->at == c->end || *c->at < '0' || *c->at > '9')
		return -1;
	for (; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++) {
		v = v * 10 + (*c->at - '0');
		if (v > 65535)
			return -1;
	}
	return v;
}

static qn_status
bad(qn_arena *a, const char *place, const char *what)
{
	return qn_report(a->env, QN_EINVALID, "image.decode", place, "%s", what);
}

/* The next value, as text or as bytes; -1 when there is none. */
static int64_t
next_value(cursor *c, bool text, bool wide)
{
	size_t bytes = wide ? 2 : 1;

	if (text)
		return number(c);
	if ((size_t)(c->end - c->at) < bytes)
		return -1;
	int64_t v = wide ? (int64_t)c->at[0] << 8 | c->at[1] : c->at[0];
	c->at += bytes;
	return v;
}

qn_status
qn_pnm_decode(qn_arena *a, const char *place, const char *data, size_t n, qn_image *out)
{
	cursor c = {(const unsigned char *)data + 2, (const unsigned char *)data + n};
	bool text = data[1] <= '3';
	int64_t w = number(&c);
	int64_t h = number(&c);
	int64_t most = number(&c);

	*out = (qn_image){h, w, data[1] == '2' || data[1] == '5' ? 1 : 3, most > 255, NULL};
	if (w <= 0 || h <= 0 || most <= 0)
		return bad(a, place,
			   "the header must give width, height and largest value, from 1 to 65535");
	int64_t count = h * w * out->c;
	/* A value takes at least a byte, two with the blank before it: a short file asks for
	 * little. */
	if (count > QN_IMAGE_MOST || count / 2 > c.end - c.at)
		return qn_report(a->env, QN_EINVALID, "image.size", place,
				 "%lld x %lld pixels, but %zu bytes follow; at most 2^26 values "
				 "are read",
				 (long long)w, (long long)h, (size_t)(c.end - c.at));
	if (!text && (c.at == c.end || !is_space(*c.at++)))
		return bad(a, place, "a blank is missing after the header");
	void *pixels = qn_arena_alloc(a, (size_t)count, out->wide ? 2 : 1);
	for (int64_t i = 0; i < count; i++) {
		int64_t v = next_value(&c, text, out->wide);

		if (v < 0 || v > most)
			return bad(
				a, place,
				v < 0 ? "the pixels end early, or one is not a number"
				      : "a pixel is larger than the largest value of the header");
		if (out->wide)
			((uint16_t *)pixels)[i] = (uint16_t)v;
		else
			((uint8_t *)pixels)[i] = (uint8_t)v;
	}
	out->data = pixels;
	return QN_OK;
}
