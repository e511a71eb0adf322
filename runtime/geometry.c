/* SPDX-License-Identifier: Apache-2.0 */
/* geometry.c - windows from the types and attributes of a node whose shape rule has passed. */
#include "runtime/geometry.h"

#include "ir/window.h"

static qn_geometry
image(const qn_type *in, const qn_type *out)
{
	return (qn_geometry){
		.batch = in->dim[0],
		.in = {in->dim[1], in->dim[2]},
		.in_c = in->dim[3],
		.out = {out->dim[1], out->dim[2]},
		.out_c = out->dim[3],
		.dil = {1, 1},
		.groups = 1,
	};
}

qn_geometry
qn_geometry_conv2d(const qn_graph *g, const qn_node *n)
{
	const qn_attrs_conv2d *a = &n->attr->conv2d;
	const qn_type *weights = qn_graph_node(g, n->in[1])->type;
	qn_geometry w = image(qn_graph_node(g, n->in[0])->type, n->type);

	w.groups = a->groups;
	for (int i = 0; i < 2; i++) {
		qn_window along;

		w.kernel[i] = weights->dim[1 + i];
		w.stride[i] = a->stride[i];
		w.dil[i] = a->dilation[i];
		(void)qn_window_conv2d(a, i, w.in[i], w.kernel[i], &along);
		w.pad[i] = along.before;
	}
	return w;
}

/* x [b, w, c], weights [o, k, c / groups]: one row. */
static qn_geometry
conv1d(const qn_graph *g, const qn_node *n)
{
	const qn_attrs_conv1d *a = &n->attr->conv1d;
	const qn_type *x = qn_graph_node(g, n->in[0])->type;
	qn_window along;
	qn_geometry w = {
		.batch = x->dim[0],
		.in = {1, x->dim[1]},
		.in_c = x->dim[2],
		.out = {1, n->type->dim[1]},
		.out_c = n->type->dim[2],
		.kernel = {1, qn_graph_node(g, n->in[1])->type->dim[1]},
		.stride = {1, a->stride},
		.dil = {1, a->dilation},
		.groups = a->groups,
	};

	(void)qn_window_conv1d(a, w.in[1], w.kernel[1], &along);
	w.pad[1] = along.before;
	return w;
}

qn_geometry
qn_geometry_conv(const qn_graph *g, const qn_node *n)
{
	return n->op == QN_OP_conv1d ? conv1d(g, n) : qn_geometry_conv2d(g, n);
}

qn_geometry
qn_geometry_conv_transpose(const qn_graph *g, const qn_node *n)
{
	const qn_attrs_conv2d_transpose *a = &n->attr->conv2d_transpose;
	const qn_type *weights = qn_graph_node(g, n->in[1])->type;
	qn_geometry w = image(qn_graph_node(g, n->in[0])->type, n->type);

	w.groups = a->groups;
	for (int i = 0; i < 2; i++) {
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
	qn_geometry w = image(qn_graph_node(g, n->in[0])->type, n->type);

	for (int i = 0; i < 2; i++) {
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
	if (w->kernel[0] > QN_MAX_WINDOW_ROWS)
		return false;

	/* The farthest position is the sum of three terms, each of which this keeps below 2^29. */
	const int64_t most = INT64_C(1) << 29;

	for (int i = 0; i < 2; i++)
		if (w->in[i] >= most || w->pad[i] >= most || w->stride[i] >= most ||
		    w->kernel[i] >= most || w->dil[i] >= most || w->end[i] >= most ||
		    (w->out[i] - 1) * w->stride[i] >= most ||
		    (w->kernel[i] - 1) * w->dil[i] >= most)
			return false;
	return true;
}

bool
qn_window_has_empty(int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t dil,
		    int64_t pad)
{
	/* Windows move to the right: the first may end before the image, the last begin behind. */
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
	for (int i = 0; i < 2; i++)
		if (w->end[i] == 0 && qn_window_has_empty(w->in[i], w->out[i], w->kernel[i],
							  w->stride[i], w->dil[i], w->pad[i]))
			return true;
	return false;
}
