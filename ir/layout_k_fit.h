/* SPDX-License-Identifier: Apache-2.0 */
/* layout_k_fit.h - the reference's search for the scale, or the scale and the offset, of a group of values
 * (private to layout_k_*.c).
 *
 *   16 values ─▶ symmetric, refined   x ~ scale * q            q6_K, q3_K
 *   16 or 32  ─▶ offset               x ~ scale * q - offset   q2_K, q4_K, q5_K */
#ifndef QN_IR_LAYOUT_K_FIT_H
#define QN_IR_LAYOUT_K_FIT_H

#include <stdbool.h>
#include <stdint.h>

enum {
	QN_FIT_EACH = 16,
	QN_FIT_LONGEST = 32
}; /* values of a group: without, and at most with offset */

#define QN_FIT_TINY 1e-15F /* largest magnitude of a group that counts as all zero */

/* The nearest integer, halves to even, within lo..hi. */
int qn_fit_nearest(float v, int lo, int hi);
/* The entry of the largest magnitude of QN_FIT_EACH, the first one. */
float qn_fit_extreme(const float *x);

/* The scale for QN_FIT_EACH values, and their integers q, from -most to most - 1. */
float qn_fit_symmetric(int most, const float *x, int8_t *q);
float qn_fit_refined(int most, const float *x, int8_t *q);

typedef struct qn_fit_search {
	int most, steps;
	float first; /* the first candidate has most + first steps in the range */
	bool linear; /* the error is |difference|, else its square */
} qn_fit_search;

typedef struct qn_fit_group {
	int n;
	const float *x;
	float w[QN_FIT_LONGEST];
	float sum_w, sum_x; /* of w and w x; qn_fit_offset sets them */
} qn_fit_group;

/* The scale and the offset, which is not negative, and the integers q, from 0 to most. */
float qn_fit_offset(qn_fit_group *g, const qn_fit_search *s, uint8_t *q, float *offset);

#endif
