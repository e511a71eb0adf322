/* SPDX-License-Identifier: Apache-2.0 */
/* align.h - how values of two fixed-point scales become summands of one scale, 2^-fraction.
 *
 *   205 * 2^-12 and 154 * 2^-9    ->  fraction 12: x * 205, y * 154 * 2^3
 *   205 * 2^-32 and 154 * 2^-9    ->  fraction 23: x * 205 / 2^9, y * 154 * 2^14
 *
 * The operand with fewer fraction bits is shifted left as far as 32 bits hold both summands; what
 * remains of the difference is a rounding shift right of the other one, which is that much smaller. */
#ifndef QN_RUNTIME_ALIGN_H
#define QN_RUNTIME_ALIGN_H

#include "runtime/impl_args.h"
#include "runtime/impl_util.h"

typedef struct qn_align {
	int32_t mantissa[2]; /* of the operands' scales */
	int32_t shift[2];    /* left; below 0: right, rounding */
	int32_t fraction;    /* the sum has the scale 2^-fraction */
	int32_t loss;        /* bits that the smaller operand loses */
} qn_align;

/* a, b: scales that are fixed-point numbers of that many bits. */
qn_align qn_align_scales(double a, double b, int32_t bits, qn_family family);

/* Whether the scale of operand `operand`, from 1, is a fixed-point number of that many bits; else
 * reports. */
bool qn_need_fixed(const qn_graph *g, const qn_node *n, uint32_t operand, double scale,
		   int32_t bits);

/* One operand with a scale for each channel: all in units of 2^-fraction. */
typedef struct qn_align_channels {
	int32_t fraction;
	int32_t loss; /* bits that the finest channel loses */
} qn_align_channels;

/* table: [n, 3], zero point, mantissa and shift of each channel of the type. */
qn_align_channels qn_align_type(const qn_graph *g, const qn_type *type, int32_t bits, int32_t n,
				int32_t *table);
/* The arguments of a requantize with the attribute align; like: those of one without it. */
void *qn_requantize_aligned_prepare(const qn_graph *g, const qn_node *n, qn_arena *a,
				    const qn_requantize_args *like);

#endif
