/* SPDX-License-Identifier: Apache-2.0 */
/* impl_view.c - squeeze, expand_dims, slice, expand, tile, reverse: results that are views of the input
 * (view.h). */
#include "ir/reduce.h"
#include "ir/slice.h"
#include "runtime/view.h"

static int64_t
stride_of(const qn_type *t, int32_t axis)
{
	return qn_dim_product(t, axis + 1, t->rank);
}

static void
squeeze_view(const qn_graph *g, const qn_node *n, uint32_t part, qn_view *v)
{
	(void)g;
	(void)part;
	qn_view_add(v, qn_static_count(n->type), 1);
}

static void
expand_dims_view(const qn_graph *g, const qn_node *n, uint32_t part, qn_view *v)
{
	squeeze_view(g, n, part, v);
}

static void
slice_view(const qn_graph *g, const qn_node *n, uint32_t part, qn_view *v)
{
	const qn_attrs_slice *a = &n->attr->slice;
	const qn_type *in = qn_in_type(g, n, 0);

	(void)part;
	for (int32_t i = 0; i < in->rank; i++) {
		int64_t first, count, step = qn_slice_step(a, i);

		qn_slice_resolve(in->dim[i], a->begin.v[i], a->end.v[i], step, &first, &count);
		v->start += first * stride_of(in, i);
		qn_view_add(v, count, step * stride_of(in, i));
	}
}

static void
expand_view(const qn_graph *g, const qn_node *n, uint32_t part, qn_view *v)
{
	const qn_type *in = qn_in_type(g, n, 0), *out = n->type;

	(void)part;
	for (int32_t i = 0; i < out->rank; i++) {
		int32_t k = i - (out->rank - in->rank);
		bool repeats = k < 0 || in->dim[k] == 1;

		qn_view_add(v, out->dim[i], repeats ? 0 : stride_of(in, k));
	}
}

static void
tile_view(const qn_graph *g, const qn_node *n, uint32_t part, qn_view *v)
{
	const qn_type *in = qn_in_type(g, n, 0);

	(void)part;
	for (int32_t i = 0; i < in->rank; i++) {
		qn_view_add(v, n->attr->tile.repeats.v[i], 0);
		qn_view_add(v, in->dim[i], stride_of(in, i));
	}
}

static void
reverse_view(const qn_graph *g, const qn_node *n, uint32_t part, qn_view *v)
{
	const qn_type *in = qn_in_type(g, n, 0);
	const qn_list *axes = &n->attr->axes.axes;
	uint32_t mask = axes->n > 0 ? qn_reduce_mask(axes, in->rank) : 0;

	(void)part;
	for (int32_t i = 0; i < in->rank; i++) {
		int64_t step = stride_of(in, i);
		bool turned = (mask >> i & 1U) != 0;

		v->start += turned ? (in->dim[i] - 1) * step : 0;
		qn_view_add(v, in->dim[i], turned ? -step : step);
	}
}

QN_VIEW_IMPL(squeeze)
QN_VIEW_IMPL(expand_dims)
QN_VIEW_IMPL(slice)
QN_VIEW_IMPL(expand)
QN_VIEW_IMPL(tile)
QN_VIEW_IMPL(reverse)

/* Its elements are parameters, which are never quantized. */
const qn_impl qn_impl_expand_dims_like = {.real = expand_dims_real, .plain = expand_dims_plain};
