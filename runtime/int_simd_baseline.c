/* SPDX-License-Identifier: Apache-2.0 */
/* int_simd_baseline.c - vectors of 4 lanes; of SSE2 with its product of pairs, else in C. */
#if defined(__SSE2__)
#include <immintrin.h>
#define DOT(a, x, w) ((a) + (vec)_mm_madd_epi16((__m128i)(x), (__m128i)(w)))
#else
#define LOWER(x) ((x) << 16 >> 16)
#define DOT(a, x, w) ((a) + LOWER(x) * LOWER(w) + ((x) >> 16) * ((w) >> 16))
#endif
#define TARGET
#define LANES 4
#define VECS(M, r) M(r, 0) M(r, 1) M(r, 2) M(r, 3)
#define ROWS 2
#define EACH_ROW(M) M(0) M(1)
#define VARIANT qn_int_simd_baseline
#define VARIANT_NAME "baseline"
#include "runtime/int_simd_body.h"
