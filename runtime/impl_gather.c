/* SPDX-License-Identifier: Apache-2.0 */
/* impl_gather.c - gather, gather_elements, gather_nd: both implementations copy runs of elements as the
 * kernel does; constant indices become a table of the kernel. */
#include <string.h>

#include "ir/clamp.h"
#include "runtime/impl_args.h"
#include "runtime/impl_util.h"
#include "runtime/indexed.h"

/* Index i as a position on an axis of dim > 0 elements; what lies outside stands for the nearest
 * position. */
static int64_t
position(const qn_type *type, const void *index, int64_t i, int64_t dim)
{
	int64_t at = type->elem->plain == QN_PLAIN_i64 ? ((const int64_t *)index)[i]
						       : ((const int32_t *)index)[i];

	at += at < 0 ? dim : 0;
	return qn_clamp_i64(at, 0, dim - 1);
}

static void
gather_real(const qn_eval *e)
{
	const qn_type *in = qn_in_type(e->g, e->n, 0), *index = qn_in_type(e->g, e->n, 1);
	int32_t axis = qn_axis_of(in, e->n->attr->gather.axis);
	int64_t outer = qn_dim_product(in, 0, axis), n = qn_static_count(index);
	int64_t run = qn_dim_product(in, axis + 1, in->rank) * (int64_t)qn_elem_bytes(in->elem);
	int64_t dim = in->dim[axis];
	const char *x = e->in[0];
	char *y = e->out;

	for (int64_t o = 0; o < outer; o++)
		for (int64_t i = 0; i < n; i++, y += run)
			memcpy(y, x + (o * dim + position(index, e->in[1], i, dim)) * run,
			       (size_t)run);
}

const int32_t *
qn_gather_indices(const qn_graph *g, const qn_node *n, int64_t dim, qn_arena *a)
{
	const qn_node *index = qn_graph_node(g, n->in[1]);
	const int64_t count = qn_static_count(index->type);

	if (index->op != QN_OP_const)
		return NULL;
	int32_t *table = QN_NEW(a, int32_t, (size_t)count);
	for (int64_t i = 0; i < count; i++) {
		const int64_t at = qn_tensor_i64(index->value, i);

		table[i] = (int32_t)(at < 0 ? at + dim : at);
	}
	return table;
}

static void *
gather_prepare(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	const qn_type *in = qn_in_type(g, n, 0);
	const qn_node *index = qn_graph_node(g, n->in[1]);
	int32_t axis = qn_axis_of(in, n->attr->gather.axis);
	qn_gather_call *c = QN_NEW(a, qn_gather_call, 1);
	int64_t count = qn_static_count(index->type);

	if (!qn_int_sizes(g, n))
		return NULL;
	c->args = (qn_gather_args){
		.outer = (int32_t)qn_dim_product(in, 0, axis),
		.dim = (int32_t)in->dim[axis],
		.n = (int32_t)count,
		.run = (int32_t)(qn_dim_product(in, axis + 1, in->rank) *
				 (int64_t)qn_elem_bytes(in->elem)),
	};
	c->index = qn_gather_indices(g, n, in->dim[axis], a);
	c->wide = c->index == NULL && qn_index_wide(index->type) != 0;
	return c;
}

static void
gather_quantized(const qn_eval *e, const void *args)
{
	const qn_gather_call *c = args;

	if (c->wide)
		qn_gather_wide(&c->args, e->in[0], e->in[1], e->out);
	else
		qn_gather(&c->args, e->in[0], c->index != NULL ? c->index : e->in[1], e->out);
}

const qn_impl qn_impl_gather = {
	.real = gather_real,
	.plain = gather_real,
	.indices = 1U << 1,
	.quantized = {.prepare = gather_prepare,
		      .run = gather_quantized,
		      .families = QN_ALL_FAMILIES},
};

static void *
refuse_indexed(const qn_graph *g, const qn_node *n)
{
	const char *why = qn_indexed_problem(g, n);

	return why != NULL ? qn_int_refuse(g, n, "%s", why) : NULL;
}

static void
gather_elements_real(const qn_eval *e)
{
	const qn_elements_args a = qn_elements_args_of(e->g, e->n, e->n->attr->gather.axis);

	qn_gather_elements(&a, e->in[0], e->in[1], e->out);
}

static void *
gather_elements_prepare(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	if (qn_indexed_problem(g, n) != NULL)
		return refuse_indexed(g, n);
	const qn_elements_args d = qn_elements_args_of(g, n, n->attr->gather.axis);
	return qn_arena_copy(a, &d, sizeof d);
}

static void
gather_elements_quantized(const qn_eval *e, const void *args)
{
	qn_gather_elements(args, e->in[0], e->in[1], e->out);
}

static void
gather_nd_real(const qn_eval *e)
{
	const qn_nd_args a = qn_nd_args_of(e->g, e->n, e->n->attr->gather_nd.batch_dims);

	qn_gather_nd(&a, e->in[0], e->in[1], e->out);
}

static void *
gather_nd_prepare(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	if (qn_indexed_problem(g, n) != NULL)
		return refuse_indexed(g, n);
	const qn_nd_args d = qn_nd_args_of(g, n, n->attr->gather_nd.batch_dims);
	return qn_arena_copy(a, &d, sizeof d);
}

static void
gather_nd_quantized(const qn_eval *e, const void *args)
{
	qn_gather_nd(args, e->in[0], e->in[1], e->out);
}

const qn_impl qn_impl_gather_elements = {
	.real = gather_elements_real,
	.plain = gather_elements_real,
	.refuse = qn_indexed_problem,
	.indices = 1U << 1,
	.quantized = {.prepare = gather_elements_prepare,
		      .run = gather_elements_quantized,
		      .families = QN_ALL_FAMILIES},
};
const qn_impl qn_impl_gather_nd = {
	.real = gather_nd_real,
	.plain = gather_nd_real,
	.refuse = qn_indexed_problem,
	.indices = 1U << 1,
	.quantized = {.prepare = gather_nd_prepare,
		      .run = gather_nd_quantized,
		      .families = QN_ALL_FAMILIES},
};
