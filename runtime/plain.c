/* SPDX-License-Identifier: Apache-2.0 */
/* plain.c - elements of plain types as numbers of 64 bits and back (plain.h). */
#include "runtime/plain.h"

#include <math.h>
#include <string.h>

qn_plain
qn_plain_of(const qn_type *type)
{
	if (type->is_tuple)
		return QN_NPLAIN;
	if (type->elem->kind == QN_ELEM_CALIBRATED)
		return type->elem->expressed;
	return type->elem->kind == QN_ELEM_PLAIN ? type->elem->plain : QN_NPLAIN;
}

qn_number_kind
qn_number_kind_of(qn_plain p)
{
	const qn_plain_info *info = &qn_plain_table[p];

	if (info->is_float)
		return QN_KIND_REAL;
	return info->is_signed ? QN_KIND_SIGNED : QN_KIND_UNSIGNED;
}

/* Types whose elements are numbers of C: rows (name, C type, member, wide type). */
#define NATIVE_TYPES(X)                                                                            \
	X(bool, uint8_t, u, uint64_t)                                                              \
	X(i2, int8_t, i, int64_t)                                                                  \
	X(u2, uint8_t, u, uint64_t)                                                                \
	X(i4, int8_t, i, int64_t)                                                                  \
	X(u4, uint8_t, u, uint64_t)                                                                \
	X(i8, int8_t, i, int64_t)                                                                  \
	X(u8, uint8_t, u, uint64_t)                                                                \
	X(i16, int16_t, i, int64_t)                                                                \
	X(u16, uint16_t, u, uint64_t)                                                              \
	X(i32, int32_t, i, int64_t)                                                                \
	X(u32, uint32_t, u, uint64_t)                                                              \
	X(i64, int64_t, i, int64_t)                                                                \
	X(u64, uint64_t, u, uint64_t)                                                              \
	X(f32, float, f, double)                                                                   \
	X(f64, double, f, double)

#define LOAD(name, ctype, member, wide)                                                            \
	static void load_##name(const void *data, int64_t at, int64_t step, int64_t n,             \
				qn_number *out)                                                    \
	{                                                                                          \
		const ctype *x = data;                                                             \
                                                                                                   \
		for (int64_t i = 0; i < n; i++)                                                    \
			out[i].member = (wide)x[at + i * step];                                    \
	}
/* NOLINTNEXTLINE(bugprone-macro-parentheses) */
NATIVE_TYPES(LOAD)

#define LOAD_HALF(name)                                                                            \
	static void load_##name(const void *data, int64_t at, int64_t step, int64_t n,             \
				qn_number *out)                                                    \
	{                                                                                          \
		const uint16_t *x = data;                                                          \
                                                                                                   \
		for (int64_t i = 0; i < n; i++)                                                    \
			out[i].f = qn_half_value(QN_PLAIN_##name, x[at + i * step]);               \
	}
LOAD_HALF(f16)
LOAD_HALF(bf16)

void
qn_plain_load(qn_plain p, const void *data, int64_t at, int64_t step, int64_t n, qn_number *out)
{
	static void (*const load[QN_NPLAIN])(const void *, int64_t, int64_t, int64_t,
					     qn_number *) = {
#define X(name, bytes, bits, is_float, is_signed) [QN_PLAIN_##name] = load_##name,
		QN_PLAIN_TYPES(X)
#undef X
	};

	load[p](data, at, step, n, out);
}

/* The low bits of v, sign-extended for signed types: what an element of the type holds. */
static uint64_t
wrapped(uint64_t v, const qn_plain_info *p)
{
	uint64_t sign = UINT64_C(1) << (p->bits - 1);

	if (p->bits == 64)
		return v;
	v &= 2 * sign - 1;
	return p->is_signed ? (v ^ sign) - sign : v;
}

void
qn_plain_store(qn_plain p, void *data, int64_t at, int64_t n, const qn_number *in)
{
	const qn_plain_info *info = &qn_plain_table[p];

	if (info->is_float) {
		for (int64_t i = 0; i < n; i++)
			qn_store_f64(data, p, at + i, in[i].f);
		return;
	}
	for (int64_t i = 0; i < n; i++) {
		uint64_t v = wrapped(in[i].u, info);
		void *to = (char *)data + (size_t)(at + i) * info->bytes;
		const uint8_t v8 = (uint8_t)v;
		const uint16_t v16 = (uint16_t)v;
		const uint32_t v32 = (uint32_t)v;

		if (info->bytes == 1)
			memcpy(to, &v8, sizeof v8);
		else if (info->bytes == 2)
			memcpy(to, &v16, sizeof v16);
		else if (info->bytes == 4)
			memcpy(to, &v32, sizeof v32);
		else
			memcpy(to, &v, sizeof v);
	}
}

/* x toward zero, limited to an integer type; the bits of the number. */
static uint64_t
truncated(double x, const qn_plain_info *p)
{
	int bits = p->bits - (p->is_signed ? 1 : 0);
	double end = ldexp(1.0, bits);
	uint64_t most = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;

	if (isnan(x))
		return 0;
	if (x >= end)
		return most;
	if (p->is_signed)
		return x <= -end ? ~most : (uint64_t)(int64_t)x;
	return x <= 0.0 ? 0 : (uint64_t)x;
}

/* A double that rounds to every narrower type as v does: where v has more than 53 bits, the last one
 * that is kept records that others were not 0 (rounding to odd). */
static double
to_real(uint64_t v)
{
	if (v >= UINT64_C(1) << 53)
		v = (v & ~UINT64_C(2047)) | (uint64_t)((v & 2047) != 0) << 11;
	return (double)v;
}

static double
nearest_real(qn_number x, qn_number_kind kind, qn_plain to)
{
	if (kind == QN_KIND_UNSIGNED)
		return to == QN_PLAIN_f64 ? (double)x.u : to_real(x.u);
	if (to == QN_PLAIN_f64)
		return (double)x.i;
	return x.i < 0 ? -to_real(0 - x.u) : to_real(x.u);
}

void
qn_plain_convert(qn_plain from, qn_plain to, int64_t n, qn_number *x)
{
	const qn_plain_info *p = &qn_plain_table[to];
	const qn_number_kind kind = qn_number_kind_of(from);

	for (int64_t i = 0; i < n; i++) {
		bool real = kind == QN_KIND_REAL;

		if (to == QN_PLAIN_bool)
			x[i].u = real ? !(x[i].f >= 0.0 && x[i].f <= 0.0) : x[i].u != 0;
		else if (real && !p->is_float)
			x[i].u = truncated(x[i].f, p);
		else if (!real && p->is_float)
			x[i].f = nearest_real(x[i], kind, to);
	}
}

void
qn_plain_bytes_of(qn_plain to, double v, void *bytes)
{
	qn_number x = {.f = v};

	qn_plain_convert(QN_PLAIN_f64, to, 1, &x);
	qn_plain_store(to, bytes, 0, 1, &x);
}
