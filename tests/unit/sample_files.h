/* SPDX-License-Identifier: Apache-2.0 */
/* sample_files.h - small files of samples, made byte by byte: WAV, PNG, zip.
 *
 *   bytes f = {0};
 *   wav_begin(&f, 1, 1, 16, 8000, 6);  put(&f, 0x8000, 2); … */
#ifndef QN_TESTS_SAMPLE_FILES_H
#define QN_TESTS_SAMPLE_FILES_H

#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "ir/tensor.h"

typedef struct bytes {
	unsigned char data[1 << 18];
	size_t n;
} bytes;

static inline void
put_bytes(bytes *b, const void *p, size_t n)
{
	assert(b->n + n <= sizeof b->data);
	memcpy(b->data + b->n, p, n);
	b->n += n;
}

/* Little-endian. */
static inline void
put(bytes *b, uint64_t v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)(v >> (8 * i));

		put_bytes(b, &c, 1);
	}
}

static inline void
put_big(bytes *b, uint32_t v)
{
	for (int i = 3; i >= 0; i--)
		put(b, v >> (8 * i) & 255, 1);
}

/* RIFF, "fmt " and the head of "data" of `size` bytes. */
static inline void
wav_begin(bytes *b, uint32_t tag, uint32_t channels, uint32_t bits, uint32_t rate, uint32_t size)
{
	put_bytes(b, "RIFF", 4);
	put(b, 36 + size, 4);
	put_bytes(b, "WAVEfmt ", 8);
	put(b, 16, 4);
	put(b, tag, 2);
	put(b, channels, 2);
	put(b, rate, 4);
	put(b, rate * channels * bits / 8, 4);
	put(b, channels * bits / 8, 2);
	put(b, bits, 2);
	put_bytes(b, "data", 4);
	put(b, size, 4);
}

/* A zlib stream of one stored block. */
static inline void
put_stored_zlib(bytes *b, const bytes *raw)
{
	uint32_t s1 = 1;
	uint32_t s2 = 0;

	put(b, 0x0178, 2);
	put(b, 1, 1);
	put(b, raw->n, 2);
	put(b, ~raw->n & 0xffff, 2);
	put_bytes(b, raw->data, raw->n);
	for (size_t i = 0; i < raw->n; i++) {
		s1 = (s1 + raw->data[i]) % 65521;
		s2 = (s2 + s1) % 65521;
	}
	put_big(b, s2 << 16 | s1);
}

static inline void
png_chunk(bytes *b, const char *name, const bytes *data)
{
	put_big(b, (uint32_t)data->n);
	size_t at = b->n;
	put_bytes(b, name, 4);
	put_bytes(b, data->data, data->n);
	put_big(b, qn_crc32(0, b->data + at, b->n - at));
}

/* 8 or 16 bits a value (big-endian in pixels), kind 0 grey, 2 RGB, 6 RGB and alpha. */
static inline void
put_png(bytes *b, uint32_t w, uint32_t h, int bits, int kind, const unsigned char *pixels)
{
	bytes head = {0};
	bytes raw = {0};
	bytes packed = {0};
	size_t line = (size_t)w * (kind == 0 ? 1 : kind == 2 ? 3 : 4) * (size_t)bits / 8;

	put_bytes(b, "\x89PNG\r\n\x1a\n", 8);
	put_big(&head, w);
	put_big(&head, h);
	put(&head, (uint64_t)bits | (uint64_t)kind << 8, 5);
	png_chunk(b, "IHDR", &head);
	for (uint32_t y = 0; y < h; y++) {
		put(&raw, 0, 1);
		put_bytes(&raw, pixels + y * line, line);
	}
	put_stored_zlib(&packed, &raw);
	png_chunk(b, "IDAT", &packed);
	packed.n = 0;
	png_chunk(b, "IEND", &packed);
}

/* 8x8 grey pixels of one value: 128 + 8 * dc / 8, dc from 32 to 63. */
static inline void
put_jpeg(bytes *b, unsigned dc)
{
	static const unsigned char before[] = {0xff, 0xd8, 0xff, 0xdb, 0, 67, 0};
	static const unsigned char behind[] = {
		0xff, 0xc0, 0, 11, 8,    0, 8, 0, 8,  1, 1, 0x11, 0, /* one component */
		0xff, 0xc4, 0, 20, 0x00, 1, 0, 0, 0,  0, 0, 0,    0,
		0,    0,    0, 0,  0,    0, 0, 0, 6, /* DC: 0 is 6 bits */
		0xff, 0xc4, 0, 20, 0x10, 1, 0, 0, 0,  0, 0, 0,    0,
		0,    0,    0, 0,  0,    0, 0, 0, 0, /* AC: 0 is the end */
		0xff, 0xda, 0, 8,  1,    1, 0, 0, 63, 0};

	put_bytes(b, before, sizeof before);
	for (int i = 0; i < 64; i++)
		put(b, 8, 1);
	put_bytes(b, behind, sizeof behind);
	put(b, dc << 1, 1); /* 0, the 6 bits, 0 */
	put(b, 0xd9ff, 2);
}

typedef struct zip_entry {
	const char *name;
	const unsigned char *data; /* as packed */
	size_t packed, size;
	uint32_t crc;
	int method; /* 0 stored, 8 deflated */
	size_t at;
} zip_entry;

static inline void
put_zip_fields(bytes *b, const zip_entry *e)
{
	put(b, 0, 2); /* flags */
	put(b, (uint64_t)e->method, 2);
	put(b, 0x00210000, 4); /* 1980-01-01 */
	put(b, e->crc, 4);
	put(b, e->packed, 4);
	put(b, e->size, 4);
	put(b, strlen(e->name), 2);
	put(b, 0, 2);
}

static inline void
put_zip(bytes *b, zip_entry *e, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		e[i].at = b->n;
		put(b, 0x04034b50, 4);
		put(b, 20, 2);
		put_zip_fields(b, &e[i]);
		put_bytes(b, e[i].name, strlen(e[i].name));
		put_bytes(b, e[i].data, e[i].packed);
	}
	size_t directory = b->n;
	for (size_t i = 0; i < n; i++) {
		put(b, 0x02014b50, 4);
		put(b, 20, 2);
		put(b, 20, 2);
		put_zip_fields(b, &e[i]);
		put(b, 0, 6);
		put(b, 0, 4);
		put(b, e[i].at, 4);
		put_bytes(b, e[i].name, strlen(e[i].name));
	}
	size_t end = b->n;
	put(b, 0x06054b50, 4);
	put(b, 0, 4);
	put(b, n, 2);
	put(b, n, 2);
	put(b, end - directory, 4);
	put(b, directory, 4);
	put(b, 0, 2);
}

#endif
