/* SPDX-License-Identifier: Apache-2.0 */
/* impl_resize.c - resize_nearest and resize_bilinear, as TFLite has them.
 *
 *   half_pixel      pixel i of n lies at (i + 0.5) / n of the side
 *   align_corners   at i / (n - 1)
 *   asymmetric      at i / n
 *
 * Nearest: where the source pixels lie is computed in f32 at compile time, for both
 * implementations.  Bilinear: in f32, and for quantized values with 10 fraction bits per side,
 * whose positions are TFLite's in its files alone. */
#include <math.h>
#include <string.h>

#include "ir/clamp.h"
#include "runtime/family.h"
#include "runtime/impl_args.h"
#include "runtime/impl_util.h"

/* ---- nearest ---- */

/* TFLite's GetNearestNeighbor. */
static int64_t
nearest(int64_t i, int64_t in, int64_t out, int32_t mode)
{
	bool align = mode == QN_COORDINATES_align_corners;
	float scale =
		align && out > 1 ? (float)(in - 1) / (float)(out - 1) : (float)in / (float)out;
	float at = ((float)i + (mode == QN_COORDINATES_half_pixel ? 0.5f : 0.0f)) * scale;
	float whole = floorf(at);
	/* at >= 0, so the half that is rounded away from 0 goes up */
	int64_t p = (int64_t)whole + (align && at - whole >= 0.5f ? 1 : 0);

	return p < in - 1 ? p : in - 1;
}

static const int32_t *
nearest_table(int64_t in, int64_t out, int32_t mode, qn_arena *a)
{
	int32_t *table = QN_NEW(a, int32_t, (size_t)out);

	for (int64_t i = 0; i < out; i++)
		table[i] = (int32_t)nearest(i, in, out, mode);
	return table;
}

static void
nearest_real(const qn_eval *e)
{
	const int64_t *x = qn_in_type(e->g, e->n, 0)->dim, *y = e->n->type->dim;
	int32_t mode = e->n->attr->resize.mode;
	size_t run = (size_t)x[3] * qn_elem_bytes(e->n->type->elem);
	const char *in = e->in[0];
	char *out = e->out;

	for (int64_t b = 0; b < x[0]; b++)
		for (int64_t i = 0; i < y[1]; i++)
			for (int64_t k = 0; k < y[2]; k++, out += run) {
				int64_t row = b * x[1] + nearest(i, x[1], y[1], mode);
				int64_t pixel = row * x[2] + nearest(k, x[2], y[2], mode);

				memcpy(out, in + (size_t)pixel * run, run);
			}
}

static void *
nearest_prepare(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	const int64_t *x = qn_in_type(g, n, 0)->dim, *y = n->type->dim;
	int32_t mode = n->attr->resize.mode;
	qn_nearest_args *d = QN_NEW(a, qn_nearest_args, 1);

	if (!qn_int_sizes(g, n))
		return NULL;
	if (x[1] > INT32_MAX || x[2] > INT32_MAX)
		return qn_int_refuse(g, n, "a side of 2^31 pixels or more");
	*d = (qn_nearest_args){
		.batch = (int32_t)x[0],
		.in_h = (int32_t)x[1],
		.in_w = (int32_t)x[2],
		.out_h = (int32_t)y[1],
		.out_w = (int32_t)y[2],
		.run = (int32_t)(x[3] * (int64_t)qn_elem_bytes(n->type->elem)),
		.row = nearest_table(x[1], y[1], mode, a),
		.col = nearest_table(x[2], y[2], mode, a),
	};
	return d;
}

static void
nearest_quantized(const qn_eval *e, const void *args)
{
	qn_nearest(args, e->in[0], e->out);
}

/* ---- bilinear ---- */

typedef struct tap {
	int64_t lower, upper;
	float weight; /* of the upper one */
} tap;

/* TFLite's ComputeInterpolationValues, whose scale may put the last positions outside the image. */
static tap
tap_at(int64_t i, int64_t in, int64_t out, int32_t mode)
{
	bool align = mode == QN_COORDINATES_align_corners && out > 1;
	float scale = align ? (float)(in - 1) / (float)(out - 1) : (float)in / (float)out;
	float at = mode == QN_COORDINATES_half_pixel ? ((float)i + 0.5f) * scale - 0.5f
						     : (float)i * scale;
	tap t;

	t.lower = qn_clamp_i64((int64_t)floorf(at), 0, in - 1);
	t.upper = (int64_t)ceilf(at);
	t.upper = t.upper < in ? t.upper : in - 1;
	t.weight = at - (float)t.lower;
	return t;
}

static void
bilinear_row(const qn_eval *e, const float *r0, const float *r1, float dy, float *out)
{
	const int64_t *x = qn_in_type(e->g, e->n, 0)->dim, *y = e->n->type->dim;

	for (int64_t k = 0; k < y[2]; k++, out += x[3]) {
		tap h = tap_at(k, x[2], y[2], e->n->attr->resize.mode);
		int64_t p = h.lower * x[3], q = h.upper * x[3];
		float dx = h.weight;

		for (int64_t c = 0; c < x[3]; c++)
			out[c] = r0[p + c] * (1 - dy) * (1 - dx) + r1[p + c] * dy * (1 - dx) +
				 r0[q + c] * (1 - dy) * dx + r1[q + c] * dy * dx;
	}
}

static void
bilinear_real(const qn_eval *e)
{
	const int64_t *x = qn_in_type(e->g, e->n, 0)->dim, *y = e->n->type->dim;
	int64_t row = x[2] * x[3];
	const float *in = e->in[0];
	float *out = e->out;

	for (int64_t b = 0; b < x[0]; b++, in += x[1] * row)
		for (int64_t i = 0; i < y[1]; i++, out += y[2] * y[3]) {
			tap v = tap_at(i, x[1], y[1], e->n->attr->resize.mode);

			bilinear_row(e, in + v.lower * row, in + v.upper * row, v.weight, out);
		}
}

/* Where the pixels of an axis lie, as in qn_bilinear_args. */
typedef struct axis {
	int32_t begin, rest, step, part, of;
} axis;

/* TFLite's distance of two pixels: whole 1024ths, rounded, which adds up to pixels along a long side. */
static axis
tflite_axis(int64_t in, int64_t out, int32_t mode)
{
	const bool align = mode == QN_COORDINATES_align_corners && out > 1;
	const int64_t from = align ? in - 1 : in, to = align ? out - 1 : out;
	const int32_t step = (int32_t)((from * 1024 + to / 2) / to);

	return (axis){.begin = mode == QN_COORDINATES_half_pixel ? step / 2 - 512 : 0,
		      .step = step,
		      .of = 1};
}

/* Each position to the nearest 1024th. */
static axis
exact_axis(int64_t in, int64_t out, int32_t mode)
{
	const bool align = mode == QN_COORDINATES_align_corners && out > 1;
	const int64_t from = align ? in - 1 : in, of = 2 * (align ? out - 1 : out);
	/* 1/2 for rounding; times `of` */
	const int64_t first =
		of / 2 + (mode == QN_COORDINATES_half_pixel ? 1024 * in - 1024 * out : 0);
	const int64_t below = first < 0 ? (first - of + 1) / of : first / of;

	return (axis){.begin = (int32_t)below,
		      .rest = (int32_t)(first - below * of),
		      .step = (int32_t)(2048 * from / of),
		      .part = (int32_t)(2048 * from % of),
		      .of = (int32_t)of};
}

/* Files of TFLite are computed as there. */
static axis
axis_of(const qn_model *m, int64_t in, int64_t out, int32_t mode)
{
	return m->quantized_here || m->rounding == QN_ROUND_EVEN ? exact_axis(in, out, mode)
								 : tflite_axis(in, out, mode);
}

static void *
bilinear_prepare(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	enum { LONGEST = 1 << 20 }; /* then positions in 1/1024 fit 32 bits */
	const int64_t *x = qn_in_type(g, n, 0)->dim, *y = n->type->dim;
	int32_t mode = n->attr->resize.mode;
	qn_bilinear_args *d = QN_NEW(a, qn_bilinear_args, 1);

	if (!qn_int_check_quantized(g, n, n->type) ||
	    !qn_int_check_quantized(g, n, qn_in_type(g, n, 0)))
		return NULL;
	if (x[1] >= LONGEST || x[2] >= LONGEST || y[1] >= LONGEST || y[2] >= LONGEST)
		return qn_int_refuse(g, n, "a side of 2^20 pixels or more");
	const axis h = axis_of(g->model, x[1], y[1], mode), w = axis_of(g->model, x[2], y[2], mode);

	*d = (qn_bilinear_args){
		.batch = (int32_t)x[0],
		.in_h = (int32_t)x[1],
		.in_w = (int32_t)x[2],
		.c = (int32_t)x[3],
		.out_h = (int32_t)y[1],
		.out_w = (int32_t)y[2],
		.begin_h = h.begin,
		.rest_h = h.rest,
		.step_h = h.step,
		.part_h = h.part,
		.of_h = h.of,
		.begin_w = w.begin,
		.rest_w = w.rest,
		.step_w = w.step,
		.part_w = w.part,
		.of_w = w.of,
	};
	return d;
}

QN_CALL_BY_FAMILY(bilinear_quantized, qn_bilinear, e->in[0])

const qn_impl qn_impl_resize_nearest = {
	.real = nearest_real,
	.plain = nearest_real,
	.quantized = {.prepare = nearest_prepare,
		      .run = nearest_quantized,
		      .families = QN_ALL_FAMILIES},
};
const qn_impl qn_impl_resize_bilinear = {
	.real = bilinear_real,
	.quantized = {.prepare = bilinear_prepare,
		      .run = bilinear_quantized,
		      .families = QN_ALL_FAMILIES},
};
