/* SPDX-License-Identifier: Apache-2.0 */
/* net_weights.c - weights as constant codes with scales, per tensor or per channel, and biases of i32. */
#include "tests/networks/net.h"

static net_val *
draw_codes(net *n, int rank, const int64_t *dim, int type, int axis, double reach, double *scale)
{
	static double v[NET_ELEMENTS];
	int64_t count = 1;

	for (int i = 0; i < rank; i++)
		count *= dim[i];
	for (int64_t i = 0; i < (axis >= 0 ? dim[axis] : 1); i++)
		scale[i] = net_coarse(net_real(n, 0.3, 1) * reach / 127);
	for (int64_t i = 0; i < count; i++)
		v[i] = (double)net_draw(n, type == ONX_INT8 ? -127 : 0,
					type == ONX_INT8 ? 127 : 255);
	return net_const(n, type, rank, dim, v);
}

void
net_draw_weights(net *n, int rank, const int64_t *dim, int axis, bool may_channels, double reach,
		 bool may_u8, net_weights *w)
{
	int64_t each = 1, count = 1;
	bool u8 = may_u8 && net_chance(n, 30);

	*w = (net_weights){0};

	w->per_channel = may_channels && !u8 && net_chance(n, 50);
	w->codes = draw_codes(n, rank, dim, u8 ? ONX_UINT8 : ONX_INT8, w->per_channel ? axis : -1,
			      reach, w->each);
	int64_t zp = u8 ? net_draw(n, 100, 156) : 0;
	for (int k = axis + 1; k < rank; k++)
		each *= dim[k];
	for (int k = 0; k < rank; k++)
		count *= dim[k];
	w->real = net_hidden(n, rank, dim);
	for (int64_t i = 0; i < count; i++) {
		int64_t c = w->per_channel ? i / each % dim[axis] : 0;

		w->real->lo[i] = w->real->hi[i] = (w->codes->lo[i] - (double)zp) * w->each[c];
	}
	double zeros[NET_CHANNELS] = {0};
	zeros[0] = (double)zp;
	w->scale = w->per_channel ? net_const(n, ONX_FLOAT, 1, &dim[axis], w->each)
				  : net_scalar(n, ONX_FLOAT, w->each[0]);
	w->zp = w->per_channel ? net_const(n, w->codes->type, 1, &dim[axis], zeros)
			       : net_scalar(n, w->codes->type, zeros[0]);
}

net_val *
net_draw_bias(net *n, const net_val *x, const net_weights *w, int64_t count, net_val **real)
{
	double v[NET_CHANNELS], reach = (double)net_draw(n, 100, 4000);

	*real = net_hidden(n, 1, &count);
	for (int64_t i = 0; i < count; i++) {
		v[i] = (double)net_draw(n, -(int64_t)reach, (int64_t)reach);
		(*real)->lo[i] = (*real)->hi[i] =
			v[i] * x->q.scale * w->each[w->per_channel ? i : 0];
	}
	return net_const(n, ONX_INT32, 1, &count, v);
}
