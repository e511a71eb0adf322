/* SPDX-License-Identifier: Apache-2.0 */
/* random_view.c - random ops that move elements (view, split, gather, resize, pad with copies), for
 * random_ops.c. */
#include "tests/e2e/random_maker.h"

static qn_id
add(maker *m, qn_op op, uint32_t nin, const qn_id *in, const qn_attrs *a)
{
	qn_id id = qn_graph_op(m->b->g, op, NULL, nin, in, a, NULL);

	build_check(m->b, id != 0);
	return id;
}

/* x as four axes, which ops on images take; 0 when it has more. */
static qn_id
image(maker *m, qn_id x)
{
	qn_attrs a = build_attrs(QN_OP_expand_dims);
	int32_t rank = type_of(m, x)->rank;

	if (rank >= 4)
		return rank == 4 ? x : 0;
	for (; a.axes.axes.n < 4 - rank; a.axes.axes.n++)
		a.axes.axes.v[a.axes.axes.n] = a.axes.axes.n;
	return add(m, QN_OP_expand_dims, 1, &x, &a);
}

qn_id
random_slice(maker *m, qn_id x)
{
	qn_attrs a = build_attrs(QN_OP_slice);
	const qn_type *t = type_of(m, x);
	int32_t i;

	a.slice.begin.n = a.slice.end.n = a.slice.step.n = t->rank;
	for (i = 0; i < t->rank; i++) {
		int64_t first = pick(m, 0, t->dim[i] - 1), last = pick(m, 0, t->dim[i] - 1);
		bool back = first > last;

		a.slice.step.v[i] = pick(m, 1, 3) * (back ? -1 : 1);
		a.slice.begin.v[i] = chance(m, 50) ? first : first - t->dim[i];
		a.slice.end.v[i] = back ? last - 1 - t->dim[i] : last + 1;
	}
	return add(m, QN_OP_slice, 1, &x, &a);
}

qn_id
random_dims(maker *m, qn_id x)
{
	qn_attrs a = build_attrs(QN_OP_squeeze);
	const qn_type *t = type_of(m, x);

	if (chance(m, 50) && qn_type_count(t) > 1)
		return add(m, QN_OP_squeeze, 1, &x, &a); /* all axes of length 1 */
	if (t->rank > 4)
		return 0;
	a.axes.axes.n = 1;
	a.axes.axes.v[0] = pick(m, -1 - t->rank, t->rank);
	return add(m, QN_OP_expand_dims, 1, &x, &a);
}

qn_id
random_repeat(maker *m, qn_id x)
{
	qn_attrs a = build_attrs(QN_OP_tile);
	const qn_type *t = type_of(m, x);
	int64_t k = pick(m, 1, 3);
	int32_t i, axis = (int32_t)pick(m, 0, t->rank - 1);

	if (qn_type_count(t) * k > MOST_ELEMENTS || t->rank > 4)
		return 0;
	a.tile.repeats.n = t->rank;
	for (i = 0; i < t->rank; i++)
		a.tile.repeats.v[i] = i == axis ? k : 1;
	return add(m, QN_OP_tile, 1, &x, &a);
}

qn_id
random_expand(maker *m, qn_id x)
{
	qn_attrs a = build_attrs(QN_OP_expand);
	const qn_type *t = type_of(m, x);
	int64_t k = pick(m, 1, 3);
	int32_t i;

	if (qn_type_count(t) * k > MOST_ELEMENTS || t->rank > 5)
		return 0;
	a.shape.shape.n = t->rank + 1;
	a.shape.shape.v[0] = k;
	for (i = 0; i < t->rank; i++)
		a.shape.shape.v[i + 1] = chance(m, 50) ? -1 : t->dim[i];
	return add(m, QN_OP_expand, 1, &x, &a);
}

/* Deeper or wider images, as far as the dims allow. */
qn_id
random_depth(maker *m, qn_id x)
{
	qn_attrs to = build_attrs(QN_OP_depth_to_space), from = build_attrs(QN_OP_space_to_depth);
	const qn_type *t;

	if ((x = image(m, x)) == 0)
		return 0;
	t = type_of(m, x);
	to.depth_to_space.block = from.space_to_depth.block = 2;
	to.depth_to_space.mode = (int32_t)pick(m, 0, 1);
	if (t->dim[3] % 4 == 0)
		return add(m, QN_OP_depth_to_space, 1, &x, &to);
	if (t->dim[1] % 2 == 0 && t->dim[2] % 2 == 0)
		return add(m, QN_OP_space_to_depth, 1, &x, &from);
	to.depth_to_space.block = from.space_to_depth.block = 1;
	return chance(m, 50) ? add(m, QN_OP_depth_to_space, 1, &x, &to)
			     : add(m, QN_OP_space_to_depth, 1, &x, &from);
}

/* One part of two or three. */
qn_id
random_split(maker *m, qn_id x)
{
	qn_attrs a = build_attrs(QN_OP_split), g = build_attrs(QN_OP_get);
	const qn_type *t = type_of(m, x);
	int32_t axis = (int32_t)pick(m, 0, t->rank - 1);
	int64_t left = t->dim[axis];

	a.split.axis = chance(m, 50) ? axis : axis - t->rank;
	while (left > 0) {
		int64_t k = a.split.sizes.n == 2 ? left : pick(m, 1, left);

		a.split.sizes.v[a.split.sizes.n++] = k;
		left -= k;
	}
	x = add(m, QN_OP_split, 1, &x, &a);
	g.get.index = pick(m, 0, a.split.sizes.n - 1);
	return add(m, QN_OP_get, 1, &x, &g);
}

qn_id
random_gather(maker *m, qn_id x)
{
	qn_attrs a = build_attrs(QN_OP_gather);
	const qn_type *t = type_of(m, x);
	int32_t axis = (int32_t)pick(m, 0, t->rank - 1);
	int64_t n = pick(m, 1, t->dim[axis]), i;
	qn_plain plain = chance(m, 50) ? QN_PLAIN_i32 : QN_PLAIN_i64;
	qn_id in[2] = {x, 0};
	void *data;
	qn_tensor *index =
		qn_tensor_new(&m->b->arena, qn_type_plain(&m->b->model.types, plain, 1, &n), &data);

	a.gather.axis = chance(m, 50) ? axis : axis - t->rank;
	for (i = 0; i < n; i++)
		qn_store_i64(data, plain, i, pick(m, -t->dim[axis], t->dim[axis] - 1));
	in[1] = qn_graph_const(m->b->g, NULL, index);
	build_check(m->b, in[1] != 0);
	return add(m, QN_OP_gather, 2, in, &a);
}

qn_id
random_resize(maker *m, qn_id x)
{
	qn_op op = chance(m, 50) ? QN_OP_resize_nearest : QN_OP_resize_bilinear;
	qn_attrs a = build_attrs(op);
	const qn_type *t;

	if ((x = image(m, x)) == 0)
		return 0;
	t = type_of(m, x);
	a.resize.mode = (int32_t)pick(m, 0, 2);
	a.resize.size[0] = pick(m, 1, 7);
	a.resize.size[1] = pick(m, 1, 7);
	if (t->dim[0] * a.resize.size[0] * a.resize.size[1] * t->dim[3] > MOST_ELEMENTS)
		return 0;
	return add(m, op, 1, &x, &a);
}

qn_id
random_pad_copy(maker *m, qn_id x)
{
	qn_attrs a = build_attrs(QN_OP_pad);
	const qn_type *t = type_of(m, x);
	int64_t count = 1;
	int32_t i;

	if (t->rank > 5)
		return 0;
	a.pad.mode = (int32_t)pick(m, QN_PAD_reflect, QN_PAD_wrap);
	a.pad.before.n = a.pad.after.n = t->rank;
	for (i = 0; i < t->rank; i++) {
		int64_t most = t->dim[i] < 3 ? t->dim[i] - 1 : 2;

		a.pad.before.v[i] = chance(m, 50) ? pick(m, 0, most) : 0;
		a.pad.after.v[i] = chance(m, 50) ? pick(m, 0, most) : 0;
		count *= t->dim[i] + a.pad.before.v[i] + a.pad.after.v[i];
	}
	return count <= MOST_ELEMENTS ? add(m, QN_OP_pad, 1, &x, &a) : 0;
}
