/* SPDX-License-Identifier: Apache-2.0 */
/* impl_plain.c - the integer implementation of arithmetic on plain integers, whatever that of quantized
 * values is: one kernel that walks two operands, and a function per op.
 *
 *   add of i64   ->   qn_plain_apply(&args, qn_plain_add, x, y, z)
 *
 * The interpreter runs the op's function in plain_binary.c, which also folds constants; emitted code runs
 * this kernel. */
#include "runtime/elementwise.h"
#include "runtime/impl_args.h"
#include "runtime/plain.h"

static const struct {
	qn_op op;
	const char *name;
	qn_plain_fn *fn;
} functions[] = {
	{QN_OP_add, "qn_plain_add", qn_plain_add},
	{QN_OP_sub, "qn_plain_sub", qn_plain_sub},
	{QN_OP_mul, "qn_plain_mul", qn_plain_mul},
	{QN_OP_div, "qn_plain_div", qn_plain_div},
	{QN_OP_squared_difference, "qn_plain_squared", qn_plain_squared},
	{QN_OP_floor_div, "qn_plain_floor_div", qn_plain_floor_div},
	{QN_OP_mod, "qn_plain_mod", qn_plain_mod},
	{QN_OP_minimum, "qn_plain_minimum", qn_plain_minimum},
	{QN_OP_maximum, "qn_plain_maximum", qn_plain_maximum},
	{QN_OP_equal, "qn_plain_equal", qn_plain_equal},
	{QN_OP_not_equal, "qn_plain_not_equal", qn_plain_not_equal},
	{QN_OP_less, "qn_plain_less", qn_plain_less},
	{QN_OP_less_equal, "qn_plain_less_equal", qn_plain_less_equal},
	{QN_OP_greater, "qn_plain_greater", qn_plain_greater},
	{QN_OP_greater_equal, "qn_plain_greater_equal", qn_plain_greater_equal},
	{QN_OP_bitwise_and, "qn_plain_and", qn_plain_and},
	{QN_OP_bitwise_or, "qn_plain_or", qn_plain_or},
	{QN_OP_bitwise_xor, "qn_plain_xor", qn_plain_xor},
	{QN_OP_bitwise_not, "qn_plain_not", qn_plain_not},
	{QN_OP_shift_left, "qn_plain_shift_left", qn_plain_shift_left},
	{QN_OP_shift_right, "qn_plain_shift_right", qn_plain_shift_right},
};

int32_t
qn_plain_tag(const qn_type *type)
{
	const qn_plain p = type->is_tuple ? QN_NPLAIN : qn_plain_of(type);

	if (p == QN_NPLAIN || qn_plain_table[p].is_float ||
	    (p != QN_PLAIN_bool && type->elem->bits % 8 != 0))
		return 0;
	return (int32_t)(2 * qn_elem_bytes(type->elem)) +
	       (qn_number_kind_of(p) == QN_KIND_SIGNED ? 1 : 0);
}

static void *
plain_prepare(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	qn_plain_call *c = QN_NEW(a, qn_plain_call, 1);
	qn_plain_args *d = &c->args;
	qn_op op = n->op;

	if (!qn_int_sizes(g, n))
		return NULL;
	if (n->nin > 1 && !qn_int_broadcast(g, n, d->dim, d->xs, d->ys))
		return NULL;
	for (int i = 0; n->nin == 1 && i < 4; i++) { /* a row, which is the second operand too */
		d->dim[i] = i < 3 ? 1 : (int32_t)qn_static_count(n->type);
		d->xs[i] = d->ys[i] = i == 3;
	}
	d->tx = qn_plain_tag(qn_in_type(g, n, 0));
	d->ty = qn_plain_tag(qn_in_type(g, n, n->nin - 1));
	d->tz = qn_plain_tag(n->type);
	for (size_t i = 0; i < QN_COUNT(functions); i++)
		if (functions[i].op == op) {
			c->name = functions[i].name;
			c->fn = functions[i].fn;
		}
	if (op == QN_OP_mod && n->attr->mod.fmod != 0) {
		c->name = "qn_plain_rem";
		c->fn = qn_plain_rem;
	}
	return c;
}

static void
plain_run(const qn_eval *e, const void *args)
{
	const qn_plain_call *c = args;

	qn_plain_apply(&c->args, c->fn, e->in[0], e->in[e->n->nin - 1], e->out);
}

static const qn_int_impl plain_impl = {.prepare = plain_prepare, .run = plain_run};

static bool
is_comparison(qn_op op)
{
	return op == QN_OP_equal || op == QN_OP_not_equal || op == QN_OP_less ||
	       op == QN_OP_less_equal || op == QN_OP_greater || op == QN_OP_greater_equal;
}

bool
qn_node_on_plain(const qn_graph *g, const qn_node *n)
{
	bool known = false;

	for (size_t i = 0; i < QN_COUNT(functions); i++)
		known = known || functions[i].op == n->op;
	for (uint32_t i = 0; known && i < n->nin; i++)
		known = qn_plain_tag(qn_in_type(g, n, i)) != 0;
	/* a truth value is kept in one bit, of which only comparisons make nothing else */
	if (known && qn_plain_of(n->type) == QN_PLAIN_bool)
		return is_comparison(n->op);
	return known && qn_plain_tag(n->type) != 0;
}

const qn_int_impl *
qn_int_impl_of(const qn_graph *g, const qn_node *n)
{
	const qn_int_impl *blocks = qn_blocks_impl(g, n);

	if (blocks != NULL)
		return blocks;
	if (qn_node_along_plain(g, n))
		return &qn_plain_along_impl;
	return qn_node_on_plain(g, n) ? &plain_impl : qn_int_impl_get(n->op);
}
