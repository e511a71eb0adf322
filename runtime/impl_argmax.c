/* SPDX-License-Identifier: Apache-2.0 */
/* impl_argmax.c - argmax and argmin along one axis: the index of the largest or smallest element, of equal
 * ones the first or, on demand, the last.  Quantized values compare as float values do, so both
 * implementations agree. */
#include "runtime/impl_args.h"
#include "runtime/impl_util.h"
#include "runtime/plain.h"

static qn_argmax_args
shape_of(const qn_graph *g, const qn_node *n)
{
	const qn_type *in = qn_in_type(g, n, 0);
	int32_t axis = qn_axis_of(in, n->attr->argmax.axis);

	return (qn_argmax_args){
		.outer = (int32_t)qn_dim_product(in, 0, axis),
		.n = (int32_t)in->dim[axis],
		.inner = (int32_t)qn_dim_product(in, axis + 1, in->rank),
		.last = (int32_t)n->attr->argmax.select_last_index,
		.flip = n->op == QN_OP_argmin ? -1 : 0,
	};
}

static const char *
refuse(const qn_graph *g, const qn_node *n)
{
	return qn_static_count(qn_in_type(g, n, 0)) > INT32_MAX ? "more than 2^31 - 1 elements"
								: NULL;
}

static int64_t
best_place(const qn_argmax_args *a, const float *x)
{
	int64_t best = 0, inner = a->inner;

	for (int64_t k = 1; k < a->n; k++) {
		float v = x[k * inner], top = x[best * inner];
		bool better = a->flip != 0 ? v < top : v > top;

		if (better || (a->last != 0 && v >= top && v <= top))
			best = k;
	}
	return best;
}

static void
argmax_real(const qn_eval *e)
{
	qn_argmax_args a = shape_of(e->g, e->n);
	const float *x = e->in[0];
	int64_t to = 0;

	for (int64_t o = 0; o < a.outer; o++, x += (int64_t)a.n * a.inner)
		for (int64_t i = 0; i < a.inner; i++)
			qn_store_i64(e->out, e->n->type->elem->plain, to++, best_place(&a, x + i));
}

static bool
is_above(qn_number x, qn_number y, qn_number_kind kind)
{
	if (kind == QN_KIND_REAL)
		return x.f > y.f;
	return kind == QN_KIND_SIGNED ? x.i > y.i : x.u > y.u;
}

/* Whether x replaces the best before it. */
static bool
is_better(const qn_argmax_args *a, qn_number x, qn_number best, qn_number_kind kind)
{
	bool above = is_above(x, best, kind), below = is_above(best, x, kind);

	return (a->flip != 0 ? below : above) || (a->last != 0 && above == below);
}

static void
argmax_plain(const qn_eval *e)
{
	const qn_argmax_args a = shape_of(e->g, e->n);
	const qn_plain p = qn_plain_of(qn_in_type(e->g, e->n, 0));
	const qn_number_kind kind = qn_number_kind_of(p);

	for (int64_t r = 0; r < (int64_t)a.outer * a.inner; r++) {
		int64_t from = r / a.inner * a.n * a.inner + r % a.inner, best = 0;
		qn_number top, x;

		qn_plain_load(p, e->in[0], from, 1, 1, &top);
		for (int64_t k = 1; k < a.n; k++) {
			qn_plain_load(p, e->in[0], from + k * a.inner, 1, 1, &x);
			if (!is_better(&a, x, top, kind))
				continue;
			top = x;
			best = k;
		}
		qn_store_i64(e->out, e->n->type->elem->plain, r, best);
	}
}

static void *
argmax_prepare(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	qn_argmax_args *d = QN_NEW(a, qn_argmax_args, 1);

	if (!qn_elem_in_family(&g->model->types, qn_in_type(g, n, 0)->elem))
		return qn_int_refuse(g, n, "only storage i8, u8 and i16");
	if (!qn_int_sizes(g, n))
		return NULL;
	*d = shape_of(g, n);
	return d;
}

#define ARGMAX(name, q, o, a, code)                                                                \
	static void name(const qn_eval *e, const void *args)                                       \
	{                                                                                          \
		if (e->n->type->elem->plain == QN_PLAIN_i64)                                       \
			qn_argmax##q##_s64(args, e->in[0], e->out);                                \
		else                                                                               \
			qn_argmax##q##_s32(args, e->in[0], e->out);                                \
	}

QN_BY_FAMILY(argmax_quantized, ARGMAX)

const qn_impl qn_impl_argmax = {
	.real = argmax_real,
	.plain = argmax_plain,
	.refuse = refuse,
	.quantized = {.prepare = argmax_prepare,
		      .run = argmax_quantized,
		      .families = QN_ALL_FAMILIES},
};
const qn_impl qn_impl_argmin = {
	.real = argmax_real,
	.plain = argmax_plain,
	.refuse = refuse,
	.quantized = {.prepare = argmax_prepare,
		      .run = argmax_quantized,
		      .families = QN_ALL_FAMILIES},
};
