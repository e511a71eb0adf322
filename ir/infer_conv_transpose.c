/* SPDX-License-Identifier: Apache-2.0 */
/* infer_conv_transpose.c - type of conv2d_transpose.
 *
 *   x [N,H,W,I]   w [O,kh,kw,I/groups]   bias [O]   ->   [N,OH,OW,O]
 *
 * Each input position adds a kernel to the output, `stride` apart (sizes: window.h). */
#include "ir/infer.h"
#include "ir/window.h"

static bool
attributes_ok(const qn_graph *g, const qn_node *n)
{
	const qn_attrs_conv2d_transpose *a = &n->attr->conv2d_transpose;
	bool ok = qn_infer_range(g, n, "stride", 2, a->stride, 1);

	ok = qn_infer_range(g, n, "dilation", 2, a->dilation, 1) && ok;
	ok = qn_infer_range(g, n, "output_padding", 2, a->output_padding, 0) && ok;
	ok = qn_infer_range(g, n, "groups", 1, &a->groups, 1) && ok;
	ok = qn_infer_pads(g, n, a->padding, 4, a->pad) && ok;
	for (int i = 0; ok && i < 2; i++) {
		if (a->output_padding[i] >= a->stride[i])
			ok = qn_infer_error(g, n, "attr.value",
					    "output_padding is %lld, must be less than the stride "
					    "%lld",
					    (long long)a->output_padding[i],
					    (long long)a->stride[i]);
		else if (a->output_padding[i] != 0 && a->padding == QN_PADDING_same)
			ok = qn_infer_error(g, n, "attr.value",
					    "output_padding is given although padding is same; "
					    "leave one out");
	}
	return ok;
}

const qn_type *
qn_infer_conv2d_transpose(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	const qn_attrs_conv2d_transpose *a = &n->attr->conv2d_transpose;
	const qn_elem *e = qn_infer_acc_as(g, n, 3, declared);
	bool ok = attributes_ok(g, n);

	if (e == NULL)
		return NULL;
	ok = qn_infer_rank(g, n, 0, 4) && ok;
	ok = qn_infer_rank(g, n, 1, 4) && ok;
	if (!ok)
		return NULL;
	qn_shape x = qn_infer_shape_of_rank(g, n, 0, 4), w = qn_infer_shape_of_rank(g, n, 1, 4);
	qn_shape y = {4, {x.dim[0], QN_DYNAMIC, QN_DYNAMIC, w.dim[0]}};
	ok = qn_infer_groups(g, n, a->groups, x.dim[3], w.dim[0], w.dim[3]);
	for (int i = 0; i < 2; i++) {
		qn_window along;

		if (!qn_infer_kernel(g, n, w.dim[1 + i])) {
			ok = false;
			continue;
		}
		if (!qn_window_transpose(a, i, x.dim[1 + i], w.dim[1 + i], &along))
			ok = qn_infer_error(g, n, "shape.window",
					    "the result has no %s: %lld elements by a kernel of "
					    "%lld",
					    i == 0 ? "rows" : "columns", (long long)x.dim[1 + i],
					    (long long)w.dim[1 + i]);
		y.dim[1 + i] = along.out;
	}
	if (n->nin == 3)
		ok = qn_infer_vector(g, n, 2, w.dim[0]) && ok;
	return ok ? qn_infer_result(g, n, e, &y) : NULL;
}
