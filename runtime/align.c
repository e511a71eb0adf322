/* SPDX-License-Identifier: Apache-2.0 */
/* align.c - the shifts that give fixed-point scales one fraction. */
#include "runtime/align.h"

#include <math.h>

#include "runtime/channels.h"

/* Most bits to the left.  Both summands are at most reach * (2^bits - 1) * 2^left, with reach 255 for 8
 * bits and 2^15 for 16, and their sum is below 2^31. */
static int32_t
most_left(int32_t bits, qn_family family)
{
	return (family == QN_FAMILY_s16 ? 15 : 22) - bits;
}

qn_align
qn_align_scales(double a, double b, int32_t bits, qn_family family)
{
	const qn_fixed f[2] = {qn_fix(a, bits), qn_fix(b, bits)};
	const int32_t coarse = f[0].fraction < f[1].fraction ? 0 : 1;
	const int32_t apart = f[1 - coarse].fraction - f[coarse].fraction;
	const int32_t most = most_left(bits, family);
	qn_align out = {.mantissa = {f[0].mantissa, f[1].mantissa}};

	out.loss = apart > most ? apart - most : 0;
	out.shift[coarse] = apart - out.loss;
	out.shift[1 - coarse] = out.loss > 31 ? -31 : -out.loss;
	out.fraction = f[coarse].fraction + out.shift[coarse];
	return out;
}

bool
qn_need_fixed(const qn_graph *g, const qn_node *n, uint32_t operand, double scale, int32_t bits)
{
	if (qn_is_fixed(scale, bits))
		return true;
	(void)qn_int_refuse(
		g, n,
		"align is %d, but the scale %g of operand %u has more bits; run the pass align",
		(int)bits, scale, operand);
	return false;
}

/* ---- the channels of one operand ---- */

qn_align_channels
qn_align_type(const qn_graph *g, const qn_type *type, int32_t bits, int32_t n, int32_t *table)
{
	const int32_t most = most_left(bits, qn_family_of(type->elem));
	int32_t coarse = INT32_MAX, fine = INT32_MIN;
	double scale;

	for (int32_t i = 0; i < n; i++) {
		qn_channel_param(g, type, i, &scale, &table[3 * i]);
		const qn_fixed f = qn_fix(scale, bits);

		table[3 * i + 1] = f.mantissa;
		table[3 * i + 2] = f.fraction;
		coarse = f.fraction < coarse ? f.fraction : coarse;
		fine = f.fraction > fine ? f.fraction : fine;
	}
	const int32_t fraction = fine - coarse > most ? coarse + most : fine;
	for (int32_t i = 0; i < n; i++) {
		const int32_t shift = fraction - table[3 * i + 2];

		table[3 * i + 2] = shift < -31 ? -31 : shift;
	}
	return (qn_align_channels){fraction, fine - fraction};
}

void *
qn_requantize_aligned_prepare(const qn_graph *g, const qn_node *n, qn_arena *a,
			      const qn_requantize_args *like)
{
	const qn_type *x = qn_in_type(g, n, 0);
	const int32_t bits = (int32_t)n->attr->requantize.align;
	qn_requantize_aligned_args *d = QN_NEW(a, qn_requantize_aligned_args, 1);
	int32_t *table = QN_NEW(a, int32_t, 3 * (size_t)like->channels);
	double scale;

	if (x->elem->bits > 16 || n->type->elem->gran != QN_PER_TENSOR)
		return qn_int_refuse(g, n,
				     "align is %d, but it reads accumulators, or its result has "
				     "several scales; remove the attribute",
				     (int)bits);
	for (int32_t i = 0; i < like->channels; i++) {
		int32_t zp;

		qn_channel_param(g, x, i, &scale, &zp);
		if (!qn_need_fixed(g, n, 1, scale, bits))
			return NULL;
	}
	const qn_align_channels to = qn_align_type(g, x, bits, like->channels, table);
	*d = (qn_requantize_aligned_args){.outer = like->outer,
					  .channels = like->channels,
					  .inner = like->inner,
					  .zo = like->zo,
					  .lo = like->lo,
					  .hi = like->hi,
					  .mode = like->mode,
					  .table = table};
	return qn_int_multiplier(g, n, "2^-fraction / result scale",
				 ldexp(1.0, -to.fraction) / qn_scale_of(g, n->type), &d->m, &d->sh)
		       ? d
		       : NULL;
}
