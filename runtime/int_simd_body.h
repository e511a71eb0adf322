/* SPDX-License-Identifier: Apache-2.0 */
/* int_simd_body.h - the text of one variant of int_simd.h.  Each includer defines
 *
 *   TARGET, LANES, VECS(M, r), ROWS, EACH_ROW(M), VARIANT, VARIANT_NAME     as for simd_body.h
 *   DOT(a, x, w)     a plus the products of the lower and of the upper halves of each lane
 *
 * Accumulators are variables a0_0, a0_1 … (position, vector), so that they stay in registers. */
#include <string.h>

#include "runtime/int_simd.h"

typedef int32_t vec __attribute__((vector_size(4 * LANES)));
/* The same at any address of a 16-bit number. */
typedef int32_t loose __attribute__((vector_size(4 * LANES), aligned(2), may_alias));

#define LOAD(p) (*(const loose *)(const void *)(p))
#define STORE(p, v) (*(loose *)(void *)(p) = (v))

TARGET static inline vec
spread(const int16_t *two)
{
	int32_t pair;

	memcpy(&pair, two, sizeof pair);
	return (vec){0} + pair;
}

/* What was computed into a buffer is copied to the result. */
TARGET static void
copy_out(const qn_int_tile *t, const int32_t *from)
{
	for (int64_t r = 0; r < t->rows; r++)
		memcpy(t->y + r * t->stride, from + r * QN_PANEL, (size_t)t->width * sizeof *from);
}

#define BIAS(r, v) vec a##r##_##v = LOAD(t->bias + v * LANES);
#define BIASES(r) VECS(BIAS, r)
#define POINTER(r) const int16_t *x##r = t->x[r] + t->shift + t->run[i];
#define WEIGHT(r, v) vec w##v = LOAD(w + 2 * v * LANES);
#define STEP(r, v) a##r##_##v = DOT(a##r##_##v, s, w##v);
#define STEPS(r)                                                                                   \
	{                                                                                          \
		vec s = spread(x##r + 2 * k);                                                      \
		VECS(STEP, r)                                                                      \
	}
#define CHANNEL(r, v) a##r##_##v = DOT(a##r##_##v, LOAD(x##r + 2 * v * LANES), w##v);
#define CHANNELS(r) VECS(CHANNEL, r)
#define OUT(r, v) STORE(y + r * stride + v * LANES, a##r##_##v);
#define OUTS(r) VECS(OUT, r)

#define TILE(name, steps)                                                                          \
	TARGET static void name(const qn_int_tile *t)                                              \
	{                                                                                          \
		int32_t part[ROWS * QN_PANEL];                                                     \
		bool whole = t->rows == ROWS && t->width == QN_PANEL;                              \
		int32_t *y = whole ? t->y : part;                                                  \
		int64_t stride = whole ? t->stride : QN_PANEL;                                     \
		const int16_t *w = t->w;                                                           \
                                                                                                   \
		EACH_ROW(BIASES)                                                                   \
		for (int64_t i = 0; i < t->nrun; i++) {                                            \
			EACH_ROW(POINTER)                                                          \
			for (int64_t k = 0; k < t->len; k++, w += 2 * QN_PANEL) {                  \
				VECS(WEIGHT, 0)                                                    \
				EACH_ROW(steps)                                                    \
			}                                                                          \
		}                                                                                  \
		EACH_ROW(OUTS)                                                                     \
		if (!whole)                                                                        \
			copy_out(t, part);                                                         \
	}

TILE(sums_tile, STEPS)
TILE(sums_depthwise, CHANNELS)

/* Here r counts panels. */
#define PANEL_AT(r) (r < count ? r : count - 1)
#define PANEL(r) const int16_t *w##r = t->w + PANEL_AT(r) * t->panel;
#define PANEL_BIAS(r, v) vec a##r##_##v = LOAD(t->bias + PANEL_AT(r) * QN_PANEL + v * LANES);
#define PANEL_BIASES(r) VECS(PANEL_BIAS, r)
#define ROW_STEP(r, v) a##r##_##v = DOT(a##r##_##v, s, LOAD(w##r + 2 * v * LANES));
#define ROW_STEPS(r) VECS(ROW_STEP, r) w##r += 2 * QN_PANEL;
#define ROW_OUT(r, v) STORE(part + r * QN_PANEL + v * LANES, a##r##_##v);
#define ROW_OUTS(r) VECS(ROW_OUT, r)

TARGET static void
sums_row(const qn_int_tile *t)
{
	int32_t part[ROWS * QN_PANEL];
	int64_t count = (t->width + QN_PANEL - 1) / QN_PANEL;

	EACH_ROW(PANEL_BIASES)
	EACH_ROW(PANEL)
	for (int64_t i = 0; i < t->nrun; i++) {
		const int16_t *x = t->x[0] + t->shift + t->run[i];

		for (int64_t k = 0; k < t->len; k++) {
			vec s = spread(x + 2 * k);

			EACH_ROW(ROW_STEPS)
		}
	}
	EACH_ROW(ROW_OUTS)
	memcpy(t->y, part, (size_t)t->width * sizeof *part);
}

/* Loops of QN_PANEL turns are what compilers make vectors of. */
TARGET static inline void
rescale_panel(const qn_int_scale *s, int64_t at, const int32_t *x, int32_t *y)
{
	const int32_t *m = s->m + at, *half = s->half + at;
	const int32_t lo = s->lo - s->zo, hi = s->hi - s->zo, zo = s->zo;

	for (int j = 0; j < QN_PANEL; j++) {
		int64_t p = (int64_t)x[j] * m[j] + (INT64_C(1) << 30);

		y[j] = (int32_t)(uint32_t)((uint64_t)p >> 31);
	}
	for (int j = 0; j < QN_PANEL; j++) {
		int32_t by = half[j] < 0 ? 0 : half[j];
		/* cppcheck-suppress shiftTooManyBitsSigned ; the sign, as everywhere here */
		int32_t once = (y[j] + (y[j] >> 31)) >> by;

		once = (once >> 1) + (once & 1); /* (once + 1) >> 1, which may overflow */
		y[j] = half[j] < 0 ? y[j] : once;
	}
	for (int j = 0; j < QN_PANEL; j++) {
		int32_t c = y[j] < lo ? lo : y[j];

		y[j] = (c > hi ? hi : c) + zo;
	}
}

#define RESCALE(name, code)                                                                        \
	TARGET static void name(const qn_int_scale *s, int64_t at, const int32_t *x, int64_t n,    \
				void *y)                                                           \
	{                                                                                          \
		code *to = y;                                                                      \
                                                                                                   \
		for (; n > 0; n -= QN_PANEL, at += QN_PANEL, x += QN_PANEL, to += QN_PANEL) {      \
			int32_t v[QN_PANEL];                                                       \
                                                                                                   \
			rescale_panel(s, at, x, v);                                                \
			for (int j = 0; j < QN_PANEL; j++)                                         \
				to[j] = (code)v[j];                                                \
		}                                                                                  \
	}

RESCALE(rescale_s8, int8_t)
RESCALE(rescale_u8, uint8_t)
RESCALE(rescale_s16, int16_t)

#define WIDEN(name, code)                                                                          \
	TARGET static void name(const code *restrict x, int64_t n, int32_t zero,                   \
				int16_t *restrict y)                                               \
	{                                                                                          \
		const int16_t less = (int16_t)zero;                                                \
                                                                                                   \
		for (; n >= QN_PANEL; n -= QN_PANEL, x += QN_PANEL, y += QN_PANEL)                 \
			for (int j = 0; j < QN_PANEL; j++)                                         \
				y[j] = (int16_t)(x[j] - less);                                     \
		for (int64_t j = 0; j < n; j++)                                                    \
			y[j] = (int16_t)(x[j] - less);                                             \
	}

WIDEN(widen_s8, int8_t)
WIDEN(widen_u8, uint8_t)

const qn_int_simd VARIANT = {
	.name = VARIANT_NAME,
	.rows = ROWS,
	.tile = sums_tile,
	.row = sums_row,
	.depthwise = sums_depthwise,
	.rescale_s8 = rescale_s8,
	.rescale_u8 = rescale_u8,
	.rescale_s16 = rescale_s16,
	.widen_s8 = widen_s8,
	.widen_u8 = widen_u8,
};
