/* SPDX-License-Identifier: Apache-2.0 */
/* infer_conv.c - types of conv2d and conv1d.
 *
 *   x [N,H,W,I]   w [O,kh,kw,I/groups]   bias [O]   ->   [N,OH,OW,O]
 *   x [N,W,I]     w [O,k,I/groups]       bias [O]   ->   [N,OW,O]
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

bool
qn_infer_groups(const qn_graph *g, const qn_node *n, int64_t groups, int64_t in, int64_t out,
		int64_t each)
{
	bool ok = true;

	if (in != QN_DYNAMIC && each != QN_DYNAMIC && (in % groups != 0 || in / groups != each))
		ok = qn_infer_error(g, n, "shape.channels",
				    "the data has %lld channels in %lld groups, the weights '%s' "
				    "take %lld a group",
				    (long long)in, (long long)groups,
				    qn_graph_node(g, n->in[1])->name, (long long)each);
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
attributes_ok(const qn_graph *g, const qn_node *n)
{
	const qn_attrs_conv2d *a = &n->attr->conv2d;
	bool ok = qn_infer_range(g, n, "stride", 2, a->stride, 1);

	ok = qn_infer_range(g, n, "dilation", 2, a->dilation, 1) && ok;
	ok = qn_infer_range(g, n, "groups", 1, &a->groups, 1) && ok;
	return qn_infer_pads(g, n, a->padding, 4, a->pad) && ok;
}

/* Height (axis 0) or width (axis 1). */
static bool
window(const qn_graph *g, const qn_node *n, int axis, int64_t in, int64_t kernel, int64_t *out)
{
	qn_window w;

	if (!qn_infer_kernel(g, n, kernel))
		return false;
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
	const qn_elem *e = qn_infer_acc_as(g, n, 3, declared);
	bool ok = attributes_ok(g, n);

	if (e == NULL)
		return NULL;
	ok = qn_infer_rank(g, n, 0, 4) && ok;
	ok = qn_infer_rank(g, n, 1, 4) && ok;
	if (!ok)
		return NULL;
	qn_shape x = qn_infer_shape_of_rank(g, n, 0, 4), w = qn_infer_shape_of_rank(g, n, 1, 4);
	qn_shape y = {.rank = 4};
	ok = qn_infer_groups(g, n, n->attr->conv2d.groups, x.dim[3], w.dim[0], w.dim[3]);
	ok = window(g, n, 0, x.dim[1], w.dim[1], &y.dim[1]) && ok;
	ok = window(g, n, 1, x.dim[2], w.dim[2], &y.dim[2]) && ok;
	if (n->nin == 3)
		ok = qn_infer_vector(g, n, 2, w.dim[0]) && ok;
	y.dim[0] = x.dim[0];
	y.dim[3] = w.dim[0];
	return ok ? qn_infer_result(g, n, e, &y) : NULL;
}

static bool
attributes1_ok(const qn_graph *g, const qn_node *n)
{
	const qn_attrs_conv1d *a = &n->attr->conv1d;
	bool ok = qn_infer_range(g, n, "stride", 1, &a->stride, 1);

	ok = qn_infer_range(g, n, "dilation", 1, &a->dilation, 1) && ok;
	ok = qn_infer_range(g, n, "groups", 1, &a->groups, 1) && ok;
	return qn_infer_pads(g, n, a->padding, 2, a->pad) && ok;
}

const qn_type *
qn_infer_conv1d(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	const qn_elem *e = qn_infer_acc(g, n, 2);
	bool ok = attributes1_ok(g, n);
	qn_window along;

	(void)declared;
	if (e == NULL)
		return NULL;
	ok = qn_infer_rank(g, n, 0, 3) && ok;
	ok = qn_infer_rank(g, n, 1, 3) && ok;
	if (!ok)
		return NULL;
	qn_shape x = qn_infer_shape_of_rank(g, n, 0, 3), w = qn_infer_shape_of_rank(g, n, 1, 3);
	ok = qn_infer_groups(g, n, n->attr->conv1d.groups, x.dim[2], w.dim[0], w.dim[2]);
	if (n->nin == 3)
		ok = qn_infer_vector(g, n, 2, w.dim[0]) && ok;
	if (!qn_infer_kernel(g, n, w.dim[1]) || !ok)
		return NULL;
	if (!qn_window_conv1d(&n->attr->conv1d, x.dim[1], w.dim[1], &along)) {
		(void)qn_infer_error(g, n, "shape.window",
				     "the kernel does not fit: %lld elements over %lld",
				     (long long)w.dim[1], (long long)x.dim[1]);
		return NULL;
	}
	qn_shape y = {3, {x.dim[0], along.out, w.dim[0]}};
	return qn_infer_result(g, n, e, &y);
}
