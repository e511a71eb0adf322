/* SPDX-License-Identifier: Apache-2.0 */
/* simd_baseline.c - vectors of 4 lanes, which every processor of today has: SSE2, NEON.  2
 * positions x 4 vectors leave room in 16 registers. */
#define TARGET
#define LANES 4
#define VECS(M, r) M(r, 0) M(r, 1) M(r, 2) M(r, 3)
#define ROWS 2
#define HALF_ROWS 1
#define EACH_ROW(M) M(0) M(1)
#define EACH_HALF(M) M(0)
#define VARIANT qn_simd_baseline
#define VARIANT_NAME "baseline"
#include "runtime/simd_body.h"
