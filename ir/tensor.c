/* SPDX-License-Identifier: Apache-2.0 */
/* tensor.c - elements of tensors, the only place that touches the bytes of constants.
 *
 *     data ─ load row[plain].f64 / .i64 ─▶ value        value ─ store row[plain].f64 / .i64 ─▶ data
 *
 * One row per plain type; bytes need not be aligned, so they are copied in and out. */
#include <math.h>
#include <string.h>

#include "ir/tensor.h"
#include "ir/clamp.h"
#include "ir/type_impl.h"

/* ---- conversions ---- */

/* Nearest integer, ties to even, limited to lo..hi; NaN gives 0. */
static int64_t
integer_of(double v, int64_t lo, int64_t hi)
{
	const double r = rint(v);

	if (isnan(v))
		return 0;
	if (r <= (double)lo)
		return lo;
	return r >= (double)hi ? hi : (int64_t)r;
}

/* Toward 0, limited to int64. */
static int64_t
truncated(double v)
{
	return integer_of(trunc(v), INT64_MIN, INT64_MAX);
}

/* ---- rows ---- */

typedef struct row {
	double (*load_f64)(const void *at);
	int64_t (*load_i64)(const void *at);
	void (*store_f64)(void *at, double v);
	void (*store_i64)(void *at, int64_t v);
} row;

/* An integer type: rows (plain name, C type, lowest and highest value). */
#define INTEGER_TYPES(X)                                                                           \
	X(bool, uint8_t, 0, 1)                                                                     \
	X(i2, int8_t, -2, 1)                                                                       \
	X(u2, uint8_t, 0, 3)                                                                       \
	X(i4, int8_t, -8, 7)                                                                       \
	X(u4, uint8_t, 0, 15)                                                                      \
	X(i8, int8_t, INT8_MIN, INT8_MAX)                                                          \
	X(u8, uint8_t, 0, UINT8_MAX)                                                               \
	X(i16, int16_t, INT16_MIN, INT16_MAX)                                                      \
	X(u16, uint16_t, 0, UINT16_MAX)                                                            \
	X(i32, int32_t, INT32_MIN, INT32_MAX)                                                      \
	X(u32, uint32_t, 0, UINT32_MAX)                                                            \
	X(i64, int64_t, INT64_MIN, INT64_MAX)

#define X(name, ctype, lo, hi)                                                                     \
	static int64_t load_i64_##name(const void *at)                                             \
	{                                                                                          \
		ctype v;                                                                           \
		memcpy(&v, at, sizeof v);                                                          \
		return (int64_t)v;                                                                 \
	}                                                                                          \
	static double load_f64_##name(const void *at)                                              \
	{                                                                                          \
		return (double)load_i64_##name(at);                                                \
	}                                                                                          \
	static void store_i64_##name(void *at, int64_t v)                                          \
	{                                                                                          \
		const ctype c = (ctype)qn_clamp_i64(v, lo, hi);                                    \
		memcpy(at, &c, sizeof c);                                                          \
	}                                                                                          \
	static void store_f64_##name(void *at, double v)                                           \
	{                                                                                          \
		store_i64_##name(at, integer_of(v, lo, hi));                                       \
	}
INTEGER_TYPES(X)
#undef X

static uint64_t
bits_u64(const void *at)
{
	uint64_t v;

	memcpy(&v, at, sizeof v);
	return v;
}

static double
load_f64_u64(const void *at)
{
	return (double)bits_u64(at);
}

static int64_t
load_i64_u64(const void *at)
{
	const uint64_t v = bits_u64(at);

	return v > INT64_MAX ? INT64_MAX : (int64_t)v;
}

static void
store_i64_u64(void *at, int64_t v)
{
	const uint64_t u = v < 0 ? 0 : (uint64_t)v;

	memcpy(at, &u, sizeof u);
}

static void
store_f64_u64(void *at, double v)
{
	const double r = rint(v);
	uint64_t u = 0; /* NaN too */

	if (r >= 0x1p64)
		u = UINT64_MAX;
	else if (r > 0.0)
		u = (uint64_t)r;

	memcpy(at, &u, sizeof u);
}

static double
load_f64_f32(const void *at)
{
	float v;

	memcpy(&v, at, sizeof v);
	return (double)v;
}

static double
load_f64_f64(const void *at)
{
	double v;

	memcpy(&v, at, sizeof v);
	return v;
}

static void
store_f64_f32(void *at, double v)
{
	const float f = (float)qn_round_to(QN_PLAIN_f32, v);

	memcpy(at, &f, sizeof f);
}

static void
store_f64_f64(void *at, double v)
{
	memcpy(at, &v, sizeof v);
}

/* One rounding: an int64 of more than 53 bits would be rounded twice on the way through a
 * double. */
static void
store_i64_f32(void *at, int64_t v)
{
	const float f = (float)v;

	memcpy(at, &f, sizeof f);
}

static void
store_i64_f64(void *at, int64_t v)
{
	store_f64_f64(at, (double)v);
}

#define X(name)                                                                                    \
	static double load_f64_##name(const void *at)                                              \
	{                                                                                          \
		uint16_t v;                                                                        \
		memcpy(&v, at, sizeof v);                                                          \
		return qn_half_value(QN_PLAIN_##name, v);                                          \
	}                                                                                          \
	static void store_f64_##name(void *at, double v)                                           \
	{                                                                                          \
		const uint16_t bits = qn_half_bits(QN_PLAIN_##name, v);                            \
		memcpy(at, &bits, sizeof bits);                                                    \
	}                                                                                          \
	static void store_i64_##name(void *at, int64_t v)                                          \
	{                                                                                          \
		store_f64_##name(at, (double)v);                                                   \
	}
X(f16)
X(bf16)
#undef X

#define X(name)                                                                                    \
	static int64_t load_i64_##name(const void *at)                                             \
	{                                                                                          \
		return truncated(load_f64_##name(at));                                             \
	}
X(f16)
X(bf16)
X(f32)
X(f64)
#undef X

static const row rows[QN_NPLAIN] = {
#define X(name, bytes, bits, is_float, is_signed)                                                  \
	[QN_PLAIN_##name] = {load_f64_##name, load_i64_##name, store_f64_##name, store_i64_##name},
	QN_PLAIN_TYPES(X)
#undef X
};

/* ---- access ---- */

static const char *
element(const qn_tensor *x, int64_t i)
{
	return (const char *)x->data + (size_t)i * qn_elem_bytes(x->type->elem);
}

double
qn_tensor_f64(const qn_tensor *x, int64_t i)
{
	return rows[x->type->elem->plain].load_f64(element(x, i));
}

int64_t
qn_tensor_i64(const qn_tensor *x, int64_t i)
{
	return rows[x->type->elem->plain].load_i64(element(x, i));
}

int64_t
qn_tensor_bits64(const qn_tensor *x, int64_t i)
{
	int64_t v;

	if (x->type->elem->plain != QN_PLAIN_u64)
		return qn_tensor_i64(x, i);
	memcpy(&v, element(x, i), sizeof v);
	return v;
}

/* Integers: nearest, ties to even, limited to the type's range, NaN gives 0. */
void
qn_store_f64(void *data, qn_plain p, int64_t i, double v)
{
	rows[p].store_f64((char *)data + (size_t)i * qn_plain_table[p].bytes, v);
}

/* Limited to the type's range. */
void
qn_store_i64(void *data, qn_plain p, int64_t i, int64_t v)
{
	rows[p].store_i64((char *)data + (size_t)i * qn_plain_table[p].bytes, v);
}

/* ---- tensors ---- */

size_t
qn_type_bytes(const qn_type *type)
{
	const int64_t n = qn_type_count(type);

	return n < 0 ? 0 : (size_t)n * qn_elem_bytes(type->elem);
}

qn_tensor *
qn_tensor_view(qn_arena *a, const qn_type *type, const void *data)
{
	qn_tensor *x = QN_NEW(a, qn_tensor, 1);

	*x = (qn_tensor){.type = type, .data = data, .bytes = qn_type_bytes(type)};
	return x;
}

qn_tensor *
qn_tensor_new(qn_arena *a, const qn_type *type, void **data)
{
	*data = qn_arena_alloc(a, qn_type_bytes(type) + 1,
			       1); /* an empty tensor has an address too */
	return qn_tensor_view(a, type, *data);
}

qn_tensor *
qn_tensor_of(qn_arena *a, const qn_type *type, const void *data)
{
	void *copy;
	qn_tensor *x = qn_tensor_new(a, type, &copy);

	if (x->bytes > 0)
		memcpy(copy, data, x->bytes);
	return x;
}

/* The data itself when it is of the wanted type and aligned for it, else a converted copy. */
static const void *
as_plain(qn_arena *a, const qn_tensor *x, qn_plain to)
{
	const qn_plain from = x->type->elem->plain;
	const size_t bytes = qn_plain_table[to].bytes;
	const int64_t n = qn_type_count(x->type);

	if (from == to && (uintptr_t)x->data % bytes == 0)
		return x->data;
	void *out = qn_arena_alloc(a, (size_t)(n > 0 ? n : 0) + 1, bytes);
	for (int64_t i = 0; i < n; i++) {
		if (qn_plain_table[to].is_float || qn_plain_table[from].is_float)
			qn_store_f64(out, to, i, qn_tensor_f64(x, i));
		else
			qn_store_i64(out, to, i, qn_tensor_i64(x, i));
	}
	return out;
}

const float *
qn_tensor_as_f32(qn_arena *a, const qn_tensor *x)
{
	return as_plain(a, x, QN_PLAIN_f32);
}

const int32_t *
qn_tensor_as_i32(qn_arena *a, const qn_tensor *x)
{
	return as_plain(a, x, QN_PLAIN_i32);
}

const int8_t *
qn_tensor_as_i8(qn_arena *a, const qn_tensor *x)
{
	return as_plain(a, x, QN_PLAIN_i8);
}

/* How many of the first n floats, whole blocks of 16, are finite: up to the first block with another. */
static int64_t
finite_blocks(const char *x, int64_t n)
{
	enum { BLOCK = 16 };
	const uint32_t exponent = 0x7f800000u;
	int64_t i = 0;

	for (; i + BLOCK <= n; i += BLOCK) {
		uint32_t bits[BLOCK], other = 0;

		memcpy(bits, x + (size_t)i * sizeof *bits, sizeof bits);
		for (int j = 0; j < BLOCK; j++)
			other |= (bits[j] & exponent) == exponent ? 1u : 0u;
		if (other != 0)
			break;
	}
	return i;
}

int64_t
qn_tensor_find_nonfinite(const qn_tensor *x)
{
	const int64_t n = qn_type_count(x->type);
	const qn_plain plain = x->type->elem->plain;

	if (!qn_plain_table[plain].is_float)
		return -1;
	for (int64_t i = plain == QN_PLAIN_f32 ? finite_blocks(x->data, n) : 0; i < n; i++)
		if (!isfinite(qn_tensor_f64(x, i)))
			return i;
	return -1;
}

bool
qn_tensor_equal(const qn_tensor *a, const qn_tensor *b)
{
	return a->type == b->type && a->layout == b->layout && a->bytes == b->bytes &&
	       (a->bytes == 0 || memcmp(a->data, b->data, a->bytes) == 0);
}

/* Four bits at a time; row k is the remainder of k * x^28 by the polynomial 0x04C11DB7,
 * reflected. */
uint32_t
qn_crc32(uint32_t crc, const void *data, size_t bytes)
{
	static const uint32_t remainder[16] = {
		0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
		0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
		0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
	};
	const uint8_t *p = data;

	crc = ~crc;
	for (size_t i = 0; i < bytes; i++) {
		crc ^= p[i];
		crc = crc >> 4 ^ remainder[crc & 15];
		crc = crc >> 4 ^ remainder[crc & 15];
	}
	return ~crc;
}
