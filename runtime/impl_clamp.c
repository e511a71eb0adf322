/* SPDX-License-Identifier: Apache-2.0 */
/* impl_clamp.c - relu, relu6, clip and clamp: values limited to [lo, hi].
 *
 *   relu   [0, inf)     with scale 0.05, zero point -10:       [-10, 127]
 *   relu6  [0, 6]                                              [-10, 110]
 *
 * In floats a NaN passes through.  Quantized values keep their parameters, so the limits are quantized too. */
#include <math.h>

#include "ir/clamp.h"
#include "runtime/impl_args.h"
#include "runtime/impl_util.h"
#include "runtime/plain.h"

static void
limit_below(const qn_eval *e, float lo)
{
	int64_t n = qn_result_count(e);
	const float *x = e->in[0];
	float *y = e->out;

	qn_simd_of(e)->clamp(x, lo, HUGE_VALF, y, n);
}

static void
limit(const qn_eval *e, float lo, float hi)
{
	int64_t n = qn_result_count(e);
	const float *x = e->in[0];
	float *y = e->out;

	qn_simd_of(e)->clamp(x, lo, hi, y, n);
}

static void
relu_real(const qn_eval *e)
{
	limit_below(e, 0.0f);
}

static void
relu6_real(const qn_eval *e)
{
	limit(e, 0.0f, 6.0f);
}

static void
clip_real(const qn_eval *e)
{
	limit(e, (float)e->n->attr->clip.min, (float)e->n->attr->clip.max);
}

static int64_t
into(int64_t v, const qn_elem *e)
{
	return qn_clamp_i64(v, e->qmin, e->qmax);
}

void
qn_clamp_range(const qn_graph *g, const qn_node *n, int64_t *lo, int64_t *hi)
{
	const qn_types *t = &g->model->types;
	const qn_elem *e = n->type->elem;

	*lo = e->qmin;
	*hi = e->qmax;
	if (n->op == QN_OP_relu || n->op == QN_OP_relu6)
		*lo = qn_code_of(t, e, 0.0);
	if (n->op == QN_OP_relu6)
		*hi = qn_code_of(t, e, 6.0);
	if (n->op == QN_OP_clip && n->attr != NULL) {
		*lo = qn_code_of(t, e, n->attr->clip.min);
		*hi = qn_code_of(t, e, n->attr->clip.max);
	}
	if ((n->op == QN_OP_clamp || n->op == QN_OP_requantize || n->op == QN_OP_dynamic_rescale) &&
	    n->attr != NULL) {
		*lo = into(n->attr->clamp.lo, e);
		*hi = into(n->attr->clamp.hi, e);
	}
}

static void *
clamp_prepare(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	qn_clip_args *d = QN_NEW(a, qn_clip_args, 1);
	int64_t lo = 0, hi = 0;

	if (!qn_int_check_quantized(g, n, n->type))
		return NULL;
	if (qn_in_type(g, n, 0)->elem != n->type->elem)
		return qn_int_refuse(g, n, "only equal types in and out");
	qn_clamp_range(g, n, &lo, &hi);
	if (lo > hi)
		return qn_int_refuse(g, n, "the limits [%lld, %lld] leave no quantized value",
				     (long long)lo, (long long)hi);
	*d = (qn_clip_args){
		.n = (int32_t)qn_static_count(n->type), .lo = (int32_t)lo, .hi = (int32_t)hi};
	return d;
}

QN_CALL_BY_FAMILY(clamp_quantized, qn_clip, e->in[0])

const qn_impl qn_impl_relu = {
	.real = relu_real,
	.plain = qn_plain_unary,
	.bundle = true,
	.quantized = {.prepare = clamp_prepare,
		      .run = clamp_quantized,
		      .families = QN_ALL_FAMILIES},
};
const qn_impl qn_impl_relu6 = {
	.real = relu6_real,
	.plain = qn_plain_unary,
	.bundle = true,
	.quantized = {.prepare = clamp_prepare,
		      .run = clamp_quantized,
		      .families = QN_ALL_FAMILIES},
};
const qn_impl qn_impl_clip = {
	.real = clip_real,
	.plain = qn_plain_unary,
	.bundle = true,
	.quantized = {.prepare = clamp_prepare,
		      .run = clamp_quantized,
		      .families = QN_ALL_FAMILIES},
};
const qn_impl qn_impl_clamp = {.quantized = {.prepare = clamp_prepare,
					     .run = clamp_quantized,
					     .families = QN_ALL_FAMILIES}};
