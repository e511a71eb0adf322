/* SPDX-License-Identifier: Apache-2.0 */
/* int_simd_avx2.c - vectors of 8 lanes; 4 positions x 2 vectors in 16 registers. */
#include "runtime/simd.h"

#if QN_HAVE_X86
#include <immintrin.h>
#define TARGET __attribute__((target("avx2")))
#define LANES 8
#define VECS(M, r) M(r, 0) M(r, 1)
#define ROWS 4
#define EACH_ROW(M) M(0) M(1) M(2) M(3)
#define DOT(a, x, w) ((a) + (vec)_mm256_madd_epi16((__m256i)(x), (__m256i)(w)))
#define VARIANT qn_int_simd_avx2
#define VARIANT_NAME "avx2"
#include "runtime/int_simd_body.h"
#endif
