/* SPDX-License-Identifier: Apache-2.0 */
/* fixed_point_nodes.h - nodes of fixed-point arithmetic on plain integers (lower_fixed_point.c). */
#ifndef QN_PASSES_FIXED_POINT_NODES_H
#define QN_PASSES_FIXED_POINT_NODES_H

#include "patterns/rewrite.h"

/* What follows a sum or product: apply(v, mult, shift) + zo, limited; one of each, or one along axis. */
typedef struct qn_fp_rescale {
	int32_t axis; /* -1: one multiplier */
	int32_t n;
	const int32_t *mult;
	const int8_t *shift;
	int32_t nzo;
	const int32_t *zo;
	int64_t lo, hi;
	int32_t mode;
} qn_fp_rescale;

/* A constant of n numbers: a scalar, or a vector along `axis` of a value of this rank. */
qn_id qn_fp_numbers(qn_rw *rw, qn_plain p, int32_t n, const int64_t *v, int32_t axis, int32_t rank);
/* op(x, v); x - zp; x << bits; x / 2^exponent to the nearest, ties away from 0: x itself where that is all the same. */
qn_id qn_fp_with_number(qn_rw *rw, qn_op op, qn_id x, int64_t v);
qn_id qn_fp_minus(qn_rw *rw, qn_id x, int64_t zp);
qn_id qn_fp_shifted(qn_rw *rw, qn_id x, int64_t bits);
qn_id qn_fp_divided(qn_rw *rw, qn_id x, int64_t exponent);
/* Quantized values as plain integers of p. */
qn_id qn_fp_widened(qn_rw *rw, qn_id x, qn_plain p);
/* Plain integers that are quantized values of the type, under the root's name. */
qn_id qn_fp_stored_as(qn_rw *rw, qn_id root, qn_id x);
/* x times one multiplier (a fixed_multiply); x + y between limits. */
qn_id qn_fp_by_one(qn_rw *rw, qn_id x, int32_t mult, int32_t shift, int32_t mode);
qn_id qn_fp_limited_sum(qn_rw *rw, qn_id x, qn_id y, int64_t lo, int64_t hi);
/* The rescaled values, stored as the root's type. */
qn_id qn_fp_rescaled(qn_rw *rw, qn_id root, qn_id x, const qn_fp_rescale *r);

#endif
