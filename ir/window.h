/* SPDX-License-Identifier: Apache-2.0 */
/* window.h - where the windows of a convolution or a pool lie along one axis: the one place that
 * knows the paddings.
 *
 *   in = 5, kernel 3, stride 2, same:      before 1 |0 1 2 3 4| after 1      out = 3
 *
 * explicit  the pads as given              out = floor((in + before + after - reach) / stride) + 1
 * same      out = ceil(in / stride)        pads = max(0, (out - 1) * stride + reach - in),
 *                                          the odd one after
 * valid     no pads                        out = floor((in - reach) / stride) + 1
 * with reach = (kernel - 1) * dilation + 1 (TensorFlow's and TFLite's rules). */
#ifndef QN_IR_WINDOW_H
#define QN_IR_WINDOW_H

#include "ir/graph.h"

/* Kernel sizes, strides, dilations and pads are at most this, so that no product below
 * overflows. */
#define QN_WINDOW_MAX INT64_C(0x7fffffff)

typedef struct qn_window {
	int64_t out;           /* number of windows, QN_DYNAMIC when `in` or `kernel` is */
	int64_t before, after; /* padded positions; QN_DYNAMIC for `same` when `out` is dynamic */
} qn_window;

/* in >= 0 or QN_DYNAMIC; 1 <= kernel, stride, dilation; pad[2] (before, after) is read for
 * `explicit` only. False when no window fits. */
static inline bool
qn_window_resolve(int32_t padding, int64_t in, int64_t kernel, int64_t stride, int64_t dilation,
		  const int64_t *pad, qn_window *w)
{
	bool same = padding == QN_PADDING_same;

	*w = (qn_window){QN_DYNAMIC, same ? QN_DYNAMIC : 0, same ? QN_DYNAMIC : 0};
	if (padding == QN_PADDING_explicit) {
		w->before = pad[0];
		w->after = pad[1];
	}
	if (in == QN_DYNAMIC || kernel == QN_DYNAMIC)
		return true;
	int64_t reach = (kernel - 1) * dilation + 1;
	if (same) {
		w->out = in / stride + (in % stride != 0);
		int64_t total = (w->out - 1) * stride + reach - in;
		if (total < 0)
			total = 0;
		w->before = total / 2;
		w->after = total - total / 2;
		return w->out > 0;
	}
	int64_t room = in + w->before + w->after - reach;
	if (room < 0)
		return false;
	w->out = room / stride + 1;
	return true;
}

/* What the sets of attributes of conv1d, conv2d and conv3d have in common; axes are those of the
 * image, from the outermost; pad holds before and after of each. */
typedef struct qn_convolving {
	int32_t axes, padding;
	int64_t groups;
	const int64_t *stride, *dilation, *pad;
} qn_convolving;

/* n is a conv1d, conv2d or conv3d. */
static inline qn_convolving
qn_convolving_of(const qn_node *n)
{
	const qn_attrs_conv1d *a = &n->attr->conv1d;
	const qn_attrs_conv2d *b = &n->attr->conv2d;
	const qn_attrs_conv3d *c = &n->attr->conv3d;

	if (n->op == QN_OP_conv1d)
		return (qn_convolving){1, a->padding, a->groups, &a->stride, &a->dilation, a->pad};
	if (n->op == QN_OP_conv3d)
		return (qn_convolving){3, c->padding, c->groups, c->stride, c->dilation, c->pad};
	return (qn_convolving){2, b->padding, b->groups, b->stride, b->dilation, b->pad};
}

static inline bool
qn_window_conv(const qn_convolving *c, int axis, int64_t in, int64_t kernel, qn_window *w)
{
	return qn_window_resolve(c->padding, in, kernel, c->stride[axis], c->dilation[axis],
				 c->pad + (ptrdiff_t)axis * 2, w);
}

/* n steps of a stride, or 2^61, which is beyond any dim, where that is less. */
static inline int64_t
qn_window_steps(int64_t n, int64_t stride)
{
	const int64_t far = INT64_C(1) << 61;

	return n > far / stride ? far : n * stride;
}

/* The windows that a transposed convolution writes: `in` of them, `stride` apart, less the pads.
 *
 * explicit, valid   out = (in - 1) * stride + reach - before - after + output_padding
 * same              out = in * stride     pads = max(0, reach - stride), the odd one after
 * with reach = (kernel - 1) * dilation + 1
 * (the sizes of TensorFlow's and PyTorch's transposed convolutions). */
static inline bool
qn_window_transpose(const qn_attrs_conv2d_transpose *a, int axis, int64_t in, int64_t kernel,
		    qn_window *w)
{
	int64_t stride = a->stride[axis], reach = (kernel - 1) * a->dilation[axis] + 1;
	int64_t total = reach - stride;

	*w = (qn_window){QN_DYNAMIC, a->pad[axis * 2], a->pad[axis * 2 + 1]};
	if (kernel == QN_DYNAMIC)
		return true;
	if (a->padding == QN_PADDING_same) {
		total = total > 0 ? total : 0;
		w->before = total / 2;
		w->after = total - total / 2;
		if (in != QN_DYNAMIC)
			w->out = qn_window_steps(in, stride);
		return in != 0;
	}
	if (in == QN_DYNAMIC)
		return true;
	w->out = qn_window_steps(in - 1, stride) + reach - w->before - w->after +
		 a->output_padding[axis];
	return in > 0 && w->out > 0;
}

/* What the sets of attributes of pools have in common; axes are those of the image, from the
 * outermost; pad holds before and after of each. */
typedef struct qn_pooling {
	int32_t axes, padding;
	const int64_t *kernel, *stride, *dilation, *pad;
	int64_t ceil_mode, count_include_pad;
} qn_pooling;

static inline qn_pooling
qn_pooling_of(const qn_node *n)
{
	const qn_attrs_pool *a = &n->attr->pool;
	const qn_attrs_pool3d *b = &n->attr->pool3d;

	if (n->op == QN_OP_max_pool3d || n->op == QN_OP_avg_pool3d)
		return (qn_pooling){3,           b->padding, b->kernel,    b->stride,
				    b->dilation, b->pad,     b->ceil_mode, b->count_include_pad};
	return (qn_pooling){2,           a->padding, a->kernel,    a->stride,
			    a->dilation, a->pad,     a->ceil_mode, a->count_include_pad};
}

/* With ceil_mode the quotient is rounded up, but no window begins after the end of the image (ONNX):
 *
 *   in = 6, kernel 3, stride 2:      |0 1 2 3 4 5|     out = 2, rounded up 3, of which the last has
 *                                                      two elements */
static inline bool
qn_window_pool(const qn_pooling *p, int axis, int64_t in, qn_window *w)
{
	int64_t stride = p->stride[axis], reach = (p->kernel[axis] - 1) * p->dilation[axis] + 1;
	bool fits = qn_window_resolve(p->padding, in, p->kernel[axis], stride, p->dilation[axis],
				      p->pad + (ptrdiff_t)axis * 2, w);

	if (p->ceil_mode == 0 || p->padding == QN_PADDING_same || in == QN_DYNAMIC)
		return fits;
	int64_t room = in + w->before + w->after - reach + stride - 1;
	w->out = room / stride + 1;
	if ((w->out - 1) * stride >= in + w->before)
		w->out--;
	return room >= 0 && w->out > 0;
}

#endif
