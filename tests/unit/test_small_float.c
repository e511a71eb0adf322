/* SPDX-License-Identifier: Apache-2.0 */
/* test_small_float.c - floats of 8 and 4 bits: values of all bit patterns. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ir/small_float.h"

static void
known_values(void **state)
{
	static const struct {
		qn_small_float f;
		uint8_t bits;
		double value;
	} rows[] = {
		{QN_SMALL_E4M3, 0x00, 0},
		{QN_SMALL_E4M3, 0x01, 0x1p-9},
		{QN_SMALL_E4M3, 0x07, 0x7p-9},
		{QN_SMALL_E4M3, 0x08, 0x1p-6},
		{QN_SMALL_E4M3, 0x38, 1},
		{QN_SMALL_E4M3, 0xb8, -1},
		{QN_SMALL_E4M3, 0x3c, 1.5},
		{QN_SMALL_E4M3, 0x7e, 448},
		{QN_SMALL_E4M3, 0xfe, -448},
		{QN_SMALL_E4M3FNUZ, 0x40, 1},
		{QN_SMALL_E4M3FNUZ, 0x7f, 240},
		{QN_SMALL_E5M2, 0x01, 0x1p-16},
		{QN_SMALL_E5M2, 0x04, 0x1p-14},
		{QN_SMALL_E5M2, 0x3c, 1},
		{QN_SMALL_E5M2, 0x7b, 57344},
		{QN_SMALL_E5M2, 0x7c, (double)INFINITY},
		{QN_SMALL_E5M2, 0xfc, -(double)INFINITY},
		{QN_SMALL_E5M2FNUZ, 0x40, 1},
		{QN_SMALL_E5M2FNUZ, 0x7f, 57344},
		{QN_SMALL_E2M1, 0x01, 0.5},
		{QN_SMALL_E2M1, 0x02, 1},
		{QN_SMALL_E2M1, 0x03, 1.5},
		{QN_SMALL_E2M1, 0x07, 6},
		{QN_SMALL_E2M1, 0x0f, -6},
	};

	(void)state;
	for (size_t i = 0; i < QN_COUNT(rows); i++)
		if (!(qn_small_value(rows[i].f, rows[i].bits) == rows[i].value))
			fail_msg("%s 0x%02x is %g, not %g", qn_small_table[rows[i].f].name,
				 rows[i].bits, qn_small_value(rows[i].f, rows[i].bits),
				 rows[i].value);
	assert_true(isnan(qn_small_value(QN_SMALL_E4M3, 0x7f)));
	assert_true(isnan(qn_small_value(QN_SMALL_E4M3, 0xff)));
	assert_true(isnan(qn_small_value(QN_SMALL_E5M2, 0x7d)));
	assert_true(isnan(qn_small_value(QN_SMALL_E4M3FNUZ, 0x80)));
	assert_true(isnan(qn_small_value(QN_SMALL_E5M2FNUZ, 0x80)));
	assert_true(signbit(qn_small_value(QN_SMALL_E4M3, 0x80)));
}

/* Patterns in their order are values in theirs, from 0 up; with the sign the same ones below 0; each is an f32. */
static void
order(void **state)
{
	(void)state;
	for (int f = QN_SMALL_NONE + 1; f < QN_NSMALL; f++) {
		const qn_small_info *i = &qn_small_table[f];
		const int sign = 1 << (i->bits - 1);
		double last = -1;

		for (int bits = 0; bits < sign; bits++) {
			const double v = qn_small_value((qn_small_float)f, (uint8_t)bits);
			const double w = qn_small_value((qn_small_float)f, (uint8_t)(bits | sign));

			if (isnan(v))
				continue;
			assert_true(v > last);
			assert_true((double)(float)v == v);
			assert_true(w == -v || (bits == 0 && isnan(w)));
			last = v;
		}
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(known_values), cmocka_unit_test(order)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
