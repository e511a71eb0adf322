/* SPDX-License-Identifier: Apache-2.0 */
/* impl_conv_transpose.c - conv2d_transpose: x [b, h, w, c], weights [o, kh, kw, c / groups], bias
 * [o].
 *
 * Float: y = (0 + x w + x w + …) + bias in f32 for each output, the sum over the taps that meet it
 * in the order (kh, kw, c) ascending.  Quantized: the accumulators, to be requantized by the node
 * that follows. */
#include <string.h>

#include "runtime/accumulator.h"
#include "runtime/float_dot.h"
#include "runtime/impl_args.h"
#include "runtime/impl_util.h"
#include "runtime/geometry.h"

/* The input position that tap k brings to output position `out`, or -1. */
static int64_t
source(const qn_geometry *s, int axis, int64_t out, int64_t k)
{
	int64_t at = out + s->pad[axis] - k * s->dil[axis];

	return at >= 0 && at % s->stride[axis] == 0 && at / s->stride[axis] < s->in[axis]
		       ? at / s->stride[axis]
		       : -1;
}

/* Output o at (oy, ox), without bias.  x: the image; w: the weights of o. */
static float
output(const qn_geometry *s, int64_t oy, int64_t ox, const float *x, const float *w)
{
	int64_t depth = s->in_c / s->groups;
	float acc = 0.0f;

	for (int64_t ky = 0; ky < s->kernel[0]; ky++) {
		int64_t iy = source(s, 0, oy, ky);

		for (int64_t kx = 0; iy >= 0 && kx < s->kernel[1]; kx++) {
			int64_t ix = source(s, 1, ox, kx);

			if (ix >= 0)
				qn_dot_add(&acc, 1, x + (iy * s->in[1] + ix) * s->in_c,
					   w + (ky * s->kernel[1] + kx) * depth, depth, depth);
		}
	}
	return acc;
}

static void
conv_transpose_real(const qn_eval *e)
{
	qn_geometry s = qn_geometry_conv_transpose(e->g, e->n);
	const float *x = e->in[0], *w = e->in[1];
	const float *bias = e->n->nin > 2 ? e->in[2] : NULL;
	int64_t depth = s.in_c / s.groups, each = s.kernel[0] * s.kernel[1] * depth;
	float *y = e->out;

	for (int64_t b = 0; b < s.batch; b++, x += s.in[0] * s.in[1] * s.in_c)
		for (int64_t oy = 0; oy < s.out[0]; oy++)
			for (int64_t ox = 0; ox < s.out[1]; ox++, y += s.out_c)
				for (int64_t o = 0; o < s.out_c; o++) {
					int64_t group = o / (s.out_c / s.groups);

					y[o] = output(&s, oy, ox, x + group * depth, w + o * each);
					if (bias != NULL)
						y[o] += bias[o];
				}
}

bool
qn_transposed_is_small(const qn_graph *g, const qn_node *n, const qn_geometry *s)
{
	const int64_t most = INT64_C(1) << 29;

	if (s->kernel[0] > QN_MAX_WINDOW_ROWS)
		return qn_int_refuse(g, n, "kernels of more than %d rows", QN_MAX_WINDOW_ROWS) !=
		       NULL;
	for (int i = 0; i < 2; i++)
		if (s->out[i] >= most || s->pad[i] >= most || s->stride[i] >= most ||
		    s->kernel[i] >= most || s->dil[i] >= most ||
		    (s->kernel[i] - 1) * s->dil[i] >= most)
			return qn_int_refuse(g, n, "windows beyond 2^29 positions") != NULL;
	return true;
}

static void *
conv_transpose_prepare(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	qn_geometry s = qn_geometry_conv_transpose(g, n);
	qn_conv_transpose_call *c = QN_NEW(a, qn_conv_transpose_call, 1);

	if (!qn_accumulator_check(g, n, a) || !qn_transposed_is_small(g, n, &s))
		return NULL;
	c->args = (qn_conv_transpose_args){
		QN_WINDOW_ARGS(&s),
		.in_c = (int32_t)s.in_c,
		.out_c = (int32_t)s.out_c,
		.groups = (int32_t)s.groups,
		.zi = qn_zp_of(g, qn_graph_node(g, n->in[0])->type),
		.lo = INT32_MIN,
		.hi = INT32_MAX,
		.mode = g->model->rounding,
		.mult_n = 1,
	};
	c->rows = QN_NEW(a, const void *, (size_t)s.kernel[0]);
	return c;
}

#define CONV_TRANSPOSE(name, q, o, a, code)                                                        \
	static void name(const qn_eval *e, const void *args)                                       \
	{                                                                                          \
		const qn_conv_transpose_call *c = args;                                            \
		qn_conv_transpose_args##a d;                                                       \
                                                                                                   \
		memcpy(&d, &c->args, sizeof(d));                                                   \
		d.w = e->in[1];                                                                    \
		d.bias = e->n->nin > 2 ? e->in[2] : NULL;                                          \
		qn_conv_transpose_acc##o(&d, e->in[0], (const code **)c->rows, e->out);            \
	}

QN_BY_FAMILY(conv_transpose_quantized, CONV_TRANSPOSE)

const qn_impl qn_impl_conv2d_transpose = {
	.real = conv_transpose_real,
	.quantized = {.prepare = conv_transpose_prepare,
		      .run = conv_transpose_quantized,
		      .families = QN_ALL_FAMILIES},
};
