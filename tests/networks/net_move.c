/* SPDX-License-Identifier: Apache-2.0 */
/* net_move.c - operators that move elements or choose among them, on any type: what holds a real number and what holds
 * codes alike.
 *
 *   Transpose, Reshape, Flatten, Squeeze, Unsqueeze, Slice, Split, Concat, Gather, Pad, Tile, Where, ScatterElements */
#include "tests/networks/net.h"

enum { FROM_VALUE = -1 };

/* y[i] = x[at[i]], or the value's element. */
static net_val *
picked(net *n, const net_val *x, int rank, const int64_t *dim, const int64_t *at,
       const net_val *value)
{
	net_val *y = net_new(n, x->type, rank, dim);

	y->q = x->q;
	for (int s = 0; s < NET_SAMPLES; s++)
		for (int64_t i = 0; i < y->count; i++) {
			y->lo[s * y->count + i] =
				at[i] >= 0 ? net_lo(x, s, at[i]) : net_lo(value, s, 0);
			y->hi[s * y->count + i] =
				at[i] >= 0 ? net_hi(x, s, at[i]) : net_hi(value, s, 0);
		}
	return y;
}

static int64_t at[NET_ELEMENTS]; /* of the value being made */

static void
strides(const net_val *x, int64_t *step)
{
	int64_t s = 1;

	for (int k = x->rank - 1; k >= 0; k--) {
		step[k] = s;
		s *= x->dim[k];
	}
}

static int64_t
product(int rank, const int64_t *dim)
{
	int64_t n = 1;

	for (int k = 0; k < rank; k++)
		n *= dim[k];
	return n;
}

/* Fills `at`: along axis k output coordinate p is begin[k] + p * step[k] of x, outside of it FROM_VALUE. */
static void
affine(const net_val *x, const int64_t *dim, const int64_t *begin, const int64_t *by)
{
	int64_t step[NET_RANK];

	strides(x, step);
	for (int64_t i = 0; i < product(x->rank, dim); i++) {
		int64_t rest = i;

		at[i] = 0;
		for (int k = x->rank - 1; k >= 0; k--) {
			int64_t p = begin[k] + rest % dim[k] * by[k];

			rest /= dim[k];
			if (p < 0 || p >= x->dim[k] || at[i] == FROM_VALUE)
				at[i] = FROM_VALUE;
			else
				at[i] += p * step[k];
		}
	}
}

/* ---- the shape alone ---- */

static net_val *
viewed(net *n, net_val *x, int rank, const int64_t *dim)
{
	for (int64_t i = 0; i < x->count; i++)
		at[i] = i;
	return picked(n, x, rank, dim, at, NULL);
}

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

/* ---- several operands ---- */

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
static net_val *
split(net *n, net_val *x)
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

static net_val *
where(net *n, net_val *x)
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
static net_val *
scatter(net *n, net_val *x)
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

static net_val *
tile(net *n, net_val *x)
{
	int64_t dim[NET_RANK], begin[NET_RANK] = {0}, by[NET_RANK] = {1, 1, 1, 1, 1},
			       times[NET_RANK] = {1, 1, 1, 1, 1};
	int axis = x->rank - 1;

	memcpy(dim, x->dim, sizeof dim);
	if (dim[axis] > 6)
		return NULL;
	net_val *both[2] = {part(n, x, axis, 0, dim[axis]), x};
	(void)begin;
	(void)by;
	times[axis] = 2;
	net_val *y = net_joined(n, 2, both, axis);
	net_node2(n, "Tile", x, net_list(n, x->rank, times), y);
	return y;
}

static const net_row rows[] = {
	{"Reshape", 2, reshape},
	{"Squeeze", 2, squeeze},
	{"Transpose", 4, transpose},
	{"Slice", 4, slice},
	{"Gather", 3, gather},
	{"Pad", 6, pad},
	{"Split", 4, split},
	{"Where", 3, where},
	{"ScatterElements", 2, scatter},
	{"Tile", 1, tile},
	{"DepthToSpace", 2, net_depth_to_space},
	{0},
};

net_val *
net_move(net *n, net_val *x)
{
	return net_any(n, rows, x);
}
