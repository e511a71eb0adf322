/* SPDX-License-Identifier: Apache-2.0 */
/* infer_conv.c - type of conv2d.
 *
 *   x [N,H,W,I]   w [O,kh,kw,I/groups]   bias [O]   ->   [N,OH,OW,O]
 *
 * groups == I is a depthwise convolution. */
#include "ir/infer.h"

#include "ir/window.h"

static bool
attributes_ok(const qn_graph *g, const qn_node *n)
{
	const qn_attrs_conv2d *a = &n->attr->conv2d;
	bool ok = qn_infer_range(g, n, "stride", 2, a->stride, 1);

	ok = qn_infer_range(g, n, "dilation", 2, a->dilation, 1) && ok;
	ok = qn_infer_range(g, n, "pad", 4, a->pad, 0) && ok;
	ok = qn_infer_range(g, n, "groups", 1, &a->groups, 1) && ok;
	if (a->padding != QN_PADDING_explicit &&
	    (a->pad[0] | a->pad[1] | a->pad[2] | a->pad[3]) != 0)
		ok = qn_infer_error(g, n, "attr.value",
				    "pad is given although padding is %s; leave one out",
				    qn_enum_table[QN_ENUM_padding].names[a->padding]);
	return ok;
}

/* Channels in, channels out and groups fit. */
static bool
channels_ok(const qn_graph *g, const qn_node *n, int64_t in, const int64_t *w)
{
	int64_t groups = n->attr->conv2d.groups;
	bool ok = true;

	if (in != QN_DYNAMIC && w[3] != QN_DYNAMIC && (in % groups != 0 || in / groups != w[3]))
		ok = qn_infer_error(g, n, "shape.channels",
				    "the data has %lld channels in %lld groups, the weights '%s' "
				    "take %lld a group",
				    (long long)in, (long long)groups, g->node[n->in[1]].name,
				    (long long)w[3]);
	if (w[0] != QN_DYNAMIC && w[0] % groups != 0)
		ok = qn_infer_error(g, n, "shape.channels",
				    "%lld output channels cannot be split into %lld groups",
				    (long long)w[0], (long long)groups);
	return ok;
}

/* Height (axis 0) or width (axis 1). */
static bool
window(const qn_graph *g, const qn_node *n, int axis, int64_t in, int64_t kernel, int64_t *out)
{
	qn_window w;

	if (kernel != QN_DYNAMIC && (kernel < 1 || kernel > QN_WINDOW_MAX))
		return qn_infer_error(g, n, "shape.window", "the kernel is %lld elements %s",
				      (long long)kernel, axis == 0 ? "high" : "wide");
	if (!qn_window_conv2d(&n->attr->conv2d, axis, in, kernel, &w))
		return qn_infer_error(
			g, n, "shape.window",
			"the window spans %lld %s (kernel %lld, dilation %lld), the input has %lld "
			"and "
			"padding %s",
			(long long)((kernel - 1) * n->attr->conv2d.dilation[axis] + 1),
			axis == 0 ? "rows" : "columns", (long long)kernel,
			(long long)n->attr->conv2d.dilation[axis], (long long)in,
			qn_enum_table[QN_ENUM_padding].names[n->attr->conv2d.padding]);
	*out = w.out;
	return true;
}

const qn_type *
qn_infer_conv2d(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	static const qn_shape unknown = {4, {QN_DYNAMIC, QN_DYNAMIC, QN_DYNAMIC, QN_DYNAMIC}};
	const qn_elem *e = qn_infer_acc(g, n, 3);
	bool ok = attributes_ok(g, n);

	(void)declared;
	if (e == NULL)
		return NULL;
	ok = qn_infer_rank(g, n, 0, 4) && ok;
	ok = qn_infer_rank(g, n, 1, 4) && ok;
	if (!ok)
		return NULL;
	qn_shape x = qn_infer_in(g, n, 0)->rank == 4 ? qn_shape_of(qn_infer_in(g, n, 0)) : unknown;
	qn_shape w = qn_infer_in(g, n, 1)->rank == 4 ? qn_shape_of(qn_infer_in(g, n, 1)) : unknown;
	qn_shape y = {.rank = 4};
	ok = channels_ok(g, n, x.dim[3], w.dim);
	ok = window(g, n, 0, x.dim[1], w.dim[1], &y.dim[1]) && ok;
	ok = window(g, n, 1, x.dim[2], w.dim[2], &y.dim[2]) && ok;
	if (n->nin == 3)
		ok = qn_infer_vector(g, n, 2, w.dim[0]) && ok;
	y.dim[0] = x.dim[0];
	y.dim[3] = w.dim[0];
	return ok ? qn_infer_result(g, n, e, &y) : NULL;
}
