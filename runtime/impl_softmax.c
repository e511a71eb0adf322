/* SPDX-License-Identifier: Apache-2.0 */
/* impl_softmax.c - softmax along one axis.
 *
 *   y[i] = e^(x[i] - max) / sum over j of e^(x[j] - max)
 *
 * Float: in double with our own e^x, summed in the order of the axis, each quotient rounded once
 * to f32.  Quantized: TFLite's fixed-point softmax along the last axis; the result has scale 1/256
 * and zero point -128 (u8: 0), of 8 bits others too; for i16 through tables scale 1/32768 and zero point 0. */
#include <math.h>

#include "runtime/exp.h"
#include "runtime/family.h"
#include "runtime/impl_args.h"
#include "runtime/softmax.h"

static void
softmax_row(const float *x, float *y, int64_t n, int64_t step)
{
	double top, sum = qn_softmax_sum(x, n, step, &top);

	for (int64_t i = 0; i < n; i++)
		y[i * step] = (float)(qn_exp((double)x[i * step] - top) / sum);
}

static void
softmax_real(const qn_eval *e)
{
	qn_each_axis(e, softmax_row);
}

/* ---- 16 bits ---- */

#define WIDEST 0x1p15 /* a scale: the multiplier stays below 2^30 */

static double
inverse_of(double x)
{
	return 1.0 / (1.0 + x);
}

static double
nearest(double x)
{
	return x < 0.0 ? -floor(0.5 - x) : floor(x + 0.5);
}

/* f from `first` to `last` in Q0.15 at 513 points, each but the last moved by half of the error in
 * the middle of its line, everything rounded on the way, halves away from 0 (TFLite's gen_lut). */
static int16_t *
table_of(double (*f)(double), double first, double last, qn_arena *a)
{
	int16_t *table = QN_NEW(a, int16_t, QN_LUT_LINES + 1);
	const double step = (last - first) / QN_LUT_LINES;

	for (int i = 0; i <= QN_LUT_LINES; i++) {
		double x = first + i * step;
		double y = nearest(f(x) * 0x1p15);
		double line = nearest((f(x + step) * 0x1p15 + y) / 2.0);
		double middle = nearest(f(x + step / 2.0) * 0x1p15);

		if (i < QN_LUT_LINES)
			y -= nearest((line - middle) / 2.0);
		table[i] = (int16_t)(y < INT16_MAX ? y : INT16_MAX);
	}
	return table;
}

static void *
prepare_tables(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	qn_softmax16_args *d = QN_NEW(a, qn_softmax16_args, 1);
	int16_t *exp = table_of(qn_exp, -10.0, 0.0, a);

	/* In TFLite's files what is further below is e^-10, 1 of 32768; 256 of them are a hundredth of a row.  In ONNX's,
	 * which round to even, it is as small as it is. */
	if (g->model->quantized_here || g->model->rounding == QN_RQ_EVEN)
		exp[0] = 0;
	d->depth = (int32_t)n->type->dim[n->type->rank - 1];
	if (d->depth >= 1 << 16)
		return qn_int_refuse(g, n, "more than 65535 elements along the axis");
	/* A step of 16 already is below -10: larger ones give the same. */
	if (!qn_int_multiplier(g, n, "input scale * 65535 / 10",
			       fmin(qn_scale_of(g, qn_in_type(g, n, 0)), WIDEST) * 6553.5, &d->m,
			       &d->sh))
		return NULL;
	d->rows = (int32_t)qn_dim_product(n->type, 0, n->type->rank - 1);
	d->mode = g->model->rounding;
	d->exp = exp;
	d->inverse = table_of(inverse_of, 0.0, 1.0, a);
	return d;
}

/* ---- 8 bits ---- */

/* Any parameters of the result: the first members are those of qn_softmax_args. */
static void *
prepare_any(const qn_graph *g, const qn_node *n, const qn_softmax_args *with, qn_arena *a)
{
	qn_softmax_any_args *d = QN_NEW(a, qn_softmax_any_args, 1);

	if (!qn_int_multiplier_below_one(g, n, "2^-31 / result scale",
					 0x1p-31 / qn_scale_of(g, n->type), &d->out_m, &d->out_sh))
		return NULL;
	d->rows = with->rows;
	d->depth = with->depth;
	d->m = with->m;
	d->left = with->left;
	d->diff_min = with->diff_min;
	d->zo = qn_zp_of(g, n->type);
	d->lo = (int32_t)n->type->elem->qmin;
	d->hi = (int32_t)n->type->elem->qmax;
	d->mode = g->model->rounding;
	return d;
}

static void *
softmax_prepare(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	qn_softmax_args *d = QN_NEW(a, qn_softmax_args, 1);

	if (!qn_softmax_types(g, n))
		return NULL;
	if (qn_node_family(g, n) == QN_FAMILY_s16)
		return prepare_tables(g, n, a);
	qn_softmax_scaling(g, n, &d->m, &d->left, &d->diff_min);
	if (d->left < 0 || d->m == 0)
		return qn_int_refuse(g, n, "an input scale below 2^-26");
	d->depth = (int32_t)n->type->dim[n->type->rank - 1];
	d->rows = (int32_t)qn_dim_product(n->type, 0, n->type->rank - 1);
	return qn_has_fixed_output(&g->model->types, n, n->type->elem) ? d
								       : prepare_any(g, n, d, a);
}

QN_CALL_BY_FAMILY(fixed_quantized, qn_softmax, e->in[0])

static void
softmax_quantized(const qn_eval *e, const void *args)
{
	const qn_softmax_any_args *d = args;

	if (qn_has_fixed_output(&e->g->model->types, e->n, e->n->type->elem))
		fixed_quantized(e, args);
	else if (d->depth < 1)
		return;
	else if (qn_node_family(e->g, e->n) == QN_FAMILY_u8)
		qn_softmax_any_u8(d, e->in[0], e->out);
	else
		qn_softmax_any_s8(d, e->in[0], e->out);
}

const qn_impl qn_impl_softmax = {
	.real = softmax_real,
	.quantized = {.prepare = softmax_prepare,
		      .run = softmax_quantized,
		      .families = QN_ALL_FAMILIES},
};
