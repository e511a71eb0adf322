/* SPDX-License-Identifier: Apache-2.0 */
/* net_windows.c - convolutions, pools, products, softmax: by their definitions, on intervals.
 *
 *   x in [1, 2], w = -3      x * w in [-6, -3] */
#include "tests/networks/net.h"

/* Adds [al, ah] * [bl, bh] to *lo and *hi. */
static void
add_product(double al, double ah, double bl, double bh, double *lo, double *hi)
{
	double p[4] = {al * bl, al * bh, ah * bl, ah * bh}, least = p[0], most = p[0];

	for (int i = 1; i < 4; i++) {
		least = p[i] < least ? p[i] : least;
		most = p[i] > most ? p[i] : most;
	}
	*lo += least;
	*hi += most;
}

/* ---- windows ---- */

static int64_t
out_length(const net_window *w, int64_t in, int axis)
{
	int64_t reach = (w->kernel[axis] - 1) * w->dilation[axis] + 1;

	return (in + w->pad[axis] + w->pad[axis + 2] - reach) / w->stride[axis] + 1;
}

void
net_draw_window(net *n, const net_val *x, bool pool, net_window *w)
{
	*w = (net_window){.group = 1};
	for (int i = 0; i < 2; i++) {
		int64_t most = x->dim[2 + i] < 3 ? x->dim[2 + i] : 3;

		w->kernel[i] = net_draw(n, 1, most);
		w->stride[i] = net_chance(n, 70) ? 1 : 2;
		w->dilation[i] = 1;
		if (!pool && 2 * w->kernel[i] - 1 <= x->dim[2 + i] && net_chance(n, 15))
			w->dilation[i] = 2;
	}
	for (int i = 0; i < 4; i++)
		w->pad[i] = net_chance(n, 50) ? w->kernel[i % 2] / 2 : 0; /* less than the kernel */
}

void
net_window_attrs(net *n, const net_window *w, bool pool)
{
	onx_list(&n->file, "kernel_shape", 2, w->kernel);
	onx_list(&n->file, "strides", 2, w->stride);
	onx_list(&n->file, "pads", 4, w->pad);
	if (!pool)
		onx_list(&n->file, "dilations", 2, w->dilation);
	if (!pool)
		onx_int(&n->file, "group", w->group);
}

/* Where a window's element (ky, kx) of output (oy, ox) stands in the plane; -1: in the pads. */
static int64_t
inside(const net_window *w, const int64_t *dim, int64_t oy, int64_t ox, int64_t ky, int64_t kx)
{
	int64_t y = oy * w->stride[0] - w->pad[0] + ky * w->dilation[0];
	int64_t x = ox * w->stride[1] - w->pad[1] + kx * w->dilation[1];

	return y < 0 || y >= dim[2] || x < 0 || x >= dim[3] ? -1 : y * dim[3] + x;
}

static void
conv_element(const net_val *x, const net_val *w, const net_window *at, int s, const int64_t *o,
	     double *lo, double *hi)
{
	int64_t each = w->dim[1], outs = w->dim[0] / at->group, plane = x->dim[2] * x->dim[3];
	int64_t first = o[0] / outs * each;

	for (int64_t c = 0; c < each; c++)
		for (int64_t ky = 0; ky < at->kernel[0]; ky++)
			for (int64_t kx = 0; kx < at->kernel[1]; kx++) {
				int64_t i = inside(at, x->dim, o[1], o[2], ky, kx);
				int64_t k =
					((o[0] * each + c) * at->kernel[0] + ky) * at->kernel[1] +
					kx;

				if (i < 0)
					continue;
				i += (first + c) * plane;
				add_product(net_lo(x, s, i), net_hi(x, s, i), w->lo[k], w->lo[k],
					    lo, hi);
			}
}

net_val *
net_conv(net *n, const net_val *x, const net_val *w, const net_val *bias, const net_window *at)
{
	int64_t dim[4] = {1, w->dim[0], out_length(at, x->dim[2], 0), out_length(at, x->dim[3], 1)};
	net_val *y = net_new(n, ONX_FLOAT, 4, dim);
	int64_t i = 0, o[3];

	for (int s = 0; s < NET_SAMPLES; s++)
		for (o[0] = 0; o[0] < dim[1]; o[0]++)
			for (o[1] = 0; o[1] < dim[2]; o[1]++)
				for (o[2] = 0; o[2] < dim[3]; o[2]++, i++) {
					y->lo[i] = y->hi[i] = bias != NULL ? bias->lo[o[0]] : 0;
					conv_element(x, w, at, s, o, &y->lo[i], &y->hi[i]);
				}
	return y;
}

static void
pool_element(const net_val *x, const net_window *at, char op, int s, const int64_t *o, double *lo,
	     double *hi)
{
	int64_t count = 0, plane = x->dim[2] * x->dim[3];

	*lo = *hi = 0;
	for (int64_t k = 0; k < at->kernel[0] * at->kernel[1]; k++) {
		int64_t i = inside(at, x->dim, o[1], o[2], k / at->kernel[1], k % at->kernel[1]);

		if (i < 0)
			continue;
		double l = net_lo(x, s, o[0] * plane + i), h = net_hi(x, s, o[0] * plane + i);
		if (op != '>') {
			*lo += l;
			*hi += h;
		} else {
			*lo = count == 0 || l > *lo ? l : *lo;
			*hi = count == 0 || h > *hi ? h : *hi;
		}
		count++;
	}
	if (op == 'p')
		count = at->kernel[0] * at->kernel[1];
	if (op != '>') {
		*lo /= (double)count;
		*hi /= (double)count;
	}
}

net_val *
net_pool(net *n, const net_val *x, const net_window *at, char op)
{
	int64_t dim[4] = {1, x->dim[1], out_length(at, x->dim[2], 0), out_length(at, x->dim[3], 1)};
	net_val *y = net_new(n, x->type, 4, dim);
	int64_t i = 0, o[3];

	y->q = x->q;
	for (int s = 0; s < NET_SAMPLES; s++)
		for (o[0] = 0; o[0] < dim[1]; o[0]++)
			for (o[1] = 0; o[1] < dim[2]; o[1]++)
				for (o[2] = 0; o[2] < dim[3]; o[2]++, i++)
					pool_element(x, at, op, s, o, &y->lo[i], &y->hi[i]);
	return y;
}

void
net_widen(net *n, net_val *y, double amount, net_reason reason)
{
	n->reason[reason] = true;
	for (int64_t i = 0; i < NET_SAMPLES * y->count; i++) {
		y->lo[i] -= amount;
		y->hi[i] += amount;
	}
}

net_val *
net_mean_space(net *n, const net_val *x)
{
	const net_window all = {
		.kernel = {x->dim[2], x->dim[3]}, .stride = {1, 1}, .dilation = {1, 1}, .group = 1};

	return net_pool(n, x, &all, 'm');
}

/* ---- products and sums ---- */

net_val *
net_matmul(net *n, const net_val *a, const net_val *b)
{
	int64_t dim[NET_RANK], k = b->dim[0], cols = b->dim[1];

	memcpy(dim, a->dim, sizeof dim);
	dim[a->rank - 1] = cols;
	net_val *y = net_new(n, ONX_FLOAT, a->rank, dim);
	for (int s = 0; s < NET_SAMPLES; s++)
		for (int64_t i = 0; i < y->count; i++) {
			int64_t at = s * y->count + i, row = i / cols * k;

			for (int64_t j = 0; j < k; j++)
				add_product(net_lo(a, s, row + j), net_hi(a, s, row + j),
					    net_lo(b, s, j * cols + i % cols),
					    net_hi(b, s, j * cols + i % cols), &y->lo[at],
					    &y->hi[at]);
		}
	return y;
}

/* The element of x that lies at element i of a value with these dims. */
static int64_t
broadcast_at(const net_val *x, int rank, const int64_t *dim, int64_t i)
{
	int64_t at = 0, step = 1;

	for (int k = rank - 1; k >= 0; k--) {
		int64_t p = i % dim[k];
		int j = k - (rank - x->rank);

		i /= dim[k];
		if (j < 0)
			continue;
		at += (x->dim[j] == 1 ? 0 : p) * step;
		step *= x->dim[j];
	}
	return at;
}

static void
combine(char op, const double *a, const double *b, double *lo, double *hi)
{
	*lo = *hi = 0;
	if (op == '+') {
		*lo = a[0] + b[0];
		*hi = a[1] + b[1];
	} else if (op == '-') {
		*lo = a[0] - b[1];
		*hi = a[1] - b[0];
	} else if (op == '*') {
		add_product(a[0], a[1], b[0], b[1], lo, hi);
	} else {
		*lo = (a[0] < b[0]) == (op == '<') ? a[0] : b[0];
		*hi = (a[1] < b[1]) == (op == '<') ? a[1] : b[1];
	}
}

net_val *
net_binary(net *n, const net_val *a, const net_val *b, char op)
{
	int rank = a->rank > b->rank ? a->rank : b->rank;
	int64_t dim[NET_RANK] = {0};

	for (int k = 0; k < rank; k++) {
		int i = k - (rank - a->rank), j = k - (rank - b->rank);
		int64_t da = i < 0 ? 1 : a->dim[i], db = j < 0 ? 1 : b->dim[j];

		dim[k] = da > db ? da : db;
	}
	net_val *y = net_new(n, a->type, rank, dim);
	for (int s = 0; s < NET_SAMPLES; s++)
		for (int64_t i = 0; i < y->count; i++) {
			int64_t p = broadcast_at(a, rank, dim, i),
				q = broadcast_at(b, rank, dim, i);
			double u[2] = {net_lo(a, s, p), net_hi(a, s, p)},
			       v[2] = {net_lo(b, s, q), net_hi(b, s, q)};

			combine(op, u, v, &y->lo[s * y->count + i], &y->hi[s * y->count + i]);
		}
	return y;
}

/* The least of an element where it is smallest and all others are largest. */
net_val *
net_softmax(net *n, const net_val *x, int axis)
{
	net_val *y = net_real_like(n, x);
	int64_t step = 1, len = x->dim[axis];

	for (int k = axis + 1; k < x->rank; k++)
		step *= x->dim[k];
	for (int s = 0; s < NET_SAMPLES; s++)
		for (int64_t i = 0; i < x->count; i++) {
			int64_t from = i - i / step % len * step;
			double l = net_lo(x, s, i), h = net_hi(x, s, i), low = 1, high = 1;

			for (int64_t k = 0; k < len; k++) {
				int64_t j = from + k * step;

				low += j == i ? 0 : net_exp(net_hi(x, s, j) - l);
				high += j == i ? 0 : net_exp(net_lo(x, s, j) - h);
			}
			y->lo[s * x->count + i] = 1 / low;
			y->hi[s * x->count + i] = 1 / high;
		}
	return y;
}
