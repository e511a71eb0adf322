/* SPDX-License-Identifier: Apache-2.0 */
/* layout_k.c - GGUF's blocks of 256 with scales of sub-blocks: their fields, unpacked.
 *
 *   q2_K  scales[16].qs[64].d dmin            q4_K  d dmin.scales[12].qs[128]
 *   q3_K  hmask[32].qs[64].scales[12].d       q5_K  d dmin.scales[12].qh[32].qs[128]
 *                                             q6_K  ql[128].qh[64].scales[16].d
 *
 * A field of 2 bits: bits 2s of byte l of half g hold element 128g + 32s + l.  A scale is an integer
 * times d, an offset an integer times dmin, subtracted; both products are exact in f32. */
#include <string.h>

#include "ir/layout_impl.h"

enum { N = QN_K };

/* ---- the 8 scales and offsets of 6 bits of q4_K and q5_K ---- */

qn_scales_6
qn_scales_6_get(const uint8_t bytes[12])
{
	qn_scales_6 s;

	for (int t = 0; t < 4; t++) {
		const int high = bytes[t + 8];

		s.scale[t] = bytes[t] & 63;
		s.offset[t] = bytes[t + 4] & 63;
		s.scale[t + 4] = (uint8_t)((high & 15) | bytes[t] >> 6 << 4);
		s.offset[t + 4] = (uint8_t)(high >> 4 | bytes[t + 4] >> 6 << 4);
	}
	return s;
}

void
qn_scales_6_put(const qn_scales_6 *s, uint8_t bytes[12])
{
	for (int t = 0; t < 4; t++) {
		bytes[t] = (uint8_t)(s->scale[t] | s->scale[t + 4] >> 4 << 6);
		bytes[t + 4] = (uint8_t)(s->offset[t] | s->offset[t + 4] >> 4 << 6);
		bytes[t + 8] = (uint8_t)((s->scale[t + 4] & 15) | (s->offset[t + 4] & 15) << 4);
	}
}

/* ---- unpack ---- */

/* The 2-bit field of element e. */
static int
two_bits(const uint8_t *qs, int e)
{
	return qs[e / 128 * 32 + e % 32] >> 2 * (e % 128 / 32) & 3;
}

static void
unpack_q2_K(const uint8_t *block, qn_unpacked *out)
{
	const float d = qn_half_get(block + 80), dmin = qn_half_get(block + 82);

	for (int t = 0; t < 16; t++) {
		out->d[t] = d * (float)(block[t] & 15);
		out->m[t] = -(dmin * (float)(block[t] >> 4));
	}
	for (int e = 0; e < N; e++)
		out->q[e] = (int8_t)two_bits(block + 16, e);
}

/* Scale t of q3_K: its low 4 bits are in a half of byte t % 8, the upper 2 in byte 8 + t % 4. */
static int
scale_q3_K(const uint8_t *s, int t)
{
	const int low = t < 8 ? s[t] & 15 : s[t - 8] >> 4;

	return (low | (s[8 + t % 4] >> 2 * (t / 4) & 3) << 4) - 32;
}

static void
unpack_q3_K(const uint8_t *block, qn_unpacked *out)
{
	const float d = qn_half_get(block + 108);

	for (int t = 0; t < 16; t++)
		out->d[t] = d * (float)scale_q3_K(block + 96, t);
	for (int e = 0; e < N; e++) {
		const int high = block[e % 32] >> e / 32 & 1;

		out->q[e] = (int8_t)(two_bits(block + 32, e) - (high ? 0 : 4));
	}
}

/* The 4-bit field of element e of q4_K and q5_K: 64 elements share 32 bytes. */
static int
four_bits(const uint8_t *qs, int e)
{
	const int byte = qs[e / 64 * 32 + e % 32];

	return e / 32 % 2 == 0 ? byte & 15 : byte >> 4;
}

static void
scales_6(const uint8_t *block, qn_unpacked *out)
{
	const float d = qn_half_get(block), dmin = qn_half_get(block + 2);
	const qn_scales_6 s = qn_scales_6_get(block + 4);

	for (int t = 0; t < 8; t++) {
		out->d[t] = d * (float)s.scale[t];
		out->m[t] = -(dmin * (float)s.offset[t]);
	}
}

static void
unpack_q4_K(const uint8_t *block, qn_unpacked *out)
{
	scales_6(block, out);
	for (int e = 0; e < N; e++)
		out->q[e] = (int8_t)four_bits(block + 16, e);
}

static void
unpack_q5_K(const uint8_t *block, qn_unpacked *out)
{
	scales_6(block, out);
	for (int e = 0; e < N; e++) {
		const int high = block[16 + e % 32] >> e / 32 & 1;

		out->q[e] = (int8_t)(four_bits(block + 48, e) | high << 4);
	}
}

static void
unpack_q6_K(const uint8_t *block, qn_unpacked *out)
{
	const float d = qn_half_get(block + 208);

	for (int t = 0; t < 16; t++)
		out->d[t] = d * (float)qn_dtype_load(qn_dtype_by_name("i8"), block + 192, t);
	for (int e = 0; e < N; e++) {
		const int g = e / 128, u = e % 128 / 32, l = e % 32;
		const int byte = block[64 * g + l + 32 * (u % 2)];
		const int low = u < 2 ? byte & 15 : byte >> 4;

		out->q[e] = (int8_t)((low | two_bits(block + 128, e) << 4) - 32);
	}
}

#define FORM(id, size, elements, has_offset, type, planar_name)                                    \
	const qn_packed qn_packed_##id = {.bytes = (size),                                         \
					  .sub = (elements),                                       \
					  .offset = (has_offset),                                  \
					  .ggml = (type),                                          \
					  .planar = (planar_name),                                 \
					  .unpack = unpack_##id,                                   \
					  .quantize = qn_quantize_##id};
FORM(q2_K, 84, 16, true, 10, "BlockScaledLayout")
FORM(q3_K, 110, 16, false, 11, "BlockScaledLayout")
FORM(q4_K, 144, 32, true, 12, "SuperBlockOffsetScaled_4_6_Layout")
FORM(q5_K, 176, 32, true, 13, "BlockScaledLayout")
FORM(q6_K, 210, 16, false, 14, "BlockScaledLayout")

/* ---- SuperBlockOffsetScaled_4_6: the fields of q4_K as planes ---- */

/* Planes in the order of the row of the layout. */
enum { D, DMIN, SCALES_HIGH, SCALES_LOW, MINS_HIGH, MINS_LOW, QS };

/* 8 integers of 6 bits: low halves in 4 bytes, two in each; upper 2 bits in 2 bytes, four in each. */
static void
split_6(const uint8_t value[8], uint8_t *high, uint8_t *low)
{
	memset(high, 0, 2);
	memset(low, 0, 4);
	for (int t = 0; t < 8; t++) {
		low[t / 2] |= (uint8_t)((value[t] & 15) << 4 * (t % 2));
		high[t / 4] |= (uint8_t)(value[t] >> 4 << 2 * (t % 4));
	}
}

static void
join_6(const uint8_t *high, const uint8_t *low, uint8_t value[8])
{
	for (int t = 0; t < 8; t++)
		value[t] = (uint8_t)((low[t / 2] >> 4 * (t % 2) & 15) |
				     (high[t / 4] >> 2 * (t % 4) & 3) << 4);
}

void
qn_super_to_planes(const uint8_t *block, uint8_t *const plane[7], int64_t i)
{
	const qn_scales_6 s = qn_scales_6_get(block + 4);

	memcpy(plane[D] + 2 * i, block, 2);
	memcpy(plane[DMIN] + 2 * i, block + 2, 2);
	split_6(s.scale, plane[SCALES_HIGH] + 2 * i, plane[SCALES_LOW] + 4 * i);
	split_6(s.offset, plane[MINS_HIGH] + 2 * i, plane[MINS_LOW] + 4 * i);
	for (int k = 0; k < 128; k++)
		plane[QS][128 * i + k] = (uint8_t)(four_bits(block + 16, 2 * k) |
						   four_bits(block + 16, 2 * k + 1) << 4);
}

static qn_scales_6
super_scales(const uint8_t *const plane[7], int64_t i)
{
	qn_scales_6 s = {{0}, {0}};

	join_6(plane[SCALES_HIGH] + 2 * i, plane[SCALES_LOW] + 4 * i, s.scale);
	join_6(plane[MINS_HIGH] + 2 * i, plane[MINS_LOW] + 4 * i, s.offset);
	return s;
}

void
qn_super_from_planes(const uint8_t *const plane[7], int64_t i, uint8_t *block)
{
	const uint8_t *qs = plane[QS] + 128 * i;
	const qn_scales_6 s = super_scales(plane, i);

	qn_scales_6_put(&s, block + 4);
	for (int e = 0; e < N; e++)
		if (e / 32 % 2 == 0)
			block[16 + e / 64 * 32 + e % 32] =
				(uint8_t)(qn_nibble(qs, e, false) | qn_nibble(qs, e + 32, false)
									    << 4);
}
