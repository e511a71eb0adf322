/* SPDX-License-Identifier: Apache-2.0 */
/* impl_logic.c - operations on truth values, which are emitted too, and on the bits of integers.
 *
 *   logical_and, bit 2x + y of 8:   0 and 0, 0 and 1, 1 and 0: 0     1 and 1: 1 */
#include "runtime/elementwise.h"
#include "runtime/family.h"
#include "runtime/impl_args.h"
#include "runtime/plain.h"

static void *
logic_prepare(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	qn_logic_args *d = QN_NEW(a, qn_logic_args, 1);

	if (!qn_int_sizes(g, n) || !qn_int_broadcast(g, n, d->dim, d->xs, d->ys))
		return NULL;
	d->truth = n->op == QN_OP_logical_and ? 8 : n->op == QN_OP_logical_or ? 14 : 6;
	return d;
}

static void
logic_run(const qn_eval *e, const void *args)
{
	qn_logic(args, e->in[0], e->in[1], e->out);
}

static void *
not_prepare(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	qn_not_args *d = QN_NEW(a, qn_not_args, 1);

	if (!qn_int_sizes(g, n))
		return NULL;
	d->n = (int32_t)qn_static_count(n->type);
	return d;
}

static void
not_run(const qn_eval *e, const void *args)
{
	qn_not(args, e->in[0], e->out);
}

#define LOGICAL(name)                                                                              \
	const qn_impl qn_impl_##name = {                                                           \
		.plain = qn_plain_binary,                                                          \
		.quantized = {.prepare = logic_prepare,                                            \
			      .run = logic_run,                                                    \
			      .families = QN_ALL_FAMILIES},                                        \
	};
#define BITWISE(name, form) const qn_impl qn_impl_##name = {.plain = form};

LOGICAL(logical_and)
LOGICAL(logical_or)
LOGICAL(logical_xor)
const qn_impl qn_impl_logical_not = {
	.plain = qn_plain_unary,
	.quantized = {.prepare = not_prepare, .run = not_run, .families = QN_ALL_FAMILIES},
};
BITWISE(bitwise_and, qn_plain_binary)
BITWISE(bitwise_or, qn_plain_binary)
BITWISE(bitwise_xor, qn_plain_binary)
BITWISE(bitwise_not, qn_plain_unary)
BITWISE(shift_left, qn_plain_binary)
BITWISE(shift_right, qn_plain_binary)
