/* SPDX-License-Identifier: Apache-2.0 */
/* int_simd_avx512vnni.c - vectors of 16 lanes, a whole panel, with an instruction that multiplies and adds. */
#include "runtime/simd.h"

#if QN_HAVE_X86
#include <immintrin.h>
#define TARGET __attribute__((target("avx512f,avx512bw,avx512vnni")))
#define LANES 16
#define VECS(M, r) M(r, 0)
#define ROWS 8
#define EACH_ROW(M) M(0) M(1) M(2) M(3) M(4) M(5) M(6) M(7)
#define DOT(a, x, w) ((vec)_mm512_dpwssd_epi32((__m512i)(a), (__m512i)(x), (__m512i)(w)))
#define VARIANT qn_int_simd_avx512vnni
#define VARIANT_NAME "avx512vnni"
#include "runtime/int_simd_body.h"
#endif
