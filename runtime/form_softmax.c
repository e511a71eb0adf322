/* SPDX-License-Identifier: Apache-2.0 */
/* form_softmax.c - softmax along one axis.
 *
 *   y[i] = e^(x[i] - max) / sum over j of e^(x[j] - max)
 *
 * Float: in double with our own e^x, summed in the order of the axis, each quotient rounded once
 * to f32. Codes: TFLite's fixed-point softmax along the last axis; the result has scale 1/256
 * and zero point -128 (u8: 0), for i16 through tables scale 1/32768 and zero point 0. */
#include <math.h>

#include "runtime/exp.h"
#include "runtime/family.h"
#include "runtime/form_args.h"
#include "runtime/form_util.h"

/* Bits of the fraction of Q5.26, the form in which the kernel takes an exponent. */
#define INPUT_ONE 0x1p26

/* n elements whose distance is step. */
static void
softmax_row(const float *x, float *y, int64_t n, int64_t step)
{
	double top = (double)x[0], sum = 0.0;

	for (int64_t i = 1; i < n; i++)
		top = (double)x[i * step] > top ? (double)x[i * step] : top;
	for (int64_t i = 0; i < n; i++)
		sum += qn_exp((double)x[i * step] - top);
	for (int64_t i = 0; i < n; i++)
		y[i * step] = (float)(qn_exp((double)x[i * step] - top) / sum);
}

static void
softmax_real(const qn_eval *e)
{
	const qn_type *type = e->n->type;
	int32_t axis = qn_axis_of(type, e->n->attr->axis.axis);
	int64_t outer = qn_dim_product(type, 0, axis), n = type->dim[axis];
	int64_t inner = qn_dim_product(type, axis + 1, type->rank);
	const float *x = e->in[0];
	float *y = e->out;

	for (int64_t o = 0; n > 0 && o < outer; o++, x += n * inner, y += n * inner)
		for (int64_t i = 0; i < inner; i++)
			softmax_row(x + i, y + i, n, inner);
}

static bool
types_fit(const qn_graph *g, const qn_node *n)
{
	const qn_elem *e = n->type->elem;
	double scale;
	int64_t zp;

	if (!qn_int_need_codes(g, n, qn_in_type(g, n, 0)) || !qn_int_need_codes(g, n, n->type))
		return false;
	if (qn_axis_of(n->type, n->attr->axis.axis) != n->type->rank - 1) {
		(void)qn_int_refuse(g, n, "only along the last axis");
		return false;
	}
	qn_fixed_output(n, e, &scale, &zp);
	if (qn_scale_of(g, n->type) != scale || qn_zp_of(g, n->type) != zp ||
	    e->qmin != qn_family_get(qn_family_of(e))->least ||
	    e->qmax != qn_family_get(qn_family_of(e))->most) {
		(void)qn_int_refuse(g, n,
				    "only a result of scale 1/%d and zero point %d in all codes of "
				    "its storage",
				    (int)(1.0 / scale), (int)zp);
		return false;
	}
	return true;
}

/* ---- 16-bit codes ---- */

static double
inverse_of(double x)
{
	return 1.0 / (1.0 + x);
}

/* f from `first` to `last` in Q0.15 at 513 points, each but the last moved by half of the error in
 * the middle of its line, everything rounded on the way as TFLite's LUTPopulateInt16 does. */
static const int16_t *
table_of(double (*f)(double), double first, double last, qn_arena *a)
{
	int16_t *table = QN_NEW(a, int16_t, QN_LUT_LINES + 1);
	const double step = (last - first) / QN_LUT_LINES;

	for (int i = 0; i <= QN_LUT_LINES; i++) {
		double x = first + i * step;
		double y = floor(f(x) * 0x1p15 + 0.5);
		double line = floor((f(x + step) * 0x1p15 + y) / 2.0 + 0.5);
		double middle = floor(f(x + step / 2.0) * 0x1p15 + 0.5);

		if (i < QN_LUT_LINES)
			y -= floor((line - middle) / 2.0 + 0.5);
		table[i] = (int16_t)(y < INT16_MAX ? y : INT16_MAX);
	}
	return table;
}

static void *
prepare_tables(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	qn_softmax16_args *d = QN_NEW(a, qn_softmax16_args, 1);

	d->depth = (int32_t)n->type->dim[n->type->rank - 1];
	if (d->depth >= 1 << 16)
		return qn_int_refuse(g, n, "more than 65535 elements along the axis");
	if (!qn_int_multiplier(g, n, "input scale * 65535 / 10",
			       qn_scale_of(g, qn_in_type(g, n, 0)) * 6553.5, &d->m, &d->sh))
		return NULL;
	d->rows = (int32_t)qn_dim_product(n->type, 0, n->type->rank - 1);
	d->mode = g->model->rounding;
	d->exp = table_of(qn_exp, -10.0, 0.0, a);
	d->inverse = table_of(inverse_of, 0.0, 1.0, a);
	return d;
}

/* ---- 8-bit codes ---- */

/* TFLite PreprocessSoftmaxScaling and CalculateInputRadius, beta 1. */
static void *
softmax_prepare(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	qn_softmax_args *d = QN_NEW(a, qn_softmax_args, 1);

	if (!types_fit(g, n))
		return NULL;
	if (qn_node_family(g, n) == QN_FAMILY_s16)
		return prepare_tables(g, n, a);
	double most = g->model->rounding == QN_RQ_SINGLE ? 0x1p30 - 1.0 : 0x1p31 - 1.0;
	double M = qn_scale_of(g, qn_in_type(g, n, 0)) * INPUT_ONE;
	M = M < most ? M : most;
	qn_multiplier_split(M, &d->m, &d->left);
	if (d->left < 0 || d->m == 0)
		return qn_int_refuse(g, n, "an input scale below 2^-26");
	d->diff_min = -(int32_t)floor(31.0 * INPUT_ONE / ldexp(1.0, d->left));
	d->depth = (int32_t)n->type->dim[n->type->rank - 1];
	d->rows = (int32_t)qn_dim_product(n->type, 0, n->type->rank - 1);
	return d;
}

#define SOFTMAX(name, q, o, a, code)                                                               \
	static void name(const qn_eval *e, const void *args)                                       \
	{                                                                                          \
		qn_softmax##q(args, e->in[0], e->out);                                             \
	}
QN_BY_FAMILY(softmax_codes, SOFTMAX)

const qn_form qn_form_softmax = {
	.real = softmax_real,
	.codes = {.prepare = softmax_prepare, .run = softmax_codes, .families = QN_ALL_FAMILIES},
};
