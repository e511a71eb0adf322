/* SPDX-License-Identifier: MIT-0 */
/*
 * Operations that move codes and change none: transpose, concat, pad, copy.
 *
 *     [a b c]  transpose   [a d]      output dim {3, 2}, input strides {1, 3}
 *     [d e f]     -->      [b e]
 *                          [c f]
 *
 * The pieces are described in fixed.h.
 */
#ifndef QN_KERNELS_MOVE_H
#define QN_KERNELS_MOVE_H

#include "../fixed.h"

/*@ qn_next_index */
/* Moves the position at in an array of n axes to the next, last axis fastest; 0 after the last. */
static inline int32_t
qn_next_index(const int32_t *dim, int32_t n, int32_t *at)
{
	int32_t i;

	for (i = n - 1; i >= 0; i--) {
		if (++at[i] < dim[i])
			return 1;
		at[i] = 0;
	}
	return 0;
}

/*@ qn_count */
/* Number of elements of an array of n axes; 1 for n = 0. */
static inline int32_t
qn_count(const int32_t *dim, int32_t n)
{
	int32_t i, count = 1;

	for (i = 0; i < n; i++)
		count *= dim[i];
	return count;
}

/*@ qn_transpose_args */
/* rank in [1, 6]; size: bytes of an element, 1, 2, 4 or 8; dim: shape of the output; stride: for
 * each output axis the distance in the input, in elements. Any strides will do, so a slice, a step,
 * a reversal (from a later start) and a repetition (stride 0) are the same operation. */
typedef struct qn_transpose_args {
	int32_t rank, size;
	int32_t dim[6], stride[6];
} qn_transpose_args;

/*@ qn_transpose */
/* y, contiguous, gets the elements of x in the order that the strides give; no overlap. */
static inline void
qn_transpose(const qn_transpose_args *a, const void *x, void *QN_RESTRICT y)
{
	const int8_t *in = (const int8_t *)x;
	int8_t *out = (int8_t *)y;
	int32_t last = a->rank - 1;
	int32_t at[6] = {0, 0, 0, 0, 0, 0};
	int32_t i;

	if (qn_count(a->dim, a->rank) == 0)
		return;
	do {
		const int8_t *p = in;

		for (i = 0; i < last; i++)
			p += at[i] * a->stride[i] * a->size;
		if (a->stride[last] == 1) {
			memcpy(out, p, (size_t)(a->dim[last] * a->size));
			out += a->dim[last] * a->size;
			continue;
		}
		for (i = 0; i < a->dim[last]; i++, out += a->size)
			memcpy(out, p + i * a->stride[last] * a->size, (size_t)a->size);
	} while (qn_next_index(a->dim, last, at) != 0);
}

/*@ qn_concat_args */
/* One input of a concat: outer runs of run bytes each, whose places in the output are stride bytes
 * apart. run = axis length * bytes per index of the axis, stride = the same of the output. */
typedef struct qn_concat_args {
	int32_t outer;
	int32_t run, stride;
} qn_concat_args;

/*@ qn_concat_part */
/* Copies one input to its place; y points to the place of the first run. */
static inline void
qn_concat_part(const qn_concat_args *a, const void *x, void *QN_RESTRICT y)
{
	const int8_t *in = (const int8_t *)x;
	int8_t *out = (int8_t *)y;
	int32_t i;

	for (i = 0; i < a->outer; i++)
		memcpy(out + i * a->stride, in + i * a->run, (size_t)a->run);
}

/*@ qn_pad_args */
/* rank in [1, 6]; dim: shape of the input; before, after: added positions >= 0 on each side of each
 * axis; value: their code. */
typedef struct qn_pad_args {
	int32_t rank;
	int32_t dim[6], before[6], after[6];
	int32_t value;
} qn_pad_args;

/*@ qn_pad_s8 */
/* Fills the output with the code, then copies the input's rows to their places. */
static inline void
qn_pad_s8(const qn_pad_args *a, const int8_t *x, int8_t *QN_RESTRICT y)
{
	int32_t last = a->rank - 1;
	int32_t at[6] = {0, 0, 0, 0, 0, 0};
	int32_t i, count = 1;

	for (i = 0; i < a->rank; i++)
		count *= a->before[i] + a->dim[i] + a->after[i];
	memset(y, (int)a->value, (size_t)count);
	if (qn_count(a->dim, a->rank) == 0)
		return;
	do {
		int32_t to = 0;

		for (i = 0; i < a->rank; i++)
			to = to * (a->before[i] + a->dim[i] + a->after[i]) + a->before[i] + at[i];
		memcpy(y + to, x, (size_t)a->dim[last]);
		x += a->dim[last];
	} while (qn_next_index(a->dim, last, at) != 0);
}

/*@ qn_pad_copy_args */
/* Padding with codes of the input itself: [a b c], before 1, after 2, reflects to [b a b c b a]; its
 * edge gives [a a b c c c]. rank in [1, 6]; size: bytes of an element; dim: shape of the input, each
 * at least 1; before, after: added positions on each side of each axis, less than dim where they
 * reflect; reflect: 1, or 0 for the edge. */
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

/*@ qn_copy */
/* n bytes; for reshape and its kin where input and output are not the same memory already. */
static inline void
qn_copy(const void *x, int32_t n, void *y)
{
	if (x != y)
		memcpy(y, x, (size_t)n);
}

/*@ end */
#endif
