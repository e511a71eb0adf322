/* SPDX-License-Identifier: Apache-2.0 */
/* broadcast.c - strides of operands that repeat, and neighbouring axes merged where both
 * operands allow. */
#include "runtime/broadcast.h"

/* Stride of operand t along axis i of the result; *run counts the operand's elements below it. */
static int64_t
stride(const qn_type *t, int32_t from_end, int64_t *run)
{
	if (from_end > t->rank)
		return 0;
	int64_t dim = t->dim[t->rank - from_end];
	int64_t s = dim == 1 ? 0 : *run;
	*run *= dim;
	return s;
}

static void
reverse(int64_t *v, int32_t n)
{
	for (int32_t i = 0; i < n / 2; i++) {
		int64_t keep = v[i];

		v[i] = v[n - 1 - i];
		v[n - 1 - i] = keep;
	}
}

void
qn_broadcast_make(const qn_type *x, const qn_type *y, const qn_type *out, qn_broadcast *b)
{
	int64_t xrun = 1, yrun = 1;
	int32_t n = 0;

	*b = (qn_broadcast){0};
	/* From the last axis to the first, so the arrays are reversed until the end. */
	for (int32_t k = 1; k <= out->rank; k++) {
		int64_t dim = out->dim[out->rank - k];
		int64_t xs = stride(x, k, &xrun), ys = stride(y, k, &yrun);

		if (dim == 1)
			continue;
		if (n > 0 && xs == b->xs[n - 1] * b->dim[n - 1] &&
		    ys == b->ys[n - 1] * b->dim[n - 1]) {
			b->dim[n - 1] *= dim;
			continue;
		}
		b->dim[n] = dim;
		b->xs[n] = xs;
		b->ys[n++] = ys;
	}
	if (n == 0)
		b->dim[n++] = 1;
	reverse(b->dim, n);
	reverse(b->xs, n);
	reverse(b->ys, n);
	b->rank = n;
}

bool
qn_broadcast_next(const qn_broadcast *b, int64_t *at, int64_t *x, int64_t *y)
{
	for (int32_t i = b->rank - 2; i >= 0; i--) {
		*x += b->xs[i];
		*y += b->ys[i];
		if (++at[i] < b->dim[i])
			return true;
		*x -= b->xs[i] * b->dim[i];
		*y -= b->ys[i] * b->dim[i];
		at[i] = 0;
	}
	return false;
}
