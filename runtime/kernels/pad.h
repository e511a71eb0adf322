/* SPDX-License-Identifier: MIT-0 */
/*
 * Padding with codes of the input itself.
 *
 *     [a b c]  before 1, after 2      reflect  [b a b c b a]      edge  [a a b c c c]
 *
 * The pieces are described in fixed.h.
 */
#ifndef QN_KERNELS_PAD_H
#define QN_KERNELS_PAD_H

#include "move.h"

/*@ qn_pad_copy_args */
/* rank in [1, 6]; size: bytes of an element; dim: shape of the input, each at least 1; before,
 * after: added positions on each side of each axis, less than dim where they reflect; reflect: 1,
 * or 0 for the edge. */
typedef struct qn_pad_copy_args {
	int32_t rank, size;
	int32_t dim[6], before[6], after[6];
	int32_t reflect;
} qn_pad_copy_args;

/*@ qn_pad_source */
/* The position of an axis of dim elements that stands at p, which may lie outside. */
static inline int32_t
qn_pad_source(int32_t p, int32_t dim, int32_t reflect)
{
	if (p < 0)
		return reflect ? -p : 0;
	if (p >= dim)
		return reflect ? 2 * (dim - 1) - p : dim - 1;
	return p;
}

/*@ qn_pad_copy */
/* Each position of the output, last axis fastest, takes its element of the input. */
static inline void
qn_pad_copy(const qn_pad_copy_args *a, const void *x, void *QN_RESTRICT y)
{
	const int8_t *in = (const int8_t *)x;
	int8_t *out = (int8_t *)y;
	int32_t dim[6] = {1, 1, 1, 1, 1, 1};
	int32_t at[6] = {0, 0, 0, 0, 0, 0};
	int32_t i;

	for (i = 0; i < a->rank; i++)
		dim[i] = a->before[i] + a->dim[i] + a->after[i];
	do {
		int32_t from = 0;

		for (i = 0; i < a->rank; i++)
			from = from * a->dim[i] +
			       qn_pad_source(at[i] - a->before[i], a->dim[i], a->reflect);
		memcpy(out, in + from * a->size, (size_t)a->size);
		out += a->size;
	} while (qn_next_index(dim, a->rank, at) != 0);
}

/*@ end */
#endif
