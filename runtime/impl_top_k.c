/* SPDX-License-Identifier: Apache-2.0 */
/* impl_top_k.c - top_k and top_k_indices: the k largest or smallest elements along an axis, from the first
 * of them on; of equal ones those that stand first.
 *
 * Each is looked for among what comes after the last one, so that nothing is sorted: k times n steps,
 * and no memory.  NaN counts as larger than any number. */
#include <math.h>
#include <string.h>

#include "runtime/impl_args.h"
#include "runtime/impl_util.h"
#include "runtime/plain.h"

static qn_top_args
shape_of(const qn_graph *g, const qn_node *n)
{
	const qn_attrs_top_k *a = &n->attr->top_k;
	const qn_type *in = qn_in_type(g, n, 0);
	int32_t axis = qn_axis_of(in, a->axis);

	return (qn_top_args){
		.outer = (int32_t)qn_dim_product(in, 0, axis),
		.n = (int32_t)in->dim[axis],
		.inner = (int32_t)qn_dim_product(in, axis + 1, in->rank),
		.k = (int32_t)a->k,
		.flip = a->largest != 0 ? 0 : -1,
	};
}

static const char *
refuse(const qn_graph *g, const qn_node *n)
{
	return qn_static_count(qn_in_type(g, n, 0)) > INT32_MAX ? "more than 2^31 - 1 elements"
								: NULL;
}

/* A number of the order of the elements, for the smallest reversed. */
static int64_t
key_of(qn_plain p, const void *x, int64_t at, int32_t flip)
{
	qn_number v;

	qn_plain_load(p, x, at, 1, 1, &v);
	switch (qn_number_kind_of(p)) {
	case QN_KIND_REAL:
		v.f += 0.0; /* -0 is 0 */
		v.f = v.f != v.f ? (double)NAN : v.f;
		v.i = v.i < 0 ? v.i ^ INT64_MAX : v.i;
		break;
	case QN_KIND_UNSIGNED:
		v.u ^= UINT64_C(1) << 63;
		break;
	case QN_KIND_SIGNED:
	case QN_NKIND:
		break;
	}
	return v.i ^ flip;
}

/* As the kernel's qn_top_next; at: the first of a's elements in x. */
static int64_t
next_place(const qn_top_args *a, qn_plain p, const void *x, int64_t at, int64_t last)
{
	int64_t before = last >= 0 ? key_of(p, x, at + last * a->inner, a->flip) : 0;
	int64_t best = -1, top = 0;

	for (int64_t i = 0; i < a->n; i++) {
		int64_t key = key_of(p, x, at + i * a->inner, a->flip);

		if (last >= 0 && (key > before || (key == before && i <= last)))
			continue;
		if (best < 0 || key > top) {
			best = i;
			top = key;
		}
	}
	return best;
}

/* The result is indices, not elements. */
static bool
has_indices(const qn_eval *e)
{
	return e->n->op == QN_OP_top_k_indices || e->part == 1;
}

/* Element r of a row of the result: the index, or the element there. */
static void
put(const qn_eval *e, int64_t to, int64_t row, int64_t place, int64_t inner)
{
	const qn_type *in = qn_in_type(e->g, e->n, 0);
	size_t size = qn_elem_bytes(in->elem);

	if (has_indices(e))
		qn_store_i64(e->out, e->n->type->is_tuple ? QN_PLAIN_i64 : e->n->type->elem->plain,
			     to, place);
	else
		memcpy((char *)e->out + (size_t)to * size,
		       (const char *)e->in[0] + (size_t)(row + place * inner) * size, size);
}

static void
top_plain(const qn_eval *e)
{
	const qn_top_args a = shape_of(e->g, e->n);
	const qn_plain p = qn_plain_of(qn_in_type(e->g, e->n, 0));

	for (int64_t i = 0; i < (int64_t)a.outer * a.inner; i++) {
		int64_t row = i / a.inner * a.n * a.inner + i % a.inner, last = -1;

		for (int64_t r = 0; r < a.k; r++) {
			last = next_place(&a, p, e->in[0], row, last);
			put(e, (i / a.inner * a.k + r) * a.inner + i % a.inner, row, last, a.inner);
		}
	}
}

static void *
top_prepare(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	if (!qn_elem_in_family(&g->model->types, qn_in_type(g, n, 0)->elem))
		return qn_int_refuse(g, n, "only storage i8, u8 and i16");
	if (qn_type_bytes(qn_in_type(g, n, 0)) > INT32_MAX)
		return qn_int_refuse(g, n, "a tensor of 2^31 bytes or more");
	const qn_top_args d = shape_of(g, n);
	if ((int64_t)d.outer * d.k * d.inner > INT32_MAX / 8)
		return qn_int_refuse(g, n, "indices of 2^31 bytes or more");
	return qn_arena_copy(a, &d, sizeof d);
}

#define TOP_PLACES(name, q, o, a, code)                                                            \
	static void name(const qn_eval *e, const void *args)                                       \
	{                                                                                          \
		if (e->n->type->elem->plain == QN_PLAIN_i64)                                       \
			qn_top_places##q##_s64(args, e->in[0], e->out);                            \
		else                                                                               \
			qn_top_places##q##_s32(args, e->in[0], e->out);                            \
	}

QN_BY_FAMILY(top_k_indices_quantized, TOP_PLACES)

#define TOP_K(name, q, o, a, code)                                                                 \
	static void name(const qn_eval *e, const void *args)                                       \
	{                                                                                          \
		const qn_top_args *d = args;                                                       \
		const code *x = e->in[0];                                                          \
                                                                                                   \
		for (int32_t i = 0; i < d->outer * d->inner; i++) {                                \
			int32_t row = i / d->inner * d->n * d->inner + i % d->inner, last = -1;    \
                                                                                                   \
			for (int32_t r = 0; r < d->k; r++) {                                       \
				last = qn_top_next##o(d, x + row, last);                           \
				put(e, (i / d->inner * d->k + r) * d->inner + i % d->inner, row,   \
				    last, d->inner);                                               \
			}                                                                          \
		}                                                                                  \
	}

QN_BY_FAMILY(top_k_quantized, TOP_K)

const qn_impl qn_impl_top_k = {
	.real = top_plain,
	.plain = top_plain,
	.refuse = refuse,
	.quantized = {.prepare = top_prepare, .run = top_k_quantized, .families = QN_ALL_FAMILIES},
};
const qn_impl qn_impl_top_k_indices = {
	.real = top_plain,
	.plain = top_plain,
	.refuse = refuse,
	.quantized = {.prepare = top_prepare,
		      .run = top_k_indices_quantized,
		      .families = QN_ALL_FAMILIES},
};
