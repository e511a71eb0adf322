/* SPDX-License-Identifier: Apache-2.0 */
/* random_channels.c - random values with a scale for each index of an axis, for random_ops.c: to such
 * values, sums, products and depthwise convolutions of them, and back to one scale, in graphs of aligned scales by small
 * integers. */
#include <math.h>

#include "tests/e2e/random_maker.h"

enum { MOST_CHANNELS = 64 };

/* Parameters for each index of the axis; same: with one zero point for all. */
static const qn_elem *
channel_elem(maker *m, double scale, int32_t axis, int64_t n, bool same)
{
	qn_elem e = code_desc(m);
	const qn_params *vec = NULL;
	const bool wide = m->code == QN_PLAIN_i16;
	double s[MOST_CHANNELS];
	int64_t zp[MOST_CHANNELS];

	for (int64_t i = 0; i < n; i++) {
		s[i] = (double)(float)(scale * ldexp(factor(m, 0.5, 2), (int)pick(m, -3, 3)));
		if (m->align != 0)
			s[i] = qn_fixed_value(qn_fix(s[i], m->align));
		zp[i] = wide ? 0 : same && i > 0 ? zp[0] : pick(m, e.qmin, e.qmax);
	}
	build_check(m->b, qn_params_intern(&m->b->model.types, "random", NULL, (size_t)n, 1, NULL,
					   s, wide ? NULL : zp, &vec) == QN_OK);
	e.scale = qn_scale_vec(&m->b->model.types, vec);
	e.gran = QN_PER_AXIS;
	e.naxis = 1;
	e.axis = &axis;
	return make_elem(m, &e);
}

static const qn_type *
channel_type(maker *m, const qn_type *like, double scale, int32_t axis, bool same)
{
	return qn_type_with_elem(&m->b->model.types, like,
				 channel_elem(m, scale, axis, like->dim[axis], same));
}

/* A depthwise convolution of y, whose channels have one zero point, and its requantize. */
static qn_id
depthwise(maker *m, qn_id y)
{
	const qn_type *t = type_of(m, y);
	const qn_op op = t->rank == 3 ? QN_OP_conv1d : QN_OP_conv2d;
	const int64_t channels = t->dim[t->rank - 1];
	int64_t w[4] = {channels, 1, 1, 1};
	qn_attrs a = build_attrs(op);

	for (int32_t i = 1; i < t->rank - 1; i++)
		w[i] = pick(m, 1, t->dim[i] < 3 ? t->dim[i] : 3);
	if (t->rank == 3) {
		a.conv1d.groups = channels;
		a.conv1d.stride = pick(m, 1, 2);
		a.conv1d.padding = (int32_t)pick(m, QN_PADDING_explicit, QN_PADDING_valid);
	} else {
		a.conv2d.groups = channels;
		a.conv2d.stride[0] = a.conv2d.stride[1] = pick(m, 1, 2);
		a.conv2d.padding = (int32_t)pick(m, QN_PADDING_explicit, QN_PADDING_valid);
	}
	return add_weighted(m, op, y, t->rank, w, &a);
}

qn_id
random_channels(maker *m, qn_id x)
{
	const qn_type *t = type_of(m, x);
	const double scale = scale_of(m, x, 0), unit = (double)code_unit(m);
	const qn_op op[] = {QN_OP_add, QN_OP_sub, QN_OP_mul};
	const int k = (int)pick(m, 0, 2);
	qn_attrs a = build_attrs(QN_OP_requantize), sum = build_attrs(QN_OP_add);

	if (t->rank == 0)
		return 0;
	const bool layer = (t->rank == 3 || t->rank == 4) && chance(m, 40);
	const int32_t axis = layer ? t->rank - 1 : (int32_t)pick(m, 0, t->rank - 1);
	if (t->dim[axis] > MOST_CHANNELS)
		return 0;
	qn_id y = add_op(m, QN_OP_requantize, 1, &x, NULL,
			 channel_type(m, t, scale, axis, layer || chance(m, 50)));
	if (layer)
		return depthwise(m, y);
	double after = scale;
	if (chance(m, 60)) {
		const qn_id in[2] = {y, chance(m, 50) ? y : x};

		after = k < 2 ? 2 * scale : scale * scale * 64 * unit;
		y = add_op(m, op[k], 2, in, k < 2 ? &sum : NULL,
			   channel_type(m, t, after, axis, chance(m, 50)));
	}
	a.requantize.align = m->align;
	return add_op(m, QN_OP_requantize, 1, &y, &a,
		      qn_type_with_elem(&m->b->model.types, t,
					code_elem(m, after * factor(m, 0.6, 1.6), false)));
}
