/* SPDX-License-Identifier: Apache-2.0 */
/* net_places.h - values whose elements are those of another value at other places.
 *
 *   affine(x, dim, begin, by);                       fills `at`: where each element comes from
 *   y = picked(n, x, x->rank, dim, at, NULL); */
#ifndef TESTS_NETWORKS_NET_PLACES_H
#define TESTS_NETWORKS_NET_PLACES_H

#include "tests/networks/net.h"

enum { FROM_VALUE = -1 };

/* y[i] = x[at[i]], or the value's element. */
static inline net_val *
picked(net *n, const net_val *x, int rank, const int64_t *dim, const int64_t *at,
       const net_val *value)
{
	net_val *y = net_new(n, x->type, rank, dim);

	y->q = x->q;
	for (int s = 0; s < NET_SAMPLES; s++)
		for (int64_t i = 0; i < y->count; i++) {
			y->lo[s * y->count + i] =
				at[i] >= 0 ? net_lo(x, s, at[i]) : net_lo(value, s, 0);
			y->hi[s * y->count + i] =
				at[i] >= 0 ? net_hi(x, s, at[i]) : net_hi(value, s, 0);
		}
	return y;
}

static int64_t at[NET_ELEMENTS]; /* of the value being made */

static inline void
strides(const net_val *x, int64_t *step)
{
	int64_t s = 1;

	for (int k = x->rank - 1; k >= 0; k--) {
		step[k] = s;
		s *= x->dim[k];
	}
}

static inline int64_t
product(int rank, const int64_t *dim)
{
	int64_t n = 1;

	for (int k = 0; k < rank; k++)
		n *= dim[k];
	return n;
}

/* Fills `at`: along axis k output coordinate p is begin[k] + p * step[k] of x, outside of it FROM_VALUE. */
static inline void
affine(const net_val *x, const int64_t *dim, const int64_t *begin, const int64_t *by)
{
	int64_t step[NET_RANK];

	strides(x, step);
	for (int64_t i = 0; i < product(x->rank, dim); i++) {
		int64_t rest = i;

		at[i] = 0;
		for (int k = x->rank - 1; k >= 0; k--) {
			int64_t p = begin[k] + rest % dim[k] * by[k];

			rest /= dim[k];
			if (p < 0 || p >= x->dim[k] || at[i] == FROM_VALUE)
				at[i] = FROM_VALUE;
			else
				at[i] += p * step[k];
		}
	}
}

static inline net_val *
viewed(net *n, net_val *x, int rank, const int64_t *dim)
{
	for (int64_t i = 0; i < x->count; i++)
		at[i] = i;
	return picked(n, x, rank, dim, at, NULL);
}

#endif
