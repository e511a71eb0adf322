/* SPDX-License-Identifier: MIT-0 */
/*
 * Softmax of int8 codes along the last axis, in fixed point.
 *
 *     x [rows, depth] with scale s -> y [rows, depth] with scale 1/256, zero point -128
 *     y = 256 * exp(s * (x - max)) / sum of exp(s * (x - max)) - 128
 *
 * Numbers are written Qi.f: i integer bits, f fraction bits, one sign bit. The functions are those
 * of gemmlowp's fixed-point library and of TFLite reference_ops Softmax; they do not depend on the
 * rounding mode of the model. The pieces are described in fixed.h.
 */
#ifndef QN_KERNELS_SOFTMAX_H
#define QN_KERNELS_SOFTMAX_H

#include "../fixed.h"

/*@ qn_exp_quarter */
/* exp(a) for a in [-1/4, 0), Q0.31 to Q0.31: Taylor series of degree 4 around -1/8 (gemmlowp
 * exp_on_interval_between_negative_one_quarter_and_0_excl). 1895147668 is exp(-1/8), 715827883 is
 * 1/3. */
static inline int32_t
qn_exp_quarter(int32_t a)
{
	int32_t x = a + (INT32_C(1) << 28);
	int32_t x2 = qn_srdhm32(x, x);
	int32_t x3 = qn_srdhm32(x2, x);
	int32_t x4 = qn_srdhm32(x2, x2);
	int32_t p = qn_rdbpot(qn_srdhm32(qn_rdbpot(x4, 2) + x3, INT32_C(715827883)) + x2, 1);

	return INT32_C(1895147668) + qn_srdhm32(INT32_C(1895147668), x + p);
}

/*@ qn_exp_neg */
/* exp(a) for a <= 0, Q5.26 to Q0.31 (gemmlowp exp_on_negative_values). The part of a below 1/4 goes
 * through the series, and each higher bit multiplies by its own constant: exp(-1/4), exp(-1/2),
 * exp(-1) ... exp(-16). */
static inline int32_t
qn_exp_neg(int32_t a)
{
	static const int32_t factor[7] = {
		INT32_C(1672461947), INT32_C(1302514674), INT32_C(790015084), INT32_C(290630308),
		INT32_C(39332535), INT32_C(720401), INT32_C(242),
	};
	const int32_t quarter = INT32_C(1) << 24;
	int32_t low, rest, y, k;

	if (a == 0)
		return INT32_MAX;
	low = (a & (quarter - 1)) - quarter;
	rest = low - a;
	y = qn_exp_quarter(low * 32);
	for (k = 0; k < 7; k++)
		if ((rest & (INT32_C(1) << (24 + k))) != 0)
			y = qn_srdhm32(y, factor[k]);
	return y;
}

/*@ qn_one_over_one_plus */
/* 1 / (1 + a) for a in [0, 1), Q0.31 to Q0.31 (gemmlowp one_over_one_plus_x_for_x_in_0_1): three
 * steps of Newton and Raphson in Q2.29, starting at 48/17 - 32/17 * (1 + a) / 2. */
static inline int32_t
qn_one_over_one_plus(int32_t a)
{
	int32_t half = qn_rhs(a, INT32_MAX);
	int32_t x = INT32_C(1515870810) + qn_srdhm32(half, -INT32_C(1010580540));
	int32_t i;

	for (i = 0; i < 3; i++) {
		int32_t t = (INT32_C(1) << 29) - qn_srdhm32(half, x);

		x += qn_shl_sat(qn_srdhm32(x, t), 2);
	}
	return qn_shl_sat(x, 1);
}

/*@ qn_softmax_args */
/* (m, left) is scale * 2^26, left >= 0; diff_min = -floor(31 * 2^26 / 2^left): a code further below
 * the row's maximum contributes nothing. */
typedef struct qn_softmax_args {
	int32_t rows, depth;
	int32_t m, left;
	int32_t diff_min;
} qn_softmax_args;

/*@ qn_softmax_exp */
/* exp(scale * d) in Q0.31 for a code d <= 0 below the maximum, d >= diff_min. */
static inline int32_t
qn_softmax_exp(const qn_softmax_args *a, int32_t d)
{
	return qn_exp_neg(qn_srdhm32(qn_shl_sat(d, a->left), a->m));
}

/*@ qn_softmax_row_s8 */
/* One row of depth codes; x = y is allowed. The sum is in Q12.19, unsigned and saturating. From a
 * sum of 512 on, every quotient is below half a code; the shift then exceeds 31 and the result
 * is 0, where TFLite shifts too far. */
static inline void
qn_softmax_row_s8(const qn_softmax_args *a, const int8_t *x, int8_t *y)
{
	int32_t top = INT8_MIN, i, k, inverse, shift;
	uint32_t sum = 0;

	for (i = 0; i < a->depth; i++)
		top = x[i] > top ? x[i] : top;
	for (i = 0; i < a->depth; i++) {
		int32_t d = x[i] - top;
		uint32_t e = d < a->diff_min ? 0 : (uint32_t)qn_rdbpot(qn_softmax_exp(a, d), 12);

		sum = sum > UINT32_MAX - e ? UINT32_MAX : sum + e;
	}
	if (sum == 0)
		return; /* depth is 0: the maximum itself contributes 1 */
	k = qn_clz32(sum);
	inverse = qn_one_over_one_plus((int32_t)((sum << k) - (UINT32_C(1) << 31)));
	shift = 12 - k + 31 - 8;
	for (i = 0; i < a->depth; i++) {
		int32_t d = x[i] - top, q = 0;

		if (d >= a->diff_min && shift <= 31)
			q = qn_rdbpot(qn_srdhm32(inverse, qn_softmax_exp(a, d)), shift);
		y[i] = (int8_t)qn_clamp32(q - 128, INT8_MIN, INT8_MAX);
	}
}

/*@ qn_softmax_s8 */
/* [rows, depth] -> the same, depth >= 1; x = y is allowed. */
static inline void
qn_softmax_s8(const qn_softmax_args *a, const int8_t *x, int8_t *y)
{
	int32_t r;

	for (r = 0; r < a->rows; r++)
		qn_softmax_row_s8(a, x + r * a->depth, y + r * a->depth);
}

/*@ qn_log_part */
/* log of r in [1/2, 1) of Q0.31 plus log(2) times power, Q6.25, as Q5.26 (TFLite reference_ops
 * log_x_for_x_greater_than_or_equal_to_1_impl): a quotient of polynomials in q = 2 (r - 1/t) with
 * t = 2^(1/4). The constants are Q0.31: 1/t, 11/240 t, t/20, 2/t - t, t/4, log(2). */
static inline int32_t
qn_log_part(int32_t r, int32_t power)
{
	int32_t p = qn_rhs(r, INT32_C(1805811301));
	int32_t q = (r - INT32_C(1805811301)) * 2;
	int32_t square = qn_srdhm32(q, q);
	int32_t over = qn_srdhm32(q, r) + qn_srdhm32(qn_srdhm32(q, square), INT32_C(117049297));
	int32_t slope = INT32_C(1057819769) + q + qn_srdhm32(INT32_C(127690142), square);
	int32_t under = qn_srdhm32(p, slope) + qn_srdhm32(INT32_C(638450708), q);
	int32_t log = qn_srdhm32(qn_rdbpot(over, 6), qn_one_over_one_plus(under));

	return qn_shl_sat(qn_srdhm32(power, INT32_C(1488522236)) + log, 1);
}

/*@ qn_log_q12 */
/* log(z) for z >= 1, Q12.19 to Q5.26. z is r * 2^power in two ways, one of them after a
 * multiplication by sqrt(1/2), 1518500250; the one with the smaller r is near the middle of the
 * approximation. */
static inline int32_t
qn_log_q12(int32_t z)
{
	const int32_t quarter = INT32_C(1) << 23; /* Q6.25 */
	int32_t above = qn_clz32((uint32_t)z);
	int32_t half = qn_srdhm32(z, INT32_C(1518500250));
	int32_t room = qn_clz32((uint32_t)half) - 1;
	int32_t r1 = qn_shl_sat(qn_srdhm32(qn_shl_sat(z, above - 1), INT32_C(1518500250)), 1);
	int32_t r2 = qn_shl_sat(z, room);
	int32_t power1 = (12 - above) * (INT32_C(1) << 25) + quarter;
	int32_t power2 = (12 - room) * (INT32_C(1) << 25) - quarter;

	return qn_log_part(r1 < r2 ? r1 : r2, power1 > power2 ? power1 : power2);
}

/*@ qn_log_softmax_args */
/* The first five as in qn_softmax_args; depth < 2^12, so that the sum of exponentials fits.
 * (back_m, back_sh) is 2^-26 / scale: from Q5.26 to codes. */
typedef struct qn_log_softmax_args {
	int32_t rows, depth;
	int32_t m, left;
	int32_t diff_min;
	int32_t back_m, back_sh;
} qn_log_softmax_args;

/*@ qn_log_softmax_row_s8 */
/* y = 16 (d - log(sum of exp(d))) + 127 with d = scale * (x - max); x = y is allowed (TFLite
 * reference_integer_ops LogSoftmax). What lies below the range of Q5.26 becomes -128. */
static inline void
qn_log_softmax_row_s8(const qn_log_softmax_args *a, const int8_t *x, int8_t *y)
{
	int32_t top = INT8_MIN, sum = 0, i, log, least;

	for (i = 0; i < a->depth; i++)
		top = x[i] > top ? x[i] : top;
	for (i = 0; i < a->depth; i++) {
		int32_t d = x[i] - top;

		if (d >= a->diff_min)
			sum += qn_rdbpot(qn_exp_neg(qn_srdhm32(qn_shl_sat(d, a->left), a->m)), 12);
	}
	log = qn_log_q12(sum);
	least = qn_apply_smaller(log + INT32_MIN, a->back_m, a->back_sh, QN_RQ_DOUBLE);
	least = least > a->diff_min - 1 ? least : a->diff_min - 1;
	for (i = 0; i < a->depth; i++) {
		int32_t d = x[i] - top, q = INT8_MIN;

		if (d > least) {
			d = qn_srdhm32(qn_shl_sat(d, a->left), a->m);
			q = qn_rdbpot(qn_sat32((int64_t)d - log), 22) + 127;
		}
		y[i] = (int8_t)qn_clamp32(q, INT8_MIN, INT8_MAX);
	}
}

/*@ qn_log_softmax_s8 */
/* [rows, depth] -> the same, scale 1/16 and zero point 127; depth >= 1; x = y is allowed. */
static inline void
qn_log_softmax_s8(const qn_log_softmax_args *a, const int8_t *x, int8_t *y)
{
	int32_t r;

	for (r = 0; r < a->rows; r++)
		qn_log_softmax_row_s8(a, x + r * a->depth, y + r * a->depth);
}

/*@ end */
#endif
