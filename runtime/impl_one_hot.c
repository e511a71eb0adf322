/* SPDX-License-Identifier: Apache-2.0 */
/* impl_one_hot.c - one_hot: elements that are on or off, in both implementations by the same kernel. */
#include "runtime/indexed.h"

static qn_one_hot_args
arguments(const qn_graph *g, const qn_node *n)
{
	const qn_type *index = qn_in_type(g, n, 0), *y = n->type;
	int32_t axis = qn_axis_of(y, n->attr->one_hot.axis);

	return (qn_one_hot_args){
		.outer = (int32_t)qn_dim_product(y, 0, axis),
		.depth = (int32_t)y->dim[axis],
		.inner = (int32_t)qn_dim_product(y, axis + 1, y->rank),
		.size = (int32_t)qn_elem_bytes(y->elem),
		.wide = qn_index_wide(index),
	};
}

static const char *
refuse(const qn_graph *g, const qn_node *n)
{
	(void)g;
	return qn_type_bytes(n->type) > INT32_MAX ? "a tensor of 2^31 bytes or more" : NULL;
}

static void
one_hot_real(const qn_eval *e)
{
	const qn_one_hot_args a = arguments(e->g, e->n);

	qn_one_hot(&a, e->in[0], e->in[1], e->out);
}

static void *
one_hot_prepare(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	if (!qn_int_sizes(g, n))
		return NULL;
	if (refuse(g, n) != NULL)
		return qn_int_refuse(g, n, "%s", refuse(g, n));
	const qn_one_hot_args d = arguments(g, n);
	return qn_arena_copy(a, &d, sizeof d);
}

static void
one_hot_quantized(const qn_eval *e, const void *args)
{
	qn_one_hot(args, e->in[0], e->in[1], e->out);
}

const qn_impl qn_impl_one_hot = {
	.real = one_hot_real,
	.plain = one_hot_real,
	.refuse = refuse,
	.indices = 1U << 0,
	.quantized = {.prepare = one_hot_prepare,
		      .run = one_hot_quantized,
		      .families = QN_ALL_FAMILIES},
};
