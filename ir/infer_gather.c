/* SPDX-License-Identifier: Apache-2.0 */
/* infer_gather.c - the type of gather: the parts of an input along one axis, in the order of a
 * tensor of indices.
 *
 *   gather {axis=1}   [4,5,6], indices [2,3]   ->   [4,2,3,6]
 *
 * Indices are i32 or i64; below 0 they count from the end. */
#include "ir/infer.h"

static bool
is_index(const qn_type *t)
{
	return !t->is_tuple && t->elem->kind == QN_ELEM_PLAIN &&
	       (t->elem->plain == QN_PLAIN_i32 || t->elem->plain == QN_PLAIN_i64);
}

static bool
operands_ok(const qn_graph *g, const qn_node *n)
{
	const qn_type *x = qn_infer_in(g, n, 0), *index = qn_infer_in(g, n, 1);

	if (x->is_tuple || index->is_tuple)
		return qn_infer_error(g, n, "type.tuple",
				      "an input is a tuple; take a field with `get`");
	if (!is_index(index))
		return qn_infer_error(
			g, n, "type.element", "the indices '%s' are %s, must be i32 or i64",
			qn_graph_node(g, n->in[1])->name, qn_infer_type_text(g, index));
	if (x->rank < 0 || index->rank < 0)
		return qn_infer_refuse(g, n, "shape.rank", "gather needs inputs of known rank");
	if (x->rank - 1 + index->rank > QN_MAX_RANK)
		return qn_infer_error(g, n, "shape.rank",
				      "the result has %d dims, at most %d are possible",
				      (int)(x->rank - 1 + index->rank), (int)QN_MAX_RANK);
	return true;
}

/* Constant indices lie on the axis; so does none on an empty one. */
static bool
indices_ok(const qn_graph *g, const qn_node *n, int64_t dim)
{
	const qn_node *index = qn_graph_node(g, n->in[1]);

	if (dim == QN_DYNAMIC)
		return true;
	if (dim == 0 && qn_type_count(index->type) != 0)
		return qn_infer_error(g, n, "shape.index", "the axis is empty");
	for (int64_t i = 0; index->op == QN_OP_const && i < qn_type_count(index->type); i++) {
		int64_t at = qn_tensor_i64(index->value, i);

		if (at < -dim || at >= dim)
			return qn_infer_error(g, n, "shape.index",
					      "index %lld is %lld, the axis has %lld elements",
					      (long long)i, (long long)at, (long long)dim);
	}
	return true;
}

const qn_type *
qn_infer_gather(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	int32_t to[QN_MAX_RANK] = {0}, axis = 0;
	qn_shape y = {0};

	(void)declared;
	if (!operands_ok(g, n))
		return NULL;
	qn_shape x = qn_shape_of(qn_infer_in(g, n, 0)), index = qn_shape_of(qn_infer_in(g, n, 1));
	if (!qn_infer_axis(g, n, n->attr->gather.axis, x.rank, &axis) ||
	    !indices_ok(g, n, x.dim[axis]))
		return NULL;
	for (int32_t i = 0; i < x.rank; i++) {
		to[i] = i == axis ? -1 : y.rank;
		if (i != axis)
			y.dim[y.rank++] = x.dim[i];
		for (int32_t k = 0; i == axis && k < index.rank; k++)
			y.dim[y.rank++] = index.dim[k];
	}
	const qn_elem *e = qn_infer_kept_axis(g, n, qn_infer_in(g, n, 0)->elem, to);
	return e != NULL ? qn_infer_result(g, n, e, &y) : NULL;
}
