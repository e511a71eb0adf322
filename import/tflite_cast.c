/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_cast.c - between types and parameters: QUANTIZE, DEQUANTIZE, FAKE_QUANT, CAST, DENSIFY. */
#include "import/tflite.h"

#include <math.h>

/* From f32 a quantize, from quantized values a requantize. */
static void
quantize(qn_tfl_op *o)
{
	qn_tfl_set_result(o, 0, o->in[0]);
}

static void
dequantize(qn_tfl_op *o)
{
	qn_tfl_set_result(o, 0, qn_tfl_real(o, 0));
}

/* A constant that was stored without its zeros has them since it was read (tflite_sparse.c). */
static void
densify(qn_tfl_op *o)
{
	qn_tfl_set_result(o, 0, qn_tfl_moved(o, 0));
}

/* Quantized values count as the integers that they are, whatever their parameters, on both sides. */
static void
cast(qn_tfl_op *o)
{
	const qn_elem *to = qn_tfl_result(o, 0);
	qn_id x = o->in[0];

	if (qn_tfl_is_quantized(o, x))
		x = qn_tfl_retyped(
			o, x,
			qn_elem_plain(&o->im->m->types, qn_importer_type(o->im, x)->elem->plain));
	x = qn_importer_cast(o->im, x, to->plain);
	if (x != 0)
		o->to[0]->id = qn_tfl_retyped(o, x, to);
}

/* Quantized values of more than 8 bits are stored in i16, whose arithmetic has no zero point.
 *
 *   up to 15 bits      q less the zero point, qmin - zp .. qmax - zp: the same grid, exactly
 *                      (they lie inside -(2^15 - 1) .. 2^15 - 1)
 *   16 bits            a symmetric grid, max(-min, max) at 32767 or -32767, of which the range from
 *                      min to max is used: 0 and the end that is further away are exact, as in
 *                      training.  Its step is below twice that of training, (max - min) / 65535,
 *                      so that its rounding adds at most one step of training's to a value. */
static void
without_zero_point(qn_elem *d, double min, double max, double *scale)
{
	const double far = -min > max ? -min : max;

	if (d->zp == 0)
		return;
	if (d->qmin - d->zp >= -INT16_MAX && d->qmax - d->zp <= INT16_MAX) {
		d->qmin -= d->zp;
		d->qmax -= d->zp;
	} else {
		*scale = far / INT16_MAX;
		d->qmin = (int64_t)rint(min / *scale);
		d->qmax = (int64_t)rint(max / *scale);
	}
	d->zp = 0;
}

/* The quantized type that FAKE_QUANT rounds to, signed, in i8 or i16: 0 becomes exact by moving the range
 * (TensorFlow's NudgeQuantizationRange), and the scale is an f32, as in a quantized file. */
static const qn_elem *
fake_elem(qn_tfl_op *o)
{
	double min = qn_tfl_option_real(o, 0, 0.0), max = qn_tfl_option_real(o, 1, 0.0);
	int64_t bits = qn_tfl_option(o, 2, 8), narrow = qn_tfl_flag(o, 3, 0) != 0;
	const qn_elem *e = NULL;

	if (!(min <= 0.0) || !(max >= 0.0) || !(max - min > 0.0) || bits < 2 || bits > 16) {
		(void)qn_importer_refuse(
			o->im, "import.attr",
			"%lld bits from %g to %g; 2 to 16 bits of a range with 0 are supported",
			(long long)bits, min, max);
		return NULL;
	}
	qn_elem d = qn_elem_desc(bits > 8 ? 16 : 8, true);
	d.kind = QN_ELEM_UNIFORM;
	d.qmin = -(INT64_C(1) << (bits - 1)) + narrow;
	d.qmax = (INT64_C(1) << (bits - 1)) - 1;
	double scale = (max - min) / (double)(d.qmax - d.qmin);
	double zp = floor((double)d.qmin - min / scale + 0.5);
	d.zp = zp < (double)d.qmin ? d.qmin : zp > (double)d.qmax ? d.qmax : (int64_t)zp;
	if (bits > 8)
		without_zero_point(&d, min, max, &scale);
	d.scale = qn_scale_const(&o->im->m->types, (double)(float)scale);
	if (qn_elem_make(&o->im->m->types, o->to[0]->name, &d, &e) != QN_OK)
		o->im->problems++;
	return e;
}

/* Weights stay quantized, with a dequantize after them, so that their products become integer products. */
static void
fake_quant(qn_tfl_op *o)
{
	const qn_elem *e = o->f->im.how->from_float ? NULL : fake_elem(o);
	qn_id x = qn_tfl_real(o, 0);

	if (o->f->im.how->from_float) {
		qn_tfl_set_result(o, 0, x);
		return;
	}
	if (e == NULL || x == 0)
		return;
	o->f->has_fakes = true;
	qn_tfl_set_result(o, 0, qn_tfl_faked(o, x, e));
}

const qn_tfl_row qn_tfl_cast_rows[] = {
	{QN_TFL_QUANTIZE, quantize, 0, 1, 1, 1, 0},
	{QN_TFL_DEQUANTIZE, dequantize, 0, 1, 1, 1, 0},
	{QN_TFL_FAKE_QUANT, fake_quant, 0, 1, 1, 1, 0},
	{QN_TFL_CAST, cast, 0, 1, 1, 1, 0},
	{QN_TFL_DENSIFY, densify, 0, 1, 1, 1, 0},
	{0},
};
