/* SPDX-License-Identifier: Apache-2.0 */
/* test_kernels_prelu.c - the results of a parametric relu are the same from a table, which many rows have, and one by
 * one. */
#include "runtime/fixed.h"
#include "runtime/kernels/unary.h"
#include "tests/unit/kernel_rig.h"

#include <string.h>

enum { ROWS = 700, FEW = 100 };

#define PRELU(name, code, kernel, lowest, highest)                                                 \
	static void name(void **state)                                                             \
	{                                                                                          \
		code x[ROWS * 5], got[ROWS * 5], want[ROWS * 5], slope[5];                         \
                                                                                                   \
		(void)state;                                                                       \
		for (int round = 0; round < 200; round++) {                                        \
			qn_prelu_args a = {.rows = ROWS,                                           \
					   .channels = pick(1, 5),                                 \
					   .zx = pick(lowest, highest),                            \
					   .zs = pick(lowest, highest),                            \
					   .zo = pick(lowest, highest),                            \
					   .m = pick(1 << 30, INT32_MAX),                          \
					   .sh = pick(-4, 2),                                      \
					   .ms = pick(1 << 30, INT32_MAX),                         \
					   .shs = pick(-9, -2),                                    \
					   .mode = pick(0, 3)};                                    \
			const int32_t n = ROWS * a.channels;                                       \
                                                                                                   \
			a.lo = pick(lowest, a.zo);                                                 \
			a.hi = pick(a.zo, highest);                                                \
			for (int32_t i = 0; i < n; i++)                                            \
				x[i] = (code)pick(lowest, highest);                                \
			for (int32_t i = 0; i < a.channels; i++)                                   \
				slope[i] = (code)pick(lowest, highest);                            \
			kernel(&a, x, slope, got);                                                 \
			a.rows = FEW;                                                              \
			for (int32_t at = 0; at < n; at += FEW * a.channels)                       \
				kernel(&a, x + at, slope, want + at);                              \
			assert_memory_equal(got, want, (size_t)n * sizeof(code));                  \
			a.rows = ROWS;                                                             \
			kernel(&a, x, slope, x);                                                   \
			assert_memory_equal(x, want, (size_t)n * sizeof(code));                    \
		}                                                                                  \
	}

PRELU(prelu_s8, int8_t, qn_prelu_s8, -128, 127)
PRELU(prelu_u8, uint8_t, qn_prelu_u8, 0, 255)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(prelu_s8),
		cmocka_unit_test(prelu_u8),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
