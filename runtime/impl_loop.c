/* SPDX-License-Identifier: Apache-2.0 */
/* impl_loop.c - what the nodes of a loop copy.  The interpreter counts the steps, and carries values from one
 * to the next (interp.c); emitted code does so with a `for`. */
#include <string.h>

#include "ir/loops.h"
#include "runtime/impl_args.h"
#include "runtime/impl_util.h"

/* A tensor of outer parts, in each of which `count` steps of so many bytes follow each other. */
static qn_loop_args
arguments(const qn_type *all, int64_t at, int64_t reverse)
{
	const int32_t axis = qn_axis_of(all, at);

	return (qn_loop_args){
		.outer = (int32_t)qn_dim_product(all, 0, axis),
		.count = (int32_t)all->dim[axis],
		.run = (int32_t)(qn_dim_product(all, axis + 1, all->rank) *
				 (int64_t)qn_elem_bytes(all->elem)),
		.reverse = (int32_t)reverse,
	};
}

static qn_loop_args
arguments_of(const qn_graph *g, const qn_node *n)
{
	if (n->op == QN_OP_loop_slice)
		return arguments(qn_in_type(g, n, 0), n->attr->loop_slice.axis,
				 n->attr->loop_slice.reverse);
	if (n->op == QN_OP_loop_stack)
		return arguments(n->type, n->attr->loop_stack.axis, n->attr->loop_stack.reverse);
	const qn_node *loop = qn_loop_of(g, n, n->nin - 1);
	return (qn_loop_args){
		.outer = 1,
		.count = loop != NULL ? (int32_t)loop->attr->loop.count : 1,
		.run = (int32_t)qn_type_bytes(n->type),
	};
}

static const char *
refuse(const qn_graph *g, const qn_node *n)
{
	for (uint32_t i = 0; i < n->nin; i++)
		if (qn_type_bytes(qn_in_type(g, n, i)) > INT32_MAX)
			return "values of 2^31 bytes or more";
	return qn_type_bytes(n->type) > INT32_MAX ? "values of 2^31 bytes or more" : NULL;
}

static void *
prepare(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	qn_loop_args *args = QN_NEW(a, qn_loop_args, 1);

	if (!qn_int_sizes(g, n))
		return NULL;
	*args = arguments_of(g, n);
	return args;
}

/* The float implementation copies the same bytes. */
#define LOOP_IMPL(op)                                                                              \
	static void op##_real(const qn_eval *e)                                                    \
	{                                                                                          \
		const qn_loop_args a = arguments_of(e->g, e->n);                                   \
                                                                                                   \
		qn_##op(&a, e->in[0], e->in[1], e->out);                                           \
	}                                                                                          \
                                                                                                   \
	static void op##_quantized(const qn_eval *e, const void *args)                             \
	{                                                                                          \
		qn_##op(args, e->in[0], e->in[1], e->out);                                         \
	}                                                                                          \
                                                                                                   \
	const qn_impl qn_impl_##op = {                                                             \
		.real = op##_real,                                                                 \
		.plain = op##_real,                                                                \
		.refuse = refuse,                                                                  \
		.indices = 1U << 1,                                                                \
		.quantized = {.prepare = prepare,                                                  \
			      .run = op##_quantized,                                               \
			      .families = QN_ALL_FAMILIES},                                        \
	};

LOOP_IMPL(loop_slice)
LOOP_IMPL(loop_carry)
LOOP_IMPL(loop_stack)
LOOP_IMPL(loop_last)

/* The number of the first step. */
static void
begin(const qn_eval *e)
{
	memset(e->out, 0, sizeof(int32_t));
}

static void
begin_quantized(const qn_eval *e, const void *args)
{
	(void)args;
	begin(e);
}

const qn_impl qn_impl_loop = {
	.real = begin,
	.plain = begin,
	.quantized = {.prepare = prepare, .run = begin_quantized, .families = QN_ALL_FAMILIES},
};

/* The number of the step that ends. */
static void
end(const qn_eval *e)
{
	memcpy(e->out, e->in[0], sizeof(int32_t));
}

static void
end_quantized(const qn_eval *e, const void *args)
{
	(void)args;
	end(e);
}

const qn_impl qn_impl_loop_end = {
	.real = end,
	.plain = end,
	.quantized = {.prepare = prepare, .run = end_quantized, .families = QN_ALL_FAMILIES},
};
