/* SPDX-License-Identifier: Apache-2.0 */
/* random_loop.c - a random loop over an axis of a value.
 *
 *   %i = loop {count=3}              in the number of the loop around it, if there is one
 *   %t = loop_slice %x, %i
 *   %v = …                           up to three random ops on %t, one of them maybe a loop again
 *   %h = loop_carry %h0, %i
 *   %w = add %v, %h                  or another op of two values
 *   %n = requantize %w               to the parameters of %h
 *   %e = loop_end %i, %n             maybe with a second value that changes places with the first
 *   %y = loop_stack %w, %e           or loop_last */
#include "tests/e2e/random_maker.h"

enum { MOST_STEPS = 9, MOST_DEPTH = 2 };

/* Up to three random ops on a value of the loop. */
static qn_id
add_body(maker *m, qn_id x)
{
	for (int64_t k = pick(m, 0, 3); k > 0; k--) {
		random_op *op = chance(m, 15) ? random_loop
					      : random_ops[pick(m, 0, (int64_t)random_nops - 1)];
		const qn_id id = op(m, x);

		x = id != 0 ? in_reach(m, id) : x;
	}
	return x;
}

static qn_id
add_carry(maker *m, qn_id loop, const qn_type *type, int64_t index)
{
	const qn_id in[2] = {add_codes_const(m, type->elem, type->rank, type->dim), loop};
	qn_attrs a = build_attrs(QN_OP_loop_carry);

	a.loop_carry.index = index;
	return add_op(m, QN_OP_loop_carry, 2, in, &a, NULL);
}

/* Of the same parameters, the lesser or greater one; of any, a sum or difference. */
static qn_id
add_two(maker *m, qn_id x, qn_id y)
{
	const qn_id in[2] = {x, y};
	const bool first = chance(m, 50);

	if (type_of(m, x) == type_of(m, y) && chance(m, 50))
		return add_op(m, first ? QN_OP_minimum : QN_OP_maximum, 2, in, NULL, NULL);
	return add_pair(m, first ? QN_OP_add : QN_OP_sub, x, y,
			scale_of(m, x, 0) * factor(m, 0.7, 1.6));
}

/* x with what the loop carries, and the loop's end. */
static qn_id
add_carries(maker *m, qn_id loop, qn_id x, qn_id *end)
{
	const qn_type *type = type_of(m, x);
	const int64_t count = pick(m, 0, 2);
	qn_id in[3] = {loop, 0, 0}, carry[2];

	for (int64_t k = 0; k < count; k++) {
		carry[k] = add_carry(m, loop, type, k);
		x = add_two(m, x, carry[k]);
	}
	if (count > 0)
		in[1] = add_op(m, QN_OP_requantize, 1, &x, NULL, type);
	if (count > 1) /* places of values that are carried change with each step */
		in[2] = carry[0];
	*end = add_op(m, QN_OP_loop_end, (uint32_t)count + 1, in, NULL, NULL);
	return x;
}

static qn_id
leave(maker *m, qn_id x, qn_id end, int64_t count)
{
	const qn_id in[2] = {x, end};
	const qn_type *t = type_of(m, x);
	qn_attrs a = build_attrs(QN_OP_loop_stack);

	if (chance(m, 30) || t->rank > 4 || qn_type_count(t) * count > MOST_ELEMENTS)
		return add_op(m, QN_OP_loop_last, 2, in, NULL, NULL);
	a.loop_stack.axis = pick(m, -1 - t->rank, t->rank);
	a.loop_stack.length = count;
	a.loop_stack.reverse = chance(m, 30);
	return add_op(m, QN_OP_loop_stack, 2, in, &a, NULL);
}

qn_id
random_loop(maker *m, qn_id x)
{
	const qn_type *t = type_of(m, x);
	const int32_t axis = (int32_t)pick(m, 0, t->rank - 1);
	const qn_id around = m->loop, sum = m->sum;
	qn_attrs loop = build_attrs(QN_OP_loop), slice = build_attrs(QN_OP_loop_slice);
	qn_id in[2] = {x, 0}, end;

	if (t->rank < 2 || t->dim[axis] > MOST_STEPS || m->depth == MOST_DEPTH)
		return 0;
	loop.loop.count = t->dim[axis];
	m->loop = in[1] = add_op(m, QN_OP_loop, around != 0, &around, &loop, NULL);
	m->depth++;
	slice.loop_slice.axis = chance(m, 50) ? axis : axis - t->rank;
	slice.loop_slice.reverse = chance(m, 30);
	const qn_id v = add_body(m, add_op(m, QN_OP_loop_slice, 2, in, &slice, NULL));
	const qn_id w = add_carries(m, in[1], v, &end);
	m->loop = around;
	m->depth--;
	m->sum = sum; /* one of the body would change with each step */
	return leave(m, w, end, loop.loop.count);
}
