/* SPDX-License-Identifier: Apache-2.0 */
/* form_log_softmax.c - log_softmax along one axis.
 *
 *   y[i] = x[i] - max - log(sum over j of e^(x[j] - max))
 *
 * Float: in double with our own e^x and logarithm, summed in the order of the axis, each result
 * rounded once to f32.  Codes: TFLite's fixed-point LogSoftmax along the last axis; the result has
 * scale 16/256 and zero point 127. */
#include <math.h>

#include "runtime/exp.h"
#include "runtime/family.h"
#include "runtime/form_args.h"
#include "runtime/form_util.h"
#include "runtime/math.h"

enum { MOST_CLASSES = 4095 }; /* the kernel sums exponentials in Q12.19 */

/* n elements whose distance is step. */
static void
row(const float *x, float *y, int64_t n, int64_t step)
{
	double top = (double)x[0], sum = 0.0;

	for (int64_t i = 1; i < n; i++)
		top = (double)x[i * step] > top ? (double)x[i * step] : top;
	for (int64_t i = 0; i < n; i++)
		sum += qn_exp((double)x[i * step] - top);
	sum = qn_ln(sum);
	for (int64_t i = 0; i < n; i++)
		y[i * step] = (float)((double)x[i * step] - top - sum);
}

static void
log_softmax_real(const qn_eval *e)
{
	const qn_type *type = e->n->type;
	int32_t axis = qn_axis_of(type, e->n->attr->axis.axis);
	int64_t outer = qn_dim_product(type, 0, axis), n = type->dim[axis];
	int64_t inner = qn_dim_product(type, axis + 1, type->rank);
	const float *x = e->in[0];
	float *y = e->out;

	for (int64_t o = 0; n > 0 && o < outer; o++, x += n * inner, y += n * inner)
		for (int64_t i = 0; i < inner; i++)
			row(x + i, y + i, n, inner);
}

static bool
types_fit(const qn_graph *g, const qn_node *n)
{
	const qn_elem *e = n->type->elem;
	double scale;
	int64_t zp;

	qn_fixed_output(n, e, &scale, &zp);
	if (!qn_int_need_codes(g, n, qn_in_type(g, n, 0)) || !qn_int_need_codes(g, n, n->type))
		return false;
	if (qn_scale_of(g, n->type) != scale || qn_zp_of(g, n->type) != zp ||
	    e->qmin != qn_family_get(qn_family_of(e))->least ||
	    e->qmax != qn_family_get(qn_family_of(e))->most) {
		(void)qn_int_refuse(g, n,
				    "only a result of scale 1/%d and zero point %d in all codes of "
				    "its storage",
				    (int)(1.0 / scale), (int)zp);
		return false;
	}
	if (qn_axis_of(n->type, n->attr->axis.axis) != n->type->rank - 1) {
		(void)qn_int_refuse(g, n, "only along the last axis");
		return false;
	}
	return true;
}

/* TFLite PreprocessLogSoftmaxScalingExp and CalculateInputRadius, beta 1. */
static void *
log_softmax_prepare(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	qn_log_softmax_args *d = QN_NEW(a, qn_log_softmax_args, 1);

	if (!types_fit(g, n))
		return NULL;
	if (n->type->dim[n->type->rank - 1] > MOST_CLASSES)
		return qn_int_refuse(g, n, "more than %d elements along the axis",
				     (int)MOST_CLASSES);
	double most = g->model->rounding == QN_RQ_SINGLE ? 0x1p30 - 1.0 : 0x1p31 - 1.0;
	double M = qn_scale_of(g, qn_in_type(g, n, 0)) * 0x1p26; /* to Q5.26 */
	M = M < most ? M : most;
	qn_multiplier_split(M, &d->m, &d->left);
	if (d->left <= 0 || d->m == 0)
		return qn_int_refuse(g, n, "an input scale below 2^-26");
	qn_multiplier_split(ldexp(1.0, 31 - d->left) / (double)d->m, &d->back_m, &d->back_sh);
	if (d->back_sh > 0)
		return qn_int_refuse(g, n, "an input scale below 2^-26");
	d->diff_min = -(int32_t)floor(31.0 * 0x1p26 / ldexp(1.0, d->left));
	int exponent;
	(void)frexp(qn_scale_of(g, n->type),
		    &exponent); /* the scale is a power of 2: 0.5 * 2^exponent */
	d->drop = 26 + exponent - 1;
	d->zo = qn_zp_of(g, n->type);
	d->depth = (int32_t)n->type->dim[n->type->rank - 1];
	d->rows = (int32_t)qn_dim_product(n->type, 0, n->type->rank - 1);
	return d;
}

#define LOG_SOFTMAX(name, q, o, a, code)                                                           \
	static void name(const qn_eval *e, const void *args)                                       \
	{                                                                                          \
		const qn_log_softmax_args *d = args;                                               \
                                                                                                   \
		if (d->depth > 0)                                                                  \
			qn_log_softmax##q(d, e->in[0], e->out);                                    \
	}
QN_BY_FAMILY(log_softmax_codes, LOG_SOFTMAX)

const qn_form qn_form_log_softmax = {
	.real = log_softmax_real,
	.codes = {.prepare = log_softmax_prepare,
		  .run = log_softmax_codes,
		  .families = QN_ALL_FAMILIES},
};
