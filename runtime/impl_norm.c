/* SPDX-License-Identifier: Apache-2.0 */
/* impl_norm.c - batch_norm along the last axis: x [… , c], gamma [c], beta [c], mean [c],
 * variance [c].
 *
 *   y = ((x - mean) / sqrt(variance + epsilon)) * gamma + beta
 *
 * in f32, rounded after each of these operations in this order.  There is no integer
 * implementation: a batch_norm is folded into a convolution or becomes one. */
#include <math.h>

#include "runtime/impl_util.h"

enum { BLOCK = 64 }; /* channels at a time, row by row */

static void
batch_norm_real(const qn_eval *e)
{
	const qn_type *type = e->n->type;
	int64_t c = type->dim[type->rank - 1];
	int64_t rows = qn_dim_product(type, 0, type->rank - 1);
	const float *gamma = e->in[1], *beta = e->in[2], *mean = e->in[3], *variance = e->in[4];
	float epsilon = (float)e->n->attr->batch_norm.epsilon;

	for (int64_t from = 0; from < c; from += BLOCK) {
		int64_t n = c - from < BLOCK ? c - from : BLOCK;
		const float *x = (const float *)e->in[0] + from;
		float *y = (float *)e->out + from;
		float deviation[BLOCK];

		/* A double root of an f32, rounded to f32, is the correctly rounded f32 root. */
		for (int64_t k = 0; k < n; k++)
			deviation[k] = (float)sqrt((double)(variance[from + k] + epsilon));
		for (int64_t i = 0; i < rows; i++, x += c, y += c)
			for (int64_t k = 0; k < n; k++)
				y[k] = (x[k] - mean[from + k]) / deviation[k] * gamma[from + k] +
				       beta[from + k];
	}
}

const qn_impl qn_impl_batch_norm = {.real = batch_norm_real};
