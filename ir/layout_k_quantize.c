/* SPDX-License-Identifier: Apache-2.0 */
/* layout_k_quantize.c - the reference's rounding of GGUF's blocks of 256 (ggml's
 * quantize_row_q2_K_ref … q6_K_ref): which scale and offset a sub-block gets is a search over a few
 * candidates, each with the best scale for its integers in the sense of weighted least squares.
 *
 *   16 values ─▶ fit_symmetric, fit_refined   x ~ scale * q            q6_K, q3_K
 *   16 or 32  ─▶ fit_offset                   x ~ scale * q - offset   q2_K, q4_K, q5_K
 *
 * Sums are f32, in the order of the elements, so that the same bits come out.  In ratios of tiny
 * values an infinity or a NaN can arise; `nearest` takes it to a bound. */
#include <math.h>
#include <string.h>

#include "ir/layout_impl.h"

enum { N = QN_K, LONGEST = 32 };

static const float tiny = 1e-15F; /* largest magnitude of a group that counts as all zero */

/* The nearest integer, halves to even, within lo..hi. */
static int
nearest(float v, int lo, int hi)
{
	const float r = rintf(v);

	if (!(r > (float)lo))
		return lo;
	return r < (float)hi ? (int)r : hi;
}

/* The entry of the largest magnitude, the first one. */
static float
extreme(int n, const float *x)
{
	float v = 0;

	for (int i = 0; i < n; i++)
		if (fabsf(x[i]) > fabsf(v))
			v = x[i];
	return v;
}

/* ---- x ~ scale * q, q from -most to most - 1 ---- */

typedef struct sums {
	float xq, qq; /* of w x q and w q q, w = x x */
} sums;

static sums
sums_with(int n, int most, const float *x, float inverse, int8_t *q)
{
	sums s = {0, 0};

	for (int i = 0; i < n; i++) {
		const int l = nearest(inverse * x[i], -most, most - 1);
		const float w = x[i] * x[i];

		q[i] = (int8_t)l;
		s.xq += w * x[i] * (float)l;
		s.qq += w * (float)l * (float)l;
	}
	return s;
}

/* Tries scales with which the extreme becomes -most + 0.9 … -most - 0.9. */
static float
fit_symmetric(int n, int most, const float *x, int8_t *q)
{
	const float peak = extreme(n, x);
	int8_t other[LONGEST];

	memset(q, -most, (size_t)n); /* all bits 0 in the block, as in the reference */
	if (fabsf(peak) < tiny)
		return 0;
	sums s = sums_with(n, most, x, (float)-most / peak, q);
	float scale = s.qq != 0.0F ? s.xq / s.qq : 0.0F;
	float best = scale * s.xq;
	for (int step = -9; step <= 9; step++) {
		if (step == 0)
			continue;
		s = sums_with(n, most, x, -((float)most + 0.1F * (float)step) / peak, other);
		if (s.qq > 0 && s.xq * s.xq > best * s.qq) {
			memcpy(q, other, (size_t)n);
			scale = s.xq / s.qq;
			best = scale * s.xq;
		}
	}
	return scale;
}

/* Moves one integer after the other to where the others' scale puts it; true: any moved. */
static bool
refine(int n, int most, const float *x, int8_t *q, sums *s)
{
	bool moved = false;

	for (int i = 0; i < n; i++) {
		const float w = x[i] * x[i];
		sums t = {s->xq - w * x[i] * (float)q[i], 0};

		if (!(t.xq > 0))
			continue;
		t.qq = s->qq - w * (float)q[i] * (float)q[i];
		const int l = nearest(x[i] * t.qq / t.xq, -most, most - 1);
		if (l == q[i])
			continue;
		t.xq += w * x[i] * (float)l;
		t.qq += w * (float)l * (float)l;
		if (t.qq > 0 && t.xq * t.xq * s->qq > s->xq * s->xq * t.qq) {
			q[i] = (int8_t)l;
			*s = t;
			moved = true;
		}
	}
	return moved;
}

static float
fit_refined(int n, int most, const float *x, int8_t *q)
{
	const float peak = extreme(n, x);

	memset(q, -most, (size_t)n); /* all bits 0 in the block, as in the reference */
	if (fabsf(peak) < tiny)
		return 0;
	sums s = sums_with(n, most, x, (float)-most / peak, q);
	for (int i = 0; i < 5 && refine(n, most, x, q, &s); i++)
		;
	return s.qq > 0.0F ? s.xq / s.qq : 0.0F;
}

/* ---- x ~ scale * q - offset, q from 0 to most, offset not negative ---- */

typedef struct search {
	int most, steps;
	float first; /* the first candidate has most + first steps in the range */
	bool linear; /* the error is |difference|, else its square */
} search;

typedef struct group {
	int n;
	const float *x;
	float w[LONGEST];
	float sum_w, sum_x; /* of w and w x */
} group;

static float
error_of(const group *g, const search *s, const uint8_t *q, float scale, float min)
{
	float sum = 0;

	for (int i = 0; i < g->n; i++) {
		float difference = scale * (float)q[i] + min - g->x[i];

		difference = s->linear ? fabsf(difference) : difference * difference;
		sum += g->w[i] * difference;
	}
	return sum;
}

/* The integers with this inverse scale; then the scale and minimum that fit them best, false: none do. */
static bool
candidate(const group *g, int most, float inverse, float from, uint8_t *q, float *scale, float *min)
{
	float sum_q = 0, sum_qq = 0, sum_xq = 0;

	for (int i = 0; i < g->n; i++) {
		const int l = nearest(inverse * (g->x[i] - from), 0, most);

		q[i] = (uint8_t)l;
		sum_q += g->w[i] * (float)l;
		sum_qq += g->w[i] * (float)l * (float)l;
		sum_xq += g->w[i] * (float)l * g->x[i];
	}
	const float determinant = g->sum_w * sum_qq - sum_q * sum_q;
	if (!(determinant > 0))
		return false;
	*scale = (g->sum_w * sum_xq - g->sum_x * sum_q) / determinant;
	*min = (sum_qq * g->sum_x - sum_q * sum_xq) / determinant;
	if (*min > 0) {
		*min = 0;
		*scale = sum_xq / sum_qq;
	}
	return true;
}

static float
fit_offset(group *g, const search *s, uint8_t *q, float *offset)
{
	float min = g->x[0], max = g->x[0], scale, best;
	uint8_t other[LONGEST];

	g->sum_w = g->w[0];
	g->sum_x = g->sum_w * g->x[0];
	for (int i = 1; i < g->n; i++) {
		min = g->x[i] < min ? g->x[i] : min;
		max = g->x[i] > max ? g->x[i] : max;
		g->sum_w += g->w[i];
		g->sum_x += g->w[i] * g->x[i];
	}
	min = min > 0 ? 0 : min;
	memset(q, 0, (size_t)g->n);
	*offset = -min;
	if (max == min)
		return 0;
	const float from = min, range = max - min, inverse = (float)s->most / range;
	scale = 1 / inverse;
	for (int i = 0; i < g->n; i++)
		q[i] = (uint8_t)nearest(inverse * (g->x[i] - from), 0, s->most);
	best = error_of(g, s, q, scale, min);
	/* As in the reference, a candidate's integers count from the best minimum so far. */
	for (int step = 0; step <= s->steps; step++) {
		const float next = (s->first + 0.1F * (float)step + (float)s->most) / (max - min);
		float its_scale, its_min;

		if (!candidate(g, s->most, next, min, other, &its_scale, &its_min))
			continue;
		const float error = error_of(g, s, other, its_scale, its_min);
		if (error < best) {
			memcpy(q, other, (size_t)g->n);
			best = error;
			scale = its_scale;
			min = its_min;
		}
	}
	*offset = -min;
	return scale;
}

/* ---- blocks with offsets ---- */

typedef struct offsets {
	float scale[QN_SUBS_MOST], offset[QN_SUBS_MOST];
	float most_scale, most_offset;
	uint8_t q[N];
} offsets;

/* mean: weights are the root mean square of the group plus |x|, else |x|. */
static void
fit_all(const float *x, int each, const search *s, bool mean, offsets *o)
{
	o->most_scale = o->most_offset = 0;
	for (int t = 0; t < N / each; t++) {
		group g = {.n = each, .x = x + t * each};
		float squares = 0;

		for (int i = 0; i < each; i++)
			squares += g.x[i] * g.x[i];
		const float base = mean ? sqrtf(squares / (float)each) : 0;
		for (int i = 0; i < each; i++)
			g.w[i] = base + fabsf(g.x[i]);
		o->scale[t] = fit_offset(&g, s, o->q + t * each, &o->offset[t]);
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
		q[i] = (uint8_t)nearest((x[i] + offset) / d, 0, most);
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
	static const search s = {.most = 3, .steps = 15, .first = -0.5F, .linear = true};
	offsets o;

	fit_all(x, 16, &s, false, &o);
	memset(block, 0, 84);
	const float to_scale = o.most_scale > 0 ? 15.0F / o.most_scale : 0;
	const float to_offset = o.most_offset > 0 ? 15.0F / o.most_offset : 0;
	for (int t = 0; t < 16; t++)
		block[t] = (uint8_t)(nearest(to_scale * o.scale[t], 0, 15) |
				     nearest(to_offset * o.offset[t], 0, 15) << 4);
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
		s.scale[t] = (uint8_t)nearest(to_scale * o->scale[t], 0, 63);
		s.offset[t] = (uint8_t)nearest(to_offset * o->offset[t], 0, 63);
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
	static const search s = {.most = 15, .steps = 20, .first = -1.0F};
	offsets o;

	fit_all(x, 32, &s, true, &o);
	super_scales(x, s.most, &o, block);
	pack_four_bits(o.q, block + 16);
}

void
qn_quantize_q5_K(const float *x, uint8_t *block)
{
	static const search s = {.most = 31, .steps = 15, .first = -0.5F};
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
fit_groups(const float *x, int most, float (*fit)(int, int, const float *, int8_t *),
	   float scale[16], int8_t q[N])
{
	for (int t = 0; t < 16; t++)
		scale[t] = fit(16, most, x + 16 * t, q + 16 * t);
	return extreme(16, scale);
}

static void
round_symmetric(const float *x, int most, float d, int8_t *q)
{
	if (d == 0.0F)
		return;
	for (int i = 0; i < 16; i++)
		q[i] = (int8_t)nearest(x[i] / d, -most, most - 1);
}

void
qn_quantize_q3_K(const float *x, uint8_t *block)
{
	float scale[16];
	int8_t q[N];
	uint8_t stored[N];
	const float peak = fit_groups(x, 4, fit_refined, scale, q);
	const float inverse = peak != 0.0F ? -32.0F / peak : 0;
	uint8_t *scales = block + 96;

	memset(block, 0, 110);
	qn_half_put(block + 108, peak != 0.0F ? 1 / inverse : 0);
	for (int t = 0; t < 16; t++) {
		const int l = peak != 0.0F ? nearest(inverse * scale[t], -32, 31) : -32;
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
	const float peak = fit_groups(x, 32, fit_symmetric, scale, q);

	memset(block, 0, 210);
	if (fabsf(peak) < tiny)
		return; /* d is 0, so are the values */
	const float inverse = -128.0F / peak;
	qn_half_put(block + 208, 1 / inverse);
	for (int t = 0; t < 16; t++) {
		const int l = nearest(inverse * scale[t], -128, 127);

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
