/* SPDX-License-Identifier: Apache-2.0 */
/* layout_ggml.c - GGUF's blocks of 32: their fields, unpacked and packed, and the reference's
 * rounding (ggml's quantize_row_*_ref).
 *
 *   q4_0  d.qs[16]     q4_1  d m.qs[16]     q5_0  d.qh[4].qs[16]     q5_1  d m.qh[4].qs[16]     q8_0  d.qs[32]
 *
 * d and m are f16.  Byte j of 4-bit fields holds element j in its low half and element j + 16 in its
 * high half; bit e of qh is bit 4 of element e. */
#include <math.h>
#include <string.h>

#include "ir/layout_impl.h"

enum { N = 32, HALF = N / 2 };

float
qn_half_get(const uint8_t *bytes)
{
	return (float)qn_half_value(QN_PLAIN_f16, (uint16_t)qn_little_get(bytes, 2));
}

void
qn_half_put(uint8_t *bytes, float v)
{
	qn_little_put(bytes, 2, qn_half_bits(QN_PLAIN_f16, (double)v));
}

/* ---- fields ---- */

/* Where the fields of a form are; -1: it has none. */
typedef struct fields {
	int32_t m, qh, qs; /* offsets; d is at 0 */
	int32_t bias;      /* of a stored value: the value is what is stored, minus this */
} fields;

static const fields of_q4_0 = {-1, -1, 2, 8}, of_q4_1 = {2, -1, 4, 0}, of_q5_0 = {-1, 2, 6, 16},
		    of_q5_1 = {2, 4, 8, 0};

static void
unpack(const fields *f, const uint8_t *block, qn_unpacked *out)
{
	const uint32_t high = f->qh >= 0 ? (uint32_t)qn_little_get(block + f->qh, 4) : 0;

	out->d[0] = qn_half_get(block);
	if (f->m >= 0)
		out->m[0] = qn_half_get(block + f->m);
	for (int e = 0; e < N; e++) {
		const int byte = block[f->qs + e % HALF];
		const int low = e < HALF ? byte & 15 : byte >> 4;

		out->q[e] = (int8_t)((low | (int)(high >> e & 1) << 4) - f->bias);
	}
}

static void
pack(const fields *f, const qn_unpacked *in, uint8_t *block)
{
	uint32_t high = 0;

	qn_half_put(block, in->d[0]);
	if (f->m >= 0)
		qn_half_put(block + f->m, in->m[0]);
	for (int e = 0; e < HALF; e++) {
		const unsigned low = (unsigned)(in->q[e] + f->bias);
		const unsigned up = (unsigned)(in->q[e + HALF] + f->bias);

		block[f->qs + e] = (uint8_t)((low & 15) | (up & 15) << 4);
		high |= (uint32_t)(low >> 4 & 1) << e | (uint32_t)(up >> 4 & 1) << (e + HALF);
	}
	if (f->qh >= 0)
		qn_little_put(block + f->qh, 4, high);
}

/* ---- rounding: 1/d is computed from the f32 d, before that becomes f16 ---- */

/* v without its fraction, within lo..hi; also where a tiny d has made it infinite or NaN. */
static int
truncated(float v, int lo, int hi)
{
	if (!(v > (float)lo))
		return lo;
	return v < (float)hi ? (int)v : hi;
}

/* d from the entry of the largest magnitude with its sign, the first one: it becomes -bias. */
static void
quantize_symmetric(const fields *f, const float *x, uint8_t *block)
{
	const int most = 2 * f->bias - 1;
	float largest = 0;
	qn_unpacked u;

	for (int i = 0; i < N; i++)
		if (fabsf(x[i]) > fabsf(largest))
			largest = x[i];
	const float d = largest / (float)-f->bias, inverse = d != 0.0F ? 1.0F / d : 0.0F;
	u.d[0] = d;
	for (int i = 0; i < N; i++) {
		const float v = x[i] * inverse + ((float)f->bias + 0.5F);

		u.q[i] = (int8_t)(truncated(v, 0, most) - f->bias);
	}
	pack(f, &u, block);
}

/* d and m from the least and the largest entry. */
static void
quantize_offset(const fields *f, const float *x, uint8_t *block)
{
	const int most = f->qh >= 0 ? 31 : 15;
	float least = x[0], largest = x[0];
	qn_unpacked u;

	for (int i = 1; i < N; i++) {
		least = x[i] < least ? x[i] : least;
		largest = x[i] > largest ? x[i] : largest;
	}
	const float d = (largest - least) / (float)most, inverse = d != 0.0F ? 1.0F / d : 0.0F;
	u.d[0] = d;
	u.m[0] = least;
	for (int i = 0; i < N; i++)
		u.q[i] = (int8_t)truncated((x[i] - least) * inverse + 0.5F, 0, most);
	pack(f, &u, block);
}

#define FORM(id, size, has_offset, type, planar_name, rounding)                                    \
	static void unpack_##id(const uint8_t *block, qn_unpacked *out)                            \
	{                                                                                          \
		unpack(&of_##id, block, out);                                                      \
	}                                                                                          \
	static void pack_##id(const qn_unpacked *in, uint8_t *block)                               \
	{                                                                                          \
		pack(&of_##id, in, block);                                                         \
	}                                                                                          \
	static void quantize_##id(const float *x, uint8_t *block)                                  \
	{                                                                                          \
		rounding(&of_##id, x, block);                                                      \
	}                                                                                          \
	const qn_packed qn_packed_##id = {.bytes = (size),                                         \
					  .sub = N,                                                \
					  .offset = (has_offset),                                  \
					  .exact_half = true,                                      \
					  .ggml = (type),                                          \
					  .planar = (planar_name),                                 \
					  .unpack = unpack_##id,                                   \
					  .quantize = quantize_##id,                               \
					  .pack = pack_##id};
FORM(q4_0, 18, false, 2, "BlockScaledI4Layout", quantize_symmetric)
FORM(q4_1, 20, true, 3, "BlockScaledI4Layout", quantize_offset)
FORM(q5_0, 22, false, 6, "BlockScaledLayout", quantize_symmetric)
FORM(q5_1, 24, true, 7, "BlockScaledLayout", quantize_offset)

/* ---- q8_0 ---- */

static void
unpack_q8_0(const uint8_t *block, qn_unpacked *out)
{
	out->d[0] = qn_half_get(block);
	memcpy(out->q, block + 2, N);
}

static void
pack_q8_0(const qn_unpacked *in, uint8_t *block)
{
	qn_half_put(block, in->d[0]);
	memcpy(block + 2, in->q, N);
}

/* Halves go away from 0.  The sum is exact where it matters: below 2^23 a float has a last bit of 0.5 or less. */
static int
rounded_away(float v)
{
	const double half = v < 0.0F ? -0.5 : 0.5;

	return (int)((double)v + half);
}

static void
quantize_q8_0(const float *x, uint8_t *block)
{
	float largest = 0;
	qn_unpacked u;

	for (int i = 0; i < N; i++)
		largest = fabsf(x[i]) > largest ? fabsf(x[i]) : largest;
	const float d = largest / 127.0F, inverse = d != 0.0F ? 1.0F / d : 0.0F;
	u.d[0] = d;
	for (int i = 0; i < N; i++) {
		const float v = x[i] * inverse;

		u.q[i] = (int8_t)(v > -128.0F && v < 127.5F ? rounded_away(v)
				  : v > 0.0F                ? 127
				  : v < 0.0F                ? -128
							    : 0);
	}
	pack_q8_0(&u, block);
}

const qn_packed qn_packed_q8_0 = {.bytes = 34,
				  .sub = N,
				  .exact_half = true,
				  .ggml = 8,
				  .planar = "BlockScaledLayout",
				  .unpack = unpack_q8_0,
				  .quantize = quantize_q8_0,
				  .pack = pack_q8_0};
