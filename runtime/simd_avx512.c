/* SPDX-License-Identifier: Apache-2.0 */
/* simd_avx512.c - vectors of 16 lanes, a whole panel; 8 positions hide the latency of an
 * addition. */
#include "runtime/simd.h"

#if QN_HAVE_X86
#define TARGET __attribute__((target("avx512f")))
#define LANES 16
#define VECS(M, r) M(r, 0)
#define ROWS 8
#define HALF_ROWS 4
#define EACH_ROW(M) M(0) M(1) M(2) M(3) M(4) M(5) M(6) M(7)
#define EACH_HALF(M) M(0) M(1) M(2) M(3)
#define VARIANT qn_simd_avx512
#define VARIANT_NAME "avx512"
#include "runtime/simd_body.h"
#endif
