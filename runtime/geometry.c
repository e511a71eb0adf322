/* SPDX-License-Identifier: Apache-2.0 */
/* geometry.c - windows from the types and attributes of a node whose shape rule has passed. */
#include "runtime/geometry.h"

#include "ir/window.h"

/* The sizes of node n and of its input, which have that many axes between batch and channels, with
 * windows of one element.  An image of one axis gets a height of 1 before it. */
static qn_geometry
sizes(const qn_graph *g, const qn_node *n, int32_t axes)
{
	const qn_type *x = qn_graph_node(g, n->in[0])->type, *y = n->type;
	const int32_t first = axes == 1 ? 1 : 0;
	qn_geometry w = {
		.axes = first + axes,
		.batch = x->dim[0],
		.in_c = x->dim[axes + 1],
		.out_c = y->dim[axes + 1],
		.groups = 1,
	};

	for (int i = 0; i < w.axes; i++) {
		w.in[i] = i < first ? 1 : x->dim[1 + i - first];
		w.out[i] = i < first ? 1 : y->dim[1 + i - first];
		w.kernel[i] = w.stride[i] = w.dil[i] = 1;
	}
	return w;
}

qn_geometry
qn_geometry_conv(const qn_graph *g, const qn_node *n)
{
	const qn_convolving c = qn_convolving_of(n);
	const qn_type *weights = qn_graph_node(g, n->in[1])->type;
	qn_geometry w = sizes(g, n, c.axes);

	w.groups = c.groups;
	for (int i = 0, to = w.axes - c.axes; i < c.axes; i++, to++) {
		qn_window along;

		w.kernel[to] = weights->dim[1 + i];
		w.stride[to] = c.stride[i];
		w.dil[to] = c.dilation[i];
		(void)qn_window_conv(&c, i, w.in[to], w.kernel[to], &along);
		w.pad[to] = along.before;
	}
	return w;
}

qn_geometry
qn_geometry_conv_transpose(const qn_graph *g, const qn_node *n)
{
	const qn_attrs_conv2d_transpose *a = &n->attr->conv2d_transpose;
	const qn_type *weights = qn_graph_node(g, n->in[1])->type;
	qn_geometry w = sizes(g, n, 2);

	w.groups = a->groups;
	for (int i = 0; i < w.axes; i++) {
		qn_window along;

		w.kernel[i] = weights->dim[1 + i];
		w.stride[i] = a->stride[i];
		w.dil[i] = a->dilation[i];
		(void)qn_window_transpose(a, i, w.in[i], w.kernel[i], &along);
		w.pad[i] = along.before;
	}
	return w;
}

qn_geometry
qn_geometry_pool(const qn_graph *g, const qn_node *n)
{
	const qn_pooling p = qn_pooling_of(n);
	qn_geometry w = sizes(g, n, p.axes);

	for (int i = 0; i < w.axes; i++) {
		qn_window along;

		w.kernel[i] = p.kernel[i];
		w.stride[i] = p.stride[i];
		w.dil[i] = p.dilation[i];
		(void)qn_window_pool(&p, i, w.in[i], &along);
		w.pad[i] = along.before;
		w.end[i] = p.count_include_pad != 0 ? w.in[i] + along.after : 0;
	}
	return w;
}

bool
qn_geometry_is_small(const qn_geometry *w)
{
	if (w->axes == 2 && w->kernel[0] > QN_MAX_WINDOW_ROWS)
		return false;

	/* The farthest position is the sum of three terms, each of which this keeps below 2^29. */
	const int64_t most = INT64_C(1) << 29;

	for (int i = 0; i < w->axes; i++)
		if (w->in[i] >= most || w->pad[i] >= most || w->stride[i] >= most ||
		    w->kernel[i] >= most || w->dil[i] >= most || w->end[i] >= most ||
		    (w->out[i] - 1) * w->stride[i] >= most ||
		    (w->kernel[i] - 1) * w->dil[i] >= most)
			return false;
	return true;
}

/* Some window along an axis has no tap inside the image. */
static bool
has_empty(int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t dil, int64_t pad)
{
	/* Windows move to the right: the first may end before the image, the last begin after it. */
	if (out == 0)
		return false;
	if ((kernel - 1) * dil < pad || (out - 1) * stride - pad >= in)
		return true;
	/* Those that begin before the image: taps farther apart than it is long may step over it.  More
	 * windows than anybody uses are not looked at. */
	if (dil > in && pad / stride > 1 << 20)
		return true;
	for (int64_t at = -pad; dil > in && at < 0 && at <= (out - 1) * stride - pad; at += stride)
		if ((at % dil + dil) % dil >= in)
			return true;
	return false;
}

bool
qn_geometry_has_empty(const qn_geometry *w)
{
	for (int i = 0; i < w->axes; i++)
		if (w->end[i] == 0 && has_empty(w->in[i], w->out[i], w->kernel[i], w->stride[i],
						w->dil[i], w->pad[i]))
			return true;
	return false;
}

bool
qn_geometry_is_padded(const qn_geometry *w)
{
	for (int32_t i = 0; i < w->axes; i++)
		if (w->pad[i] > 0 ||
		    (w->out[i] - 1) * w->stride[i] - w->pad[i] + (w->kernel[i] - 1) * w->dil[i] >=
			    w->in[i])
			return true;
	return false;
}
