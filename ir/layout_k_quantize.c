/* SPDX-License-Identifier: Apache-2.0 */
/* layout_k_quantize.c - the reference's rounding of GGUF's blocks of 256 (ggml's
 * quantize_row_q2_K_ref … q6_K_ref): layout_k_fit.c finds scale and offset of each sub-block; here they
 * are rounded, and the values for what is stored of them. */
#include <math.h>
#include <string.h>

#include "ir/layout_impl.h"
#include "ir/layout_k_fit.h"

enum { N = QN_K };

/* ---- blocks with offsets ---- */

typedef struct offsets {
	float scale[QN_SUBS_MOST], offset[QN_SUBS_MOST];
	float most_scale, most_offset;
	uint8_t q[N];
} offsets;

/* mean: weights are the root mean square of the group plus |x|, else |x|. */
static void
fit_all(const float *x, int each, const qn_fit_search *s, bool mean, offsets *o)
{
	o->most_scale = o->most_offset = 0;
	for (int t = 0; t < N / each; t++) {
		qn_fit_group g = {.n = each, .x = x + t * each};
		float squares = 0;

		for (int i = 0; i < each; i++)
			squares += g.x[i] * g.x[i];
		const float base = mean ? sqrtf(squares / (float)each) : 0;
		for (int i = 0; i < each; i++)
			g.w[i] = base + fabsf(g.x[i]);
		o->scale[t] = qn_fit_offset(&g, s, o->q + t * each, &o->offset[t]);
		o->most_scale = o->scale[t] > o->most_scale ? o->scale[t] : o->most_scale;
		o->most_offset = o->offset[t] > o->most_offset ? o->offset[t] : o->most_offset;
	}
}

/* Integers for the stored scale and offset; where that scale is 0, those of the search stay. */
static void
round_again(const float *x, int n, int most, float d, float offset, uint8_t *q)
{
	if (d == 0.0F)
		return;
	for (int i = 0; i < n; i++)
		q[i] = (uint8_t)qn_fit_nearest((x[i] + offset) / d, 0, most);
}

/* Four fields of 2 bits in a byte; `shift` bits of each value are left out. */
static void
pack_two_bits(const uint8_t *q, int shift, uint8_t *qs)
{
	for (int g = 0; g < N / 128; g++)
		for (int l = 0; l < 32; l++) {
			const uint8_t *at = q + 128 * g + l;

			qs[32 * g + l] =
				(uint8_t)((at[0] >> shift & 3) | (at[32] >> shift & 3) << 2 |
					  (at[64] >> shift & 3) << 4 | (at[96] >> shift & 3) << 6);
		}
}

void
qn_quantize_q2_K(const float *x, uint8_t *block)
{
	static const qn_fit_search s = {.most = 3, .steps = 15, .first = -0.5F, .linear = true};
	offsets o;

	fit_all(x, 16, &s, false, &o);
	memset(block, 0, 84);
	const float to_scale = o.most_scale > 0 ? 15.0F / o.most_scale : 0;
	const float to_offset = o.most_offset > 0 ? 15.0F / o.most_offset : 0;
	for (int t = 0; t < 16; t++)
		block[t] = (uint8_t)(qn_fit_nearest(to_scale * o.scale[t], 0, 15) |
				     qn_fit_nearest(to_offset * o.offset[t], 0, 15) << 4);
	qn_half_put(block + 80, o.most_scale / 15.0F);
	qn_half_put(block + 82, o.most_offset / 15.0F);
	for (int t = 0; t < 16; t++)
		round_again(x + 16 * t, 16, 3, qn_half_get(block + 80) * (float)(block[t] & 15),
			    qn_half_get(block + 82) * (float)(block[t] >> 4), o.q + 16 * t);
	pack_two_bits(o.q, 0, block + 16);
}

/* d, dmin and the 12 bytes of scales of q4_K and q5_K; o->q for them. */
static void
super_scales(const float *x, int most, offsets *o, uint8_t *block)
{
	const float to_scale = o->most_scale > 0 ? 63.0F / o->most_scale : 0;
	const float to_offset = o->most_offset > 0 ? 63.0F / o->most_offset : 0;
	qn_scales_6 s;

	for (int t = 0; t < 8; t++) {
		s.scale[t] = (uint8_t)qn_fit_nearest(to_scale * o->scale[t], 0, 63);
		s.offset[t] = (uint8_t)qn_fit_nearest(to_offset * o->offset[t], 0, 63);
	}
	qn_half_put(block, o->most_scale / 63.0F);
	qn_half_put(block + 2, o->most_offset / 63.0F);
	qn_scales_6_put(&s, block + 4);
	for (int t = 0; t < 8; t++)
		round_again(x + 32 * t, 32, most, qn_half_get(block) * (float)s.scale[t],
			    qn_half_get(block + 2) * (float)s.offset[t], o->q + 32 * t);
}

static void
pack_four_bits(const uint8_t *q, uint8_t *qs)
{
	for (int e = 0; e < N; e++)
		if (e / 32 % 2 == 0)
			qs[e / 64 * 32 + e % 32] = (uint8_t)((q[e] & 15) | (q[e + 32] & 15) << 4);
}

void
qn_quantize_q4_K(const float *x, uint8_t *block)
{
	static const qn_fit_search s = {.most = 15, .steps = 20, .first = -1.0F};
	offsets o;

	fit_all(x, 32, &s, true, &o);
	super_scales(x, s.most, &o, block);
	pack_four_bits(o.q, block + 16);
}

void
qn_quantize_q5_K(const float *x, uint8_t *block)
{
	static const qn_fit_search s = {.most = 31, .steps = 15, .first = -0.5F};
	offsets o;

	fit_all(x, 32, &s, true, &o);
	super_scales(x, s.most, &o, block);
	memset(block + 16, 0, 32);
	for (int e = 0; e < N; e++)
		block[16 + e % 32] |= (uint8_t)(o.q[e] >> 4 << e / 32);
	pack_four_bits(o.q, block + 48);
}

/* ---- blocks without ---- */

/* The scale of the largest magnitude, with its sign. */
static float
fit_groups(const float *x, int most, float (*fit)(int, const float *, int8_t *), float scale[16],
	   int8_t q[N])
{
	for (int t = 0; t < 16; t++)
		scale[t] = fit(most, x + 16 * t, q + 16 * t);
	return qn_fit_extreme(scale);
}

static void
round_symmetric(const float *x, int most, float d, int8_t *q)
{
	if (d == 0.0F)
		return;
	for (int i = 0; i < 16; i++)
		q[i] = (int8_t)qn_fit_nearest(x[i] / d, -most, most - 1);
}

void
qn_quantize_q3_K(const float *x, uint8_t *block)
{
	float scale[16];
	int8_t q[N];
	uint8_t stored[N];
	const float peak = fit_groups(x, 4, qn_fit_refined, scale, q);
	const float inverse = peak != 0.0F ? -32.0F / peak : 0;
	uint8_t *scales = block + 96;

	memset(block, 0, 110);
	qn_half_put(block + 108, peak != 0.0F ? 1 / inverse : 0);
	for (int t = 0; t < 16; t++) {
		const int l = peak != 0.0F ? qn_fit_nearest(inverse * scale[t], -32, 31) : -32;
		const unsigned bits = peak != 0.0F ? (unsigned)(l + 32) : 0;

		scales[t % 8] |= (uint8_t)((bits & 15) << (t < 8 ? 0 : 4));
		scales[8 + t % 4] |= (uint8_t)(bits >> 4 << 2 * (t / 4));
		round_symmetric(x + 16 * t, 4, qn_half_get(block + 108) * (float)l, q + 16 * t);
	}
	for (int e = 0; e < N; e++) {
		stored[e] = (uint8_t)(q[e] + 4);
		block[e % 32] |= (uint8_t)(stored[e] >> 2 << e / 32);
	}
	pack_two_bits(stored, 0, block + 32);
}

void
qn_quantize_q6_K(const float *x, uint8_t *block)
{
	float scale[16];
	int8_t q[N];
	uint8_t stored[N];
	const float peak = fit_groups(x, 32, qn_fit_symmetric, scale, q);

	memset(block, 0, 210);
	if (fabsf(peak) < QN_FIT_TINY)
		return; /* d is 0, so are the values */
	const float inverse = -128.0F / peak;
	qn_half_put(block + 208, 1 / inverse);
	for (int t = 0; t < 16; t++) {
		const int l = qn_fit_nearest(inverse * scale[t], -128, 127);

		qn_little_put(block + 192 + t, 1, (uint64_t)(int64_t)l);
		round_symmetric(x + 16 * t, 32, qn_half_get(block + 208) * (float)l, q + 16 * t);
	}
	for (int e = 0; e < N; e++) {
		const int g = e / 128, u = e % 128 / 32;
		uint8_t *byte = block + 64 * g + e % 32 + 32 * (u % 2);

		stored[e] = (uint8_t)(q[e] + 32);
		*byte |= (uint8_t)((stored[e] & 15) << (u < 2 ? 0 : 4));
	}
	pack_two_bits(stored, 4, block + 128);
}
