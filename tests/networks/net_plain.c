/* SPDX-License-Identifier: Apache-2.0 */
/* net_plain.c - operators on integers as they are, as a quantizer leaves them between QLinear ones: MaxPool, Resize, Clip,
 * Relu, Min, Max, Cast, ReduceMax.  They know no scale: Relu(i8) is max(x, 0) of the integers. */
#include "tests/networks/net_qoperator.h"

net_val *
net_max_pool(net *n, net_val *x)
{
	net_window w;

	if (x->rank != 4 || x->dim[2] < 2 || x->dim[3] < 2)
		return NULL;
	net_draw_window(n, x, true, &w);
	for (int i = 0; i < 4; i++)
		w.pad[i] = w.pad[i] < w.kernel[i % 2] ? w.pad[i] : 0;
	net_val *y = net_pool(n, x, &w, '>');
	net_window_attrs(n, &w, true);
	net_node1(n, "MaxPool", x, y);
	return y;
}

/* Twice as large. */
net_val *
net_resize(net *n, net_val *x)
{
	if (x->rank != 4 || x->dim[2] > 5 || x->dim[3] > 5)
		return NULL;
	int64_t dim[4] = {1, x->dim[1], 2 * x->dim[2], 2 * x->dim[3]};
	net_val *y = net_new(n, x->type, 4, dim);
	y->q = x->q;
	for (int s = 0; s < NET_SAMPLES; s++)
		for (int64_t i = 0; i < y->count; i++) {
			int64_t col = i % dim[3] / 2, row = i / dim[3] % dim[2] / 2,
				c = i / (dim[2] * dim[3]);
			int64_t from = (c * x->dim[2] + row) * x->dim[3] + col;

			y->lo[s * y->count + i] = net_lo(x, s, from);
			y->hi[s * y->count + i] = net_hi(x, s, from);
		}
	onx_string(&n->file, "mode", "nearest");
	onx_string(&n->file, "nearest_mode", "floor");
	onx_string(&n->file, "coordinate_transformation_mode", "asymmetric");
	net_node(n, "Resize", 4, (net_val *[]){x, NULL, NULL, net_list(n, 4, dim)}, 1, &y);
	return y;
}

static net_val *
clip(net *n, net_val *x)
{
	int64_t lo = net_draw(n, net_qmin(x->type), net_qmin(x->type) + 120);
	int64_t hi = net_draw(n, net_qmax(x->type) - 120, net_qmax(x->type));
	bool low = net_chance(n, 80), high = !low || net_chance(n, 70);

	net_val *y = net_clamped(n, x, low ? (double)lo : -1000, high ? (double)hi : 1000);
	net_node(n, "Clip", 3,
		 (net_val *[]){x, low ? net_scalar(n, x->type, (double)lo) : NULL,
			       high ? net_scalar(n, x->type, (double)hi) : NULL},
		 1, &y);
	return y;
}

static net_val *
relu(net *n, net_val *x)
{
	if (x->type != ONX_INT8) /* ONNX Runtime has it for i8 alone */
		return NULL;
	net_val *y = net_clamped(n, x, 0, 127);
	net_node1(n, "Relu", x, y);
	return y;
}

/* The larger or smaller one of it and a constant. */
static net_val *
choose(net *n, net_val *x)
{
	const bool larger = net_chance(n, 50);
	net_val *b = net_scalar(
		n, x->type, (double)net_draw(n, net_qmin(x->type) + 60, net_qmax(x->type) - 60));
	net_val *y = net_like(n, x), *chosen = net_binary(n, x, b, larger ? '>' : '<');

	memcpy(y->lo, chosen->lo, (size_t)(NET_SAMPLES * y->count) * sizeof *y->lo);
	memcpy(y->hi, chosen->hi, (size_t)(NET_SAMPLES * y->count) * sizeof *y->hi);
	net_node2(n, larger ? "Max" : "Min", x, b, y);
	return y;
}

static net_val *
cast_to(net *n, net_val *x, int type)
{
	net_val *y = net_like(n, x);

	y->type = type;
	memcpy(y->lo, x->lo, (size_t)(NET_SAMPLES * y->count) * sizeof *y->lo);
	memcpy(y->hi, x->hi, (size_t)(NET_SAMPLES * y->count) * sizeof *y->hi);
	onx_int(&n->file, "to", type);
	net_node1(n, "Cast", x, y);
	return y;
}

/* To 32 bits or to real numbers and back. */
static net_val *
cast(net *n, net_val *x)
{
	net_val *y = cast_to(n, x, net_chance(n, 50) ? ONX_INT32 : ONX_FLOAT);

	if (y->rank == 4 && net_chance(n, 30))
		y = net_transposed(n, y, (const int64_t[]){0, 2, 1, 3});
	return cast_to(n, y, x->type);
}

/* Cast, Sub, Mul: a DequantizeLinear by hand. */
net_val *
net_real_by_hand(net *n, net_val *x)
{
	const net_params q = x->q;
	net_val *f = cast_to(n, x, ONX_FLOAT), *zp = net_scalar(n, ONX_FLOAT, (double)q.zp),
		*scale = net_scalar(n, ONX_FLOAT, q.scale);
	net_val *less = net_binary(n, f, zp, '-');

	net_node2(n, "Sub", f, zp, less);
	net_val *y = net_binary(n, less, scale, '*');
	net_node2(n, "Mul", less, scale, y);
	y->q = q;
	return y;
}

static net_val *
reduce(net *n, net_val *x)
{
	return net_reduce(n, x, net_chance(n, 50) ? '>' : '<');
}

static const net_row rows[] = {
	{"Min", 1, choose},
	{"Cast", 1, cast},
	{"ReduceMax", 1, reduce},
	{"MaxPool", 4, net_max_pool},
	{"Resize", 3, net_resize},
	{"Clip", 3, clip},
	{"Relu", 2, relu},
	{"", 10, net_move},
	{0},
};

net_val *
net_plain(net *n, net_val *x)
{
	return net_any(n, rows, x);
}
