/* SPDX-License-Identifier: MIT-0 */
/*
 * Normalization of int8 codes by their own mean and variance: layer_norm and instance_norm.
 *
 *     y = (x - mean) / sqrt(variance + epsilon) * w + b      over n elements
 *
 * With codes c of scale s, sum S and sum of squares Q, all of it is integer but one root and one
 * quotient for n elements:
 *
 *     D = n c - S,  V = n Q - S^2         (x - mean) / sqrt(variance + epsilon)
 *                                         = D / sqrt(V + epsilon n^2 / s^2)
 *
 * The root is that of (V + …) * 2^fraction, rounded down, with all the fraction that 62 bits have
 * room for; its inverse has 31 bits. The normalized value, which is at most sqrt(n), takes 22 bits;
 * the last sum has 8 bits of fraction, and both real factors are multipliers as everywhere. The
 * zero point of x plays no part.
 * The pieces are described in fixed.h.
 */
#ifndef QN_KERNELS_LAYER_NORM_H
#define QN_KERNELS_LAYER_NORM_H

#include "../fixed.h"

/*@ qn_isqrt64 */
/* The square root, rounded down, for x < 2^62: one bit of the result after the other. */
static inline uint32_t
qn_isqrt64(uint64_t x)
{
	uint64_t bit = UINT64_C(1) << 60, root = 0;

	for (; bit != 0; bit >>= 2) {
		if (x >= root + bit) {
			x -= root + bit;
			root = (root >> 1) + bit;
		} else {
			root >>= 1;
		}
	}
	return (uint32_t)root;
}

/*@ qn_norm_args */
/* x [outer, n, inner], each n normalized by itself, n < 2^20. each: w and b have an element for
 * each of n, else for each of inner. epsilon * n^2 / scale^2 * 2^fraction, fraction even, is
 * eps_high * 2^31 + eps_low; with the largest V the sum stays below 2^61. bits: fraction of the
 * normalized value, sqrt(n) * 2^bits <= 2^22. (mw, shw) is scale w / scale y * 2^(8-bits), and
 * (mb, shb) is scale b / scale y * 2^-12. */
typedef struct qn_norm_args {
	int32_t outer, n, inner;
	int32_t each;
	int32_t fraction, eps_high, eps_low;
	int32_t bits;
	int32_t zw, mw, shw;
	int32_t zb, mb, shb;
	int32_t zo, lo, hi;
	int32_t mode; /* rounding mode of the multipliers */
} qn_norm_args;

/*@ qn_norm_shift */
/* p / 2^n, ties toward plus infinity, for n <= 50; a shift to the left for n < 0. */
static inline int32_t
qn_norm_shift(int64_t p, int32_t n)
{
	if (n <= 0)
		return (int32_t)(p * (INT64_C(1) << -n));
	return (int32_t)qn_sar64(p + (INT64_C(1) << (n - 1)), n);
}

/*@ qn_norm_inverse */
/* The inverse of sqrt(V + epsilon …) of n codes, as its value * 2^(62 - fraction / 2 - shift) for
 * the shift returned beside it; 0 for 0. */
static inline int64_t
qn_norm_inverse(const qn_norm_args *a, int32_t sum, int64_t squares, int32_t *shift)
{
	int64_t v = a->n * squares - (int64_t)sum * sum;
	int64_t eps = (int64_t)a->eps_high * (INT64_C(1) << 31) + a->eps_low;
	uint32_t root = qn_isqrt64((uint64_t)(v * (INT64_C(1) << a->fraction) + eps));

	*shift = qn_clz32(root);
	return root == 0 ? 0 : (INT64_C(1) << 62) / (int64_t)((uint64_t)root << *shift);
}

/*@ qn_norm_row_s8 */
/* n codes that are inner apart; w and b are wstep apart; x = y is allowed. */
static inline void
qn_norm_row_s8(const qn_norm_args *a, const int8_t *x, const int8_t *w, const int8_t *b, int8_t *y)
{
	int32_t wstep = a->each != 0 ? 1 : 0;
	int32_t sum = 0, shift, k;
	int64_t squares = 0, inverse;

	for (k = 0; k < a->n; k++) {
		int32_t c = x[k * a->inner];

		sum += c;
		squares += c * c;
	}
	inverse = qn_norm_inverse(a, sum, squares, &shift);
	shift = 62 - a->fraction / 2 - shift - a->bits;
	for (k = 0; k < a->n; k++) {
		int32_t d = a->n * x[k * a->inner] - sum;
		int32_t normal = qn_norm_shift(d * inverse, shift); /* about 2^22 at most */
		int32_t u = qn_apply(normal * (w[k * wstep] - a->zw), a->mw, a->shw, a->mode);
		int32_t v = qn_apply((b[k * wstep] - a->zb) * (INT32_C(1) << 20), a->mb, a->shb,
			a->mode);
		int32_t q = qn_rdbpot(qn_satadd32(u, v), 8);

		y[k * a->inner] = (int8_t)(qn_clamp32(q, a->lo - a->zo, a->hi - a->zo) + a->zo);
	}
}

/*@ qn_norm_s8 */
/* All of x; x = y is allowed. */
static inline void
qn_norm_s8(const qn_norm_args *a, const int8_t *x, const int8_t *w, const int8_t *b, int8_t *y)
{
	int32_t o, i;

	for (o = 0; o < a->outer; o++) {
		for (i = 0; i < a->inner; i++) {
			int32_t at = o * a->n * a->inner + i;
			int32_t from = a->each != 0 ? 0 : i;

			qn_norm_row_s8(a, x + at, w + from, b + from, y + at);
		}
	}
}

/*@ end */
#endif
