/* SPDX-License-Identifier: Apache-2.0 */
/* infer_split.c - types of depth_to_space, space_to_depth and split, which split dims.
 *
 *   depth_to_space {block=2}      [1,2,2,8] -> [1,4,4,2]          space_to_depth the other way
 *   split {axis=1, sizes=[1,2]}   [2,3] -> tuple of [2,1], [2,2] */
#include "ir/infer.h"

/* d is a multiple of k; the quotient, or unknown. */
static bool
divide(const qn_graph *g, const qn_node *n, const char *what, int64_t k, int64_t *d)
{
	if (*d == QN_DYNAMIC)
		return true;
	if (*d % k != 0)
		return qn_infer_error(g, n, "shape.block", "the %s %lld is not a multiple of %lld",
				      what, (long long)*d, (long long)k);
	*d /= k;
	return true;
}

/* d times k, at most what qn_infer_size refuses. */
static void
multiply(int64_t k, int64_t *d)
{
	if (*d != QN_DYNAMIC)
		*d = *d > QN_MAX_COUNT / k ? QN_MAX_COUNT + 1 : *d * k;
}

/* Blocks are at most 2^15, so that their square fits everywhere. */
static const qn_type *
infer_block(const qn_graph *g, const qn_node *n, int64_t block, bool to_space)
{
	static const int32_t to[QN_MAX_RANK] = {0, -1, -1, -1, -1, -1, -1, -1};
	const qn_elem *e = qn_infer_same(g, n);
	bool ok = e != NULL && qn_infer_rank(g, n, 0, 4);

	if (block < 1 || block > 1 << 15)
		ok = qn_infer_error(g, n, "attr.value", "block is %lld, must be in 1..32768",
				    (long long)block);
	if (!ok)
		return NULL;
	qn_shape x = qn_shape_of(qn_infer_in(g, n, 0));
	if (x.rank < 0)
		x = (qn_shape){4, {QN_DYNAMIC, QN_DYNAMIC, QN_DYNAMIC, QN_DYNAMIC}};
	if (to_space) {
		ok = divide(g, n, "number of channels", block * block, &x.dim[3]);
		multiply(block, &x.dim[1]);
		multiply(block, &x.dim[2]);
	} else {
		ok = divide(g, n, "height", block, &x.dim[1]);
		ok = divide(g, n, "width", block, &x.dim[2]) && ok;
		multiply(block * block, &x.dim[3]);
	}
	e = ok ? qn_infer_mapped_axis(g, n, e, to) : NULL;
	return e != NULL ? qn_infer_result(g, n, e, &x) : NULL;
}

const qn_type *
qn_infer_depth_to_space(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	(void)declared;
	return infer_block(g, n, n->attr->depth_to_space.block, true);
}

const qn_type *
qn_infer_space_to_depth(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	(void)declared;
	return infer_block(g, n, n->attr->space_to_depth.block, false);
}

/* The sizes add up to the dim, where it is known. */
static bool
sizes_fit(const qn_graph *g, const qn_node *n, int64_t dim)
{
	const qn_list *sizes = &n->attr->split.sizes;
	int64_t sum = 0;

	if (sizes->n == 0)
		return qn_infer_error(g, n, "attr.value", "sizes names no part");
	if (!qn_infer_range(g, n, "sizes", sizes->n, sizes->v, 1))
		return false;
	for (int32_t i = 0; i < sizes->n; i++)
		sum += sizes->v[i];
	return dim == QN_DYNAMIC || sum == dim ||
	       qn_infer_error(g, n, "shape.split", "the sizes add up to %lld, the axis has %lld",
			      (long long)sum, (long long)dim);
}

const qn_type *
qn_infer_split(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	const qn_attrs_split *a = &n->attr->split;
	const qn_elem *e = qn_infer_same(g, n);
	const qn_type *field[QN_MAX_RANK];
	int32_t to[QN_MAX_RANK], axis = 0;

	(void)declared;
	if (e == NULL)
		return NULL;
	qn_shape x = qn_shape_of(qn_infer_in(g, n, 0));
	if (x.rank < 0) {
		(void)qn_infer_refuse(g, n, "shape.rank", "split needs an input of known rank");
		return NULL;
	}
	if (!qn_infer_axis(g, n, a->axis, x.rank, &axis) || !sizes_fit(g, n, x.dim[axis]))
		return NULL;
	for (int32_t i = 0; i < x.rank; i++)
		to[i] = i == axis ? -1 : i;
	e = qn_infer_mapped_axis(g, n, e, to);
	for (int32_t k = 0; e != NULL && k < a->sizes.n; k++) {
		x.dim[axis] = a->sizes.v[k];
		field[k] = qn_infer_result(g, n, e, &x);
		if (field[k] == NULL)
			return NULL;
	}
	return e != NULL ? qn_type_tuple(&g->model->types, (uint32_t)a->sizes.n, field) : NULL;
}
