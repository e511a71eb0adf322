/* SPDX-License-Identifier: Apache-2.0 */
/* net_join.c - operators that join values, take them apart or choose among them, on any type: what holds a real number
 * and what holds codes alike.
 *
 *   Split, Concat, Where, ScatterElements, Tile */
#include "tests/networks/net_places.h"

net_val *
net_joined(net *n, int count, net_val *const *x, int axis)
{
	int64_t dim[NET_RANK], inner = 1, outer = 1;

	memcpy(dim, x[0]->dim, sizeof dim);
	for (int i = 1; i < count; i++)
		dim[axis] += x[i]->dim[axis];
	for (int k = axis + 1; k < x[0]->rank; k++)
		inner *= dim[k];
	for (int k = 0; k < axis; k++)
		outer *= dim[k];
	net_val *y = net_new(n, x[0]->type, x[0]->rank, dim);
	y->q = x[0]->q;
	for (int s = 0; s < NET_SAMPLES; s++)
		for (int64_t o = 0, to = s * y->count; o < outer; o++)
			for (int i = 0; i < count; i++)
				for (int64_t k = 0; k < x[i]->dim[axis] * inner; k++, to++) {
					int64_t from = o * x[i]->dim[axis] * inner + k;

					y->lo[to] = net_lo(x[i], s, from);
					y->hi[to] = net_hi(x[i], s, from);
				}
	return y;
}

static net_val *
part(net *n, net_val *x, int axis, int64_t from, int64_t len)
{
	int64_t begin[NET_RANK] = {0}, by[NET_RANK] = {1, 1, 1, 1, 1}, dim[NET_RANK];

	memcpy(dim, x->dim, sizeof dim);
	begin[axis] = from;
	dim[axis] = len;
	affine(x, dim, begin, by);
	return picked(n, x, x->rank, dim, at, NULL);
}

/* Split in two, the halves joined in the other order. */
net_val *
net_split(net *n, net_val *x)
{
	int axis = (int)net_draw(n, 1, x->rank - 1);

	if (x->dim[axis] < 2)
		return NULL;
	int64_t len[2] = {net_draw(n, 1, x->dim[axis] - 1), 0};
	len[1] = x->dim[axis] - len[0];
	net_val *half[2] = {part(n, x, axis, 0, len[0]), part(n, x, axis, len[0], len[1])};
	net_val *turned[2] = {half[1], half[0]};
	onx_int(&n->file, "axis", axis);
	net_node(n, "Split", 2, (net_val *[]){x, net_list(n, 2, len)}, 2, half);
	net_val *y = net_joined(n, 2, turned, axis);
	onx_int(&n->file, "axis", axis);
	net_node(n, "Concat", 2, turned, 1, &y);
	return y;
}

/* A constant of x's type, of one element or of a channel each. */
static net_val *
operand(net *n, net_val *x, int rank, const int64_t *dim)
{
	double v[64], lo, hi;
	int64_t count = product(rank, dim);

	net_range(x, &lo, &hi);
	for (int64_t i = 0; i < count; i++)
		v[i] = x->type == ONX_FLOAT
			       ? net_real(n, lo, hi)
			       : (double)net_draw(n, net_qmin(x->type), net_qmax(x->type));
	return net_const(n, x->type, rank, dim, v);
}

net_val *
net_where(net *n, net_val *x)
{
	double choose[64];
	int64_t last = x->dim[x->rank - 1];

	if (x->type == ONX_INT8 || last > 16) /* ONNX Runtime has no kernel for i8 */
		return NULL;
	for (int64_t i = 0; i < last; i++)
		choose[i] = (double)net_draw(n, 0, 1);
	net_val *c = net_const(n, ONX_BOOL, 1, &last, choose), *other = operand(n, x, 0, NULL);
	net_val *y = net_like(n, x);
	for (int64_t i = 0; i < NET_SAMPLES * y->count; i++) {
		bool mine = choose[i % last] > 0;

		y->lo[i] = mine ? net_lo(x, (int)(i / y->count), i % y->count) : other->lo[0];
		y->hi[i] = mine ? net_hi(x, (int)(i / y->count), i % y->count) : other->lo[0];
	}
	net_node(n, "Where", 3, (net_val *[]){c, x, other}, 1, &y);
	return y;
}

/* Constant elements at constant indices along the last axis, in its first rows. */
net_val *
net_scatter(net *n, net_val *x)
{
	int64_t dim[NET_RANK], last = x->dim[x->rank - 1];
	double index[64];

	if (last > 16 || x->rank < 2)
		return NULL;
	for (int k = 0; k < x->rank; k++)
		dim[k] = 1;
	dim[x->rank - 1] = 1 + (last > 2);
	for (int64_t i = 0; i < dim[x->rank - 1]; i++)
		index[i] = (double)(i + net_draw(n, 0, last - dim[x->rank - 1]));
	if (dim[x->rank - 1] == 2 && !(index[0] < index[1]))
		index[1] = index[0] + 1 < (double)last ? index[0] + 1 : 0;
	net_val *k = net_const(n, ONX_INT64, x->rank, dim, index), *u = operand(n, x, x->rank, dim);
	net_val *y = viewed(n, x, x->rank, x->dim);
	for (int s = 0; s < NET_SAMPLES; s++)
		for (int64_t i = 0; i < u->count; i++)
			y->lo[s * y->count + (int64_t)index[i]] =
				y->hi[s * y->count + (int64_t)index[i]] = u->lo[i];
	onx_int(&n->file, "axis", x->rank - 1);
	net_node(n, "ScatterElements", 3, (net_val *[]){x, k, u}, 1, &y);
	return y;
}

net_val *
net_tile(net *n, net_val *x)
{
	int64_t times[NET_RANK] = {1, 1, 1, 1, 1};
	int axis = x->rank - 1;

	if (x->dim[axis] > 6)
		return NULL;
	times[axis] = 2;
	net_val *y = net_joined(n, 2, (net_val *[]){x, x}, axis);
	net_node2(n, "Tile", x, net_list(n, x->rank, times), y);
	return y;
}
