/* SPDX-License-Identifier: Apache-2.0 */
/* impl_reduce.c - reduce_mean, reduce_sum, reduce_prod, reduce_max and reduce_min over any axes.
 *
 * Floats: one f32 accumulator for each result, which takes its elements in row-major order; a mean
 * is divided at the end.  Quantized: TFLite's Mean and Sum, which rescale the integer sum; its product,
 * which is rescaled at each step; the largest and smallest keep the input's parameters. */
#include <math.h>

#include "ir/reduce.h"
#include "runtime/impl_args.h"
#include "runtime/impl_util.h"
#include "runtime/math.h"
#include "runtime/plain.h"

enum { MOST_PROD_SHIFT = 7 }; /* of a multiplier for products of 64 bits */

typedef float fold_fn(float acc, float x);

static float
sum_of(float acc, float x)
{
	return acc + x;
}

static float
product_of(float acc, float x)
{
	return acc * x;
}

static float
larger(float acc, float x)
{
	return x > acc ? x : acc;
}

static float
smaller(float acc, float x)
{
	return x < acc ? x : acc;
}

static uint32_t
mask_of(const qn_graph *g, const qn_node *n)
{
	return qn_reduce_mask(&n->attr->reduce.axes, qn_in_type(g, n, 0)->rank);
}

/* Elements of one reduction. */
static int64_t
reduced_count(const qn_type *in, uint32_t mask)
{
	int64_t n = 1;

	for (int32_t i = 0; i < in->rank; i++)
		n *= (mask >> i & 1) != 0 ? in->dim[i] : 1;
	return n;
}

/* Distances in the result for the input's axes; 0 for those that are reduced. */
static void
result_steps(const qn_type *in, uint32_t mask, int64_t *step)
{
	int64_t next = 1;

	for (int32_t i = in->rank - 1; i >= 0; i--) {
		bool over = (mask >> i & 1) != 0;

		step[i] = over ? 0 : next;
		next *= over ? 1 : in->dim[i];
	}
}

static void
reduce(const qn_eval *e, float first, fold_fn *fold)
{
	const qn_type *in = qn_in_type(e->g, e->n, 0);
	int64_t step[QN_MAX_RANK], at[QN_MAX_RANK] = {0}, to = 0;
	int64_t count = qn_static_count(in), results = qn_static_count(e->n->type);
	const float *x = e->in[0];
	float *y = e->out;

	result_steps(in, mask_of(e->g, e->n), step);
	for (int64_t i = 0; i < results; i++)
		y[i] = first;
	for (int64_t i = 0; i < count; i++) {
		y[to] = fold(y[to], x[i]);
		for (int32_t k = in->rank - 1; k >= 0; k--) {
			to += step[k];
			if (++at[k] < in->dim[k])
				break;
			to -= at[k] * step[k];
			at[k] = 0;
		}
	}
}

static void
sum_real(const qn_eval *e)
{
	reduce(e, 0.0f, sum_of);
}

static void
mean_real(const qn_eval *e)
{
	float n = (float)reduced_count(qn_in_type(e->g, e->n, 0), mask_of(e->g, e->n));
	int64_t results = qn_static_count(e->n->type);
	float *y = e->out;

	reduce(e, 0.0f, sum_of);
	for (int64_t i = 0; i < results; i++)
		y[i] /= n;
}

static void
prod_real(const qn_eval *e)
{
	reduce(e, 1.0f, product_of);
}

static void
max_real(const qn_eval *e)
{
	reduce(e, -HUGE_VALF, larger);
}

static void
min_real(const qn_eval *e)
{
	reduce(e, HUGE_VALF, smaller);
}

/* Puts the axes of one kind, innermost last, into four places. */
static void
gather_axes(const qn_type *in, uint32_t mask, bool over, int32_t *dim, int32_t *step)
{
	int32_t slot = 4;
	int64_t distance = 1;
	bool open = false; /* the axis after this one is of the kind and in dim[slot] */

	for (int32_t i = 0; i < 4; i++) {
		dim[i] = 1;
		step[i] = 0;
	}
	for (int32_t i = in->rank - 1; i >= 0; distance *= in->dim[i], i--) {
		bool mine = ((mask >> i & 1) != 0) == over;

		if (in->dim[i] == 1)
			continue;
		if (mine && open) {
			dim[slot] *= (int32_t)in->dim[i];
		} else if (mine) {
			dim[--slot] = (int32_t)in->dim[i];
			step[slot] = (int32_t)distance;
		}
		open = mine;
	}
}

static qn_reduce_args *
shaped_args(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	const qn_type *in = qn_in_type(g, n, 0);
	qn_reduce_args *d = QN_NEW(a, qn_reduce_args, 1);

	if (!qn_int_check_quantized(g, n, in) || !qn_int_check_quantized(g, n, n->type))
		return NULL;
	if (qn_static_count(in) == 0)
		return qn_int_refuse(g, n, "an input without elements");
	gather_axes(in, mask_of(g, n), false, d->keep, d->keep_step);
	gather_axes(in, mask_of(g, n), true, d->over, d->over_step);
	d->zi = qn_zp_of(g, in);
	d->zo = qn_zp_of(g, n->type);
	d->lo = (int32_t)n->type->elem->qmin;
	d->hi = (int32_t)n->type->elem->qmax;
	d->mode = g->model->rounding;
	return d;
}

static void *
sum_prepare(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	const qn_type *in = qn_in_type(g, n, 0);
	qn_reduce_args *d = shaped_args(g, n, a);
	int64_t count;

	if (d == NULL)
		return NULL;
	count = reduced_count(in, mask_of(g, n));
	if (count > qn_sum_terms(g, n))
		return qn_int_refuse(g, n, "sums of %lld elements, only up to %lld",
				     (long long)count, (long long)qn_sum_terms(g, n));
	if (!qn_int_multiplier(g, n, "input scale / result scale",
			       qn_scale_of(g, in) / qn_scale_of(g, n->type), &d->m, &d->sh))
		return NULL;
	if (n->op == QN_OP_reduce_mean)
		qn_multiplier_divide(count, &d->m, &d->sh);
	return d;
}

/* The scale of a product of n quantized values is si^n / so: each of n rescalings has the n-th root of it,
 * as in TFLite (GetQuantProdScaling). */
static void *
prod_prepare(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	const qn_type *in = qn_in_type(g, n, 0);
	qn_reduce_args *d = shaped_args(g, n, a);

	if (d == NULL)
		return NULL;
	double root =
		qn_pow(qn_scale_of(g, n->type), 1.0 / (double)reduced_count(in, mask_of(g, n)));
	if (!qn_int_multiplier(g, n, "input scale / root of result scale",
			       qn_scale_of(g, in) / root, &d->m, &d->sh))
		return NULL;
	if (d->sh > MOST_PROD_SHIFT)
		return qn_int_refuse(g, n,
				     "input scale / root of result scale is %g, must be below %d",
				     qn_scale_of(g, in) / root, 1 << MOST_PROD_SHIFT);
	return d;
}

static void *
max_prepare(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	qn_reduce_args *d = shaped_args(g, n, a);

	if (d == NULL)
		return NULL;
	if (qn_in_type(g, n, 0)->elem != n->type->elem)
		return qn_int_refuse(g, n, "only equal types in and out");
	d->flip = n->op == QN_OP_reduce_min ? -1 : 0;
	return d;
}

QN_CALL_BY_FAMILY(sum_quantized, qn_reduce_sum, e->in[0])
QN_CALL_BY_FAMILY(prod_quantized, qn_reduce_prod, e->in[0])
QN_CALL_BY_FAMILY(max_quantized, qn_reduce_max, e->in[0])

const qn_impl qn_impl_reduce_mean = {
	.real = mean_real,
	.plain = qn_plain_reduce,
	.quantized = {.prepare = sum_prepare, .run = sum_quantized, .families = QN_ALL_FAMILIES},
};
const qn_impl qn_impl_reduce_sum = {
	.real = sum_real,
	.plain = qn_plain_reduce,
	.quantized = {.prepare = sum_prepare, .run = sum_quantized, .families = QN_ALL_FAMILIES},
};
const qn_impl qn_impl_reduce_max = {
	.real = max_real,
	.plain = qn_plain_reduce,
	.quantized = {.prepare = max_prepare, .run = max_quantized, .families = QN_ALL_FAMILIES},
};
const qn_impl qn_impl_reduce_min = {
	.real = min_real,
	.plain = qn_plain_reduce,
	.quantized = {.prepare = max_prepare, .run = max_quantized, .families = QN_ALL_FAMILIES},
};
const qn_impl qn_impl_reduce_prod = {
	.real = prod_real,
	.plain = qn_plain_reduce,
	.quantized = {.prepare = prod_prepare, .run = prod_quantized, .families = QN_ALL_FAMILIES},
};
