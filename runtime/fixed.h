/* SPDX-License-Identifier: MIT-0 */
/*
 * Fixed-point arithmetic of the integer kernels: multiply, round, saturate, rescale.
 *
 *     real multiplier M  ~  m * 2^(s-31),  m in [2^30, 2^31) or 0,  -31 <= s <= 30
 *     M = 0.1  ->  m = 1717986918, s = -3       qn_apply(1000, m, s, mode) = 100
 *
 * The definitions are those of gemmlowp's fixed-point library and of the TFLite reference kernels.
 *
 * This header and those in kernels/ are read in two ways: the interpreter includes them, and the
 * code generator writes their text into the C that it emits. For the second use each file is a list
 * of pieces:
 *   - a piece begins with a line that holds nothing but a marker, slash-star-at, one space, NAME,
 *     one space, star-slash, from column 0, and ends before the next such line;
 *   - NAME is the one identifier that others use: a function, a type or a macro;
 *   - what a piece needs is found by the identifiers in its text, so a piece mentions nothing but
 *     itself, other pieces and the C library;
 *   - text before the first marker and from the marker named "end" on is not emitted;
 *   - pieces are in order of use, and a kernel header needs only itself and this header, so
 *     writing this header's pieces first and the others in file order always compiles.
 * The text is C99 and C++11, uses stdint.h and string.h alone, integers alone, and does not rely
 * on int having 32 bits. Indices are int32_t: a tensor has fewer than 2^31 elements. Argument
 * structs are initialized in the order of their members (C++ has no designators).
 */
#ifndef QN_RUNTIME_FIXED_H
#define QN_RUNTIME_FIXED_H

#include <stdint.h>
#include <string.h>

/*@ QN_RESTRICT */
/* restrict, spelled so that C++ accepts it; empty where the compiler is not known. */
#ifndef QN_RESTRICT
#if !defined(__cplusplus)
#define QN_RESTRICT restrict
#elif defined(__GNUC__) || defined(_MSC_VER)
#define QN_RESTRICT __restrict
#else
#define QN_RESTRICT
#endif
#endif

/*@ QN_READ8 */
/* Reads element i of constant 8-bit data. A target with separate program memory defines its own. */
#ifndef QN_READ8
#define QN_READ8(p, i) ((p)[i])
#endif

/*@ QN_READ32 */
/* Reads element i of constant 32-bit data. */
#ifndef QN_READ32
#define QN_READ32(p, i) ((p)[i])
#endif

/*@ QN_RQ_DOUBLE */
/* Rounds twice: after the multiply and after the shift (TFLite and CMSIS-NN by default). */
#define QN_RQ_DOUBLE 0

/*@ QN_RQ_SINGLE */
/* Rounds once, ties toward plus infinity (TFLite with single rounding, TVM "UPWARD"). */
#define QN_RQ_SINGLE 1

/*@ QN_RQ_NEAREST */
/* Rounds once, ties away from zero (TVM "TONEAREST"). */
#define QN_RQ_NEAREST 2

/*@ qn_sar32 */
/* x >> n for 0 <= n <= 31, rounding down; the array type has a negative size, which does not
 * compile, where the right shift of a negative number does not copy the sign. */
typedef char qn_sar32_check[((int32_t)-2 >> 1) == (int32_t)-1 ? 1 : -1];
static inline int32_t
qn_sar32(int32_t x, int32_t n)
{
	return x >> n;
}

/*@ qn_sar64 */
/* x >> n for 0 <= n <= 63, rounding down; checked as the 32-bit form is. */
typedef char qn_sar64_check[((int64_t)-2 >> 1) == (int64_t)-1 ? 1 : -1];
static inline int64_t
qn_sar64(int64_t x, int32_t n)
{
	return x >> n;
}

/*@ qn_clamp32 */
/* x limited to [lo, hi], lo <= hi. */
static inline int32_t
qn_clamp32(int32_t x, int32_t lo, int32_t hi)
{
	return x < lo ? lo : x > hi ? hi : x;
}

/*@ qn_sat32 */
/* x limited to the range of int32_t. */
static inline int32_t
qn_sat32(int64_t x)
{
	return x < INT32_MIN ? INT32_MIN : x > INT32_MAX ? INT32_MAX : (int32_t)x;
}

/*@ qn_satadd32 */
/* a + b, saturated to int32_t. */
static inline int32_t
qn_satadd32(int32_t a, int32_t b)
{
	return qn_sat32((int64_t)a + b);
}

/*@ qn_satadd16 */
/* a + b, saturated to int16_t. */
static inline int16_t
qn_satadd16(int16_t a, int16_t b)
{
	return (int16_t)qn_clamp32((int32_t)a + b, INT16_MIN, INT16_MAX);
}

/*@ qn_satadd8 */
/* a + b, saturated to int8_t. */
static inline int8_t
qn_satadd8(int8_t a, int8_t b)
{
	return (int8_t)qn_clamp32((int32_t)a + b, INT8_MIN, INT8_MAX);
}

/*@ qn_shl_sat */
/* x * 2^n, saturated to int32_t, 0 <= n <= 31 (gemmlowp SaturatingRoundingMultiplyByPOT). The bits
 * are shifted unsigned; if shifting back does not give x again, some of them were lost. */
static inline int32_t
qn_shl_sat(int32_t x, int32_t n)
{
	int32_t r = (int32_t)((uint32_t)x << n);

	if (qn_sar32(r, n) != x)
		return x < 0 ? INT32_MIN : INT32_MAX;
	return r;
}

/*@ qn_srdhm32 */
/* Saturating rounding high half of 2*a*b: floor((a*b + 2^30) / 2^31), ties toward plus infinity
 * (gemmlowp SaturatingRoundingDoublingHighMul). Only -2^31 * -2^31 saturates. */
static inline int32_t
qn_srdhm32(int32_t a, int32_t b)
{
	if (a == INT32_MIN && b == INT32_MIN)
		return INT32_MAX;
	return (int32_t)qn_sar64((int64_t)a * b + (INT64_C(1) << 30), 31);
}

/*@ qn_rdbpot */
/* x / 2^n, ties away from zero, 0 <= n <= 31 (gemmlowp RoundingDivideByPOT). */
static inline int32_t
qn_rdbpot(int32_t x, int32_t n)
{
	int32_t mask = (int32_t)((UINT32_C(1) << n) - 1);
	int32_t rest = x & mask;
	int32_t limit = qn_sar32(mask, 1) + (x < 0 ? 1 : 0);

	return qn_sar32(x, n) + (rest > limit ? 1 : 0);
}

/*@ qn_rhs */
/* (a + b) / 2, ties away from zero (gemmlowp RoundingHalfSum). */
static inline int32_t
qn_rhs(int32_t a, int32_t b)
{
	int64_t sum = (int64_t)a + b;

	return (int32_t)((sum + (sum >= 0 ? 1 : -1)) / 2);
}

/*@ qn_clz32 */
/* Number of zero bits above the highest set bit; 32 for x = 0. */
static inline int32_t
qn_clz32(uint32_t x)
{
	int32_t n = 32;

	while (x != 0) {
		x >>= 1;
		n--;
	}
	return n;
}

/*@ qn_apply_smaller */
/* x * m * 2^(s-31) for m >= 0, -31 <= s <= 0; mode is one of the three roundings. The result always
 * fits, as the multiplier is below one. */
static inline int32_t
qn_apply_smaller(int32_t x, int32_t m, int32_t s, int32_t mode)
{
	int64_t p;

	if (mode == QN_RQ_DOUBLE)
		return qn_rdbpot(qn_srdhm32(x, m), -s);
	p = (int64_t)x * m + (INT64_C(1) << (30 - s));
	if (mode == QN_RQ_NEAREST && x < 0)
		p -= 1;
	return (int32_t)qn_sar64(p, 31 - s);
}

/*@ qn_apply */
/* x * m * 2^(s-31) for m >= 0, -31 <= s <= 30; mode is one of QN_RQ_DOUBLE, QN_RQ_SINGLE and
 * QN_RQ_NEAREST (TFLite MultiplyByQuantizedMultiplier). For s > 0 the first and the last shift x
 * left before they multiply: TFLite leaves it to the caller that x * 2^s fits in 32 bits; here it
 * saturates, so that no x is undefined. Where it fits, the results are the same. */
static inline int32_t
qn_apply(int32_t x, int32_t m, int32_t s, int32_t mode)
{
	if (s <= 0)
		return qn_apply_smaller(x, m, s, mode);
	if (mode == QN_RQ_SINGLE)
		return qn_sat32(qn_sar64((int64_t)x * m + (INT64_C(1) << (30 - s)), 31 - s));
	return qn_apply_smaller(qn_shl_sat(x, s), m, 0, mode);
}

/*@ qn_requant */
/* clamp(apply(x) + zo, lo, hi): an accumulator becomes a code. Clamping before the zero point is
 * added gives the same and cannot overflow; lo, hi and zo are codes of at most 16 bits. */
static inline int32_t
qn_requant(int32_t x, int32_t m, int32_t s, int32_t zo, int32_t lo, int32_t hi, int32_t mode)
{
	return qn_clamp32(qn_apply(x, m, s, mode), lo - zo, hi - zo) + zo;
}

/*@ qn_broadcast_at */
/* Offset in an input of the r-th run along the last axis of an output of dim[0..3]; a stride of 0
 * repeats. */
static inline int32_t
qn_broadcast_at(const int32_t *dim, const int32_t *stride, int32_t r)
{
	int32_t k = r % dim[2];
	int32_t j = r / dim[2] % dim[1];
	int32_t i = r / dim[2] / dim[1];

	return i * stride[0] + j * stride[1] + k * stride[2];
}

/*@ qn_rows_at */
/* The rows that a window of k rows covers: rows[i] points to row y0 + i * step of an image of h
 * rows of n codes each, or is NULL where that row is padding. */
static inline void
qn_rows_at(const int8_t *x, int32_t h, int32_t n, int32_t y0, int32_t step, int32_t k,
	const int8_t **rows)
{
	int32_t i;

	for (i = 0; i < k; i++) {
		int32_t y = y0 + i * step;

		rows[i] = y >= 0 && y < h ? x + y * n : NULL;
	}
}

/*@ end */
#endif
