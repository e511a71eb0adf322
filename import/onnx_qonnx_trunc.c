/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_qonnx_trunc.c - QONNX's Trunc: quantized values lose their low bits. */
#include "import/onnx_qonnx.h"

#include <math.h>

/* Quantized values q become round(q / 2^low): those of x * factor + addend, which is never half way
 * between two of them where the rounding is not to the nearest.
 *
 *   floor(q / 2^low) = round((q - (2^low - 1) / 2) / 2^low) */
static void
truncated(qn_onnx *o, qn_id x, const qn_qonnx_grid *g, int32_t low, double factor, double addend,
	  qn_id *out)
{
	qn_importer *im = &o->im;
	const qn_elem *e;

	if (factor != 1)
		x = qn_importer_binary(im, QN_OP_mul, x, qn_importer_f32(im, factor));
	if (addend != 0 && low > 0)
		x = qn_importer_binary(im, QN_OP_add, x, qn_importer_f32(im, addend));
	if (x == 0 || !qn_qonnx_wanted(o, x))
		out[0] = x;
	else if ((e = qn_qonnx_elem(o, g, x)) != NULL)
		out[0] = qn_qonnx_faked(o, x, e, QN_QONNX_EVEN);
}

/* The logarithm to base 2, rounded to an integer. */
static double
nearest_power(double v)
{
	int e;

	return frexp(v, &e) < sqrt(0.5) ? e - 1 : e;
}

/* Version 1 limits nothing: the results of the quantized values that x can have, or, where these are not known, of all
 * of so many bits with and without a sign. */
static void
take_results(qn_onnx *o, qn_id x, double scale, double steps, qn_qonnx_rounding how,
	     qn_qonnx_grid *g)
{
	const qn_node *n = qn_graph_node(o->im.g, x);
	const qn_elem *e = n->op == QN_OP_dequantize ? qn_onnx_type(o, n->in[0])->elem : NULL;
	double step = 0;
	int64_t zp = 0;

	if (e != NULL && e->gran == QN_PER_TENSOR)
		qn_elem_param(&o->im.m->types, e, 0, &step, &zp);
	g->least = -(INT64_C(1) << (g->bits - 1));
	g->most = INT64_C(1) << g->bits;
	if (e != NULL && step == scale) {
		g->least = (int64_t)qn_qonnx_rounded((double)(e->qmin - zp) / steps, how);
		g->most = (int64_t)qn_qonnx_rounded((double)(e->qmax - zp) / steps, how);
	}
	g->is_signed = g->least < 0;
	g->bits = 1 + g->is_signed;
	while (g->most >> (g->bits - g->is_signed) != 0 ||
	       g->least < -(INT64_C(1) << (g->bits - 1)))
		g->bits++;
}

/* Version 1 has inputs x, scale, zero point, bits before and after: results keep the scale, and so are 2^low times smaller.
 * Version 2 has a scale of the results before their bits. */
void
qn_qonnx_trunc(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	static const double half[] = {
		[QN_QONNX_EVEN] = 0, [QN_QONNX_FLOOR] = -0.5, [QN_QONNX_CEIL] = 0.5};
	const bool scaled = n->nin > 5;
	double scale = 1, zp = 0, to = 1;
	qn_qonnx_grid g = {0};
	int64_t before;

	if (!qn_onnx_need(o, n, scaled ? 6 : 5))
		return;
	const int32_t how = qn_qonnx_rounding_of(o, n, "FLOOR");
	if (how < 0 || !qn_qonnx_bits(o, n, 3, &before) ||
	    !qn_qonnx_bits(o, n, scaled ? 5 : 4, &g.bits) ||
	    !qn_onnx_const_real(o, n, 1, 1, &scale) || !qn_onnx_const_real(o, n, 2, 0, &zp) ||
	    (scaled && !qn_onnx_const_real(o, n, 4, 1, &to)))
		return;
	const double low =
		scaled && scale > 0 ? nearest_power(to / scale) : (double)(before - g.bits);
	if (how > QN_QONNX_CEIL || !(scale > 0) || !(to > 0) ||
	    !(low >= 0 && low < QN_QONNX_MOST_BITS) || zp != 0) {
		(void)qn_importer_refuse(
			&o->im, "import.input",
			"rounding_mode %s, %g bits less, zero point %g; ROUND, FLOOR "
			"or CEIL, 0 to 31 bits and no zero point are supported",
			qn_qonnx_roundings[how], low, zp);
		return;
	}
	const double steps = ldexp(1, (int)low);
	const double result = scaled ? to : scale; /* scale of the result */
	const double factor = result / (scale * steps);
	g.scale = qn_importer_f32(&o->im, result);
	qn_id x = qn_importer_cast(&o->im, n->in[0], QN_PLAIN_f32);
	if (x != 0 && !scaled && !qn_onnx_has(o, n, "signed"))
		take_results(o, x, scale, steps, (qn_qonnx_rounding)how, &g);
	else
		qn_qonnx_range(o, n, &g);
	if (x != 0)
		truncated(o, x, &g,
			  o->keeps_quantized || qn_importer_known(&o->im, x) != NULL ? (int32_t)low
										     : 0,
			  factor, half[how] * result * (steps - 1) / steps, out);
}
