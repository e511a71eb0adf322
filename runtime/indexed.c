/* SPDX-License-Identifier: Apache-2.0 */
/* indexed.c - see indexed.h. */
#include "runtime/indexed.h"

enum { KERNEL_RANK = 6 };

static bool
is_beside(const qn_node *n)
{
	return n->op == QN_OP_gather_elements || n->op == QN_OP_scatter_elements;
}

const char *
qn_indexed_problem(const qn_graph *g, const qn_node *n)
{
	bool large = qn_type_bytes(n->type) > INT32_MAX;

	for (uint32_t i = 0; i < n->nin; i++)
		large = large || qn_type_bytes(qn_in_type(g, n, i)) > INT32_MAX;
	if (large)
		return "a tensor of 2^31 bytes or more";
	if (is_beside(n) && n->type->rank > KERNEL_RANK)
		return "more than 6 axes";
	if (qn_static_count(qn_in_type(g, n, 0)) == 0 && qn_static_count(qn_in_type(g, n, 1)) > 0)
		return "data without elements";
	return NULL;
}

int32_t
qn_index_wide(const qn_type *type)
{
	return type->elem->plain == QN_PLAIN_i64 ? 1 : 0;
}

qn_elements_args
qn_elements_args_of(const qn_graph *g, const qn_node *n, int64_t axis)
{
	const qn_type *x = qn_in_type(g, n, 0), *index = qn_in_type(g, n, 1);
	qn_elements_args a = {
		.rank = x->rank,
		.axis = qn_axis_of(x, axis),
		.run = (int32_t)qn_elem_bytes(x->elem),
		.wide = qn_index_wide(index),
		.total = (int32_t)qn_type_bytes(x),
	};

	for (int32_t i = 0; i < x->rank && i < KERNEL_RANK; i++) {
		a.dim[i] = (int32_t)index->dim[i];
		a.whole[i] = (int32_t)x->dim[i];
	}
	return a;
}

qn_nd_args
qn_nd_args_of(const qn_graph *g, const qn_node *n, int64_t batch)
{
	const qn_type *x = qn_in_type(g, n, 0), *index = qn_in_type(g, n, 1);
	int32_t first = (int32_t)batch, length = (int32_t)index->dim[index->rank - 1];
	qn_nd_args a = {
		.tuples = (int32_t)qn_dim_product(index, 0, index->rank - 1),
		.each = (int32_t)qn_dim_product(index, first, index->rank - 1),
		.n = length,
		.run = (int32_t)(qn_dim_product(x, first + length, x->rank) *
				 (int64_t)qn_elem_bytes(x->elem)),
		.wide = qn_index_wide(index),
		.total = (int32_t)qn_type_bytes(x),
	};

	for (int32_t i = 0; i < length; i++)
		a.dim[i] = (int32_t)x->dim[first + i];
	return a;
}
