/* SPDX-License-Identifier: MIT-0 */
/*
 * Choice between two inputs, element by element, with broadcasting.
 *
 *     z = c != 0 ? x : y
 *     output [dim0, ..., dim5], contiguous, elements of `size` bytes
 *     element i of an input lies at the sum of the output's positions times its strides; a stride
 *     of 0 repeats
 *
 * The pieces are described in fixed.h.
 */
#ifndef QN_KERNELS_WHERE_H
#define QN_KERNELS_WHERE_H

#include "../fixed.h"

/*@ qn_where_args */
typedef struct qn_where_args {
	int32_t dim[6];              /* shape of the output */
	int32_t cs[6], xs[6], ys[6]; /* strides of the condition and the inputs, in elements */
	int32_t size;                /* bytes of an element of x, y and z */
} qn_where_args;

/*@ qn_where_at */
/* Offset in an input of the r-th run along the last axis of the output. */
static inline int32_t
qn_where_at(const int32_t *dim, const int32_t *stride, int32_t r)
{
	int32_t at = 0;
	int32_t k;

	for (k = 4; k >= 0; k--) {
		at += r % dim[k] * stride[k];
		r /= dim[k];
	}
	return at;
}

/*@ qn_where */
/* c holds bytes. No two of the four may overlap in part. */
static inline void
qn_where(const qn_where_args *a, const void *c, const void *x, const void *y, void *QN_RESTRICT z)
{
	int32_t runs = a->dim[0] * a->dim[1] * a->dim[2] * a->dim[3] * a->dim[4];
	uint8_t *to = (uint8_t *)z;
	int32_t r, l;

	for (r = 0; r < runs; r++) {
		const uint8_t *pc = (const uint8_t *)c + qn_where_at(a->dim, a->cs, r);
		const uint8_t *px = (const uint8_t *)x + qn_where_at(a->dim, a->xs, r) * a->size;
		const uint8_t *py = (const uint8_t *)y + qn_where_at(a->dim, a->ys, r) * a->size;

		for (l = 0; l < a->dim[5]; l++, to += a->size)
			memcpy(to, pc[l * a->cs[5]] != 0 ? px + l * a->xs[5] * a->size
				: py + l * a->ys[5] * a->size, (size_t)a->size);
	}
}

/*@ end */
#endif
