/* SPDX-License-Identifier: Apache-2.0 */
/* impl_where.c - where: one of two elements by a condition.  The elements are moved as they are, so
 * both implementations are the kernel.
 *
 *   c [2,1]  x [2,3]  y []   axes  dim {2, 3}  cs {1, 0}  xs {3, 1}  ys {0, 0} */
#include "runtime/impl_args.h"
#include "runtime/impl_util.h"

enum { AXES = 6, OPERANDS = 3 };

/* Distance in elements of input t along axis k from the end of the result. */
static int64_t
distance(const qn_type *t, int32_t k)
{
	int32_t axis = t->rank - k;

	if (axis < 0 || t->dim[axis] == 1)
		return 0;
	return qn_dim_product(t, axis + 1, t->rank);
}

/* Fills d from the last axis to the first; neighbours that all inputs walk as one are one.  False
 * when more than six are left. */
static bool
axes(const qn_graph *g, const qn_node *n, qn_where_args *d)
{
	int32_t *stride[OPERANDS] = {d->cs, d->xs, d->ys};
	int32_t at = AXES;

	for (int32_t k = 1; k <= n->type->rank; k++) {
		int64_t dim = n->type->dim[n->type->rank - k], s[OPERANDS];
		bool joins = at < AXES;

		if (dim == 1)
			continue;
		for (uint32_t i = 0; i < OPERANDS; i++) {
			s[i] = distance(qn_in_type(g, n, i), k);
			joins = joins && s[i] == (int64_t)stride[i][at] * d->dim[at];
		}
		if (joins) {
			d->dim[at] *= (int32_t)dim;
			continue;
		}
		if (at-- == 0)
			return false;
		d->dim[at] = (int32_t)dim;
		for (int i = 0; i < OPERANDS; i++)
			stride[i][at] = (int32_t)s[i];
	}
	while (at-- > 0)
		d->dim[at] = 1;
	d->size = (int32_t)qn_elem_bytes(n->type->elem);
	return true;
}

static const char *
where_refuse(const qn_graph *g, const qn_node *n)
{
	qn_where_args d = {.size = 0};

	return axes(g, n, &d) ? NULL : "broadcasting over more than 6 separate axes";
}

static void
where_real(const qn_eval *e)
{
	qn_where_args d = {.size = 0};

	if (qn_static_count(e->n->type) > 0 && axes(e->g, e->n, &d))
		qn_where(&d, e->in[0], e->in[1], e->in[2], e->out);
}

static void *
where_prepare(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	qn_where_args *d = QN_NEW(a, qn_where_args, 1);

	if (!qn_int_sizes(g, n))
		return NULL;
	if (!axes(g, n, d))
		return qn_int_refuse(g, n, "broadcasting over more than 6 separate axes");
	return d;
}

static void
where_quantized(const qn_eval *e, const void *args)
{
	qn_where(args, e->in[0], e->in[1], e->in[2], e->out);
}

const qn_impl qn_impl_where = {
	.real = where_real,
	.refuse = where_refuse,
	.plain = where_real,
	.quantized = {.prepare = where_prepare,
		      .run = where_quantized,
		      .families = QN_ALL_FAMILIES},
};
