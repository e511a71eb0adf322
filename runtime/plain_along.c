/* SPDX-License-Identifier: Apache-2.0 */
/* plain_along.c - the integer implementation of reductions, running sums and places of plain integers.
 *
 *   reduce_sum of i64 [1, 8] over axis 1   ->   qn_plain_fold(&args, qn_plain_add, x, z)
 *   cumsum of i64                          ->   qn_plain_running(&args, qn_plain_add, x, z)
 *   argmax of i32                          ->   qn_plain_place(&args, qn_plain_greater, x, z)
 *
 * Masks and lengths of sequences become positions so, and the place of a token the row that is taken.  The interpreter
 * runs the ops' functions in plain_reduce.c, impl_cumsum.c and impl_argmax.c, which also fold constants. */
#include "runtime/impl_args.h"
#include "runtime/plain.h"
#include "ir/reduce.h"

static const struct {
	qn_op op;
	const char *name;
	qn_plain_fn *fn;
	bool last; /* of places: of equal elements the last */
} functions[] = {
	{QN_OP_reduce_sum, "qn_plain_add", qn_plain_add, false},
	{QN_OP_cumsum, "qn_plain_add", qn_plain_add, false},
	{QN_OP_reduce_prod, "qn_plain_mul", qn_plain_mul, false},
	{QN_OP_reduce_max, "qn_plain_maximum", qn_plain_maximum, false},
	{QN_OP_reduce_min, "qn_plain_minimum", qn_plain_minimum, false},
	{QN_OP_argmax, "qn_plain_greater", qn_plain_greater, false},
	{QN_OP_argmax, "qn_plain_greater_equal", qn_plain_greater_equal, true},
	{QN_OP_argmin, "qn_plain_less", qn_plain_less, false},
	{QN_OP_argmin, "qn_plain_less_equal", qn_plain_less_equal, true},
};

static bool
is_place(const qn_node *n)
{
	return n->op == QN_OP_argmax || n->op == QN_OP_argmin;
}

/* The first axis and the end of those that the op goes along; false: they are not adjacent, or have no element. */
static bool
axes_of(const qn_node *n, const qn_type *in, int32_t *first, int32_t *end)
{
	uint32_t mask;

	if (n->op == QN_OP_cumsum)
		mask = 1u << qn_axis_of(in, n->attr->cumsum.axis);
	else if (is_place(n))
		mask = 1u << qn_axis_of(in, n->attr->argmax.axis);
	else
		mask = qn_reduce_mask(&n->attr->reduce.axes, in->rank);
	*first = 0;
	while (*first < in->rank && (mask >> *first & 1) == 0)
		++*first;
	*end = *first;
	while (*end < in->rank && (mask >> *end & 1) != 0)
		++*end;
	return mask >> *end == 0 && qn_dim_product(in, *first, *end) > 0;
}

bool
qn_node_along_plain(const qn_graph *g, const qn_node *n)
{
	int32_t first, end;
	bool known = false;

	for (size_t i = 0; i < QN_COUNT(functions); i++)
		known = known || functions[i].op == n->op;
	if (!known)
		return false;
	const qn_type *in = qn_in_type(g, n, 0);
	return qn_plain_tag(in) != 0 && qn_plain_of(in) != QN_PLAIN_bool &&
	       qn_plain_tag(n->type) != 0 && qn_type_count(in) > 0 && axes_of(n, in, &first, &end);
}

static void *
along_prepare(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	qn_plain_along_call *c = QN_NEW(a, qn_plain_along_call, 1);
	const qn_type *in = qn_in_type(g, n, 0);
	int32_t first, end;

	if (!qn_int_sizes(g, n) || !axes_of(n, in, &first, &end))
		return NULL;
	c->args = (qn_plain_along_args){
		.outer = (int32_t)qn_dim_product(in, 0, first),
		.n = (int32_t)qn_dim_product(in, first, end),
		.inner = (int32_t)qn_dim_product(in, end, in->rank),
		.tx = qn_plain_tag(in),
		.tz = qn_plain_tag(n->type),
		.step = n->op == QN_OP_cumsum && n->attr->cumsum.reverse != 0 ? -1 : 1,
		.exclusive = n->op == QN_OP_cumsum && n->attr->cumsum.exclusive != 0,
	};
	const bool last = is_place(n) && n->attr->argmax.select_last_index != 0;
	for (size_t i = 0; i < QN_COUNT(functions); i++)
		if (functions[i].op == n->op && functions[i].last == last) {
			c->name = functions[i].name;
			c->fn = functions[i].fn;
		}
	return c;
}

static void
along_run(const qn_eval *e, const void *args)
{
	const qn_plain_along_call *c = args;

	if (e->n->op == QN_OP_cumsum)
		qn_plain_running(&c->args, c->fn, e->in[0], e->out);
	else if (is_place(e->n))
		qn_plain_place(&c->args, c->fn, e->in[0], e->out);
	else
		qn_plain_fold(&c->args, c->fn, e->in[0], e->out);
}

const qn_int_impl qn_plain_along_impl = {.prepare = along_prepare, .run = along_run};
