/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_grid.c - values at positions between the elements.
 *
 *   GridSample(x [N,C,H,W], g [N,h,w,2])     g from -1 to 1 along each axis; of each axis some positions with weights:
 *     nearest  round(p)          1
 *     linear   floor(p) + 0, 1   1 - t, t                         t = p - floor(p)
 *     cubic    floor(p) - 1 … 2  cubic polynomials of t
 *   the result is the sum over all combinations of the elements there (gather_nd) times their weights; where g is a
 *   constant so are positions and weights.
 *   AffineGrid(theta [N,2,3], size)          a product of theta with the positions of an unchanged grid */
#include "import/onnx_grid.h"

#include <string.h>

enum { MOST_AXES = 3 };

/* ---- arithmetic ---- */

static qn_id
plus(qn_importer *im, qn_id x, double v)
{
	return qn_importer_binary(im, QN_OP_add, x, qn_importer_f32(im, v));
}

static qn_id
times(qn_importer *im, qn_id x, double v)
{
	return qn_importer_binary(im, QN_OP_mul, x, qn_importer_f32(im, v));
}

static qn_id
limited(qn_importer *im, qn_id x, double min, double max)
{
	qn_attrs a = {0};

	a.clip.min = min;
	a.clip.max = max;
	return qn_importer_op(im, QN_OP_clip, 1, &x, &a, NULL);
}

/* 1 where min <= x <= max, else 0. */
static qn_id
within(qn_importer *im, qn_id x, double min, double max)
{
	qn_id above = qn_importer_binary(im, QN_OP_greater_equal, x, qn_importer_f32(im, min));
	qn_id below = qn_importer_binary(im, QN_OP_less_equal, x, qn_importer_f32(im, max));

	return qn_importer_binary(im, QN_OP_logical_and, above, below);
}

/* Thrown back at both ends as often as it takes: min + r - |(x - min) mod 2r - r|. */
static qn_id
reflected(qn_importer *im, qn_id x, double min, double max)
{
	double r = max - min;

	if (!(r > 0))
		return times(im, x, 0);
	x = plus(im, x, -min);
	qn_id turns = qn_importer_unary(im, QN_OP_floor, times(im, x, 1 / (2 * r)));
	x = qn_importer_binary(im, QN_OP_sub, x, times(im, turns, 2 * r));
	x = qn_importer_unary(im, QN_OP_abs, plus(im, x, -r));
	return plus(im, times(im, x, -1), min + r);
}

/* ((a u + b) u + c) u + d */
static qn_id
cubic(qn_importer *im, qn_id u, const double *k)
{
	qn_id y = plus(im, times(im, u, k[0]), k[1]);

	y = plus(im, qn_importer_binary(im, QN_OP_mul, y, u), k[2]);
	return plus(im, qn_importer_binary(im, QN_OP_mul, y, u), k[3]);
}

/* ---- one axis ---- */

/* Weights of the four elements around, u the distance to each (Keys, a = -0.75). */
static void
cubic_weights(qn_importer *im, qn_id t, qn_id *weight)
{
	static const double far[] = {-0.75, 3.75, -6, 3}, close[] = {1.25, -2.25, 0, 1};
	qn_id rest = plus(im, times(im, t, -1), 1);

	weight[0] = cubic(im, plus(im, t, 1), far);
	weight[1] = cubic(im, t, close);
	weight[2] = cubic(im, rest, close);
	weight[3] = cubic(im, plus(im, rest, 1), far);
}

bool
qn_onnx_taps_at(const qn_sampling *s, qn_id p, int64_t length, qn_taps *out)
{
	qn_importer *im = s->im;
	double last = (double)length - 1, low = s->corners ? 0 : -0.5,
	       high = s->corners ? last : last + 0.5;
	static const int first[] = {0, 0, -1}, count[] = {1, 2, 4};
	if (s->between == QN_SAMPLE_NEAREST)
		p = qn_importer_unary(im, QN_OP_round, p);
	if (s->beyond == QN_SAMPLE_REFLECTION)
		p = reflected(im, p, low, high);
	else if (s->beyond == QN_SAMPLE_BORDER &&
		 s->between != QN_SAMPLE_CUBIC) /* there, only elements repeat */
		p = limited(im, p, 0, last);
	qn_id floor = s->between == QN_SAMPLE_NEAREST ? p : qn_importer_unary(im, QN_OP_floor, p);
	qn_id t = qn_importer_binary(im, QN_OP_sub, p, floor);
	out->n = count[s->between];
	if (s->between == QN_SAMPLE_CUBIC)
		cubic_weights(im, t, out->weight);
	if (s->between == QN_SAMPLE_LINEAR) {
		out->weight[0] = plus(im, times(im, t, -1), 1);
		out->weight[1] = t;
	}
	for (int32_t i = 0; i < out->n; i++) {
		int offset = first[s->between] + i;
		qn_id at = offset != 0 ? plus(im, floor, offset) : floor;

		if (s->beyond == QN_SAMPLE_ZEROS) {
			qn_id in = qn_importer_cast(im, within(im, at, 0, last), QN_PLAIN_f32);
			out->weight[i] =
				s->between == QN_SAMPLE_NEAREST
					? in
					: qn_importer_binary(im, QN_OP_mul, out->weight[i], in);
		} else if (s->beyond == QN_SAMPLE_REFLECTION && s->between == QN_SAMPLE_CUBIC) {
			at = reflected(im, at, low, high);
		}
		out->index[i] = qn_importer_cast(im, limited(im, at, 0, last), QN_PLAIN_i64);
		if (out->index[i] == 0 || (s->between != QN_SAMPLE_NEAREST && out->weight[i] == 0))
			return false;
	}
	return true;
}

/* The same for g from -1 to 1. */
static bool
taps_of(const qn_sampling *s, qn_id g, int64_t length, qn_taps *out)
{
	double last = (double)length - 1, scale = s->corners ? last / 2 : (double)length / 2;

	return qn_onnx_taps_at(s, plus(s->im, times(s->im, g, scale), last / 2), length, out);
}

/* ---- all axes ---- */

/* The elements of x [N,…,C] at the k-th combination of positions, times their weights. */
static qn_id
tap(qn_importer *im, qn_id x, int32_t n, const qn_taps *axis, int64_t k)
{
	qn_id at[MOST_AXES] = {0}, weight = 0;
	qn_attrs a = {0};

	for (int32_t i = 0; i < n; i++) {
		int64_t which = k % axis[i].n;
		qn_id w = axis[i].weight[which];

		k /= axis[i].n;
		at[i] = axis[i].index[which];
		if (w != 0)
			weight = weight == 0 ? w : qn_importer_binary(im, QN_OP_mul, weight, w);
	}
	a.gather_nd.batch_dims = 1;
	qn_id index = qn_importer_join(im, n, at, qn_importer_type(im, at[0])->rank - 1);
	qn_id y = qn_importer_op(im, QN_OP_gather_nd, 2, (qn_id[]){x, index}, &a, NULL);
	return weight == 0 ? y : qn_importer_binary(im, QN_OP_mul, y, weight);
}

qn_id
qn_onnx_sampled(qn_importer *im, qn_id x, int32_t n, const qn_taps *axis)
{
	int64_t all = 1;
	qn_id y = 0;

	for (int32_t i = 0; i < n; i++)
		all *= axis[i].n;
	for (int64_t k = 0; k < all; k++) {
		qn_id part = tap(im, x, n, axis, k);
		y = k == 0 ? part : qn_importer_binary(im, QN_OP_add, y, part);
	}
	return y;
}

static bool
grid_ok(qn_onnx *o, const qn_type *x, const qn_type *g)
{
	bool ok = x->rank >= 3 && x->rank <= 2 + MOST_AXES && g->rank == x->rank &&
		  g->dim[g->rank - 1] == x->rank - 2 && g->dim[0] == x->dim[0];

	for (int32_t i = 2; ok && i < x->rank; i++)
		ok = x->dim[i] > 0;
	if (!ok)
		(void)qn_importer_refuse(&o->im, "import.input",
					 "its inputs must be [N, C, …] with 1 to 3 axes and [N, …, "
					 "as many as these]");
	return ok;
}

static void
grid_sample(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	static const char *const modes[] = {"nearest", "nearest", "bilinear",
					    "linear",  "bicubic", "cubic"};
	static const char *const paddings[] = {"zeros", "border", "reflection"};
	qn_sampling s = {.im = &o->im, .corners = qn_onnx_int(o, n, "align_corners", 0) != 0};
	int32_t mode = qn_onnx_choice(o, n, "mode", "linear", QN_COUNT(modes), modes);
	int32_t padding =
		qn_onnx_choice(o, n, "padding_mode", "zeros", QN_COUNT(paddings), paddings);
	qn_taps axis[MOST_AXES] = {{0}};

	if (mode < 0 || padding < 0 || !qn_onnx_need(o, n, 2) ||
	    !grid_ok(o, qn_onnx_type(o, n->in[0]), qn_onnx_type(o, n->in[1])))
		return;
	s.between = (qn_sample_between)(mode / 2); /* each has two names */
	s.beyond = (qn_sample_beyond)padding;
	const qn_type *t = qn_onnx_type(o, n->in[0]);
	int32_t axes = t->rank - 2;
	for (int32_t i = 0; i < axes; i++) { /* the last axis stands first in the grid */
		qn_id g = qn_importer_slice(&o->im, n->in[1], t->rank - 1, axes - 1 - i, axes - i);

		if (g == 0 || !taps_of(&s, g, t->dim[2 + i], &axis[i]))
			return;
	}
	qn_id x = qn_importer_channels_last(&o->im, n->in[0]);
	out[0] = qn_importer_channels_first(&o->im, qn_onnx_sampled(&o->im, x, axes, axis));
}

/* ---- AffineGrid ---- */

/* [1, product of size, axes + 1]: the position of each element along the axes, the last one first, and 1. */
static qn_id
untouched(qn_onnx *o, int32_t axes, const int64_t *size, bool corners)
{
	int64_t dim[] = {1, 1, axes + 1};
	void *data;

	for (int32_t i = 0; i < axes; i++)
		dim[1] *= size[i];
	const qn_type *type = qn_type_plain(&o->im.m->types, QN_PLAIN_f32, 3, dim);
	if (!qn_importer_take_type(&o->im, type))
		return 0;
	qn_tensor *x = qn_tensor_new(o->im.m->arena, type, &data);
	for (int64_t k = 0; k < dim[1]; k++) {
		int64_t rest = k;

		for (int32_t i = axes - 1; i >= 0; i--) {
			double at = (double)(rest % size[i]), length = (double)size[i];
			double v = !corners     ? (2 * at + 1) / length - 1
				   : length > 1 ? 2 * at / (length - 1) - 1
						: 0;
			qn_store_f64(data, QN_PLAIN_f32, k * dim[2] + axes - 1 - i, v);
			rest /= size[i];
		}
		qn_store_f64(data, QN_PLAIN_f32, k * dim[2] + axes, 1);
	}
	return qn_importer_const(&o->im, NULL, x);
}

static void
affine_grid(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	bool corners = qn_onnx_int(o, n, "align_corners", 0) != 0;
	qn_attrs a = qn_importer_attrs(QN_OP_matmul);
	int64_t size[2 + MOST_AXES], dim[2 + MOST_AXES] = {0};

	if (!qn_onnx_need(o, n, 2))
		return;
	int32_t axes = qn_onnx_const_ints(o, n, 1, 2 + MOST_AXES, size) - 2;
	const qn_type *t = qn_onnx_type(o, n->in[0]);
	if (axes < -2)
		return;
	bool ok = axes >= 1 && t->rank == 3 && t->dim[1] == axes && t->dim[2] == axes + 1 &&
		  t->dim[0] == size[0] && qn_importer_dims_fit(2 + axes, size);
	for (int32_t i = 0; ok && i < axes; i++)
		ok = size[2 + i] > 0;
	if (!ok) {
		(void)qn_importer_refuse(
			&o->im, "import.input",
			"its inputs must be [N, 2, 3] and the size [N, C, H, W], or "
			"[N, 3, 4] and [N, C, D, H, W]");
		return;
	}
	dim[0] = size[0];
	memcpy(dim + 1, size + 2, (size_t)axes * sizeof dim[0]);
	dim[axes + 1] = axes;
	a.matmul.transpose_b = 1;
	qn_id in[] = {untouched(o, axes, size + 2, corners), n->in[0]};
	out[0] = qn_importer_reshape(&o->im, qn_importer_op(&o->im, QN_OP_matmul, 2, in, &a, NULL),
				     axes + 2, dim);
}

const qn_onnx_row qn_onnx_grids[] = {
	QN_ONNX_READ("", "GridSample", 16, grid_sample, 0),
	QN_ONNX_READ("", "AffineGrid", 20, affine_grid, 0),
	{0},
};
