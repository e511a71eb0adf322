/* SPDX-License-Identifier: Apache-2.0 */
/* lut_lines.h - the table of a function of one 16-bit value: points, with straight lines between them.
 *
 * The 65536 values are 128 parts of 512.  In each the points lie 2^k apart, k = 0 .. 9: as far as the function
 * allows, when a line is to differ from it by no more than half a step of the result.  So log and 1/x have a point for each value
 * near 0, where they are steep, and few elsewhere.
 *
 *   code + 32768 = 512 i + r         part[i] = 16 s + k
 *   result: between points s + (r >> k) and the next, at the low k bits of r
 *
 * A point where a line of some length begins is moved by half of the error that this line has in its middle, which
 * halves the largest one.  Where more than QN_LUT_POINTS would be needed, as for functions with a jump in most
 * of the parts (floor over a wide range), the error bound doubles until there are few enough, and no line spans more
 * than 128 values. */
#ifndef QN_RUNTIME_LUT_LINES_H
#define QN_RUNTIME_LUT_LINES_H

#include "ir/arena.h"

enum { QN_LUT_PARTS = 128, QN_LUT_POINTS = 2048 };

/* The result for a value of -32768 .. 32768, in its steps and within -32768 .. 32767; not NaN. */
typedef double qn_lut_code_fn(const void *user, double code);

typedef struct qn_lut_lines {
	uint16_t *part; /* [QN_LUT_PARTS] */
	int16_t *point;
	int32_t n; /* points, at most QN_LUT_POINTS */
} qn_lut_lines;

/* Points stay within [least, most]. */
qn_lut_lines qn_lut_lines_of(qn_arena *a, qn_lut_code_fn *f, const void *user, double least,
			     double most);

#endif
