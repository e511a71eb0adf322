/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_conv.c - convolutions.
 *
 *   Conv(x [N,C,H,W], w [O,C/g,kh,kw], b)        transpose x to [N,H,W,C], w to [O,kh,kw,C/g], conv2d, transpose back */
#include "import/onnx_window.h"
#include "import/onnx_write_op.h"

#include <string.h>

/* ---- Conv ---- */

static qn_op
conv_op(const qn_onnx_window *w, int64_t groups, qn_attrs *a)
{
	static const qn_op ops[] = {QN_OP_conv1d, QN_OP_conv2d, QN_OP_conv3d};
	int64_t pad[2 * QN_ONNX_SPATIAL];

	*a = qn_importer_attrs(ops[w->n - 1]);
	qn_onnx_window_pads(w, pad);
	if (w->n == 1) {
		a->conv1d.stride = w->stride[0];
		a->conv1d.dilation = w->dilation[0];
		memcpy(a->conv1d.pad, pad, sizeof a->conv1d.pad);
		a->conv1d.groups = groups;
	} else if (w->n == 3) {
		memcpy(a->conv3d.stride, w->stride, sizeof a->conv3d.stride);
		memcpy(a->conv3d.dilation, w->dilation, sizeof a->conv3d.dilation);
		memcpy(a->conv3d.pad, pad, sizeof a->conv3d.pad);
		a->conv3d.groups = groups;
	} else {
		memcpy(a->conv2d.stride, w->stride, sizeof a->conv2d.stride);
		memcpy(a->conv2d.dilation, w->dilation, sizeof a->conv2d.dilation);
		memcpy(a->conv2d.pad, pad, sizeof a->conv2d.pad);
		a->conv2d.groups = groups;
	}
	return ops[w->n - 1];
}

bool
qn_onnx_conv_operands(qn_onnx *o, const qn_onnx_node *n)
{
	if (!qn_onnx_need(o, n, 2))
		return false;
	int32_t x = qn_onnx_type(o, n->in[0])->rank, w = qn_onnx_type(o, n->in[1])->rank;
	if (x == w && x >= 3)
		return true;
	(void)qn_importer_refuse(&o->im, "import.rank",
				 "data of %d dimensions, weights of %d; both need 3 or more",
				 (int)x, (int)w);
	return false;
}

static void
conv(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	qn_onnx_window w;
	qn_attrs a;

	if (!qn_onnx_conv_operands(o, n) ||
	    !qn_onnx_window_read(o, n, n->in[0], qn_onnx_type(o, n->in[1])->dim + 2, &w))
		return;
	qn_op op = conv_op(&w, qn_onnx_int(o, n, "group", 1), &a);
	qn_id bias = qn_onnx_in(n, 2);
	qn_id in[] = {qn_importer_channels_last(&o->im, n->in[0]),
		      qn_importer_channels_last(&o->im, n->in[1]), bias};
	qn_id y = qn_importer_op(&o->im, op, bias != 0 ? 3 : 2, in, &a, NULL);
	out[0] = qn_importer_channels_first(&o->im, y);
}

const qn_onnx_row qn_onnx_conv[] = {
	QN_ONNX_BOTH("Conv", 1, conv, qn_onnx_write_conv, 0, FIRST, QN_OP_conv2d, QN_OP_conv1d,
		     QN_OP_conv3d),
	{0},
};
