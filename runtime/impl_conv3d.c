/* SPDX-License-Identifier: Apache-2.0 */
/* impl_conv3d.c - conv3d, also grouped, depthwise and dilated: x [b, d, h, w, c], weights [o, kd, kh, kw,
 * c / groups], bias [o].
 *
 * Float: y = (0 + x w + x w + …) + bias in f32, the sum in the order (kd, kh, kw, c) ascending, padding
 * skipped.  Quantized: the accumulators, to be requantized by the node that follows. */
#include <string.h>

#include "runtime/accumulator.h"
#include "runtime/float_dot.h"
#include "runtime/impl_args.h"
#include "runtime/impl_util.h"
#include "runtime/geometry.h"

/* Adds what one row of taps, of slice iz and row iy of the volume, contributes to *acc.  x: the group's
 * first channel; w: the weights of the row. */
static void
add_row(const qn_geometry *s, int64_t iz, int64_t iy, int64_t ox, const float *x, const float *w,
	float *acc)
{
	int64_t depth = s->in_c / s->groups;

	for (int64_t kx = 0; kx < s->kernel[2]; kx++) {
		int64_t ix = ox * s->stride[2] - s->pad[2] + kx * s->dil[2];

		if (ix >= 0 && ix < s->in[2])
			qn_dot_add(acc, 1, x + ((iz * s->in[1] + iy) * s->in[2] + ix) * s->in_c,
				   w + kx * depth, depth, depth);
	}
}

/* One output, without bias. */
static float
output(const qn_geometry *s, const int64_t *at, const float *x, const float *w)
{
	int64_t row = s->kernel[2] * (s->in_c / s->groups);
	float acc = 0.0f;

	for (int64_t kz = 0; kz < s->kernel[0]; kz++) {
		int64_t iz = at[0] * s->stride[0] - s->pad[0] + kz * s->dil[0];

		for (int64_t ky = 0; iz >= 0 && iz < s->in[0] && ky < s->kernel[1]; ky++) {
			int64_t iy = at[1] * s->stride[1] - s->pad[1] + ky * s->dil[1];

			if (iy >= 0 && iy < s->in[1])
				add_row(s, iz, iy, at[2], x, w + (kz * s->kernel[1] + ky) * row,
					&acc);
		}
	}
	return acc;
}

static void
conv3d_real(const qn_eval *e)
{
	const qn_geometry s = qn_geometry_conv(e->g, e->n);
	const float *x = e->in[0], *w = e->in[1];
	const float *bias = e->n->nin > 2 ? e->in[2] : NULL;
	int64_t depth = s.in_c / s.groups, each = s.kernel[0] * s.kernel[1] * s.kernel[2] * depth;
	int64_t image = s.in[0] * s.in[1] * s.in[2] * s.in_c;
	int64_t plane = s.out[1] * s.out[2], positions = s.out[0] * plane;
	float *y = e->out;

	for (int64_t i = 0; i < s.batch * positions; i++)
		for (int64_t o = 0; o < s.out_c; o++) {
			const int64_t at[3] = {i % positions / plane, i % plane / s.out[2],
					       i % s.out[2]};
			int64_t group = o / (s.out_c / s.groups);

			*y = output(&s, at, x + i / positions * image + group * depth,
				    w + o * each);
			*y++ += bias != NULL ? bias[o] : 0.0f;
		}
}

static void *
conv3d_prepare(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	const qn_geometry s = qn_geometry_conv(g, n);
	qn_conv3d_args *d = QN_NEW(a, qn_conv3d_args, 1);

	if (!qn_accumulator_check(g, n, a))
		return NULL;
	if (!qn_geometry_is_small(&s))
		return qn_int_refuse(g, n, "windows beyond 2^29 positions");
	*d = (qn_conv3d_args){
		QN_VOLUME_ARGS(&s),
		.zi = qn_zp_of(g, qn_graph_node(g, n->in[0])->type),
		.lo = INT32_MIN,
		.hi = INT32_MAX,
		.mode = g->model->rounding,
		.mult_n = 1,
	};
	return d;
}

#define CONV3D(name, q, o, a, code)                                                                \
	static void name(const qn_eval *e, const void *args)                                       \
	{                                                                                          \
		qn_conv3d_args##a d;                                                               \
                                                                                                   \
		memcpy(&d, args, sizeof(d));                                                       \
		d.w = e->in[1];                                                                    \
		d.bias = e->n->nin > 2 ? e->in[2] : NULL;                                          \
		qn_conv3d_acc##o(&d, e->in[0], e->out);                                            \
	}

QN_BY_FAMILY(conv3d_codes, CONV3D)

const qn_impl qn_impl_conv3d = {
	.real = conv3d_real,
	.quantized = {.prepare = conv3d_prepare, .run = conv3d_codes, .families = QN_ALL_FAMILIES},
};
