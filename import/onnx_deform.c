/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_deform.c - DeformConv(x, w, offsets, bias, mask): a convolution whose windows take elements at
 * positions of their own.
 *
 *   x [N,C,H,W] at the positions of all windows (onnx_grid.h), side by side as an image [N, h * kh, w * kw, C]; that times
 *   the mask; then conv2d with windows that do not overlap */
#include "import/onnx_grid.h"
#include "import/onnx_window.h"

typedef struct deformed {
	qn_onnx_window w;
	int64_t out[2]; /* of the result along both axes */
	int64_t groups; /* of channels that have offsets of their own */
} deformed;

/* [N, groups * kh * kw * parts, oh, ow] as [N * groups, oh * kh * ow * kw, parts]: the windows of all
 * positions side by side, as an image of windows that do not overlap. */
static qn_id
windows(qn_onnx *o, const deformed *d, qn_id x, int64_t parts)
{
	static const int64_t perm[] = {0, 4, 1, 5, 2, 3};
	const int64_t *k = d->w.kernel, n = qn_onnx_type(o, x)->dim[0] * d->groups;
	int64_t all = d->out[0] * k[0] * d->out[1] * k[1];
	int64_t dim[] = {n, k[0], k[1], parts, d->out[0], d->out[1]};

	if (qn_type_count(qn_onnx_type(o, x)) != n * all * parts)
		return qn_importer_refuse(
			&o->im, "import.input",
			"offsets and their mask must have %lld elements per position",
			(long long)(d->groups * k[0] * k[1] * parts));
	x = qn_importer_transpose(&o->im, qn_importer_reshape(&o->im, x, 6, dim), perm);
	return qn_importer_reshape(&o->im, x, 3, (int64_t[]){n, all, parts});
}

/* Where the elements of all windows stand along an axis without offsets: [1, oh * kh * ow * kw, 1]. */
static qn_id
standing(qn_onnx *o, const deformed *d, int axis)
{
	const qn_onnx_window *w = &d->w;
	int64_t dim[] = {1, d->out[0] * w->kernel[0] * d->out[1] * w->kernel[1], 1};
	int64_t wide = d->out[1] * w->kernel[1];
	void *data;

	const qn_type *type = qn_type_plain(&o->im.m->types, QN_PLAIN_f32, 3, dim);
	if (!qn_importer_take_type(&o->im, type))
		return 0;
	qn_tensor *x = qn_tensor_new(o->im.m->arena, type, &data);
	for (int64_t i = 0; i < dim[1]; i++) {
		int64_t at = axis == 0 ? i / wide : i % wide;
		int64_t place = at / w->kernel[axis], tap = at % w->kernel[axis];

		qn_store_f64(data, QN_PLAIN_f32, i,
			     (double)(place * w->stride[axis] - w->before[axis] +
				      tap * w->dilation[axis]));
	}
	return qn_importer_const(&o->im, NULL, x);
}

/* The windows of x [N,C,H,W] as an image [N, oh * kh, ow * kw, C]. */
static qn_id
unfolded(qn_onnx *o, const deformed *d, const qn_onnx_node *n)
{
	static const int64_t last[] = {0, 2, 3, 1}, back[] = {0, 2, 1, 3};
	qn_importer *im = &o->im;
	const int64_t *x = qn_onnx_type(o, n->in[0])->dim;
	qn_sampling s = {.im = im, .between = QN_SAMPLE_LINEAR, .beyond = QN_SAMPLE_ZEROS};
	int64_t each = x[1] / d->groups, count = x[0] * d->groups;
	qn_id offset = windows(o, d, n->in[2], 2), mask = qn_onnx_in(n, 4);
	qn_taps axis[2] = {{0}};

	for (int i = 0; i < 2; i++) {
		qn_id p = qn_importer_slice(im, offset, 2, i, i + 1);

		p = qn_importer_binary(im, QN_OP_add, p, standing(o, d, i));
		if (p == 0 || !qn_onnx_taps_at(&s, p, x[2 + i], &axis[i]))
			return 0;
	}
	qn_id y = qn_importer_reshape(im, n->in[0], 4, (int64_t[]){count, each, x[2], x[3]});
	y = qn_onnx_sampled(im, qn_importer_transpose(im, y, last), 2, axis);
	if (mask != 0)
		y = qn_importer_binary(im, QN_OP_mul, y, windows(o, d, mask, 1));
	if (y == 0)
		return 0;
	int64_t all = qn_onnx_type(o, y)->dim[1];
	y = qn_importer_reshape(im, y, 4, (int64_t[]){x[0], d->groups, all, each});
	y = qn_importer_transpose(im, y, back);
	return qn_importer_reshape(
		im, y, 4,
		(int64_t[]){x[0], d->out[0] * d->w.kernel[0], d->out[1] * d->w.kernel[1], x[1]});
}

static void
deform_conv(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	deformed d = {.groups = qn_onnx_int(o, n, "offset_group", 1)};
	qn_attrs a = qn_importer_attrs(QN_OP_conv2d);
	qn_id bias = qn_onnx_in(n, 3);

	if (!qn_onnx_need(o, n, 3) || !qn_onnx_conv_operands(o, n) ||
	    !qn_onnx_window_read(o, n, n->in[0], qn_onnx_type(o, n->in[1])->dim + 2, &d.w))
		return;
	const qn_type *x = qn_onnx_type(o, n->in[0]), *offset = qn_onnx_type(o, n->in[2]);
	bool ok = d.w.n == 2 && offset->rank == 4 && x->dim[0] == offset->dim[0] && d.groups >= 1 &&
		  x->dim[1] % d.groups == 0 && x->dim[2] > 0 && x->dim[3] > 0;
	if (!ok) {
		(void)qn_importer_refuse(
			&o->im, "import.input",
			"data [N, C, H, W] and offsets [N, groups * 2 * elements of "
			"the kernel, h, w], whose groups divide C, are supported");
		return;
	}
	for (int i = 0; i < 2; i++) {
		d.out[i] = offset->dim[2 + i];
		a.conv2d.stride[i] = d.w.kernel[i];
	}
	const int64_t all[] = {x->dim[0],     d.groups, 2,       d.w.kernel[0],
			       d.w.kernel[1], d.out[0], d.out[1]};
	if (!qn_importer_dims_fit(QN_COUNT(all), all)) {
		(void)qn_importer_refuse(&o->im, "import.size",
					 "its windows have too many elements in total");
		return;
	}
	a.conv2d.groups = qn_onnx_int(o, n, "group", 1);
	qn_id in[] = {unfolded(o, &d, n), qn_importer_channels_last(&o->im, n->in[1]), bias};
	out[0] = qn_importer_channels_first(
		&o->im, qn_importer_op(&o->im, QN_OP_conv2d, bias != 0 ? 3 : 2, in, &a, NULL));
}

const qn_onnx_row qn_onnx_deforms[] = {
	QN_ONNX_READ("", "DeformConv", 19, deform_conv, 0),
	{0},
};
