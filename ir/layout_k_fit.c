/* SPDX-License-Identifier: Apache-2.0 */
/* layout_k_fit.c - see layout_k_fit.h: a search over a few candidates, each with the best scale for its integers
 * in the sense of weighted least squares.
 *
 * Sums are f32, in the order of the elements, so that the same bits come out.  In ratios of tiny
 * values an infinity or a NaN can arise; qn_fit_nearest takes it to a bound. */
#include "ir/layout_k_fit.h"

#include <math.h>
#include <string.h>

int
qn_fit_nearest(float v, int lo, int hi)
{
	const float r = rintf(v);

	if (!(r > (float)lo))
		return lo;
	return r < (float)hi ? (int)r : hi;
}

float
qn_fit_extreme(const float *x)
{
	float v = 0;

	for (int i = 0; i < QN_FIT_EACH; i++)
		if (fabsf(x[i]) > fabsf(v))
			v = x[i];
	return v;
}

/* ---- x ~ scale * q, q from -most to most - 1 ---- */

typedef struct sums {
	float xq, qq; /* of w x q and w q q, w = x x */
} sums;

static sums
sums_with(int most, const float *x, float inverse, int8_t *q)
{
	sums s = {0, 0};

	for (int i = 0; i < QN_FIT_EACH; i++) {
		const int l = qn_fit_nearest(inverse * x[i], -most, most - 1);
		const float w = x[i] * x[i];

		q[i] = (int8_t)l;
		s.xq += w * x[i] * (float)l;
		s.qq += w * (float)l * (float)l;
	}
	return s;
}

/* Tries scales with which the extreme becomes -most + 0.9 … -most - 0.9. */
float
qn_fit_symmetric(int most, const float *x, int8_t *q)
{
	const float peak = qn_fit_extreme(x);
	int8_t other[QN_FIT_EACH];

	memset(q, -most, QN_FIT_EACH); /* all bits 0 in the block, as in the reference */
	if (fabsf(peak) < QN_FIT_TINY)
		return 0;
	sums s = sums_with(most, x, (float)-most / peak, q);
	float scale = s.qq != 0.0F ? s.xq / s.qq : 0.0F;
	float best = scale * s.xq;
	for (int step = -9; step <= 9; step++) {
		if (step == 0)
			continue;
		s = sums_with(most, x, -((float)most + 0.1F * (float)step) / peak, other);
		if (s.qq > 0 && s.xq * s.xq > best * s.qq) {
			memcpy(q, other, QN_FIT_EACH);
			scale = s.xq / s.qq;
			best = scale * s.xq;
		}
	}
	return scale;
}

/* Moves one integer after the other to where the others' scale puts it; true: any moved. */
static bool
refine(int most, const float *x, int8_t *q, sums *s)
{
	bool moved = false;

	for (int i = 0; i < QN_FIT_EACH; i++) {
		const float w = x[i] * x[i];
		sums t = {s->xq - w * x[i] * (float)q[i], 0};

		if (!(t.xq > 0))
			continue;
		t.qq = s->qq - w * (float)q[i] * (float)q[i];
		const int l = qn_fit_nearest(x[i] * t.qq / t.xq, -most, most - 1);
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

float
qn_fit_refined(int most, const float *x, int8_t *q)
{
	const float peak = qn_fit_extreme(x);

	memset(q, -most, QN_FIT_EACH); /* all bits 0 in the block, as in the reference */
	if (fabsf(peak) < QN_FIT_TINY)
		return 0;
	sums s = sums_with(most, x, (float)-most / peak, q);
	for (int i = 0; i < 5 && refine(most, x, q, &s); i++)
		;
	return s.qq > 0.0F ? s.xq / s.qq : 0.0F;
}

/* ---- x ~ scale * q - offset, q from 0 to most, offset not negative ---- */

static float
error_of(const qn_fit_group *g, const qn_fit_search *s, const uint8_t *q, float scale, float min)
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
candidate(const qn_fit_group *g, int most, float inverse, float from, uint8_t *q, float *scale,
	  float *min)
{
	float sum_q = 0, sum_qq = 0, sum_xq = 0;

	for (int i = 0; i < g->n; i++) {
		const int l = qn_fit_nearest(inverse * (g->x[i] - from), 0, most);

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

float
qn_fit_offset(qn_fit_group *g, const qn_fit_search *s, uint8_t *q, float *offset)
{
	float min = g->x[0], max = g->x[0], scale, best;
	uint8_t other[QN_FIT_LONGEST];

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
		q[i] = (uint8_t)qn_fit_nearest(inverse * (g->x[i] - from), 0, s->most);
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
