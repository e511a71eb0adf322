/* SPDX-License-Identifier: Apache-2.0 */
/* infer_conv3d.c - type of conv3d.
 *
 *   x [N,D,H,W,I]   w [O,kd,kh,kw,I/groups]   bias [O]   ->   [N,OD,OH,OW,O] */
#include "ir/infer.h"
#include "ir/window.h"

static bool
attributes_ok(const qn_graph *g, const qn_node *n)
{
	const qn_attrs_conv3d *a = &n->attr->conv3d;
	bool ok = qn_infer_range(g, n, "stride", 3, a->stride, 1);

	ok = qn_infer_range(g, n, "dilation", 3, a->dilation, 1) && ok;
	ok = qn_infer_range(g, n, "groups", 1, &a->groups, 1) && ok;
	return qn_infer_pads(g, n, a->padding, 6, a->pad) && ok;
}

/* The size of the result along each axis of the windows. */
static bool
sizes(const qn_graph *g, const qn_node *n, const qn_shape *x, const qn_shape *w, qn_shape *y)
{
	static const char *const names[3] = {"slices", "rows", "columns"};
	const qn_attrs_conv3d *a = &n->attr->conv3d;
	bool ok = true;

	for (int i = 0; i < 3; i++) {
		int64_t in = x->dim[1 + i], kernel = w->dim[1 + i];
		qn_window along;

		if (!qn_infer_kernel(g, n, kernel)) {
			ok = false;
			continue;
		}
		if (!qn_window_resolve(a->padding, in, kernel, a->stride[i], a->dilation[i],
				       a->pad + (ptrdiff_t)i * 2, &along))
			ok = qn_infer_error(g, n, "shape.window",
					    "the window spans %lld %s, the input has %lld",
					    (long long)((kernel - 1) * a->dilation[i] + 1),
					    names[i], (long long)in);
		y->dim[1 + i] = along.out;
	}
	return ok;
}

const qn_type *
qn_infer_conv3d(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	const qn_elem *e = qn_infer_acc(g, n, 4);
	bool ok = attributes_ok(g, n);

	(void)declared;
	if (e == NULL)
		return NULL;
	ok = qn_infer_rank(g, n, 0, 5) && ok;
	ok = qn_infer_rank(g, n, 1, 5) && ok;
	if (!ok)
		return NULL;
	qn_shape x = qn_infer_shape_of_rank(g, n, 0, 5), w = qn_infer_shape_of_rank(g, n, 1, 5);
	qn_shape y = {.rank = 5};
	ok = qn_infer_groups(g, n, n->attr->conv3d.groups, x.dim[4], w.dim[0], w.dim[4]);
	ok = sizes(g, n, &x, &w, &y) && ok;
	if (n->nin == 3)
		ok = qn_infer_vector(g, n, 2, w.dim[0]) && ok;
	y.dim[0] = x.dim[0];
	y.dim[4] = w.dim[0];
	return ok ? qn_infer_result(g, n, e, &y) : NULL;
}
