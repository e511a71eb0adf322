/* SPDX-License-Identifier: Apache-2.0 */
/* range.c - from an observed range of float values to a scale and a zero point.
 *
 *     min ───────── 0 ──────────────── max      real
 *      │            │                   │       real = (q - zp) * scale
 *     qmin ──────── zp ─────────────── qmax     stored
 *
 * The real 0 is brought into the range, so that it has a quantized value of its own: padding and
 * ReLU need it.  The zero point is taken from the end whose rounding error is the smaller one, as
 * TensorFlow's and MLIR's min/max helpers do. */
#include <math.h>

#include "ir/tensor.h"

/* Below this width a range holds nothing but zeros and noise. */
#define NO_RANGE 0x1p-52

static double
round_half_away(double v)
{
	const double whole = floor(fabs(v));
	const double r = fabs(v) - whole >= 0.5 ? whole + 1.0 : whole;

	return v < 0 ? -r : r;
}

static int64_t
clamp_code(double z, const qn_elem *e)
{
	/* qmax of a 64-bit storage is not a double; the comparison is made on the rounded-up one */
	if (z >= (double)e->qmax)
		return e->qmax;
	if (z <= (double)e->qmin)
		return e->qmin;
	return (int64_t)z;
}

bool
qn_range_is_zero(double min, double max)
{
	return max < NO_RANGE && min > -NO_RANGE && max - min < NO_RANGE;
}

static void
symmetric_params(double min, double max, const qn_elem *e, double *scale)
{
	const double reach = fabs(min) > fabs(max) ? fabs(min) : fabs(max);
	const double most = e->qmax > 0 ? (double)e->qmax : -(double)e->qmin; /* i1: -1..0 */

	*scale = reach < NO_RANGE ? 1.0 : reach / most;
}

static void
asymmetric_params(double min, double max, const qn_elem *e, double *scale, int64_t *zp)
{
	const double lo = (double)e->qmin;
	const double hi = (double)e->qmax;

	if (qn_range_is_zero(min, max)) {
		*scale = 1.0;
		return;
	}
	*scale = max / (hi - lo) - min / (hi - lo); /* apart: max - min may overflow */
	if (isfinite(max - min))
		*scale = (max - min) / (hi - lo);
	const double error_lo = fabs(lo) + fabs(min / *scale);
	const double error_hi = fabs(hi) + fabs(max / *scale);
	const double z = error_lo < error_hi ? lo - min / *scale : hi - max / *scale;
	*zp = clamp_code(round_half_away(z), e);
}

/* A range that is not finite gives scale 1: who observes reports NaN and infinity before. */
void
qn_range_to_params(double min, double max, const qn_elem *storage, bool symmetric, double *scale,
		   int64_t *zp)
{
	*scale = 1.0;
	*zp = clamp_code(0.0, storage);
	if (!isfinite(min) || !isfinite(max))
		return;
	min = min > 0.0 ? 0.0 : min;
	max = max < 0.0 ? 0.0 : max;
	if (symmetric)
		symmetric_params(min, max, storage, scale);
	else
		asymmetric_params(min, max, storage, scale, zp);
	*scale = qn_round_to(QN_PLAIN_f32, *scale);
	if (!isfinite(*scale))
		*scale = 0x1.fffffep127; /* the largest f32 */
	else if (*scale <= 0.0)
		*scale = 0x1p-149; /* the smallest: a tiny range over a 64-bit storage */
}

double
qn_bias_min_weight_scale(double bias, double data_scale, int bits)
{
	return fabs(bias) / ((bits > 32 ? 0x1p39 : 0x1p30) * data_scale);
}

bool
qn_bias_raise_weight_scales(const qn_tensor *bias, int bits, double data_scale, size_t n,
			    double *scale)
{
	bool raised = false;

	for (int64_t c = 0; c < qn_type_count(bias->type); c++) {
		const size_t k = n > 1 ? (size_t)c : 0;
		const double least =
			qn_bias_min_weight_scale(qn_tensor_f64(bias, c), data_scale, bits);

		raised = raised || least > scale[k];
		scale[k] = least > scale[k] ? least : scale[k];
	}
	return raised;
}
