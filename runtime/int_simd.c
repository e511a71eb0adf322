/* SPDX-License-Identifier: Apache-2.0 */
/* int_simd.c - chooses a variant, as simd.c does. */
#include "runtime/int_simd.h"

const qn_int_simd *
qn_int_simd_get(qn_simd_kind most)
{
#if QN_HAVE_X86
	if ((most == QN_SIMD_BEST || most == QN_SIMD_AVX512) &&
	    __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vnni"))
		return &qn_int_simd_avx512vnni;
	if ((most == QN_SIMD_BEST || most == QN_SIMD_AVX512 || most == QN_SIMD_AVX2) &&
	    __builtin_cpu_supports("avx2"))
		return &qn_int_simd_avx2;
#else
	(void)most;
#endif
	return &qn_int_simd_baseline;
}
