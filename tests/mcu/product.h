/* SPDX-License-Identifier: Apache-2.0 */
/* product.h - products of two activations that are drawn, a [m, k] and b [n, k] or [k, n], for kernels of dsp.c and of
 * vectors.c; after jobs.h. */
#ifndef QN_TESTS_MCU_PRODUCT_H
#define QN_TESTS_MCU_PRODUCT_H

#include "runtime/kernels/matmul.h"

enum { PRODUCT_ROWS = 3, PRODUCT_TERMS = 70, PRODUCT_COLUMNS = 40 };

/* Where b_n is 1, b has columns side by side; wide: of 16 bits. */
static inline void
draw_product(qn_matmul_args *p, int wide)
{
	static int32_t mult[PRODUCT_COLUMNS];
	static int8_t shift[PRODUCT_COLUMNS];

	*p = (qn_matmul_args){.dim = {1, 1, 1, 1},
			      .m = pick(1, PRODUCT_ROWS),
			      .k = pick(1, PRODUCT_TERMS),
			      .n = pick(1, PRODUCT_COLUMNS),
			      .a_k = 1,
			      .lo = wide ? INT16_MIN : pick(-128, 0),
			      .hi = wide ? INT16_MAX : pick(1, 127),
			      .za = wide ? 0 : pick(-128, 127),
			      .zb = wide ? 0 : pick(-128, 127),
			      .zo = wide ? 0 : pick(-128, 127),
			      .mode = QN_RQ_SINGLE,
			      .mult = mult,
			      .shift = shift};
	p->a_m = p->k;
	p->b_n = pick(0, 1) == 0 ? 1 : p->k;
	p->b_k = p->b_n == 1 ? p->n : 1;
	p->mult_n = pick(0, 1) == 0 ? 1 : p->n;
	for (int32_t i = 0; i < PRODUCT_COLUMNS; i++) {
		mult[i] = pick(1 << 30, INT32_MAX);
		shift[i] = (int8_t)(wide ? -pick(10, 31) : -pick(0, 16));
	}
}

/* Numbers of 16 bits from so many bytes, or ends alone. */
static inline void
draw_halves(int16_t *to, const int8_t *from, size_t bytes)
{
	const int ends = pick(0, 3) == 0;

	memcpy(to, from, bytes);
	for (size_t i = 0; ends && i < bytes / 2; i++)
		to[i] = pick(0, 2) == 0 ? INT16_MAX : INT16_MIN;
}

#endif
