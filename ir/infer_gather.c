/* SPDX-License-Identifier: Apache-2.0 */
/* infer_gather.c - the types of gather, the parts of an input along one axis in the order of a
 * tensor of indices, and of its kin.
 *
 *   gather {axis=1}             [4,5,6], indices [2,3]     ->   [4,2,3,6]
 *   gather_elements {axis=1}    [4,5], indices [3,2]       ->   [3,2]     y[i,j] = x[i, index[i,j]]
 *   gather {axis=0}             [4,64] of <i4:f32:{0:1, 1:32}, …>, indices [3]   ->   [3,64] of the type that is written
 *   gather_nd                   [4,5,6], indices [3,2]     ->   [3,6]     y[i] = x[index[i,0], index[i,1]]
 *
 * Indices are i32 or i64; below 0 they count from the end. */
#include "ir/infer.h"

bool
qn_infer_index(const qn_graph *g, const qn_node *n, uint32_t i)
{
	const qn_type *t = qn_infer_in(g, n, i);

	if (t->is_tuple)
		return qn_infer_error(g, n, "type.tuple",
				      "an input is a tuple; take a field with `get`");
	if (t->elem->kind != QN_ELEM_PLAIN ||
	    (t->elem->plain != QN_PLAIN_i32 && t->elem->plain != QN_PLAIN_i64))
		return qn_infer_error(g, n, "type.element",
				      "the indices '%s' are %s, must be i32 or i64",
				      qn_graph_node(g, n->in[i])->name, qn_infer_type_text(g, t));
	return true;
}

bool
qn_infer_indexed(const qn_graph *g, const qn_node *n, uint32_t index)
{
	for (uint32_t i = 0; i < n->nin; i++)
		if (qn_infer_in(g, n, i)->is_tuple)
			return qn_infer_error(g, n, "type.tuple",
					      "an input is a tuple; take a field with `get`");
	if (!qn_infer_index(g, n, index))
		return false;
	for (uint32_t i = 0; i < n->nin; i++)
		if (qn_infer_in(g, n, i)->rank < 0)
			return qn_infer_refuse(g, n, "shape.rank", "%s needs inputs of known rank",
					       qn_opinfo_of(n)->name);
	return true;
}

bool
qn_infer_check_indices(const qn_graph *g, const qn_node *n, uint32_t input, int32_t ndim,
		       const int64_t *dim)
{
	const qn_node *index = qn_graph_node(g, n->in[input]);
	int64_t count = qn_type_count(index->type);

	for (int32_t k = 0; k < ndim; k++)
		if (dim[k] == 0 && count != 0)
			return qn_infer_error(g, n, "shape.index", "the axis is empty");
	for (int64_t i = 0; index->op == QN_OP_const && i < count; i++) {
		int64_t at = qn_tensor_i64(index->value, i), d = dim[i % ndim];

		if (d != QN_DYNAMIC && (at < -d || at >= d))
			return qn_infer_error(g, n, "shape.index",
					      "index %lld is %lld, the axis has %lld elements",
					      (long long)i, (long long)at, (long long)d);
	}
	return true;
}

bool
qn_infer_result_rank(const qn_graph *g, const qn_node *n, int32_t rank)
{
	return rank <= QN_MAX_RANK ||
	       qn_infer_error(g, n, "shape.rank",
			      "the result has %d dimensions, at most %d are possible", (int)rank,
			      (int)QN_MAX_RANK);
}

bool
qn_gather_own_scales(const qn_type *x, int64_t axis)
{
	const qn_elem *e = x->elem;

	axis += axis < 0 ? x->rank : 0;
	return !x->is_tuple && e->kind == QN_ELEM_UNIFORM &&
	       (e->gran == QN_SUB_CHANNEL || (e->gran == QN_PER_AXIS && e->axis[0] == axis));
}

/* What is gathered from values with such scales has one scale of its own. */
static const qn_elem *
gathered(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	const qn_elem *e = qn_infer_in(g, n, 0)->elem;

	if (declared == NULL && e->gran == QN_PER_AXIS)
		(void)qn_infer_error(g, n, "type.axis.merged",
				     "the scales are along axis %d, which gather does not leave as "
				     "it is: write the type of its result, with one scale",
				     (int)e->axis[0]);
	else if (declared == NULL)
		(void)qn_infer_error(g, n, "type.needed",
				     "what is gathered from %s has one scale: write its type",
				     qn_infer_elem_text(g, e));
	else if (!declared->is_tuple && declared->elem->kind == QN_ELEM_UNIFORM &&
		 declared->elem->gran == QN_PER_TENSOR)
		return declared->elem;
	else
		(void)qn_infer_error(g, n, "type.mismatch",
				     "what is gathered from %s has one scale; it is declared %s",
				     qn_infer_elem_text(g, e), qn_infer_type_text(g, declared));
	return NULL;
}

bool
qn_gather_rescales(const qn_graph *g, const qn_node *n)
{
	return n->op == QN_OP_gather &&
	       qn_gather_own_scales(qn_graph_node(g, n->in[0])->type, n->attr->gather.axis);
}

const qn_type *
qn_infer_gather(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	int32_t to[QN_MAX_RANK] = {0}, axis = 0;
	qn_shape y = {0};

	if (!qn_infer_indexed(g, n, 1))
		return NULL;
	qn_shape x = qn_shape_of(qn_infer_in(g, n, 0)), index = qn_shape_of(qn_infer_in(g, n, 1));
	if (!qn_infer_result_rank(g, n, x.rank - 1 + index.rank) ||
	    !qn_infer_axis(g, n, n->attr->gather.axis, x.rank, &axis) ||
	    !qn_infer_check_indices(g, n, 1, 1, &x.dim[axis]))
		return NULL;
	for (int32_t i = 0; i < x.rank; i++) {
		to[i] = i == axis ? -1 : y.rank;
		if (i != axis)
			y.dim[y.rank++] = x.dim[i];
		for (int32_t k = 0; i == axis && k < index.rank; k++)
			y.dim[y.rank++] = index.dim[k];
	}
	const qn_elem *e = qn_gather_own_scales(qn_infer_in(g, n, 0), axis)
				   ? gathered(g, n, declared)
				   : qn_infer_mapped_axis(g, n, qn_infer_in(g, n, 0)->elem, to);
	return e != NULL ? qn_infer_result(g, n, e, &y) : NULL;
}

bool
qn_infer_beside(const qn_graph *g, const qn_node *n, int64_t at, const qn_shape *x,
		const qn_shape *index, int32_t *axis)
{
	if (index->rank != x->rank)
		return qn_infer_error(g, n, "shape.rank",
				      "the data has %d dimensions, the indices have %d",
				      (int)x->rank, (int)index->rank);
	if (!qn_infer_axis(g, n, at, x->rank, axis))
		return false;
	for (int32_t i = 0; i < x->rank; i++)
		if (i != *axis && x->dim[i] != QN_DYNAMIC && index->dim[i] > x->dim[i])
			return qn_infer_error(g, n, "shape.index",
					      "the indices have %lld elements along axis %d, the "
					      "data %lld",
					      (long long)index->dim[i], (int)i,
					      (long long)x->dim[i]);
	return qn_infer_check_indices(g, n, 1, 1, &x->dim[*axis]);
}

const qn_type *
qn_infer_gather_elements(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	int32_t to[QN_MAX_RANK], axis = 0;

	(void)declared;
	if (!qn_infer_indexed(g, n, 1))
		return NULL;
	qn_shape x = qn_shape_of(qn_infer_in(g, n, 0)), index = qn_shape_of(qn_infer_in(g, n, 1));
	if (!qn_infer_beside(g, n, n->attr->gather.axis, &x, &index, &axis))
		return NULL;
	for (int32_t i = 0; i < x.rank; i++)
		to[i] = i != axis && x.dim[i] == index.dim[i] ? i : -1;
	const qn_elem *e = qn_infer_mapped_axis(g, n, qn_infer_in(g, n, 0)->elem, to);
	return e != NULL ? qn_infer_result(g, n, e, &index) : NULL;
}

bool
qn_infer_tuples(const qn_graph *g, const qn_node *n, const qn_shape *x, const qn_shape *index,
		int64_t batch, int32_t *length)
{
	int64_t most = x->rank - batch;

	if (index->rank < 1 || batch < 0 || batch >= index->rank || batch > x->rank)
		return qn_infer_error(
			g, n, "shape.rank",
			"the indices have %d dimensions, the data %d, batch_dims is %lld",
			(int)index->rank, (int)x->rank, (long long)batch);
	for (int32_t i = 0; i < (int32_t)batch; i++)
		if (!qn_dim_fits(x->dim[i], index->dim[i]))
			return qn_infer_error(g, n, "shape.index",
					      "axis %d has %lld elements in the data, %lld in the "
					      "indices",
					      (int)i, (long long)x->dim[i],
					      (long long)index->dim[i]);
	if (index->dim[index->rank - 1] < 1 || index->dim[index->rank - 1] > most)
		return qn_infer_error(
			g, n, "shape.index",
			"the last dimension of the indices is %lld, must be in 1..%lld and known",
			(long long)index->dim[index->rank - 1], (long long)most);
	*length = (int32_t)index->dim[index->rank - 1];
	return qn_infer_check_indices(g, n, 1, *length, x->dim + batch);
}

const qn_type *
qn_infer_gather_nd(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	int32_t to[QN_MAX_RANK], batch, length = 0;

	(void)declared;
	if (!qn_infer_indexed(g, n, 1))
		return NULL;
	qn_shape x = qn_shape_of(qn_infer_in(g, n, 0)), y = qn_shape_of(qn_infer_in(g, n, 1));
	if (!qn_infer_tuples(g, n, &x, &y, n->attr->gather_nd.batch_dims, &length))
		return NULL;
	batch = (int32_t)n->attr->gather_nd.batch_dims;
	if (!qn_infer_result_rank(g, n, y.rank - 1 + x.rank - batch - length))
		return NULL;
	y.rank--;
	for (int32_t i = 0; i < x.rank; i++) {
		to[i] = i < batch && x.dim[i] == y.dim[i] ? i : -1;
		if (i < batch + length)
			continue;
		to[i] = y.rank;
		y.dim[y.rank++] = x.dim[i];
	}
	const qn_elem *e = qn_infer_mapped_axis(g, n, qn_infer_in(g, n, 0)->elem, to);
	return e != NULL ? qn_infer_result(g, n, e, &y) : NULL;
}
