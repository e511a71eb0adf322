/* SPDX-License-Identifier: MIT-0 */
/*
 * Products of matrices of int8 codes, either of which may be an activation.
 *
 *     acc[.., i, j] = sum over l of (a[.., i, l] - za) * (b[.., l, j] - zb)
 *     y = clamp(apply(acc, mult[j], shift[j]) + zo, lo, hi)
 *
 * The result [dim0, dim1, dim2, m, n] is contiguous; the operands have strides, so that they may be
 * transposed, and a stride of 0 repeats a matrix. The pieces are described in fixed.h.
 */
#ifndef QN_KERNELS_MATMUL_H
#define QN_KERNELS_MATMUL_H

#include "../fixed.h"

/*@ qn_matmul_args */
/* mult_n is n for one multiplier per column or 1 for a single one. The fields from zo to mode, mult
 * and shift concern only the int8 form. */
typedef struct qn_matmul_args {
	int32_t dim[4];         /* the leading axes; the last is 1 */
	int32_t as[4], bs[4];   /* strides along them */
	int32_t m, k, n;        /* rows, terms of a sum, columns */
	int32_t a_m, a_k;       /* strides of a along rows and terms */
	int32_t b_k, b_n;       /* strides of b along terms and columns */
	int32_t za, zb;         /* zero points of a and b */
	int32_t zo, lo, hi;     /* zero point and range of the output codes */
	int32_t mode;           /* rounding mode of the multipliers */
	int32_t mult_n;         /* entries in mult and shift: n or 1 */
	const int32_t *mult;    /* [mult_n] in [2^30, 2^31) or 0 */
	const int8_t *shift;    /* [mult_n] in [-31, 30] */
} qn_matmul_args;

/*@ qn_matmul_dot */
/* One accumulator, of a row and a column. The caller sees to it that the sum fits: at most 33025
 * terms, as |code - zero point| is at most 255 on both sides. */
static inline int32_t
qn_matmul_dot(const qn_matmul_args *p, const int8_t *a, const int8_t *b)
{
	int32_t acc = 0;
	int32_t l;

	for (l = 0; l < p->k; l++)
		acc += ((int32_t)a[l * p->a_k] - p->za) * ((int32_t)b[l * p->b_k] - p->zb);
	return acc;
}

/*@ qn_matmul_acc */
/* int32 accumulators out. */
static inline void
qn_matmul_acc(const qn_matmul_args *p, const int8_t *a, const int8_t *b, int32_t *QN_RESTRICT y)
{
	int32_t runs = p->dim[0] * p->dim[1] * p->dim[2];
	int32_t r, i, j;

	for (r = 0; r < runs; r++) {
		const int8_t *pa = a + qn_broadcast_at(p->dim, p->as, r);
		const int8_t *pb = b + qn_broadcast_at(p->dim, p->bs, r);

		for (i = 0; i < p->m; i++)
			for (j = 0; j < p->n; j++)
				y[(r * p->m + i) * p->n + j] =
					qn_matmul_dot(p, pa + i * p->a_m, pb + j * p->b_n);
	}
}

/*@ qn_matmul_s8 */
/* With the requantize, int8 out. */
static inline void
qn_matmul_s8(const qn_matmul_args *p, const int8_t *a, const int8_t *b, int8_t *QN_RESTRICT y)
{
	int32_t runs = p->dim[0] * p->dim[1] * p->dim[2];
	int32_t r, i, j;

	for (r = 0; r < runs; r++) {
		const int8_t *pa = a + qn_broadcast_at(p->dim, p->as, r);
		const int8_t *pb = b + qn_broadcast_at(p->dim, p->bs, r);

		for (i = 0; i < p->m; i++) {
			for (j = 0; j < p->n; j++) {
				int32_t c = p->mult_n == 1 ? 0 : j;

				y[(r * p->m + i) * p->n + j] = (int8_t)qn_requant(
					qn_matmul_dot(p, pa + i * p->a_m, pb + j * p->b_n),
					QN_READ32(p->mult, c), QN_READ8(p->shift, c), p->zo, p->lo,
					p->hi, p->mode);
			}
		}
	}
}

/*@ end */
#endif
