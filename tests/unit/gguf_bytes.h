/* SPDX-License-Identifier: Apache-2.0 */
/* gguf_bytes.h - for tests of GGUF files: files by hand, byte for byte. */
#ifndef TESTS_UNIT_GGUF_BYTES_H
#define TESTS_UNIT_GGUF_BYTES_H

#include "tests/unit/layouts_rig.h"

#include "formats/archive.h"

static inline void
put(qn_buf *b, size_t bytes, uint64_t v)
{
	uint8_t little[8];

	qn_little_put(little, bytes, v);
	qn_buf_put(b, (const char *)little, bytes);
}

static inline void
put_name(qn_buf *b, const char *s)
{
	put(b, 8, strlen(s));
	qn_buf_puts(b, s);
}

static inline void
start(fixture *f, qn_buf *b, uint64_t tensors, uint64_t properties)
{
	qn_buf_init(b, &f->arena);
	qn_buf_puts(b, "GGUF");
	put(b, 4, 3);
	put(b, 8, tensors);
	put(b, 8, properties);
}

static inline void
put_u32(qn_buf *b, const char *key, uint32_t v)
{
	put_name(b, key);
	put(b, 4, QN_VALUE_U32);
	put(b, 4, v);
}

static inline void
put_tensor(qn_buf *b, const char *name, uint32_t n, const uint64_t *dim, uint32_t type,
	   uint64_t offset)
{
	put_name(b, name);
	put(b, 4, n);
	for (uint32_t i = 0; i < n; i++)
		put(b, 8, dim[i]);
	put(b, 4, type);
	put(b, 8, offset);
}

#define D(...)                                                                                     \
	(const uint64_t[])                                                                         \
	{                                                                                          \
		__VA_ARGS__                                                                        \
	}

static inline void
end(qn_buf *b, size_t alignment, size_t data)
{
	while (b->n % alignment != 0)
		qn_buf_putc(b, 0);
	for (size_t i = 0; i < data; i++)
		qn_buf_putc(b, (char)(i % 7));
}

static inline qn_status
read_as(fixture *f, const char *data, size_t n, qn_archive_data *d)
{
	qn_archive_init(d, &f->arena, "GGUF", "x.gguf");
	return qn_gguf_read(d, data, n);
}

/* Every kind of value, three tensors that do not lie in their order. */
static inline qn_buf
sample(fixture *f)
{
	qn_buf b;

	start(f, &b, 4, 8);
	put_u32(&b, "general.alignment", 16);
	put_name(&b, "flag");
	put(&b, 4, QN_VALUE_BOOL);
	put(&b, 1, 1);
	put_name(&b, "least");
	put(&b, 4, QN_VALUE_I64);
	put(&b, 8, (uint64_t)INT64_MIN);
	put_name(&b, "real");
	put(&b, 4, QN_VALUE_F32);
	put(&b, 4, 0x3DCCCCCD);
	put_name(&b, "words");
	put(&b, 4, QN_VALUE_ARRAY);
	put(&b, 4, QN_VALUE_STRING);
	put(&b, 8, 3);
	put_name(&b, "a");
	put_name(&b, "\xC3\xA9\"");
	put(&b, 8, 2);
	qn_buf_put(&b, "\xFF\0", 2); /* a token need not be text */
	put_name(&b, "small");
	put(&b, 4, QN_VALUE_I8);
	put(&b, 1, 0xFE);
	put_name(&b, "none");
	put(&b, 4, QN_VALUE_ARRAY);
	put(&b, 4, QN_VALUE_F64);
	put(&b, 8, 0);
	put_name(&b, "name");
	put(&b, 4, QN_VALUE_STRING);
	put_name(&b, "");
	put_tensor(&b, "q", 2, D(32, 2), 2, 32);
	put_tensor(&b, "f", 2, D(3, 2), 0, 0);
	put_tensor(&b, "scalar", 0, NULL, 1, 80);
	put_tensor(&b, "empty", 1, D(0), 0, 96);
	end(&b, 16, 96);
	return b;
}

#endif
