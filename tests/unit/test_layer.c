/* SPDX-License-Identifier: Apache-2.0 */
/* test_layer.c - whether rounding once, ties upward, gives what the rounding of a model gives, is told as trying every
 * sum tells it. */
#include "codegen/layer.h"
#include "runtime/fixed.h"
#include "tests/unit/kernel_rig.h"

/* By trying. */
static bool
differ(const qn_requantize_args *r, int32_t lo, int32_t hi)
{
	for (int32_t x = lo; x <= hi; x++)
		if (qn_requant(x, r->mult[0], r->shift[0], r->zo, r->lo, r->hi, r->mode) !=
		    qn_requant(x, r->mult[0], r->shift[0], r->zo, r->lo, r->hi, QN_RQ_SINGLE))
			return true;
	return false;
}

/* Multipliers below 0.5 with few bits, so that ties come soon, or as those of powers of two. */
static void
test_as_trying_tells(void **state)
{
	int found[4][2] = {{0}};

	(void)state;
	for (int round = 0; round < 20000; round++) {
		const int32_t bits = pick(1, 12);
		const int32_t m =
			(int32_t)((uint32_t)pick(1 << (bits - 1), (1 << bits) - 1) << (31 - bits));
		const int8_t shift = (int8_t)pick(-9, -1);
		const int32_t low = pick(0, 2) == 0 ? pick(-128, 0) : -128;
		const int32_t lo = pick(-3000, 3000),
			      hi = lo + pick(0, pick(0, 1) == 0 ? 40 : 3000);
		const int32_t modes[] = {QN_RQ_SINGLE, QN_RQ_NEAREST, QN_RQ_EVEN};
		const qn_requantize_args r = {.mult = &m,
					      .shift = &shift,
					      .mult_n = 1,
					      .zo = pick(-20, 20),
					      .lo = low,
					      .hi = 127,
					      .mode = modes[pick(0, 2)]};
		const bool differs = differ(&r, lo, hi);

		assert_int_equal(qn_layer_ties_differ(&r, 0, lo, hi), differs);
		found[r.mode][differs]++;
	}
	assert_int_equal(found[QN_RQ_SINGLE][1], 0);
	assert_true(found[QN_RQ_NEAREST][0] > 500 && found[QN_RQ_NEAREST][1] > 500);
	assert_true(found[QN_RQ_EVEN][0] > 1000 && found[QN_RQ_EVEN][1] > 1000);
}

/* A multiplier of 24 bits, as ONNX Runtime computes with: its first tie is at 2^31, which no sum reaches. */
static void
test_odd_multiplier(void **state)
{
	const int32_t m = 0x00c00001 << 7;
	const int8_t shift = -8;
	const qn_requantize_args r = {.mult = &m,
				      .shift = &shift,
				      .mult_n = 1,
				      .lo = -128,
				      .hi = 127,
				      .mode = QN_RQ_EVEN};

	(void)state;
	assert_false(qn_layer_ties_differ(&r, 0, -INT64_C(0x7fffffff), INT64_C(0x7fffffff)));
}

/* Rounding twice goes away from the zero point below it, where results are below it; all other modes do not. */
static void
test_goes_away(void **state)
{
	(void)state;
	for (int32_t mode = QN_RQ_DOUBLE; mode <= QN_RQ_EVEN; mode++)
		for (int32_t lo = -1; lo <= 1; lo++) {
			const qn_requantize_args r = {.lo = lo, .mode = mode};

			assert_int_equal(qn_layer_goes_away(&r), mode == QN_RQ_DOUBLE && lo < 0);
		}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_as_trying_tells),
		cmocka_unit_test(test_odd_multiplier),
		cmocka_unit_test(test_goes_away),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
