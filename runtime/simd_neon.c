/* SPDX-License-Identifier: Apache-2.0 */
/* simd_neon.c - vectors of 4 lanes; 4 positions x 4 vectors in 32 registers, twice those of the
 * baseline. */
#include "runtime/simd.h"

#if QN_HAVE_NEON
#define TARGET
#define LANES 4
#define VECS(M, r) M(r, 0) M(r, 1) M(r, 2) M(r, 3)
#define ROWS 4
#define HALF_ROWS 2
#define EACH_ROW(M) M(0) M(1) M(2) M(3)
#define EACH_HALF(M) M(0) M(1)
#define VARIANT qn_simd_neon
#define VARIANT_NAME "neon"
#include "runtime/simd_body.h"
#endif
