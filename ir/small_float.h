/* SPDX-License-Identifier: Apache-2.0 */
/* small_float.h - floats of 8 and 4 bits, in which only constants are stored: nothing computes with them.
 *
 *   f8E4M3FN      sign, 4 bits of exponent (bias 7), 3 of fraction; no infinity, 0x7f and 0xff are NaN     to 448
 *   f8E4M3FNUZ    the same with bias 8; 0x80 is the only NaN, and there is no -0                           to 240
 *   f8E5M2        sign, 5 bits of exponent (bias 15), 2 of fraction; infinity, NaN                         to 57344
 *   f8E5M2FNUZ    the same with bias 16; 0x80 is the only NaN, no -0, no infinity                          to 57344
 *   f4E2M1FN      sign, 2 bits of exponent (bias 1), 1 of fraction; neither                                to 6 */
#ifndef QN_IR_SMALL_FLOAT_H
#define QN_IR_SMALL_FLOAT_H

#include "ir/base.h"

typedef enum qn_small_float {
	QN_SMALL_NONE, /* integers */
	QN_SMALL_E4M3,
	QN_SMALL_E4M3FNUZ,
	QN_SMALL_E5M2,
	QN_SMALL_E5M2FNUZ,
	QN_SMALL_E2M1,
	QN_NSMALL
} qn_small_float;

typedef struct qn_small_info {
	const char *name; /* as in the text of a type */
	uint8_t bits, exponent, fraction;
	int32_t bias;
	enum {
		QN_NO_NAN,
		QN_NAN_ALL,
		QN_NAN_IEEE,
		QN_NAN_MINUS_0
	} nan; /* which bit patterns are NaN */
} qn_small_info;

extern const qn_small_info qn_small_table[QN_NSMALL]; /* row 0 is not used */

/* What these bits stand for: exact in f32. */
double qn_small_value(qn_small_float f, uint8_t bits);

#endif
