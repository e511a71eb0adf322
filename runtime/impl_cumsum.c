/* SPDX-License-Identifier: Apache-2.0 */
/* impl_cumsum.c - cumsum along one axis.
 *
 * Floats: one f32 accumulator, to which the elements are added in their order, or from the end; plain
 * integers likewise, with 64 bits.  Quantized: each sum is rescaled as
 * reduce_sum does. */
#include "runtime/family.h"
#include "runtime/impl_args.h"
#include "runtime/impl_util.h"
#include "runtime/plain.h"

static void
cumsum_real(const qn_eval *e)
{
	const qn_attrs_cumsum *attr = &e->n->attr->cumsum;
	const qn_type *t = e->n->type;
	int32_t axis = qn_axis_of(t, attr->axis);
	int64_t outer = qn_dim_product(t, 0, axis), n = t->dim[axis];
	int64_t inner = qn_dim_product(t, axis + 1, t->rank);
	int64_t first = attr->reverse != 0 ? (n - 1) * inner : 0;
	int64_t step = attr->reverse != 0 ? -inner : inner;
	const float *x = e->in[0];
	float *y = e->out;

	for (int64_t i = 0; n > 0 && i < outer * inner; i++) {
		int64_t at = i / inner * n * inner + i % inner + first;
		float sum = 0.0f;

		for (int64_t k = 0; k < n; k++, at += step) {
			float next = sum + x[at];

			y[at] = attr->exclusive != 0 ? sum : next;
			sum = next;
		}
	}
}

static void
cumsum_plain(const qn_eval *e)
{
	const qn_attrs_cumsum *attr = &e->n->attr->cumsum;
	const qn_type *t = e->n->type;
	const qn_plain p = qn_plain_of(t);
	bool real = qn_number_kind_of(p) == QN_KIND_REAL;
	int32_t axis = qn_axis_of(t, attr->axis);
	int64_t outer = qn_dim_product(t, 0, axis), n = t->dim[axis];
	int64_t inner = qn_dim_product(t, axis + 1, t->rank);

	for (int64_t i = 0; n > 0 && i < outer * inner; i++) {
		qn_number sum = {.u = 0}, x;

		if (real)
			sum.f = 0.0;
		for (int64_t k = 0; k < n; k++) {
			int64_t row = i / inner * n + (attr->reverse != 0 ? n - 1 - k : k);
			int64_t at = row * inner + i % inner;
			qn_number next = sum;

			qn_plain_load(p, e->in[0], at, 1, 1, &x);
			if (real)
				next.f += x.f;
			else
				next.u += x.u;
			qn_plain_store(p, e->out, at, 1, attr->exclusive != 0 ? &sum : &next);
			sum = next;
		}
	}
}

static void *
cumsum_prepare(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	const qn_attrs_cumsum *attr = &n->attr->cumsum;
	const qn_type *in = qn_in_type(g, n, 0);
	int32_t axis = qn_axis_of(in, attr->axis);
	qn_cumsum_args *d = QN_NEW(a, qn_cumsum_args, 1);

	if (!qn_int_check_quantized(g, n, in) || !qn_int_check_quantized(g, n, n->type))
		return NULL;
	if (in->dim[axis] > qn_sum_terms(g, n))
		return qn_int_refuse(g, n, "sums of %lld elements, only up to %lld",
				     (long long)in->dim[axis], (long long)qn_sum_terms(g, n));
	if (!qn_int_multiplier(g, n, "input scale / result scale",
			       qn_scale_of(g, in) / qn_scale_of(g, n->type), &d->m, &d->sh))
		return NULL;
	d->outer = (int32_t)qn_dim_product(in, 0, axis);
	d->n = (int32_t)in->dim[axis];
	d->inner = (int32_t)qn_dim_product(in, axis + 1, in->rank);
	d->exclusive = (int32_t)attr->exclusive;
	d->step = attr->reverse != 0 ? -1 : 1;
	d->zi = qn_zp_of(g, in);
	d->zo = qn_zp_of(g, n->type);
	d->lo = (int32_t)n->type->elem->qmin;
	d->hi = (int32_t)n->type->elem->qmax;
	d->mode = g->model->rounding;
	return d;
}

QN_CALL_BY_FAMILY(cumsum_quantized, qn_cumsum, e->in[0])

const qn_impl qn_impl_cumsum = {
	.real = cumsum_real,
	.plain = cumsum_plain,
	.quantized = {.prepare = cumsum_prepare,
		      .run = cumsum_quantized,
		      .families = QN_ALL_FAMILIES},
};
