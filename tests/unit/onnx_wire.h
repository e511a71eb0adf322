/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_wire.h - fields of protobuf's wire format, one behind the other in a buffer, for onnx_writer.h.
 *
 *   onx_number(&b, 1, 8);                              field 1: an integer
 *   onx_text(&b, 2, "x");                              field 2: a text
 *   onx_field(&outer, 7, b.data, b.n);                 field 7: a message, of these two */
#ifndef TESTS_UNIT_ONNX_WIRE_H
#define TESTS_UNIT_ONNX_WIRE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "tests/unit/little.h"

enum { ONX_ROOM = 1 << 16 };

typedef struct onx_bytes {
	uint8_t data[ONX_ROOM];
	size_t n;
} onx_bytes;

static inline void
onx_raw(onx_bytes *b, const void *data, size_t n)
{
	if (b->n + n <= ONX_ROOM && n > 0) {
		memcpy(b->data + b->n, data, n);
		b->n += n;
	}
}

static inline void
onx_varint(onx_bytes *b, uint64_t v)
{
	do {
		uint8_t byte = (uint8_t)((v & 127) | (v > 127 ? 128 : 0));
		onx_raw(b, &byte, 1);
		v >>= 7;
	} while (v > 0);
}

static inline void
onx_number(onx_bytes *b, int field, int64_t v)
{
	onx_varint(b, (uint64_t)field << 3);
	onx_varint(b, (uint64_t)v);
}

static inline void
onx_field(onx_bytes *b, int field, const void *data, size_t n)
{
	onx_varint(b, (uint64_t)field << 3 | 2);
	onx_varint(b, n);
	onx_raw(b, data, n);
}

static inline void
onx_text(onx_bytes *b, int field, const char *s)
{
	onx_field(b, field, s, strlen(s));
}

static inline void
onx_float(onx_bytes *b, int field, float v)
{
	onx_varint(b, (uint64_t)field << 3 | 5);
	put_little(&v, &(const float){v}, sizeof v, sizeof v);
	onx_raw(b, &v, sizeof v);
}

/* The words of "a,b,": a field for each; an empty word stands for nothing left between commas. */
static inline void
onx_words(onx_bytes *b, int field, const char *s)
{
	while (*s != '\0') {
		size_t n = strcspn(s, ",");
		onx_field(b, field, s, n);
		s += n + (s[n] == ',');
	}
}

#endif
