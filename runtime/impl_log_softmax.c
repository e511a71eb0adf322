/* SPDX-License-Identifier: Apache-2.0 */
/* impl_log_softmax.c - log_softmax along one axis.
 *
 *   y[i] = x[i] - max - log(sum over j of e^(x[j] - max))
 *
 * Float: in double with our own e^x and logarithm, summed in the order of the axis, each result
 * rounded once to f32.  Quantized: TFLite's fixed-point LogSoftmax along the last axis; the result has
 * scale 16/256 and zero point 127; Quern's own kernel gives any other. */
#include <math.h>

#include "runtime/family.h"
#include "runtime/impl_args.h"
#include "runtime/math.h"
#include "runtime/softmax.h"

enum {
	MOST_CLASSES = 4095, /* the kernel sums exponentials in Q12.19 */
	MOST_GUARD = 12,     /* … Quern's own in as few integer bits as they need */
	LOG_OF_2 = 46516320  /* log(2) in Q5.26 */
};

static void
row(const float *x, float *y, int64_t n, int64_t step)
{
	double top, sum = qn_ln(qn_softmax_sum(x, n, step, &top));

	for (int64_t i = 0; i < n; i++)
		y[i * step] = (float)((double)x[i * step] - top - sum);
}

static void
log_softmax_real(const qn_eval *e)
{
	qn_each_axis(e, row);
}

/* Any parameters of the result: the first members are those of qn_log_softmax_args. */
static void *
prepare_any(const qn_graph *g, const qn_node *n, const qn_log_softmax_args *with, qn_arena *a)
{
	const double scale = qn_scale_of(g, n->type), in = qn_scale_of(g, qn_in_type(g, n, 0));
	qn_log_softmax_any_args *d = QN_NEW(a, qn_log_softmax_any_args, 1);

	if (!qn_int_multiplier(g, n, "2^-6 data scale / result scale", 0x1p-6 * in / scale,
			       &d->in_m, &d->in_sh) ||
	    !qn_int_multiplier(g, n, "2^-18 / result scale", 0x1p-18 / scale, &d->log_m,
			       &d->log_sh))
		return NULL;
	d->rows = (int32_t)qn_dim_product(n->type, 0, n->type->rank - 1);
	d->depth = with->depth;
	d->m = with->m;
	d->left = with->left;
	d->diff_min = with->diff_min;
	for (d->guard = 1; d->depth >> d->guard != 0;)
		d->guard++;
	d->below = (MOST_GUARD - d->guard) * LOG_OF_2;
	d->zo = qn_zp_of(g, n->type);
	d->lo = (int32_t)n->type->elem->qmin;
	d->hi = (int32_t)n->type->elem->qmax;
	d->mode = g->model->rounding;
	return d;
}

/* TFLite PreprocessLogSoftmaxScalingExp, beta 1. */
static void *
log_softmax_prepare(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	qn_log_softmax_args *d = QN_NEW(a, qn_log_softmax_args, 1);

	if (!qn_softmax_types(g, n))
		return NULL;
	if (n->type->dim[n->type->rank - 1] > MOST_CLASSES)
		return qn_int_refuse(g, n, "more than %d elements along the axis",
				     (int)MOST_CLASSES);
	qn_softmax_scaling(g, n, &d->m, &d->left, &d->diff_min);
	if (d->left <= 0 || d->m == 0)
		return qn_int_refuse(g, n, "an input scale below 2^-26");
	d->depth = (int32_t)n->type->dim[n->type->rank - 1];
	if (!qn_has_fixed_output(&g->model->types, n, n->type->elem))
		return prepare_any(g, n, d, a);
	qn_multiplier_split(ldexp(1.0, 31 - d->left) / (double)d->m, &d->back_m, &d->back_sh);
	if (d->back_sh > 0)
		return qn_int_refuse(g, n, "an input scale below 2^-26");
	int exponent;
	(void)frexp(qn_scale_of(g, n->type),
		    &exponent); /* the scale is a power of 2: 0.5 * 2^exponent */
	d->drop = 26 + exponent - 1;
	d->zo = qn_zp_of(g, n->type);
	d->rows = (int32_t)qn_dim_product(n->type, 0, n->type->rank - 1);
	return d;
}

QN_CALL_BY_FAMILY(fixed_quantized, qn_log_softmax, e->in[0])
QN_CALL_BY_FAMILY(any_quantized, qn_log_softmax_any, e->in[0])

static void
log_softmax_quantized(const qn_eval *e, const void *args)
{
	if (qn_type_count(e->n->type) == 0)
		return;
	if (qn_has_fixed_output(&e->g->model->types, e->n, e->n->type->elem))
		fixed_quantized(e, args);
	else
		any_quantized(e, args);
}

const qn_impl qn_impl_log_softmax = {
	.real = log_softmax_real,
	.quantized = {.prepare = log_softmax_prepare,
		      .run = log_softmax_quantized,
		      .families = QN_ALL_FAMILIES},
};
