/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_resize_axis.c - see onnx_resize.h.  Formulas: the description of Resize in ONNX's Operators.md. */
#include "import/onnx_resize.h"

#include <math.h>

/* Where k of the result is in the input, to f32, of which the scale of a file is: 8 / 1.6 is 5 there. */
static double
over_scale(double k, double scale)
{
	return (double)(float)(k / scale);
}

double
qn_resize_at(const qn_resize *r, const qn_resize_axis *x, int64_t i, bool *outside)
{
	double in = (double)x->in, length = x->scale * in, k = (double)i;
	double half = over_scale(k + 0.5, x->scale) - 0.5;
	bool one = length >= 1 && length <= 1;
	double at;

	*outside = false;
	switch (r->place) {
	case QN_PLACE_ASYMMETRIC:
		return over_scale(k, x->scale);
	case QN_PLACE_ALIGN_CORNERS:
		return one ? 0 : k * (in - 1) / (length - 1);
	case QN_PLACE_PYTORCH_HALF_PIXEL:
		return one ? 0 : half;
	case QN_PLACE_TF_HALF_PIXEL_NN:
		return over_scale(k + 0.5, x->scale);
	case QN_PLACE_HALF_PIXEL_SYMMETRIC:
		return in / 2 * (1 - (double)x->out / length) + half;
	case QN_PLACE_TF_CROP:
		at = one ? (x->end - x->begin) * (in - 1) / 2
			 : k * (x->end - x->begin) * (in - 1) / (length - 1);
		at += x->begin * (in - 1);
		*outside = !(at >= 0 && at <= in - 1); /* a NaN is */
		return at;
	case QN_PLACE_HALF_PIXEL:
	case QN_NPLACE:
		break;
	}
	return half;
}

static int64_t
inside(double at, int64_t in)
{
	return !(at > 0) ? 0 : at >= (double)(in - 1) ? in - 1 : (int64_t)at;
}

int64_t
qn_resize_index(const qn_resize *r, const qn_resize_axis *x, int64_t i)
{
	bool outside;
	double at = qn_resize_at(r, x, i, &outside);
	const double rounded[QN_NROUND] = {[QN_ROUND_PREFER_FLOOR] = ceil(at - 0.5),
					   [QN_ROUND_PREFER_CEIL] = floor(at + 0.5),
					   [QN_ROUND_FLOOR] = floor(at),
					   [QN_ROUND_CEIL] = ceil(at),
					   [QN_ROUND_OLD] = x->scale < 1 ? ceil(at) : floor(at)};

	return inside(rounded[r->round], x->in);
}

/* The weight of a neighbour at this distance. */
static double
kernel(const qn_resize *r, double d)
{
	double a = r->cubic_a;

	d = fabs(d);
	if (r->kind == QN_RESIZE_LINEAR)
		return d < 1 ? 1 - d : 0;
	if (d <= 1)
		return ((a + 2) * d - (a + 3)) * d * d + 1;
	return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

bool
qn_resize_row(const qn_resize *r, const qn_resize_axis *x, int64_t i, double *row)
{
	bool outside;
	double at = qn_resize_at(r, x, i, &outside), whole = floor(at), sum = 0;
	/* Smoothing makes the kernel as wide as the distance of two elements of the result. */
	double wide = r->antialias && x->scale < 1 ? x->scale : 1;
	double reach = ceil((r->kind == QN_RESIZE_LINEAR ? 1 : 2) / wide);

	if (outside)
		return false;
	if (r->kind == QN_RESIZE_NEAREST) {
		row[qn_resize_index(r, x, i)] = 1;
		return true;
	}
	/* What is farther out than the input by `reach` counts as its end; so does all after it. */
	for (int64_t n = 1 - (int64_t)reach; n <= (int64_t)reach; n++) {
		double k = whole + (double)n, w = kernel(r, (k - at) * wide);

		if (r->exclude_outside && (k < 0 || k > (double)(x->in - 1)))
			continue;
		row[inside(k, x->in)] += w;
		sum += w;
	}
	for (int64_t k = 0; k < x->in && (sum < 0 || sum > 0); k++)
		row[k] /= sum;
	return true;
}
