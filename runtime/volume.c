/* SPDX-License-Identifier: Apache-2.0 */
/* volume.c - windows with three axes, from the types and attributes of a node whose shape rule has
 * passed (geometry.h). */
#include "ir/window.h"
#include "runtime/geometry.h"

static qn_volume
volume(const qn_type *in, const qn_type *out)
{
	qn_volume w = {
		.batch = in->dim[0],
		.in_c = in->dim[4],
		.out_c = out->dim[4],
		.groups = 1,
	};

	for (int i = 0; i < 3; i++) {
		w.in[i] = in->dim[1 + i];
		w.out[i] = out->dim[1 + i];
	}
	return w;
}

qn_volume
qn_volume_conv3d(const qn_graph *g, const qn_node *n)
{
	const qn_attrs_conv3d *a = &n->attr->conv3d;
	const qn_type *weights = qn_graph_node(g, n->in[1])->type;
	qn_volume w = volume(qn_graph_node(g, n->in[0])->type, n->type);

	w.groups = a->groups;
	for (int i = 0; i < 3; i++) {
		qn_window along;

		w.kernel[i] = weights->dim[1 + i];
		w.stride[i] = a->stride[i];
		w.dil[i] = a->dilation[i];
		(void)qn_window_resolve(a->padding, w.in[i], w.kernel[i], w.stride[i], w.dil[i],
					a->pad + (ptrdiff_t)i * 2, &along);
		w.pad[i] = along.before;
	}
	return w;
}

qn_volume
qn_volume_pool3d(const qn_graph *g, const qn_node *n)
{
	const qn_pooling p = qn_pooling_of(n);
	qn_volume w = volume(qn_graph_node(g, n->in[0])->type, n->type);

	for (int i = 0; i < 3; i++) {
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
qn_volume_is_small(const qn_volume *w)
{
	const int64_t most = INT64_C(1) << 29; /* as for qn_geometry_is_small */

	for (int i = 0; i < 3; i++)
		if (w->in[i] >= most || w->pad[i] >= most || w->stride[i] >= most ||
		    w->kernel[i] >= most || w->dil[i] >= most || w->end[i] >= most ||
		    (w->out[i] - 1) * w->stride[i] >= most ||
		    (w->kernel[i] - 1) * w->dil[i] >= most)
			return false;
	return true;
}

bool
qn_volume_has_empty(const qn_volume *w)
{
	for (int i = 0; i < 3; i++)
		if (w->end[i] == 0 && qn_window_has_empty(w->in[i], w->out[i], w->kernel[i],
							  w->stride[i], w->dil[i], w->pad[i]))
			return true;
	return false;
}
