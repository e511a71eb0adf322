/* SPDX-License-Identifier: Apache-2.0 */
/* The next token by its logits: how often each is drawn, against the probabilities in double, at several temperatures
 * and steps; the generator against numbers computed elsewhere. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "runtime/kernels/softmax_sample.h"

enum { CLASSES = 12, DRAWS = 200000 };

/* xorshift64* with the seeds 1 and 42, by a program in Python. */
static void
random_numbers(void **state)
{
	uint64_t one = 1, other = 42, none = 0, golden = UINT64_C(0x9e3779b97f4a7c15);

	(void)state;
	assert_true(qn_random(&one) == UINT64_C(5180492295206395165));
	assert_true(qn_random(&one) == UINT64_C(12380297144915551517));
	assert_true(qn_random(&other) == UINT64_C(6255019084209693600));
	assert_true(qn_random(&none) == qn_random(&golden));
}

static void
check_draws(const int16_t *x, double scale, int32_t temperature)
{
	const int64_t step = (int64_t)rint(scale * 0x1p42);
	uint64_t seed = 7;
	long drawn[CLASSES] = {0};
	double p[CLASSES], sum = 0;

	for (int i = 0; i < CLASSES; i++)
		sum += p[i] = exp(scale * x[i] * 256 / temperature);
	for (long i = 0; i < DRAWS; i++)
		drawn[qn_sample_s16(x, CLASSES, step, temperature, &seed)]++;
	for (int i = 0; i < CLASSES; i++) {
		const double want = p[i] / sum * DRAWS;
		const double deviation = sqrt(want * (1 - p[i] / sum));

		if (fabs((double)drawn[i] - want) > 4.5 * deviation + 0.5)
			fail_msg("scale %g, temperature %d: class %d is drawn %ld times, expected "
				 "%g within %g",
				 scale, (int)temperature, i, drawn[i], want, 4.5 * deviation);
	}
}

static void
probabilities(void **state)
{
	static const int16_t x[CLASSES] = {-1000, 500, 480, 0,  499, -32768,
					   32,    100, 7,   -7, 450, 300};
	static const double scale[] = {1e-7, 0.001, 0.01, 0.3};
	static const int32_t temperature[] = {1, 64, 205, 256, 512, 100000};

	(void)state;
	for (size_t i = 0; i < sizeof scale / sizeof scale[0]; i++)
		for (size_t k = 0; k < sizeof temperature / sizeof temperature[0]; k++)
			check_draws(x, scale[i], temperature[k]);
}

/* Temperature 0 and below, and steps so wide that only the largest is left; the whole range of values. */
static void
the_largest(void **state)
{
	static const int16_t x[4] = {-32768, 32767, 32767, 32766};
	static const int8_t y[3] = {-128, 5, 127};
	static const uint8_t z[3] = {200, 0, 255};
	uint64_t seed = 3;

	(void)state;
	assert_int_equal(qn_largest_s16(x, 4), 1);
	for (int i = 0; i < 100; i++) {
		assert_int_equal(qn_sample_s16(x, 4, INT64_C(1) << 30, -i, &seed), 1);
		assert_int_equal(qn_sample_s8(y, 3, INT64_MAX, 1, &seed), 2);
		assert_int_equal(qn_sample_u8(z, 3, INT64_MAX, INT32_MAX, &seed), 2);
		assert_int_equal(qn_sample_s16(x, 1, 0, 256, &seed), 0);
	}
	assert_true(seed != 3);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_numbers),
		cmocka_unit_test(probabilities),
		cmocka_unit_test(the_largest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
