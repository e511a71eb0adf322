/* SPDX-License-Identifier: Apache-2.0 */
/* impl_l2_norm.c - l2_norm along an axis, and lrn over neighbouring channels, the last axis.
 *
 *   l2_norm   y = x / sqrt(max(sum of x^2, epsilon))
 *   lrn       y[c] = x[c] / (bias + alpha / size * sum of x[k]^2)^beta, k from c - (size - 1) / 2 on,
 *             size channels, as far as they exist (ONNX)
 *
 * Floats: sums in f32 in the order of the elements.  Quantized l2_norm: kernels/l2_norm.h.in. */
#include <math.h>

#include "runtime/impl_args.h"
#include "runtime/impl_util.h"
#include "runtime/math.h"

static void
l2_norm_real(const qn_eval *e)
{
	const qn_type *t = e->n->type;
	int32_t axis = qn_axis_of(t, e->n->attr->l2_norm.axis);
	int64_t n = t->dim[axis], inner = qn_dim_product(t, axis + 1, t->rank);
	int64_t rows = qn_dim_product(t, 0, axis) * inner;
	const float *x = e->in[0];
	float *y = e->out, least = (float)e->n->attr->l2_norm.epsilon;

	for (int64_t r = 0; r < rows; r++) {
		int64_t first = r / inner * n * inner + r % inner;
		float sum = 0.0f;

		for (int64_t k = 0; k < n; k++)
			sum += x[first + k * inner] * x[first + k * inner];
		/* A double root of an f32, rounded to f32, is the correctly rounded f32 root. */
		float length = (float)sqrt((double)(sum > least ? sum : least));
		for (int64_t k = 0; k < n; k++)
			y[first + k * inner] = length > 0.0f ? x[first + k * inner] / length
							     : x[first + k * inner];
	}
}

static void *
l2_norm_prepare(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	const qn_type *t = qn_in_type(g, n, 0);
	int32_t axis = qn_axis_of(t, n->attr->l2_norm.axis);
	qn_l2_norm_args *d = QN_NEW(a, qn_l2_norm_args, 1);
	qn_l2_norm_any_args *any = QN_NEW(a, qn_l2_norm_any_args, 1);

	if (!qn_int_check_quantized(g, n, t) || !qn_int_check_quantized(g, n, n->type))
		return NULL;
	if (qn_node_family(g, n) == QN_FAMILY_s16)
		return qn_int_refuse(g, n, "only storage i8 and u8");
	if (t->dim[axis] > 33025)
		return qn_int_refuse(g, n, "vectors of %lld elements, only up to 33025",
				     (long long)t->dim[axis]);
	*d = (qn_l2_norm_args){
		.outer = (int32_t)qn_dim_product(t, 0, axis),
		.n = (int32_t)t->dim[axis],
		.inner = (int32_t)qn_dim_product(t, axis + 1, t->rank),
		.zi = qn_zp_of(g, t),
		.zo = qn_zp_of(g, n->type),
		.lo = (int32_t)n->type->elem->qmin,
		.hi = (int32_t)n->type->elem->qmax,
		.mode = g->model->rounding,
	};
	if (qn_has_fixed_output(&g->model->types, n, n->type->elem))
		return d;
	*any = (qn_l2_norm_any_args){d->outer, d->n,  d->inner, d->zi, d->zo,
				     d->lo,    d->hi, d->mode,  0,     0};
	if (!qn_int_multiplier(g, n, "1 / result scale", 1.0 / qn_scale_of(g, n->type), &any->out_m,
			       &any->out_sh))
		return NULL;
	return any;
}

static void
l2_norm_codes(const qn_eval *e, const void *args)
{
	const bool is_u8 = qn_node_family(e->g, e->n) == QN_FAMILY_u8;

	if (!qn_has_fixed_output(&e->g->model->types, e->n, e->n->type->elem)) {
		if (is_u8)
			qn_l2_norm_any_u8(args, e->in[0], e->out);
		else
			qn_l2_norm_any_s8(args, e->in[0], e->out);
	} else if (is_u8) {
		qn_l2_norm_u8(args, e->in[0], e->out);
	} else {
		qn_l2_norm_s8(args, e->in[0], e->out);
	}
}

/* One position, of c channels. */
static void
lrn_row(const qn_attrs_lrn *a, int64_t c, const float *x, float *y)
{
	int64_t before = (a->size - 1) / 2, after = a->size - 1 - before;

	for (int64_t i = 0; i < c; i++) {
		int64_t last = i + after < c ? i + after : c - 1;
		float sum = 0.0f;

		for (int64_t k = i > before ? i - before : 0; k <= last; k++)
			sum += x[k] * x[k];
		float base = (float)a->bias + (float)(a->alpha / (double)a->size) * sum;
		y[i] = x[i] / (float)qn_pow((double)base, a->beta);
	}
}

static void
lrn_real(const qn_eval *e)
{
	const qn_type *t = e->n->type;
	int64_t c = t->dim[t->rank - 1], rows = qn_dim_product(t, 0, t->rank - 1);
	const float *x = e->in[0];
	float *y = e->out;

	for (int64_t r = 0; r < rows; r++)
		lrn_row(&e->n->attr->lrn, c, x + r * c, y + r * c);
}

const qn_impl qn_impl_l2_norm = {
	.real = l2_norm_real,
	.quantized = {.prepare = l2_norm_prepare,
		      .run = l2_norm_codes,
		      .families = 1U << QN_FAMILY_s8 | 1U << QN_FAMILY_u8},
};
const qn_impl qn_impl_lrn = {.real = lrn_real};
