/* SPDX-License-Identifier: Apache-2.0 */
/* simd.c - chooses a variant: the best one that the processor and the caller allow.
 *
 *   most QN_SIMD_AVX2 on a machine with AVX-512: avx2          on one without AVX2: baseline
 *   most QN_SIMD_NEON on aarch64: neon                         on any other: baseline */
#include "runtime/simd.h"

const qn_simd *
qn_simd_get(qn_simd_kind most)
{
#if QN_HAVE_X86
	if ((most == QN_SIMD_BEST || most == QN_SIMD_AVX512) && __builtin_cpu_supports("avx512f"))
		return &qn_simd_avx512;
	if ((most == QN_SIMD_BEST || most == QN_SIMD_AVX512 || most == QN_SIMD_AVX2) &&
	    __builtin_cpu_supports("avx2"))
		return &qn_simd_avx2;
#elif QN_HAVE_NEON
	if (most == QN_SIMD_BEST || most == QN_SIMD_NEON)
		return &qn_simd_neon;
#else
	(void)most;
#endif
	return &qn_simd_baseline;
}
