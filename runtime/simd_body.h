/* SPDX-License-Identifier: Apache-2.0 */
/* simd_body.h - the text of one variant of simd.h.  Each includer defines
 *
 *   TARGET          attribute of every function: __attribute__((target("avx2")))
 *   LANES           floats of a vector: 4, 8 or 16
 *   VECS(M, r)      M(r, 0) M(r, 1) … for the QN_PANEL / LANES vectors of a panel
 *   ROWS, EACH_ROW(M), HALF_ROWS, EACH_HALF(M)   M(0) M(1) … for the positions of a tile
 *   VARIANT, VARIANT_NAME                        the constant, and its name
 *
 * Accumulators are variables a0_0, a0_1 … (position, vector), so that they stay in registers. */
#include <string.h>

#include "runtime/simd.h"

typedef float vec __attribute__((vector_size(4 * LANES)));
/* The same at any address of a float. */
typedef float loose __attribute__((vector_size(4 * LANES), aligned(4), may_alias));
typedef int32_t mask __attribute__((vector_size(4 * LANES)));

#define LOAD(p) (*(const loose *)(p))
#define STORE(p, v) (*(loose *)(p) = (v))
#define ONES ((vec){0} + 1.0f)
/* A product, so that -0 stays. */
#define SPREAD(s) ((s)*ONES)
#define SELECT(m, a, b) ((vec)(((m) & (mask)(a)) | (~(m) & (mask)(b))))

/* What was computed into a buffer is copied to the result. */
TARGET static void
copy_out(const qn_tile *t, const float *from)
{
	for (int64_t r = 0; r < t->rows; r++)
		memcpy(t->y + r * t->stride, from + r * QN_PANEL, (size_t)t->width * sizeof(float));
}

#define ACC(r, v) vec a##r##_##v = {0};
#define ACCS(r) VECS(ACC, r)
#define POINTER(r) const float *x##r = t->x[r] + t->shift + t->run[i];
#define WEIGHT(r, v) vec w##v = LOAD(w + v * LANES);
#define STEP(r, v) a##r##_##v += s * w##v;
#define STEPS(r)                                                                                   \
	{                                                                                          \
		float s = x##r[k];                                                                 \
		VECS(STEP, r)                                                                      \
	}
#define CHANNEL(r, v) a##r##_##v += LOAD(x##r + v * LANES) * w##v;
#define CHANNELS(r) VECS(CHANNEL, r)
#define BIAS(r, v) vec b##v = LOAD(t->bias + v * LANES);
#define OUT(r, v) STORE(y + r * stride + v * LANES, a##r##_##v + b##v);
#define OUTS(r) VECS(OUT, r)

#define TILE(name, N, EACH)                                                                        \
	TARGET static void name(const qn_tile *t)                                                  \
	{                                                                                          \
		float part[N * QN_PANEL];                                                          \
		bool whole = t->rows == N && t->width == QN_PANEL;                                 \
		float *y = whole ? t->y : part;                                                    \
		int64_t stride = whole ? t->stride : QN_PANEL;                                     \
		const float *w = t->w;                                                             \
                                                                                                   \
		EACH(ACCS)                                                                         \
		for (int64_t i = 0; i < t->nrun; i++) {                                            \
			EACH(POINTER)                                                              \
			for (int64_t k = 0; k < t->len; k++, w += QN_PANEL) {                      \
				VECS(WEIGHT, 0)                                                    \
				EACH(STEPS)                                                        \
			}                                                                          \
		}                                                                                  \
		VECS(BIAS, 0)                                                                      \
		EACH(OUTS)                                                                         \
		if (!whole)                                                                        \
			copy_out(t, part);                                                         \
	}

TILE(tile, ROWS, EACH_ROW)
TILE(half, HALF_ROWS, EACH_HALF)

TARGET static void
depthwise(const qn_tile *t)
{
	float part[ROWS * QN_PANEL];
	bool whole = t->rows == ROWS && t->width == QN_PANEL;
	float *y = whole ? t->y : part;
	int64_t stride = whole ? t->stride : QN_PANEL;
	const float *w = t->w;

	EACH_ROW(ACCS)
	for (int64_t i = 0; i < t->nrun; i++, w += QN_PANEL) {
		VECS(WEIGHT, 0)
		EACH_ROW(POINTER)
		EACH_ROW(CHANNELS)
	}
	VECS(BIAS, 0)
	EACH_ROW(OUTS)
	if (!whole)
		copy_out(t, part);
}

/* Here r counts panels. */
#define PANEL(r) const float *w##r = t->w + (r < count ? r : count - 1) * t->panel;
#define ROW_STEP(r, v) a##r##_##v += s * LOAD(w##r + v * LANES);
#define ROW_STEPS(r) VECS(ROW_STEP, r) w##r += QN_PANEL;
#define ROW_OUT(r, v)                                                                              \
	STORE(part + r * QN_PANEL + v * LANES,                                                     \
	      a##r##_##v + LOAD(t->bias + (r < count ? r : count - 1) * QN_PANEL + v * LANES));
#define ROW_OUTS(r) VECS(ROW_OUT, r)

TARGET static void
row(const qn_tile *t)
{
	float part[ROWS * QN_PANEL];
	int64_t count = (t->width + QN_PANEL - 1) / QN_PANEL;

	EACH_ROW(ACCS)
	EACH_ROW(PANEL)
	for (int64_t i = 0; i < t->nrun; i++) {
		const float *x = t->x[0] + t->shift + t->run[i];

		for (int64_t k = 0; k < t->len; k++) {
			float s = x[k];

			EACH_ROW(ROW_STEPS)
		}
	}
	EACH_ROW(ROW_OUTS)
	memcpy(t->y, part, (size_t)t->width * sizeof(float));
}

TARGET static void
clamp(const float *x, float lo, float hi, float *y, int64_t n)
{
	vec low = SPREAD(lo), high = SPREAD(hi);
	int64_t i = 0;

	for (; i + LANES <= n; i += LANES) {
		vec v = LOAD(x + i);
		mask above = v > high, below = v < low;

		v = SELECT(above, high, v);
		STORE(y + i, SELECT(below, low, v));
	}
	for (; i < n; i++)
		y[i] = x[i] < lo ? lo : x[i] > hi ? hi : x[i];
}

/* z[i] = f(x[i], y[i]); `vector` is f of the vectors a and b, `value` of the floats a and b. */
#define BINARY(name, vector, value)                                                                \
	TARGET static void name(const float *x, const float *y, float *z, int64_t n)               \
	{                                                                                          \
		int64_t i = 0;                                                                     \
                                                                                                   \
		for (; i + LANES <= n; i += LANES) {                                               \
			vec a = LOAD(x + i), b = LOAD(y + i);                                      \
                                                                                                   \
			STORE(z + i, vector);                                                      \
		}                                                                                  \
		for (; i < n; i++) {                                                               \
			float a = x[i], b = y[i];                                                  \
                                                                                                   \
			z[i] = value;                                                              \
		}                                                                                  \
	}

BINARY(add, a + b, a + b)
BINARY(sub, a - b, a - b)
BINARY(mul, a *b, a *b)
BINARY(minimum, SELECT((mask)(a < b), a, b), a < b ? a : b)
BINARY(maximum, SELECT((mask)(a > b), a, b), a > b ? a : b)

TARGET static void
larger(const float *x, float *y, int64_t n)
{
	maximum(x, y, y, n);
}

/* Four vectors side by side, since a comparison and a choice take longer than a load. */
#define RANGE_START(k) vec low##k = SPREAD(*lo), high##k = SPREAD(*hi)
#define RANGE_STEP(k)                                                                              \
	do {                                                                                       \
		vec v = LOAD(x + i + k * LANES) + 0.0f;                                            \
		mask below = v<low##k, above = v> high##k;                                         \
                                                                                                   \
		/* NOLINTNEXTLINE(misc-redundant-expression): a NaN differs from itself */         \
		nan |= v != v;                                                                     \
		low##k = SELECT(below, v, low##k);                                                 \
		high##k = SELECT(above, v, high##k);                                               \
	} while (0)
#define RANGE_JOIN(k)                                                                              \
	do {                                                                                       \
		mask below = low##k<low0, above = high##k> high0;                                  \
                                                                                                   \
		low0 = SELECT(below, low##k, low0);                                                \
		high0 = SELECT(above, high##k, high0);                                             \
	} while (0)

TARGET static bool
range(const float *x, int64_t n, float *lo, float *hi)
{
	RANGE_START(0);
	RANGE_START(1);
	RANGE_START(2);
	RANGE_START(3);
	mask nan = {0};
	float least = *lo, most = *hi;
	bool found = false;
	int64_t i = 0;

	for (; i + 4 * LANES <= n; i += 4 * LANES) {
		RANGE_STEP(0);
		RANGE_STEP(1);
		RANGE_STEP(2);
		RANGE_STEP(3);
	}
	for (; i + LANES <= n; i += LANES)
		RANGE_STEP(0);
	RANGE_JOIN(1);
	RANGE_JOIN(2);
	RANGE_JOIN(3);
	for (int k = 0; k < LANES; k++) {
		least = low0[k] < least ? low0[k] : least;
		most = high0[k] > most ? high0[k] : most;
		found = found || nan[k] != 0;
	}
	for (; i < n; i++) {
		float v = x[i] + 0.0f;

		least = v < least ? v : least;
		most = v > most ? v : most;
		found = found || v != v;
	}
	*lo = least;
	*hi = most;
	return found;
}

const qn_simd VARIANT = {
	.name = VARIANT_NAME,
	.rows = ROWS,
	.tile = tile,
	.half = half,
	.row = row,
	.depthwise = depthwise,
	.clamp = clamp,
	.add = add,
	.sub = sub,
	.mul = mul,
	.minimum = minimum,
	.maximum = maximum,
	.larger = larger,
	.range = range,
};
