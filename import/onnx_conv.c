/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_conv.c - convolutions.
 *
 *   Conv(x [N,C,H,W], w [O,C/g,kh,kw], b)        transpose x to [N,H,W,C], w to [O,kh,kw,C/g], conv2d, transpose back
 *   ConvTranspose(x [N,C,H,W], w [C,O/g,kh,kw])  likewise */
#include "import/onnx_window.h"

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

/* Data and weights of equal rank. */
static bool
operands_ok(qn_onnx *o, const qn_onnx_node *n)
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

	if (!operands_ok(o, n) ||
	    !qn_onnx_window_read(o, n, n->in[0], qn_onnx_type(o, n->in[1])->dim + 2, &w))
		return;
	qn_op op = conv_op(&w, qn_onnx_int(o, n, "group", 1), &a);
	qn_id bias = qn_onnx_in(n, 2);
	qn_id in[] = {qn_importer_channels_last(&o->im, n->in[0]),
		      qn_importer_channels_last(&o->im, n->in[1]), bias};
	qn_id y = qn_importer_op(&o->im, op, bias != 0 ? 3 : 2, in, &a, NULL);
	out[0] = qn_importer_channels_first(&o->im, y);
}

/* ---- ConvTranspose ---- */

/* The window's pads where the size of the result is given; extra: what is added behind the end. */
static bool
transpose_pads(qn_onnx *o, const qn_onnx_node *n, qn_onnx_window *w, int64_t *extra)
{
	const char *auto_pad = qn_onnx_string(o, n, "auto_pad", "NOTSET");
	bool same = strncmp(auto_pad, "SAME_", 5) == 0;
	bool upper = strcmp(auto_pad, "SAME_UPPER") == 0;
	bool given = qn_onnx_has(o, n, "output_shape");
	int64_t size[QN_ONNX_SPATIAL];

	if (given && !qn_onnx_each(o, n, "output_shape", w->n, 0, size))
		return false;
	for (int32_t i = 0; (given || same) && i < w->n; i++) {
		int64_t want = given ? size[i] : w->in[i] * w->stride[i];
		int64_t total = w->stride[i] * (w->in[i] - 1) + extra[i] +
				(w->kernel[i] - 1) * w->dilation[i] + 1 - want;

		if (total < 0) {
			extra[i] -= total;
			total = 0;
		}
		w->before[i] = upper ? total / 2 : total - total / 2;
		if (!same)
			w->before[i] = total / 2;
		w->after[i] = total - w->before[i];
	}
	return true;
}

/* [C,O/g,kh,kw] to [O,kh,kw,C/g]. */
static qn_id
transposed_kernel(qn_onnx *o, qn_id w, int64_t groups)
{
	const int64_t perm[] = {0, 2, 3, 4, 1};
	const qn_type *t = qn_onnx_type(o, w);
	int64_t c = t->dim[0], each = t->dim[1], kh = t->dim[2], kw = t->dim[3];

	if (groups < 1 || c % groups != 0 || each > INT32_MAX)
		return qn_importer_refuse(&o->im, "import.attr",
					  "%lld channels cannot be split into %lld groups",
					  (long long)c, (long long)groups);
	w = qn_importer_reshape(&o->im, w, 5, (int64_t[]){groups, c / groups, each, kh, kw});
	w = qn_importer_transpose(&o->im, w, perm);
	return qn_importer_reshape(&o->im, w, 4, (int64_t[]){groups * each, kh, kw, c / groups});
}

static void
conv_transpose(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	qn_onnx_window w;
	int64_t extra[QN_ONNX_SPATIAL], groups = qn_onnx_int(o, n, "group", 1);
	qn_attrs a = qn_importer_attrs(QN_OP_conv2d_transpose);

	if (!operands_ok(o, n) ||
	    !qn_onnx_window_read(o, n, n->in[0], qn_onnx_type(o, n->in[1])->dim + 2, &w) ||
	    !qn_onnx_each(o, n, "output_padding", w.n, 0, extra) ||
	    !transpose_pads(o, n, &w, extra))
		return;
	if (w.n > 2) {
		(void)qn_importer_refuse(&o->im, "import.rank",
					 "3 spatial axes are not supported, 1 and 2 are");
		return;
	}
	qn_id x = n->in[0], k = n->in[1], bias = qn_onnx_in(n, 2);
	bool row = w.n == 1;
	if (row) {
		qn_onnx_window_image(&w);
		extra[1] = extra[0];
		extra[0] = 0;
		x = qn_importer_expand_dim(&o->im, x, 2);
		k = qn_importer_expand_dim(&o->im, k, 2);
	}
	if (x == 0 || k == 0)
		return;
	memcpy(a.conv2d_transpose.stride, w.stride, sizeof a.conv2d_transpose.stride);
	memcpy(a.conv2d_transpose.dilation, w.dilation, sizeof a.conv2d_transpose.dilation);
	memcpy(a.conv2d_transpose.output_padding, extra, sizeof a.conv2d_transpose.output_padding);
	for (int32_t i = 0; i < 2; i++) {
		a.conv2d_transpose.pad[2 * i] = w.before[i];
		a.conv2d_transpose.pad[2 * i + 1] = w.after[i];
	}
	a.conv2d_transpose.groups = groups;
	qn_id in[] = {qn_importer_channels_last(&o->im, x), transposed_kernel(o, k, groups), bias};
	qn_id y = qn_importer_op(&o->im, QN_OP_conv2d_transpose, bias != 0 ? 3 : 2, in, &a, NULL);
	y = qn_importer_channels_first(&o->im, y);
	out[0] = row ? qn_importer_drop_dim(&o->im, y, 2) : y;
}

const qn_onnx_row qn_onnx_conv[] = {
	{"", "Conv", 1, QN_ONNX_NEWEST, conv, 0},
	{"", "ConvTranspose", 1, QN_ONNX_NEWEST, conv_transpose, 0},
	{0},
};
