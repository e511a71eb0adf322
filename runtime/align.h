/* SPDX-License-Identifier: Apache-2.0 */
/* align.h - how codes of two fixed-point scales become summands of one scale, 2^-fraction.
 *
 *   205 * 2^-12 and 154 * 2^-9    ->  fraction 12: x * 205, y * 154 * 2^3
 *   205 * 2^-32 and 154 * 2^-9    ->  fraction 23: x * 205 / 2^9, y * 154 * 2^14
 *
 * The operand with fewer fraction bits is shifted left as far as 32 bits hold both summands; what
 * remains of the difference is a rounding shift right of the other one, which is that much smaller. */
#ifndef QN_RUNTIME_ALIGN_H
#define QN_RUNTIME_ALIGN_H

#include "runtime/impl_util.h"

typedef struct qn_align {
	int32_t mantissa[2]; /* of the operands' scales */
	int32_t shift[2];    /* left; below 0: right, rounding */
	int32_t fraction;    /* the sum has the scale 2^-fraction */
	int32_t loss;        /* bits that the smaller operand loses */
} qn_align;

/* a, b: scales that are fixed-point numbers of so many bits. */
qn_align qn_align_scales(double a, double b, int32_t bits, qn_family family);

#endif
