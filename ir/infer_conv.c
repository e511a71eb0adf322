/* SPDX-License-Identifier: Apache-2.0 */
/* infer_conv.c - types of conv1d, conv2d and conv3d, and what the other convolutions share.
 *
 *   x [N,W,I]       w [O,k,I/groups]          bias [O]   ->   [N,OW,O]
 *   x [N,H,W,I]     w [O,kh,kw,I/groups]      bias [O]   ->   [N,OH,OW,O]
 *   x [N,D,H,W,I]   w [O,kd,kh,kw,I/groups]   bias [O]   ->   [N,OD,OH,OW,O]
 *
 * groups == I is a depthwise convolution. */
#include "ir/infer.h"

#include "ir/window.h"

bool
qn_infer_pads(const qn_graph *g, const qn_node *n, int32_t padding, int32_t count,
	      const int64_t *pad)
{
	int64_t any = 0;

	if (!qn_infer_range(g, n, "pad", count, pad, 0))
		return false;
	for (int32_t i = 0; i < count; i++)
		any |= pad[i];
	return padding == QN_PADDING_explicit || any == 0 ||
	       qn_infer_error(g, n, "attr.value",
			      "pad is given although padding is %s; leave one out",
			      qn_enum_table[QN_ENUM_padding].names[padding]);
}

/* Where another axis of the weights has as many elements as the data has channels in a group. */
static const char *
layout_hint(const qn_type *w, int64_t channels)
{
	const bool moved = w->rank == 4 && (w->dim[1] == channels || w->dim[2] == channels);

	return moved ? "; weights are [out, height, width, in / groups]: transpose them" : "";
}

bool
qn_infer_groups(const qn_graph *g, const qn_node *n, int64_t groups, int64_t in, int64_t out,
		int64_t each)
{
	bool ok = true;

	if (in != QN_DYNAMIC && each != QN_DYNAMIC && (in % groups != 0 || in / groups != each))
		ok = qn_infer_error(g, n, "shape.channels",
				    "the data has %lld channels in %lld groups, the weights '%s' "
				    "take %lld per group%s",
				    (long long)in, (long long)groups,
				    qn_graph_node(g, n->in[1])->name, (long long)each,
				    layout_hint(qn_infer_in(g, n, 1), in / groups));
	if (out != QN_DYNAMIC && out % groups != 0)
		ok = qn_infer_error(g, n, "shape.channels",
				    "%lld output channels cannot be split into %lld groups",
				    (long long)out, (long long)groups);
	return ok;
}

qn_shape
qn_infer_shape_of_rank(const qn_graph *g, const qn_node *n, uint32_t i, int32_t rank)
{
	qn_shape s = {.rank = rank};

	if (qn_infer_in(g, n, i)->rank == rank)
		return qn_shape_of(qn_infer_in(g, n, i));
	for (int32_t k = 0; k < rank; k++)
		s.dim[k] = QN_DYNAMIC;
	return s;
}

bool
qn_infer_kernel(const qn_graph *g, const qn_node *n, int64_t kernel)
{
	return kernel == QN_DYNAMIC || (kernel >= 1 && kernel <= QN_WINDOW_MAX) ||
	       qn_infer_error(g, n, "shape.window", "the kernel is %lld elements long",
			      (long long)kernel);
}

static bool
attributes_ok(const qn_graph *g, const qn_node *n, const qn_convolving *c)
{
	bool ok = qn_infer_range(g, n, "stride", c->axes, c->stride, 1);

	ok = qn_infer_range(g, n, "dilation", c->axes, c->dilation, 1) && ok;
	ok = qn_infer_range(g, n, "groups", 1, &c->groups, 1) && ok;
	return qn_infer_pads(g, n, c->padding, c->axes * 2, c->pad) && ok;
}

/* The number of windows along an axis, in *out. */
static bool
window(const qn_graph *g, const qn_node *n, const qn_convolving *c, int axis, int64_t in,
       int64_t kernel, int64_t *out)
{
	static const char *const names[] = {"slices", "rows", "columns"};
	qn_window w;

	if (!qn_infer_kernel(g, n, kernel))
		return false;
	if (!qn_window_conv(c, axis, in, kernel, &w))
		return qn_infer_error(
			g, n, "shape.window",
			"the window spans %lld %s (kernel %lld, dilation %lld), the input has %lld "
			"and padding %s",
			(long long)((kernel - 1) * c->dilation[axis] + 1),
			names[axis + 3 - c->axes], (long long)kernel, (long long)c->dilation[axis],
			(long long)in, qn_enum_table[QN_ENUM_padding].names[c->padding]);
	*out = w.out;
	return true;
}

/* Channels are the last axis, after those of the windows. */
static const qn_type *
convolution(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	const qn_convolving c = qn_convolving_of(n);
	const int32_t channel = c.axes + 1, rank = c.axes + 2;
	const qn_elem *e = qn_infer_acc_as(g, n, channel, declared);
	bool ok = attributes_ok(g, n, &c);

	if (e == NULL)
		return NULL;
	ok = qn_infer_rank(g, n, 0, rank) && ok;
	ok = qn_infer_rank(g, n, 1, rank) && ok;
	if (!ok)
		return NULL;
	qn_shape x = qn_infer_shape_of_rank(g, n, 0, rank);
	qn_shape w = qn_infer_shape_of_rank(g, n, 1, rank);
	qn_shape y = {.rank = rank};
	ok = qn_infer_groups(g, n, c.groups, x.dim[channel], w.dim[0], w.dim[channel]);
	for (int i = 0; i < c.axes; i++)
		ok = window(g, n, &c, i, x.dim[1 + i], w.dim[1 + i], &y.dim[1 + i]) && ok;
	if (n->nin == 3)
		ok = qn_infer_vector(g, n, 2, w.dim[0]) && ok;
	y.dim[0] = x.dim[0];
	y.dim[channel] = w.dim[0];
	return ok ? qn_infer_result(g, n, e, &y) : NULL;
}

const qn_type *
qn_infer_conv1d(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	return convolution(g, n, declared);
}

const qn_type *
qn_infer_conv2d(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	return convolution(g, n, declared);
}

const qn_type *
qn_infer_conv3d(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	return convolution(g, n, declared);
}
