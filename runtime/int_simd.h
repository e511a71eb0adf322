/* SPDX-License-Identifier: Apache-2.0 */
/* int_simd.h - the inner loops of integer products, in one variant for each instruction set.
 *
 *   baseline   C with 4-lane vectors; SSE2 on x86-64
 *   avx2       8 lanes      avx512vnni   16 lanes
 *
 * Operands have 16 bits: quantized values less their zero point, and weights.  Two of them are adjacent, and
 * an instruction adds the products of both, in 32 bits.  All variants give the same sums, as integers do in
 * any order.  int_simd_body.h is the text of all variants. */
#ifndef QN_RUNTIME_INT_SIMD_H
#define QN_RUNTIME_INT_SIMD_H

#include "runtime/simd.h"

/* A product of up to `rows` positions with one panel of QN_PANEL outputs:
 *   y[r][j] = bias[j] + sum over k of x[r][run[0] + 2 k] w[k][j][0] + x[r][run[0] + 2 k + 1] w[k][j][1] + …
 * Depthwise (len 1): operands are of 32 bits, and those of output j are j further. */
typedef struct qn_int_tile {
	const int16_t *const *x; /* positions; as many readable pointers as the variant has rows */
	int64_t shift;           /* added to each of them */
	const int64_t *run;      /* where each stretch of `len` pairs begins */
	int64_t nrun, len;
	const int16_t *w;    /* [nrun * len][QN_PANEL][2], aligned to 64 bytes */
	const int32_t *bias; /* [QN_PANEL] */
	int32_t *y;
	int64_t stride;      /* from one position to the next in y */
	int64_t rows, width; /* of y that are written; at least 1 */
	int64_t panel;       /* `row` only: from one panel of w to the next */
} qn_int_tile;

/* Requantizes sums: y[j] = clamp(x[j] * m[j] * 2^(s[j] - 31) + zo, lo, hi), rounded twice as qn_apply does in
 * mode QN_RQ_DOUBLE. */
typedef struct qn_int_scale {
	const int32_t *m, *half; /* multipliers; -1 - s, s in [-31, 0] */
	int32_t zo, lo, hi;
} qn_int_scale;

/* n is a multiple of QN_PANEL; tables from element `at` on. */
typedef void qn_int_rescale(const qn_int_scale *s, int64_t at, const int32_t *x, int64_t n,
			    void *y);

typedef struct qn_int_simd {
	const char *name;
	int64_t rows; /* positions of a tile, and panels of a row */
	void (*tile)(const qn_int_tile *t);
	/* One position and up to `rows` panels; width counts over all of them. */
	void (*row)(const qn_int_tile *t);
	void (*depthwise)(const qn_int_tile *t);
	qn_int_rescale *rescale_s8, *rescale_u8, *rescale_s16;
	/* y = x - zero. */
	void (*widen_s8)(const int8_t *x, int64_t n, int32_t zero, int16_t *y);
	void (*widen_u8)(const uint8_t *x, int64_t n, int32_t zero, int16_t *y);
} qn_int_simd;

extern const qn_int_simd qn_int_simd_baseline;
#if QN_HAVE_X86
extern const qn_int_simd qn_int_simd_avx2, qn_int_simd_avx512vnni;
#endif

/* The fastest variant that this machine has and `most` allows. */
const qn_int_simd *qn_int_simd_get(qn_simd_kind most);

#endif
