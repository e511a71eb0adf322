/* SPDX-License-Identifier: Apache-2.0 */
/* block_scales.h - the scales of weights in blocks as integers, with one power of two for each output channel:
 *
 *   channel 0: 0.625, 0.125     ->   unit 2^-3, mantissas 5, 1
 *   channel 1: 0.5              ->   unit 2^-1, mantissa 1
 *
 *   acc[o] = sum over blocks b of mantissa[o, b] * (sum over k of b of (x[k] - zx) * w[o, k])      in units of scale(x) * unit[o]
 *                               + offset[o, b] * (sum over k of b of (x[k] - zx))
 *
 * So a product of blocked weights needs no other arithmetic than integers.  Scales that are not of this
 * form are rounded to it (qn_block_scales_round). */
#ifndef QN_IR_BLOCK_SCALES_H
#define QN_IR_BLOCK_SCALES_H

#include "ir/type.h"

/* Bits of a mantissa: they are stored in 16, signed. */
enum { QN_MANTISSA_LEAST = 8, QN_MANTISSA_MOST = 15 };

typedef struct qn_block_scales {
	int64_t channels; /* dim 0 of the weights */
	int64_t blocks;   /* of a channel */
	int64_t size[QN_MAX_RANK],
		count[QN_MAX_RANK]; /* of the blocks along each axis; their number */
	double *unit;               /* [channels]: powers of two */
	int16_t *mantissa;          /* [channels, count[1], count[2], …], each in [1, 2^15) */
	int16_t *offset; /* the same: -zero point * mantissa, rounded; NULL: no zero point */
} qn_block_scales;

/* The scales of weights of a static type with blocks, without symbols; false: the scales of
 * a channel are not all multiples below 2^15 of one power of two, or an offset is 2^15 or more. */
bool qn_block_scales_find(const qn_types *t, const qn_type *w, qn_arena *a, qn_block_scales *out);
/* The power of two, by its exponent, of which the n scales, all above 0, are multiples below 2^15; false: there is
 * none. */
bool qn_block_scales_unit(const double *scale, size_t n, int *exponent);
/* Elements along axis d of a static type that have one scale: all of them where it has no blocks there. */
int64_t qn_block_along(const qn_type *type, int32_t d);
/* n scales of one channel, rounded to multiples of a power of two of that many bits: up, so that what was in
 * range stays there, or to the nearest, at least to one unit.  Returns whether none was below half a unit. */
bool qn_block_scales_fix(double *scale, size_t n, int32_t bits, bool up);
/* The same for zero points with a fraction, to the nearest, of elements e: to fewer bits where offsets need them, and
 * to a larger unit where one bit is too many.  A zero point outside the range of e moves with its scale, so that the
 * offset stays, however rough the scale is.  The largest scale becomes an odd multiple of the unit, so that offsets are
 * rounded to that unit too.  a: for numbers in between. */
bool qn_block_scales_fix_offsets(const qn_elem *e, double *scale, double *zp, size_t n,
				 int32_t bits, qn_arena *a);
/* The n scales of a type of weights rounded up in this way, to the fewest bits of a mantissa, channel by
 * channel. */
void qn_block_scales_make(const qn_type *w, size_t n, double *scale);
/* The type with all its scales so rounded; NULL after a report.  *lost: one was below half a unit. */
const qn_type *qn_block_scales_round(qn_types *t, const char *place, const qn_type *w, int32_t bits,
				     bool up, bool *lost);
/* The units of all channels as a vector of scales; NULL after a report. */
const qn_scale *qn_block_scales_units(qn_types *t, const char *place, const qn_block_scales *b);

#endif
