/* SPDX-License-Identifier: Apache-2.0 */
/* impl_conv.c - conv2d, also grouped, depthwise and dilated: x [b, h, w, c], weights [o, kh, kw,
 * c / groups], bias [o]; and conv1d, which is a conv2d of one row.
 *
 * Float: y = (0 + x w + x w + …) + bias in f32, the sum in the order (kh, kw, c) ascending,
 * padding skipped.  float_conv.c computes it; the plain loops here are for the few nodes that
 * it does not cover.  Quantized: the accumulators, to be requantized by the node that follows. */
#include <string.h>

#include "runtime/accumulator.h"
#include "runtime/float_conv.h"
#include "runtime/float_dot.h"
#include "runtime/impl_args.h"
#include "runtime/impl_util.h"
#include "runtime/geometry.h"
#include "runtime/int_conv.h"

/* Adds to acc, the outputs from `o` on at column ox, what one row of taps contributes.  x: the
 * group's first channel in the row's first column; w: weights of output o in row ky of the
 * kernel. */
static void
add_taps(const qn_geometry *s, int64_t ox, const float *x, const float *w, int64_t width,
	 float *acc)
{
	int64_t depth = s->in_c / s->groups;
	int64_t stride = s->kernel[0] * s->kernel[1] * depth;

	for (int64_t kx = 0; kx < s->kernel[1]; kx++) {
		int64_t ix = ox * s->stride[1] - s->pad[1] + kx * s->dil[1];

		if (ix >= 0 && ix < s->in[1])
			qn_dot_add(acc, width, x + ix * s->in_c, w + kx * depth, stride, depth);
	}
}

/* The outputs of one position (b, oy, ox), without bias.  x: the image b. */
static void
conv_position(const qn_geometry *s, int64_t oy, int64_t ox, const float *x, const float *w,
	      float *y)
{
	int64_t depth = s->in_c / s->groups, per_group = s->out_c / s->groups;
	int64_t row = s->kernel[1] * depth;

	for (int64_t o = 0; o < s->out_c;) {
		int64_t group = o / per_group;
		int64_t width = (group + 1) * per_group - o;

		width = width < QN_DOT_WIDTH ? width : QN_DOT_WIDTH;
		for (int64_t j = 0; j < width; j++)
			y[o + j] = 0.0f;
		for (int64_t ky = 0; ky < s->kernel[0]; ky++) {
			int64_t iy = oy * s->stride[0] - s->pad[0] + ky * s->dil[0];

			if (iy >= 0 && iy < s->in[0])
				add_taps(s, ox, x + iy * s->in[1] * s->in_c + group * depth,
					 w + (o * s->kernel[0] + ky) * row, width, y + o);
		}
		o += width;
	}
}

static void
conv2d_real(const qn_eval *e)
{
	if (qn_conv_run(e->plan, e))
		return;
	qn_geometry s = qn_geometry_conv(e->g, e->n);
	const float *x = e->in[0], *w = e->in[1];
	const float *bias = e->n->nin > 2 ? e->in[2] : NULL;
	float *y = e->out;

	for (int64_t b = 0; b < s.batch * e->batches; b++, x += s.in[0] * s.in[1] * s.in_c) {
		for (int64_t oy = 0; oy < s.out[0]; oy++) {
			for (int64_t ox = 0; ox < s.out[1]; ox++, y += s.out_c) {
				conv_position(&s, oy, ox, x, w, y);
				for (int64_t o = 0; bias != NULL && o < s.out_c; o++)
					y[o] += bias[o];
			}
		}
	}
}

static void *
conv2d_plan(const qn_graph *g, const qn_node *n, qn_arena *a, size_t *room)
{
	return qn_conv_plan_make(g, n, a, room);
}

static qn_conv2d_args
arguments(const qn_graph *g, const qn_node *n, const qn_geometry *s)
{
	return (qn_conv2d_args){
		QN_WINDOW_ARGS(s),
		.in_c = (int32_t)s->in_c,
		.out_c = (int32_t)s->out_c,
		.groups = (int32_t)s->groups,
		.zi = qn_zp_of(g, qn_graph_node(g, n->in[0])->type),
		.lo = INT32_MIN,
		.hi = INT32_MAX,
		.mode = g->model->rounding,
		.mult_n = 1,
	};
}

static void *
conv2d_prepare(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	qn_geometry s = qn_geometry_conv(g, n);
	qn_conv2d_call *c = QN_NEW(a, qn_conv2d_call, 1);

	if (!qn_accumulator_check(g, n, a))
		return NULL;
	if (!qn_geometry_is_small(&s))
		return qn_int_refuse(g, n,
				     "windows of more than 1024 rows or beyond 2^29 positions");
	c->args = arguments(g, n, &s);
	c->rows = QN_NEW(a, const void *, (size_t)s.kernel[0]);
	return c;
}

#define CONV(name, q, o, a, code)                                                                  \
	static void name(const qn_eval *e, const void *args)                                       \
	{                                                                                          \
		const qn_conv2d_call *c = args;                                                    \
		qn_conv2d_args##a d;                                                               \
                                                                                                   \
		memcpy(&d, &c->args, sizeof(d));                                                   \
		d.w = e->in[1];                                                                    \
		d.bias = e->n->nin > 2 ? e->in[2] : NULL;                                          \
		if (d.groups == 1 && d.out_c >= 4)                                                 \
			qn_conv2d_by4_acc##o(&d, e->in[0], (const code **)c->rows, e->out);        \
		else                                                                               \
			qn_conv2d_acc##o(&d, e->in[0], (const code **)c->rows, e->out);            \
	}

QN_BY_FAMILY(conv2d_codes, CONV)

static void *
quantized_plan(const qn_graph *g, const qn_node *n, qn_arena *a, size_t *room)
{
	return qn_int_conv_make(g, n, a, room);
}

static void
quantized_fast(const qn_eval *e, const void *args)
{
	(void)args;
	qn_int_conv_run(e->plan, e);
}

#define CODES                                                                                      \
	{                                                                                          \
		.prepare = conv2d_prepare, .run = conv2d_codes, .plan = quantized_plan,            \
		.fast = quantized_fast, .families = QN_ALL_FAMILIES                                \
	}

const qn_impl qn_impl_conv1d = {
	.real = conv2d_real,
	.plan = conv2d_plan,
	.bundle = true,
	.quantized = CODES,
};
const qn_impl qn_impl_conv2d = {
	.real = conv2d_real,
	.plan = conv2d_plan,
	.bundle = true,
	.quantized = CODES,
};
