/* SPDX-License-Identifier: Apache-2.0 */
/* impl_scatter.c - scatter_elements and scatter_nd: the data, in which the elements at the indices are
 * replaced by the updates, or joined with them in the order of the updates.
 *
 * Quantized values are replaced; those of one scale also give the larger or smaller of the two.  Their
 * sums and products are not implemented. */
#include <string.h>

#include "runtime/indexed.h"
#include "runtime/plain.h"

/* What the reduction makes of an element and its update. */
static qn_number
joined(int32_t reduction, qn_number y, qn_number u, qn_number_kind kind)
{
	bool real = kind == QN_KIND_REAL;
	bool above = qn_number_above(u, y, kind), below = qn_number_above(y, u, kind);

	switch ((qn_reduction)reduction) {
	case QN_REDUCTION_none:
		return u;
	case QN_REDUCTION_add:
		if (real)
			return (qn_number){.f = y.f + u.f};
		return (qn_number){.u = y.u + u.u};
	case QN_REDUCTION_mul:
		if (real)
			return (qn_number){.f = y.f * u.f};
		return (qn_number){.u = y.u * u.u};
	case QN_REDUCTION_max:
		return above ? u : y;
	case QN_REDUCTION_min:
		return below ? u : y;
	}
	return u;
}

/* n updates from element `from` on go to element `to` and on; each sum and product is rounded to the
 * type. */
static void
put(const qn_eval *e, int32_t reduction, int64_t from, int64_t n, int64_t to)
{
	const qn_plain p = qn_plain_of(e->n->type);
	size_t size = qn_elem_bytes(e->n->type->elem);

	if (reduction == QN_REDUCTION_none) {
		memcpy((char *)e->out + (size_t)to * size,
		       (const char *)e->in[2] + (size_t)from * size, (size_t)n * size);
		return;
	}
	for (int64_t i = 0; i < n; i++) {
		qn_number u, y;

		qn_plain_load(p, e->in[2], from + i, 1, 1, &u);
		qn_plain_load(p, e->out, to + i, 1, 1, &y);
		y = joined(reduction, y, u, qn_number_kind_of(p));
		qn_plain_store(p, e->out, to + i, 1, &y);
	}
}

static void
scatter_elements_real(const qn_eval *e)
{
	const qn_attrs_scatter_elements *attr = &e->n->attr->scatter_elements;
	const qn_elements_args a = qn_elements_args_of(e->g, e->n, attr->axis);
	int32_t count = qn_count(a.dim, a.rank), at[6] = {0};

	memcpy(e->out, e->in[0], (size_t)a.total);
	for (int32_t i = 0; i < count; i++, (void)qn_next_index(a.dim, a.rank, at)) {
		int32_t to = qn_index_at(e->in[1], a.wide, i, a.whole[a.axis]);

		put(e, attr->reduction, i, 1, qn_elements_place(&a, at, to));
	}
}

static void
scatter_nd_real(const qn_eval *e)
{
	const qn_nd_args a = qn_nd_args_of(e->g, e->n, 0);
	int32_t run = a.run / (int32_t)qn_elem_bytes(e->n->type->elem);

	memcpy(e->out, e->in[0], (size_t)a.total);
	for (int32_t t = 0; t < a.tuples; t++)
		put(e, e->n->attr->scatter_nd.reduction, (int64_t)t * run, run,
		    (int64_t)qn_nd_place(&a, e->in[1], t) * run);
}

/* The kernels' `how`, and the size of what they move, which is an element or a byte. */
static bool
set_how(const qn_graph *g, const qn_node *n, int32_t reduction, int32_t *how, int32_t *size)
{
	const char *why = qn_indexed_problem(g, n);
	bool quantized = qn_node_family(g, n) != QN_NFAMILY;

	if (why != NULL) {
		(void)qn_int_refuse(g, n, "%s", why);
		return false;
	}
	if (reduction == QN_REDUCTION_add || reduction == QN_REDUCTION_mul) {
		(void)qn_int_refuse(g, n, "reduction %s",
				    qn_enum_table[QN_ENUM_reduction].names[reduction]);
		return false;
	}
	if (reduction != QN_REDUCTION_none && !quantized) {
		(void)qn_int_refuse(g, n, "min and max only of quantized values in i8, u8 and i16");
		return false;
	}
	*how = reduction == QN_REDUCTION_none ? 0 : reduction == QN_REDUCTION_max ? 1 : -1;
	*size = quantized ? (int32_t)qn_elem_bytes(n->type->elem) : 1;
	return true;
}

static void *
scatter_elements_prepare(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	const qn_attrs_scatter_elements *attr = &n->attr->scatter_elements;
	qn_elements_args *d = QN_NEW(a, qn_elements_args, 1);
	int32_t how, size;

	if (!set_how(g, n, attr->reduction, &how, &size))
		return NULL;
	*d = qn_elements_args_of(g, n, attr->axis);
	d->run /= size;
	d->total /= size;
	d->how = how;
	return d;
}

static void *
scatter_nd_prepare(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	qn_nd_args *d = QN_NEW(a, qn_nd_args, 1);
	int32_t how, size;

	if (!set_how(g, n, n->attr->scatter_nd.reduction, &how, &size))
		return NULL;
	*d = qn_nd_args_of(g, n, 0);
	d->run /= size;
	d->total /= size;
	d->how = how;
	return d;
}

#define SCATTER_ELEMENTS(name, q, o, a, code)                                                      \
	static void name(const qn_eval *e, const void *args)                                       \
	{                                                                                          \
		qn_scatter_elements##q(args, e->in[0], e->in[1], e->in[2], e->out);                \
	}

QN_BY_FAMILY(elements_of_family, SCATTER_ELEMENTS)

static void
scatter_elements_quantized(const qn_eval *e, const void *args)
{
	if (qn_node_family(e->g, e->n) != QN_NFAMILY)
		elements_of_family(e, args);
	else
		elements_of_family_s8(e, args);
}

#define SCATTER_ND(name, q, o, a, code)                                                            \
	static void name(const qn_eval *e, const void *args)                                       \
	{                                                                                          \
		qn_scatter_nd##q(args, e->in[0], e->in[1], e->in[2], e->out);                      \
	}

QN_BY_FAMILY(nd_of_family, SCATTER_ND)

static void
scatter_nd_quantized(const qn_eval *e, const void *args)
{
	if (qn_node_family(e->g, e->n) != QN_NFAMILY)
		nd_of_family(e, args);
	else
		nd_of_family_s8(e, args);
}

const qn_impl qn_impl_scatter_elements = {
	.real = scatter_elements_real,
	.plain = scatter_elements_real,
	.refuse = qn_indexed_problem,
	.indices = 1U << 1,
	.quantized = {.prepare = scatter_elements_prepare,
		      .run = scatter_elements_quantized,
		      .families = QN_ALL_FAMILIES},
};
const qn_impl qn_impl_scatter_nd = {
	.real = scatter_nd_real,
	.plain = scatter_nd_real,
	.refuse = qn_indexed_problem,
	.indices = 1U << 1,
	.quantized = {.prepare = scatter_nd_prepare,
		      .run = scatter_nd_quantized,
		      .families = QN_ALL_FAMILIES},
};
