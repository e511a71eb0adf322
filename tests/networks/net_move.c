/* SPDX-License-Identifier: Apache-2.0 */
/* net_move.c - operators that move the elements of a value, on any type: what holds a real number and what holds codes
 * alike.
 *
 *   Transpose, Reshape, Flatten, Squeeze, Unsqueeze, Slice, Gather, Pad */
#include "tests/networks/net_places.h"

/* ---- the shape alone ---- */

net_val *
net_reshaped(net *n, net_val *x, int rank, const int64_t *dim)
{
	net_val *y = viewed(n, x, rank, dim);

	net_node2(n, "Reshape", x, net_list(n, rank, dim), y);
	return y;
}

net_val *
net_flat(net *n, net_val *x)
{
	net_val *y = viewed(n, x, 2, (const int64_t[]){1, x->count});

	onx_int(&n->file, "axis", 1);
	net_node1(n, "Flatten", x, y);
	return y;
}

static net_val *
reshape(net *n, net_val *x)
{
	if (x->rank == 4 && net_chance(n, 50))
		return net_reshaped(n, x, 3,
				    (const int64_t[]){1, x->dim[1], x->dim[2] * x->dim[3]});
	if (x->rank == 3)
		return net_reshaped(n, x, 4, (const int64_t[]){1, x->dim[1], x->dim[2], 1});
	return x->rank == 4 && net_chance(n, 30) ? net_flat(n, x) : NULL;
}

/* To five axes and back, as exporters write them. */
static net_val *
squeeze(net *n, net_val *x)
{
	int64_t dim[NET_RANK] = {0};
	int axis = (int)net_draw(n, 0, x->rank);

	if (x->rank >= NET_RANK)
		return NULL;
	for (int k = 0, j = 0; k <= x->rank; k++)
		dim[k] = k == axis ? 1 : x->dim[j++];
	net_val *y = viewed(n, x, x->rank + 1, dim), *z = viewed(n, x, x->rank, x->dim);
	net_node2(n, "Unsqueeze", x, net_list(n, 1, (const int64_t[]){axis}), y);
	net_node2(n, "Squeeze", y, net_list(n, 1, (const int64_t[]){axis}), z);
	return z;
}

/* ---- one operand ---- */

net_val *
net_transposed(net *n, net_val *x, const int64_t *perm)
{
	int64_t step[NET_RANK], dim[NET_RANK];

	strides(x, step);
	for (int k = 0; k < x->rank; k++)
		dim[k] = x->dim[perm[k]];
	for (int64_t i = 0; i < x->count; i++) {
		int64_t rest = i;

		at[i] = 0;
		for (int k = x->rank - 1; k >= 0; k--) {
			at[i] += rest % dim[k] * step[perm[k]];
			rest /= dim[k];
		}
	}
	net_val *y = picked(n, x, x->rank, dim, at, NULL);
	onx_list(&n->file, "perm", x->rank, perm);
	net_node1(n, "Transpose", x, y);
	return y;
}

static net_val *
transpose(net *n, net_val *x)
{
	static const int64_t image[][4] = {{0, 1, 3, 2}, {0, 2, 3, 1}, {0, 3, 1, 2}, {0, 2, 1, 3}};

	if (x->rank == 3)
		return net_transposed(n, x, (const int64_t[]){0, 2, 1});
	return x->rank == 4 ? net_transposed(n, x, image[net_draw(n, 0, 3)]) : NULL;
}

static net_val *
slice(net *n, net_val *x)
{
	int64_t begin[NET_RANK] = {0}, by[NET_RANK] = {1, 1, 1, 1, 1}, dim[NET_RANK];
	int axis = (int)net_draw(n, 1, x->rank - 1);

	memcpy(dim, x->dim, sizeof dim);
	if (dim[axis] < 3)
		return NULL;
	begin[axis] = net_draw(n, 0, 1);
	by[axis] = net_chance(n, 25) ? 2 : 1;
	int64_t end = dim[axis] - net_draw(n, 0, 1);
	dim[axis] = (end - begin[axis] + by[axis] - 1) / by[axis];
	affine(x, dim, begin, by);
	net_val *y = picked(n, x, x->rank, dim, at, NULL);
	net_node(n, "Slice", 5,
		 (net_val *[]){x, net_list(n, 1, &begin[axis]), net_list(n, 1, &end),
			       net_list(n, 1, (const int64_t[]){axis}), net_list(n, 1, &by[axis])},
		 1, &y);
	return y;
}

static net_val *
gather(net *n, net_val *x)
{
	int64_t dim[NET_RANK], step[NET_RANK], index[8];
	int axis = (int)net_draw(n, 1, x->rank - 1);

	memcpy(dim, x->dim, sizeof dim);
	if (dim[axis] < 2 || dim[axis] > 8)
		return NULL;
	const int64_t most = dim[axis];
	dim[axis] = net_draw(n, 2, most);
	for (int64_t k = 0; k < dim[axis]; k++)
		index[k] = net_draw(n, 0, most - 1);
	strides(x, step);
	for (int64_t i = 0; i < product(x->rank, dim); i++) {
		int64_t p = i / step[axis] % dim[axis], outer = i / step[axis] / dim[axis];

		at[i] = (outer * most + index[p]) * step[axis] + i % step[axis];
	}
	net_val *y = picked(n, x, x->rank, dim, at, NULL);
	onx_int(&n->file, "axis", axis);
	net_node2(n, "Gather", x, net_list(n, (int)dim[axis], index), y);
	return y;
}

net_val *
net_padded(net *n, net_val *x, net_val *value, double v)
{
	const net_val zero = {.constant = true, .lo = &v, .hi = &v};
	int64_t begin[NET_RANK] = {0}, by[NET_RANK] = {1, 1, 1, 1, 1}, dim[NET_RANK],
		pads[2 * NET_RANK] = {0};

	memcpy(dim, x->dim, sizeof dim);
	for (int k = x->rank > 2 ? 2 : 1; k < x->rank; k++) {
		pads[k] = net_draw(n, 0, 2);
		pads[k + x->rank] = net_draw(n, 0, 1);
		begin[k] = -pads[k];
		dim[k] += pads[k] + pads[k + x->rank];
	}
	if (product(x->rank, dim) > NET_ELEMENTS || dim[x->rank - 1] > 14)
		return NULL;
	affine(x, dim, begin, by);
	net_val *y = picked(n, x, x->rank, dim, at, &zero);
	net_node(n, "Pad", 3, (net_val *[]){x, net_list(n, 2 * x->rank, pads), value}, 1, &y);
	return y;
}

/* A number of x's own, stored as x is. */
static net_val *
pad_stored(net *n, net_val *x)
{
	const double number = (double)net_draw(n, net_qmin(x->q.type), net_qmax(x->q.type));
	const double v = (number - (double)x->q.zp) * x->q.scale;
	net_val *stored = net_scalar(n, x->q.type, number), *real = net_hidden(n, 0, NULL);

	real->lo[0] = real->hi[0] = v;
	net_val *scale = net_scalar(n, ONX_FLOAT, x->q.scale),
		*zp = net_scalar(n, x->q.type, (double)x->q.zp);
	net_node(n, "DequantizeLinear", 3, (net_val *[]){stored, scale, zp}, 1, &real);
	return net_padded(n, x, real, v);
}

/* The value: left out, the zero point (or 0), or any. */
static net_val *
pad(net *n, net_val *x)
{
	int64_t kind = net_draw(n, 0, 2);
	double v = kind == 0 ? 0 : x->type == ONX_FLOAT ? 0 : (double)x->q.zp;

	if (x->rank < 2 || x->dim[x->rank - 1] > 10)
		return NULL;
	if (kind == 2 && x->type == ONX_FLOAT && x->stored && net_chance(n, 50))
		return pad_stored(n, x);
	if (kind == 2 && x->type == ONX_FLOAT)
		v = net_real(n, -1, 1);
	else if (kind == 2)
		v = (double)net_draw(n, net_qmin(x->type), net_qmax(x->type));
	return net_padded(n, x, kind == 0 ? NULL : net_scalar(n, x->type, v), v);
}

static const net_row rows[] = {
	{"Reshape", 2, reshape},
	{"Squeeze", 2, squeeze},
	{"Transpose", 4, transpose},
	{"Slice", 4, slice},
	{"Gather", 3, gather},
	{"Pad", 6, pad},
	{"Split", 4, net_split},
	{"Where", 3, net_where},
	{"ScatterElements", 2, net_scatter},
	{"Tile", 1, net_tile},
	{"DepthToSpace", 2, net_depth_to_space},
	{0},
};

net_val *
net_move(net *n, net_val *x)
{
	return net_any(n, rows, x);
}
