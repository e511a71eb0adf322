/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_conv_transpose.c - convolutions that spread: each element of the input adds a kernel times itself
 * to the result.
 *
 *   ConvTranspose(x [N,C,H,W], w [C,O/g,kh,kw])      x to [N,H,W,C], w to [O,kh,kw,C/g], conv2d_transpose, transpose back
 *   ConvTranspose(x [N,C,W])                         the same with a height of 1
 *   ConvTranspose(x [N,C,D,H,W]) {strides=[2,2,2]}   zeros between the elements, then conv3d with the kernel reversed:
 *                                                    a b  ->  a 0 b
 *   Col2Im(x [N,C*k,L], image, block)                ConvTranspose with a kernel of ones and zeros: column j of a block adds
 *                                                    to place j of it */
#include "import/onnx_window.h"
#include "import/onnx_write_op.h"

#include <string.h>

/* ---- pads ---- */

/* The window's pads where the size of the result is given; extra: what is added after the end. */
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
		/* Of an odd number the larger half is in front, but with SAME_UPPER. */
		w->before[i] = upper ? total / 2 : total - total / 2;
		w->after[i] = total - w->before[i];
	}
	return true;
}

/* ---- two axes ---- */

/* [C,O/g,k…] to [O,k…,C/g]. */
static qn_id
spread_kernel(qn_onnx *o, qn_id k, int64_t groups)
{
	const qn_type *t = qn_onnx_type(o, k);
	int64_t dim[QN_MAX_RANK] = {0}, perm[QN_MAX_RANK] = {0}, c = t->dim[0], each = t->dim[1];
	int32_t n = t->rank - 2;

	if (groups < 1 || c % groups != 0 || each > INT32_MAX / groups)
		return qn_importer_refuse(&o->im, "import.attr",
					  "%lld channels cannot be split into %lld groups",
					  (long long)c, (long long)groups);
	dim[0] = groups;
	dim[1] = c / groups;
	dim[2] = each;
	perm[1] = 2;
	perm[n + 2] = 1;
	for (int32_t i = 0; i < n; i++) {
		dim[3 + i] = t->dim[2 + i];
		perm[2 + i] = 3 + i;
	}
	k = qn_importer_reshape(&o->im, k, n + 3, dim);
	k = qn_importer_transpose(&o->im, k, perm);
	dim[0] = groups * each;
	for (int32_t i = 0; i < n; i++)
		dim[1 + i] = t->dim[2 + i];
	dim[n + 1] = c / groups;
	return qn_importer_reshape(&o->im, k, n + 2, dim);
}

/* x [N,H,W,C], k [O,kh,kw,C/g]. */
static qn_id
spread_image(qn_onnx *o, const qn_id *in, uint32_t nin, const qn_onnx_window *w,
	     const int64_t *extra, int64_t groups)
{
	qn_attrs a = qn_importer_attrs(QN_OP_conv2d_transpose);

	memcpy(a.conv2d_transpose.stride, w->stride, sizeof a.conv2d_transpose.stride);
	memcpy(a.conv2d_transpose.dilation, w->dilation, sizeof a.conv2d_transpose.dilation);
	memcpy(a.conv2d_transpose.output_padding, extra, sizeof a.conv2d_transpose.output_padding);
	for (int32_t i = 0; i < 2; i++) {
		a.conv2d_transpose.pad[2 * i] = w->before[i];
		a.conv2d_transpose.pad[2 * i + 1] = w->after[i];
	}
	a.conv2d_transpose.groups = groups;
	return qn_importer_op(&o->im, QN_OP_conv2d_transpose, nin, in, &a, NULL);
}

/* ---- three axes ---- */

/* step - 1 zeros between the elements along an axis, none after the last. */
static qn_id
zeros_between(qn_onnx *o, qn_id x, int32_t axis, int64_t step)
{
	qn_attrs a = qn_importer_attrs(QN_OP_pad);
	int64_t dim[QN_MAX_RANK] = {0}, flat[4] = {1, 0, 1, 1};

	if (x == 0 || step == 1)
		return x;
	const qn_type *t = qn_onnx_type(o, x);
	for (int32_t i = 0; i < t->rank; i++) {
		dim[i] = t->dim[i];
		flat[i < axis ? 0 : i == axis ? 1 : 3] *= i == axis ? 0 : t->dim[i];
	}
	flat[1] = dim[axis];
	if (flat[1] < 1)
		return qn_importer_refuse(&o->im, "import.input", "an axis of no elements");
	dim[axis] *= step;
	x = qn_importer_reshape(&o->im, x, 4, flat);
	a.pad.before.n = a.pad.after.n = 4;
	a.pad.after.v[2] = step - 1;
	if (!qn_importer_dims_fit(t->rank, dim))
		return qn_importer_refuse(&o->im, "import.size", "too many elements");
	x = x != 0 ? qn_importer_op(&o->im, QN_OP_pad, 1, &x, &a, NULL) : 0;
	x = qn_importer_reshape(&o->im, x, t->rank, dim);
	return qn_importer_slice(&o->im, x, axis, 0, dim[axis] - step + 1);
}

/* x [N,D,H,W,C], k [O,kd,kh,kw,C/g]. */
static qn_id
spread_volume(qn_onnx *o, const qn_id *in, uint32_t nin, const qn_onnx_window *w,
	      const int64_t *extra, int64_t groups)
{
	qn_importer *im = &o->im;
	qn_attrs a = qn_importer_attrs(QN_OP_conv3d), turn = {0};
	qn_id x = in[0];

	turn.axes.axes.n = 3;
	memcpy(a.conv3d.dilation, w->dilation, sizeof a.conv3d.dilation);
	a.conv3d.groups = groups;
	for (int32_t i = 0; i < 3 && x != 0; i++) {
		int64_t reach = (w->kernel[i] - 1) * w->dilation[i];
		int64_t before = reach - w->before[i], after = reach - w->after[i] + extra[i];

		turn.axes.axes.v[i] = 1 + i;
		x = zeros_between(o, x, 1 + i, w->stride[i]);
		int64_t have = x != 0 ? qn_onnx_type(o, x)->dim[1 + i] : 0;
		int64_t from = before < 0 ? -before : 0, to = have + (after < 0 ? after : 0);
		if (x != 0 && from >= to)
			return qn_importer_refuse(im, "import.attr", "pads leave no elements");
		x = qn_importer_slice(im, x, 1 + i, from, to);
		a.conv3d.pad[2 * i] = before < 0 ? 0 : before;
		a.conv3d.pad[2 * i + 1] = after < 0 ? 0 : after;
	}
	qn_id with[] = {x, qn_importer_op(im, QN_OP_reverse, 1, &in[1], &turn, NULL),
			nin > 2 ? in[2] : 0};
	return qn_importer_op(im, QN_OP_conv3d, nin, with, &a, NULL);
}

/* ---- operators ---- */

/* x [N,C,…], k [C,O/g,…], bias [O] or 0: any number of axes. */
static qn_id
spread(qn_onnx *o, qn_id x, qn_id k, qn_id bias, const qn_onnx_window *window, const int64_t *extra,
       int64_t groups)
{
	qn_onnx_window w = *window;
	int64_t more[QN_ONNX_SPATIAL] = {0};
	bool row = w.n == 1;

	memcpy(more, extra, (size_t)w.n * sizeof more[0]);
	if (row) {
		qn_onnx_window_image(&w);
		more[1] = more[0];
		more[0] = 0;
		x = qn_importer_expand_dim(&o->im, x, 2);
		k = qn_importer_expand_dim(&o->im, k, 2);
	}
	k = k != 0 ? spread_kernel(o, k, groups) : 0;
	x = qn_importer_channels_last(&o->im, x);
	if (x == 0 || k == 0)
		return 0;
	qn_id in[] = {x, k, bias};
	uint32_t nin = bias != 0 ? 3 : 2;
	qn_id y = w.n == 3 ? spread_volume(o, in, nin, &w, more, groups)
			   : spread_image(o, in, nin, &w, more, groups);
	y = qn_importer_channels_first(&o->im, y);
	return row ? qn_importer_drop_dim(&o->im, y, 2) : y;
}

static void
conv_transpose(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	qn_onnx_window w;
	int64_t extra[QN_ONNX_SPATIAL];

	if (!qn_onnx_conv_operands(o, n) ||
	    !qn_onnx_window_read(o, n, n->in[0], qn_onnx_type(o, n->in[1])->dim + 2, &w) ||
	    !qn_onnx_each(o, n, "output_padding", w.n, 0, extra) ||
	    !transpose_pads(o, n, &w, extra))
		return;
	out[0] = spread(o, n->in[0], n->in[1], qn_onnx_in(n, 2), &w, extra,
			qn_onnx_int(o, n, "group", 1));
}

/* The window of Col2Im: in[i] blocks along axis i of the image; false after a report. */
static bool
blocks_of(qn_onnx *o, const qn_onnx_node *n, qn_onnx_window *w, int64_t *image)
{
	int64_t pads[2 * QN_ONNX_SPATIAL] = {0};

	w->n = qn_onnx_const_ints(o, n, 1, QN_ONNX_SPATIAL, image);
	if (w->n < 1 || qn_onnx_const_ints(o, n, 2, QN_ONNX_SPATIAL, w->kernel) != w->n ||
	    !qn_onnx_each(o, n, "strides", w->n, 1, w->stride) ||
	    !qn_onnx_each(o, n, "dilations", w->n, 1, w->dilation) ||
	    !qn_onnx_each(o, n, "pads", 2 * w->n, 0, pads)) {
		if (w->n >= 0)
			(void)qn_importer_refuse(
				&o->im, "import.input",
				"image and block must have the same number of axes, 1 to 3");
		return false;
	}
	for (int32_t i = 0; i < w->n; i++) {
		w->before[i] = pads[i];
		w->after[i] = pads[w->n + i];
		int64_t room = image[i] + w->before[i] + w->after[i];
		bool ok = w->kernel[i] >= 1 && w->kernel[i] <= 1 << 12 && w->stride[i] >= 1 &&
			  w->dilation[i] >= 1;
		int64_t reach = ok ? (w->kernel[i] - 1) * w->dilation[i] + 1 : 0;
		if (!ok || room < reach) {
			(void)qn_importer_refuse(&o->im, "import.attr",
						 "blocks do not fit the image along axis %d",
						 (int)i);
			return false;
		}
		w->in[i] = (room - reach) / w->stride[i] + 1;
	}
	return qn_importer_dims_fit(w->n, w->in) ||
	       qn_importer_refuse(&o->im, "import.size", "more than 2^40 blocks") != 0;
}

/* [C*k,1,block…]: column j of each channel is 1 at position j of the block. */
static qn_id
block_kernel(qn_onnx *o, const qn_onnx_window *w, int64_t channels, int64_t each)
{
	int64_t dim[2 + QN_ONNX_SPATIAL] = {channels * each, 1};
	void *data;

	for (int32_t i = 0; i < w->n; i++)
		dim[2 + i] = w->kernel[i];
	const qn_type *type = qn_type_plain(&o->im.m->types, QN_PLAIN_f32, 2 + w->n, dim);
	if (!qn_importer_take_type(&o->im, type))
		return 0;
	qn_tensor *k = qn_tensor_new(o->im.m->arena, type, &data);
	for (int64_t i = 0; i < channels * each; i++)
		qn_store_f64(data, QN_PLAIN_f32, i * each + i % each, 1);
	return qn_importer_const(&o->im, NULL, k);
}

static void
col2im(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	qn_onnx_window w = {0};
	int64_t image[QN_ONNX_SPATIAL], extra[QN_ONNX_SPATIAL] = {0}, dim[2 + QN_ONNX_SPATIAL];
	int64_t each = 1, places = 1;

	if (!qn_onnx_need(o, n, 3) || !blocks_of(o, n, &w, image))
		return;
	const qn_type *t = qn_onnx_type(o, n->in[0]);
	for (int32_t i = 0; i < w.n; i++) {
		each *= w.kernel[i];
		places *= w.in[i];
		dim[2 + i] = w.in[i];
		/* Elements after the last block, which no block covers. */
		extra[i] = (image[i] + w.before[i] + w.after[i] -
			    w.dilation[i] * (w.kernel[i] - 1) - 1) %
			   w.stride[i];
	}
	if (t->rank != 3 || t->dim[1] % each != 0 || t->dim[2] != places || each > 1 << 20) {
		(void)qn_importer_refuse(&o->im, "import.input",
					 "its input must be [N, C * %lld, %lld]", (long long)each,
					 (long long)places);
		return;
	}
	dim[0] = t->dim[0];
	dim[1] = t->dim[1];
	qn_id x = qn_importer_reshape(&o->im, n->in[0], 2 + w.n, dim);
	qn_id k = block_kernel(o, &w, dim[1] / each, each);
	out[0] = x != 0 && k != 0 ? spread(o, x, k, 0, &w, extra, dim[1] / each) : 0;
}

const qn_onnx_row qn_onnx_spreads[] = {
	QN_ONNX_BOTH("ConvTranspose", 1, conv_transpose, qn_onnx_write_conv_transpose, 0, FIRST,
		     QN_OP_conv2d_transpose),
	QN_ONNX_READ("", "Col2Im", 18, col2im, 0),
	{0},
};
