/* SPDX-License-Identifier: Apache-2.0 */
/* float_dot.h - sums of products for conv2d and dense: up to QN_DOT_WIDTH outputs side by side.
 *
 *   acc[j] += x[k] * w[j * stride + k]     for k = 0, 1, 2 … in this order, in f32
 *
 * Each output keeps one accumulator and its own order of terms, so the width does not change a
 * bit of the result; it gives the processor independent sums to work on. */
#ifndef QN_RUNTIME_FLOAT_DOT_H
#define QN_RUNTIME_FLOAT_DOT_H

#include <stdint.h>

enum { QN_DOT_WIDTH = 8 };

/* x [n], w [width, stride]. */
static inline void
qn_dot_add(float *acc, int64_t width, const float *x, const float *w, int64_t stride, int64_t n)
{
	if (width == QN_DOT_WIDTH) {
		float a[QN_DOT_WIDTH];

		for (int j = 0; j < QN_DOT_WIDTH; j++)
			a[j] = acc[j];
		for (int64_t k = 0; k < n; k++)
			for (int j = 0; j < QN_DOT_WIDTH; j++)
				a[j] += x[k] * w[j * stride + k];
		for (int j = 0; j < QN_DOT_WIDTH; j++)
			acc[j] = a[j];
		return;
	}
	for (int64_t j = 0; j < width; j++) {
		float a = acc[j];

		for (int64_t k = 0; k < n; k++)
			a += x[k] * w[j * stride + k];
		acc[j] = a;
	}
}

#endif
