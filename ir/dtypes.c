/* SPDX-License-Identifier: Apache-2.0 */
/* dtypes.c - see dtypes.h. */
#include "ir/dtypes.h"

#include <math.h>
#include <string.h>

#define ROW(name, torch, safetensors, ggml, plain, small, bytes)                                   \
	{                                                                                          \
		name, torch, safetensors, ggml, QN_PLAIN_##plain, QN_SMALL_##small, bytes          \
	}

static const qn_dtype rows[] = {
	ROW("f32", "float32", "F32", 0, f32, NONE, 4),
	ROW("f16", "float16", "F16", 1, f16, NONE, 2),
	ROW("bf16", "bfloat16", "BF16", 30, bf16, NONE, 2),
	ROW("f64", "float64", "F64", 28, f64, NONE, 8),
	ROW("i8", "int8", "I8", 24, i8, NONE, 1),
	ROW("u8", "uint8", "U8", -1, u8, NONE, 1),
	ROW("i16", "int16", "I16", 25, i16, NONE, 2),
	ROW("u16", "uint16", "U16", -1, u16, NONE, 2),
	ROW("i32", "int32", "I32", 26, i32, NONE, 4),
	ROW("u32", "uint32", "U32", -1, u32, NONE, 4),
	ROW("i64", "int64", "I64", 27, i64, NONE, 8),
	ROW("u64", "uint64", "U64", -1, u64, NONE, 8),
	ROW("bool", "bool", "BOOL", -1, bool, NONE, 1),
	ROW("f8E4M3FN", "float8_e4m3fn", "F8_E4M3", -1, u8, E4M3, 1),
	ROW("f8E5M2", "float8_e5m2", "F8_E5M2", -1, u8, E5M2, 1),
	ROW("f8E4M3FNUZ", "float8_e4m3fnuz", NULL, -1, u8, E4M3FNUZ, 1),
	ROW("f8E5M2FNUZ", "float8_e5m2fnuz", NULL, -1, u8, E5M2FNUZ, 1),
};

const qn_dtype *
qn_dtype_row(size_t i)
{
	return i < QN_COUNT(rows) ? &rows[i] : NULL;
}

#define BY(member, compared)                                                                       \
	for (size_t i = 0; i < QN_COUNT(rows); i++)                                                \
		if (compared)                                                                      \
			return &rows[i];                                                           \
	return NULL

const qn_dtype *
qn_dtype_by_name(const char *name)
{
	BY(name, strcmp(rows[i].name, name) == 0);
}

const qn_dtype *
qn_dtype_by_torch(const char *name)
{
	BY(torch, strcmp(rows[i].torch, name) == 0);
}

const qn_dtype *
qn_dtype_by_safetensors(const char *name)
{
	BY(safetensors, rows[i].safetensors != NULL && strcmp(rows[i].safetensors, name) == 0);
}

const qn_dtype *
qn_dtype_by_ggml(uint32_t type)
{
	BY(ggml, rows[i].ggml >= 0 && (uint32_t)rows[i].ggml == type);
}

const qn_dtype *
qn_dtype_of_plain(qn_plain p)
{
	BY(plain, rows[i].plain == p && rows[i].small == QN_SMALL_NONE);
}

bool
qn_dtype_is_float(const qn_dtype *t)
{
	return t->small != QN_SMALL_NONE || qn_plain_table[t->plain].is_float;
}

/* The largest finite value of a float with these bits of exponent and fraction. */
static double
largest(int exponent_bits, int fraction_bits)
{
	const int bias = (1 << (exponent_bits - 1)) - 1;

	return ldexp(2 - ldexp(1, -fraction_bits), bias);
}

static double
small_max(qn_small_float f)
{
	double max = 0;

	for (int bits = 0; bits < 128; bits++) {
		const double v = qn_small_value(f, (uint8_t)bits);

		if (isfinite(v) && v > max)
			max = v;
	}
	return max;
}

void
qn_dtype_range(const qn_dtype *t, double *min, double *max, double *epsilon)
{
	const qn_plain_info *p = &qn_plain_table[t->plain];
	static const struct {
		qn_plain plain;
		int exponent, fraction;
	} floats[] = {{QN_PLAIN_f16, 5, 10},
		      {QN_PLAIN_bf16, 8, 7},
		      {QN_PLAIN_f32, 8, 23},
		      {QN_PLAIN_f64, 11, 52}};

	*epsilon = 0;
	*max = ldexp(1, p->bits - (p->is_signed ? 1 : 0)) - 1;
	*min = p->is_signed ? -*max - 1 : 0;
	if (t->small != QN_SMALL_NONE) {
		*max = small_max(t->small);
		*min = -*max;
		*epsilon = ldexp(1, -qn_small_table[t->small].fraction);
	}
	for (size_t i = 0; i < QN_COUNT(floats); i++)
		if (t->small == QN_SMALL_NONE && floats[i].plain == t->plain) {
			*max = largest(floats[i].exponent, floats[i].fraction);
			*min = -*max;
			*epsilon = ldexp(1, -floats[i].fraction);
		}
}

uint64_t
qn_little_get(const void *data, size_t bytes)
{
	const uint8_t *p = data;
	uint64_t bits = 0;

	for (size_t i = bytes; i-- > 0;)
		bits = bits << 8 | p[i];
	return bits;
}

void
qn_little_put(void *data, size_t bytes, uint64_t bits)
{
	uint8_t *p = data;

	for (size_t i = 0; i < bytes; i++)
		p[i] = (uint8_t)(bits >> 8 * i & 255);
}

static double
signed_value(uint64_t bits, unsigned width)
{
	const uint64_t sign = UINT64_C(1) << (width - 1);

	/* Of a negative number: the bits and those above them, all 1. */
	if ((bits & sign) != 0)
		return -(double)((~bits & (sign | (sign - 1))) + 1);
	return (double)bits;
}

double
qn_dtype_load(const qn_dtype *t, const void *data, int64_t i)
{
	const uint64_t bits = qn_little_get((const uint8_t *)data + i * t->bytes, t->bytes);
	const uint32_t low = (uint32_t)bits;
	double d;
	float f;

	if (t->small != QN_SMALL_NONE)
		return qn_small_value(t->small, (uint8_t)bits);
	if (t->plain == QN_PLAIN_f16 || t->plain == QN_PLAIN_bf16)
		return qn_half_value(t->plain, (uint16_t)bits);
	if (t->plain == QN_PLAIN_f32) {
		memcpy(&f, &low, sizeof f);
		return (double)f;
	}
	if (t->plain == QN_PLAIN_f64) {
		memcpy(&d, &bits, sizeof d);
		return d;
	}
	return qn_plain_table[t->plain].is_signed ? signed_value(bits, 8u * t->bytes)
						  : (double)bits;
}

/* The code of a small float nearest to v, of two the even one; beyond the range the largest. */
static uint8_t
small_bits(qn_small_float f, double v)
{
	const bool negative = signbit(v) != 0;
	const double a = fabs(v);
	uint8_t best = 0;

	if (isnan(v)) /* the last code of each but E4M3FNUZ and E5M2FNUZ, whose -0 it is */
		return isnan(qn_small_value(f, 0x80)) ? 0x80 : 0x7f;
	for (int k = 1; k < 128; k++) {
		const double have = qn_small_value(f, best), next = qn_small_value(f, (uint8_t)k);

		if (!isfinite(next))
			break;
		if (fabs(next - a) < fabs(have - a) ||
		    (fabs(next - a) == fabs(have - a) && k % 2 == 0))
			best = (uint8_t)k;
	}
	if (negative && (best != 0 || !isnan(qn_small_value(f, 0x80))))
		best = (uint8_t)(best | 0x80);
	return best;
}

static uint64_t
bits_of(const qn_dtype *t, double v)
{
	uint64_t bits = 0;
	uint32_t low;

	if (t->small != QN_SMALL_NONE)
		return small_bits(t->small, v);
	if (t->plain == QN_PLAIN_f16 || t->plain == QN_PLAIN_bf16)
		return qn_half_bits(t->plain, v);
	if (t->plain == QN_PLAIN_f32) {
		const float f = (float)v;

		memcpy(&low, &f, sizeof low);
		return low;
	}
	if (t->plain == QN_PLAIN_f64) {
		memcpy(&bits, &v, sizeof bits);
		return bits;
	}
	return v < 0 ? (uint64_t)(int64_t)rint(v) : (uint64_t)rint(v);
}

void
qn_dtype_store(const qn_dtype *t, void *data, int64_t i, double v)
{
	qn_little_put((uint8_t *)data + i * t->bytes, t->bytes, bits_of(t, v));
}

double
qn_dtype_round(const qn_dtype *t, double v)
{
	uint8_t bytes[8];

	qn_dtype_store(t, bytes, 0, v);
	return qn_dtype_load(t, bytes, 0);
}
