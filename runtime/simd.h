/* SPDX-License-Identifier: Apache-2.0 */
/* simd.h - the inner loops of the float kernels, in one variant for each instruction set.
 *
 *   baseline   C with 4-lane vectors: SSE2, NEON, or whatever the compiler makes of them
 *   avx2       8 lanes                 avx512  16 lanes
 *   neon       4 lanes, 32 registers (aarch64)
 *
 * All variants give the same bytes.  Vectors lie across outputs, never along a sum; products are
 * rounded before they are added (no fused multiply-add); each output has one accumulator that
 * begins at +0.0.  simd_body.h is the text of all variants. */
#ifndef QN_RUNTIME_SIMD_H
#define QN_RUNTIME_SIMD_H

#include "ir/base.h"

enum { QN_PANEL = 16 }; /* outputs side by side in packed weights */

/* A product of up to `rows` positions with one panel of outputs:
 *   y[r][j] = (0 + x[r][run[0] + 0] w[0][j] + x[r][run[0] + 1] w[1][j] + …) + bias[j]
 * Depthwise (len 1): x[r][run[i] + j] in place of x[r][run[i]]. */
typedef struct qn_tile {
	const float *const *x; /* positions; as many readable pointers as the variant has rows */
	int64_t shift;         /* added to each of them */
	const int64_t *run;    /* where each stretch of `len` terms begins */
	int64_t nrun, len;
	const float *w;    /* [nrun * len][QN_PANEL], aligned to 64 bytes */
	const float *bias; /* [QN_PANEL] */
	float *y;
	int64_t stride;      /* from one position to the next in y */
	int64_t rows, width; /* of y that are written; at least 1 */
	int64_t panel;       /* `row` only: floats from one panel of w to the next */
} qn_tile;

typedef struct qn_simd {
	const char *name;
	int64_t rows; /* positions of a tile, and panels of a row */
	void (*tile)(const qn_tile *t);
	void (*half)(const qn_tile *t); /* rows / 2 positions */
	/* One position and up to `rows` panels; width counts over all of them. */
	void (*row)(const qn_tile *t);
	void (*depthwise)(const qn_tile *t);
	/* y = x < lo ? lo : x > hi ? hi : x; NaN stays. */
	void (*clamp)(const float *x, float lo, float hi, float *y, int64_t n);
	void (*add)(const float *x, const float *y, float *z, int64_t n); /* z may be x or y */
	void (*sub)(const float *x, const float *y, float *z, int64_t n);
	void (*mul)(const float *x, const float *y, float *z, int64_t n);
	void (*minimum)(const float *x, const float *y, float *z,
			int64_t n); /* z = x < y ? x : y */
	void (*maximum)(const float *x, const float *y, float *z,
			int64_t n);                          /* z = x > y ? x : y */
	void (*larger)(const float *x, float *y, int64_t n); /* y = x > y ? x : y */
	/* Widens [*lo, *hi] to hold x[0..n), -0 taken as 0; true when a NaN is among them. */
	bool (*range)(const float *x, int64_t n, float *lo, float *hi);
} qn_simd;

extern const qn_simd qn_simd_baseline;
#if defined(__x86_64__) && defined(__GNUC__)
#define QN_HAVE_X86 1
extern const qn_simd qn_simd_avx2, qn_simd_avx512;
#else
#define QN_HAVE_X86 0
#endif
#if defined(__aarch64__) && defined(__GNUC__)
#define QN_HAVE_NEON 1
extern const qn_simd qn_simd_neon;
#else
#define QN_HAVE_NEON 0
#endif

/* The fastest variant that this machine has and `most` allows. */
const qn_simd *qn_simd_get(qn_simd_kind most);

#endif
