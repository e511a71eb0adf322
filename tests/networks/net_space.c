/* SPDX-License-Identifier: Apache-2.0 */
/* net_space.c - operators that change how many elements stand along axes: DepthToSpace, linear Resize, reductions.
 *
 *   Resize {linear, half_pixel}   y[i] between x[floor(p)] and the next, p = (i + 0.5) / 2 - 0.5 */
#include <math.h>

#include "tests/networks/net.h"

/* ---- DepthToSpace ---- */

net_val *
net_depth_to_space(net *n, net_val *x)
{
	if (x->rank != 4 || x->dim[1] % 4 != 0)
		return NULL;
	const bool crd = net_chance(n, 50);
	const int64_t c = x->dim[1] / 4, h = 2 * x->dim[2], w = 2 * x->dim[3];
	net_val *y = net_new(n, x->type, 4, (const int64_t[]){1, c, h, w});

	y->q = x->q;
	for (int64_t i = 0; i < y->count; i++) {
		const int64_t col = i % w, row = i / w % h, channel = i / (w * h);
		const int64_t block = row % 2 * 2 + col % 2;
		const int64_t from = crd ? channel * 4 + block : block * c + channel;
		const int64_t k = (from * x->dim[2] + row / 2) * x->dim[3] + col / 2;

		for (int s = 0; s < NET_SAMPLES; s++) {
			y->lo[s * y->count + i] = net_lo(x, s, k);
			y->hi[s * y->count + i] = net_hi(x, s, k);
		}
	}
	onx_int(&n->file, "blocksize", 2);
	onx_string(&n->file, "mode", crd ? "CRD" : "DCR");
	net_node1(n, "DepthToSpace", x, y);
	return y;
}

/* ---- Resize ---- */

enum { ASYMMETRIC, HALF_PIXEL, ALIGN_CORNERS };

static double
within(double p, int64_t in)
{
	return p < 0 ? 0 : p > (double)(in - 1) ? (double)(in - 1) : p;
}

/* Where output i of an axis of `in` elements lies, twice as many being made. */
static double
place(int64_t i, int64_t in, int64_t how)
{
	const double p = how == ASYMMETRIC   ? (double)i / 2
			 : how == HALF_PIXEL ? ((double)i + 0.5) / 2 - 0.5
					     : (double)(i * (in - 1)) / (double)(2 * in - 1);

	return within(p, in);
}

/* The plane's value at (row, col) of the ends v. */
static double
between(const double *v, const int64_t *dim, double row, double col)
{
	const int64_t r = (int64_t)row, c = (int64_t)col;
	const int64_t down = r + 1 < dim[2] ? r + 1 : r, right = c + 1 < dim[3] ? c + 1 : c;
	const double u = row - (double)r, t = col - (double)c;
	const double top = v[r * dim[3] + c] * (1 - t) + v[r * dim[3] + right] * t;
	const double low = v[down * dim[3] + c] * (1 - t) + v[down * dim[3] + right] * t;

	return top * (1 - u) + low * u;
}

/* The least and the largest value where positions are off by e pixels. */
static void
around(const net_val *x, const double *v, double row, double col, double e, bool most, double *to)
{
	for (int k = 0; k < 9; k++) {
		const double r = row + e * (k / 3 - 1), c = col + e * (k % 3 - 1);
		const double at = between(v, x->dim, within(r, x->dim[2]), within(c, x->dim[3]));

		if (k == 0 || (most ? at > *to : at < *to))
			*to = at;
	}
}

net_val *
net_resize_linear(net *n, net_val *x)
{
	static const char *const names[] = {"asymmetric", "half_pixel", "align_corners"};

	if (x->rank != 4 || x->dim[2] > 5 || x->dim[3] > 5)
		return NULL;
	const int64_t how = net_draw(n, 0, 2), plane = x->dim[2] * x->dim[3];
	const int64_t dim[4] = {1, x->dim[1], 2 * x->dim[2], 2 * x->dim[3]};
	const int64_t longest = dim[2] > dim[3] ? dim[2] : dim[3];
	/* the step between two positions is in 1/1024 pixels */
	const double off = how == ALIGN_CORNERS ? (double)(longest - 1) * 0.5 / 1024 : 0;
	net_val *y = net_new(n, ONX_FLOAT, 4, dim);

	for (int64_t i = 0; i < NET_SAMPLES * y->count; i++) {
		const int64_t channel = i / (dim[2] * dim[3]); /* of all samples */
		const double row = place(i / dim[3] % dim[2], x->dim[2], how);
		const double col = place(i % dim[3], x->dim[3], how);

		around(x, x->lo + channel * plane, row, col, off, false, &y->lo[i]);
		around(x, x->hi + channel * plane, row, col, off, true, &y->hi[i]);
	}
	onx_string(&n->file, "mode", "linear");
	onx_string(&n->file, "coordinate_transformation_mode", names[how]);
	net_node(n, "Resize", 4, (net_val *[]){x, NULL, NULL, net_list(n, 4, dim)}, 1, &y);
	return y;
}

/* ---- reductions ---- */

/* Whether axis k is among those that are reduced: the last `count`, or that of channels. */
static bool
is_reduced(const net_val *x, int64_t count, int k)
{
	return count > 0 ? k >= x->rank - count : k == 1;
}

static void
reduce_element(const net_val *x, int64_t count, char op, int s, int64_t i, double *lo, double *hi)
{
	int64_t found = 0;

	*lo = *hi = 0;
	for (int64_t k = 0; k < x->count; k++) {
		int64_t rest = k, at = 0, step = 1;

		for (int axis = x->rank - 1; axis >= 0; axis--) {
			const bool gone = is_reduced(x, count, axis);

			at += gone ? 0 : rest % x->dim[axis] * step;
			step *= gone ? 1 : x->dim[axis];
			rest /= x->dim[axis];
		}
		if (at != i)
			continue;
		const double l = net_lo(x, s, k), h = net_hi(x, s, k);
		const bool first = found++ == 0;

		if (op == 'm') {
			*lo += l;
			*hi += h;
		} else {
			*lo = first || (op == '>' ? l > *lo : l < *lo) ? l : *lo;
			*hi = first || (op == '>' ? h > *hi : h < *hi) ? h : *hi;
		}
	}
	if (op == 'm') {
		*lo /= (double)found;
		*hi /= (double)found;
	}
}

net_val *
net_reduce(net *n, net_val *x, char op)
{
	int64_t dim[NET_RANK] = {0}, axis[NET_RANK];
	const int64_t count = x->rank == 4 ? net_draw(n, 0, 2) : net_draw(n, 0, 1);
	int naxis = 0;

	if (x->rank < 2 || x->count > 500)
		return NULL;
	for (int k = 0; k < x->rank; k++) {
		dim[k] = is_reduced(x, count, k) ? 1 : x->dim[k];
		if (is_reduced(x, count, k))
			axis[naxis++] = k;
	}
	net_val *y = net_new(n, x->type, x->rank, dim);
	y->q = x->q;
	for (int s = 0; s < NET_SAMPLES; s++)
		for (int64_t i = 0; i < y->count; i++)
			reduce_element(x, count, op, s, i, &y->lo[s * y->count + i],
				       &y->hi[s * y->count + i]);
	const bool given = n->version >= 18;
	if (!given)
		onx_list(&n->file, "axes", naxis, axis);
	net_node(n,
		 op == 'm'   ? "ReduceMean"
		 : op == '>' ? "ReduceMax"
			     : "ReduceMin",
		 given ? 2 : 1, (net_val *[]){x, given ? net_list(n, naxis, axis) : NULL}, 1, &y);
	return y;
}
