/* SPDX-License-Identifier: Apache-2.0 */
/* plain.h - arithmetic on elements of plain types: bool, integers, f16, bf16, f64.
 *
 *   i8 [100, -3]  --load-->  {.i = 100}, {.i = -3}  --add to itself-->  {.i = 200}, {.i = -6}
 *                                                   --store-->          i8 [-56, -6]
 *
 * Elements are widened to 64 bits, a run at a time, and wrap around in the width of their type when
 * they are stored; floats are computed in double and rounded once.  These functions compute in the
 * interpreter and fold constants; they are not emitted. */
#ifndef QN_RUNTIME_PLAIN_H
#define QN_RUNTIME_PLAIN_H

#include "runtime/impl_util.h"

/* Which member of a qn_number holds an element. */
typedef enum qn_number_kind {
	QN_KIND_SIGNED,   /* i */
	QN_KIND_UNSIGNED, /* u; bool too */
	QN_KIND_REAL,     /* f */
	QN_NKIND
} qn_number_kind;

typedef union qn_number {
	int64_t i;
	uint64_t u;
	double f;
} qn_number;

/* Whether x > y; false of NaN. */
static inline bool
qn_number_above(qn_number x, qn_number y, qn_number_kind kind)
{
	if (kind == QN_KIND_REAL)
		return x.f > y.f;
	return kind == QN_KIND_SIGNED ? x.i > y.i : x.u > y.u;
}

enum { QN_PLAIN_RUN_LENGTH = 256 }; /* elements that are computed at a time */

/* Type of plain elements, also that of an observed float; QN_NPLAIN for quantized values and tuples. */
qn_plain qn_plain_of(const qn_type *type);
qn_number_kind qn_number_kind_of(qn_plain p);

/* n elements from `at` on, `step` elements apart. */
void qn_plain_load(qn_plain p, const void *data, int64_t at, int64_t step, int64_t n,
		   qn_number *out);
/* n elements from `at` on; the low bits of integers, of bool the lowest. */
void qn_plain_store(qn_plain p, void *data, int64_t at, int64_t n, const qn_number *in);
/* Numbers of type `from` become some that may be stored as `to`:
 *   real -> integer      toward zero, limited to the type's range; NaN is 0
 *   integer -> real      the nearest of the type, ties to even
 *   integer -> integer   the low bits, as in C and numpy
 *   anything -> bool     0 is false, all else (NaN too) is true */
void qn_plain_convert(qn_plain from, qn_plain to, int64_t n, qn_number *x);
/* v as `to` stores it, in bytes[8]. */
void qn_plain_bytes_of(qn_plain to, double v, void *bytes);

/* is_inf {detect_negative, detect_positive} of x. */
bool qn_is_inf(const qn_node *n, double x);

/* Implementations on plain types of all ops of two broadcast operands, of one operand, and of the
 * reductions. */
qn_float_fn qn_plain_binary, qn_plain_pow, qn_plain_unary, qn_plain_reduce;

#endif
