/* SPDX-License-Identifier: Apache-2.0 */
/* compose.c - small compositions that both readers need. */
#include "import/importer.h"

#include "ir/graph.h"

qn_id
qn_importer_reshape(qn_importer *im, qn_id x, int32_t rank, const int64_t *dim)
{
	qn_attrs a = {0};

	if (x == 0)
		return 0;
	if (rank > QN_MAX_RANK)
		return qn_importer_refuse(im, "import.rank",
					  "a reshape to %d dimensions; at most %d are possible",
					  (int)rank, (int)QN_MAX_RANK);
	a.shape.shape.n = rank;
	for (int32_t i = 0; i < rank; i++)
		a.shape.shape.v[i] = dim[i];
	return qn_importer_op(im, QN_OP_reshape, 1, &x, &a, NULL);
}

/* The quantized constant that x dequantizes; 0: x is something else. */
static qn_id
dequantized_const(const qn_importer *im, qn_id x)
{
	const qn_node *n = qn_graph_node(im->g, x);

	return n->op == QN_OP_dequantize && qn_importer_known(im, n->in[0]) != NULL ? n->in[0] : 0;
}

qn_id
qn_importer_transpose(qn_importer *im, qn_id x, const int64_t *perm)
{
	qn_attrs a = {0};
	bool moves = false;
	uint32_t seen = 0;

	if (x == 0)
		return 0;
	a.perm.perm.n = qn_importer_type(im, x)->rank;
	for (int32_t i = 0; i < a.perm.perm.n; i++) {
		a.perm.perm.v[i] = perm[i];
		moves = moves || perm[i] != i;
		seen |= perm[i] >= 0 && perm[i] < a.perm.perm.n ? 1U << perm[i] : 0;
	}
	qn_id quantized = dequantized_const(im, x), known = quantized != 0 ? quantized : x;
	if (moves && seen == (1U << a.perm.perm.n) - 1 && qn_importer_known(im, known) != NULL &&
	    qn_importer_type(im, known)->elem->gran != QN_SUB_CHANNEL) {
		known = qn_importer_permuted(im, known, perm);
		return quantized == 0 ? known
				      : qn_importer_op_unfolded(im, QN_OP_dequantize, 1, &known,
								NULL, NULL);
	}
	return moves ? qn_importer_op(im, QN_OP_transpose, 1, &x, &a, NULL) : x;
}

/* Axes that a copy of x with these repeats has, where neighbours whose elements follow each other are one; those before
 * axis `from` are not repeated. */
static int32_t
axes_of_tile(const qn_type *x, const int64_t *repeats, int32_t from)
{
	enum { NOTHING, REPEAT, ELEMENTS } last = NOTHING;
	int32_t n = 0;

	for (int32_t i = 0; i < x->rank; i++) {
		if (i >= from && repeats[i] > 1) {
			n += last != REPEAT;
			last = REPEAT;
		}
		if (x->dim[i] != 1) {
			n += last != ELEMENTS;
			last = ELEMENTS;
		}
	}
	return n;
}

qn_id
qn_importer_tile(qn_importer *im, qn_id x, int32_t n, const int64_t *repeats)
{
	enum { KERNEL_AXES = 6 };
	qn_attrs inner = {0}, outer = {0};
	int32_t from = 0;

	if (x == 0)
		return 0;
	const qn_type *t = qn_importer_type(im, x);
	while (n == t->rank && from + 1 < n && axes_of_tile(t, repeats, from) > KERNEL_AXES)
		from++;
	inner.tile.repeats.n = outer.tile.repeats.n = n;
	for (int32_t i = 0; i < n; i++) {
		inner.tile.repeats.v[i] = i < from ? 1 : repeats[i];
		outer.tile.repeats.v[i] = i < from ? repeats[i] : 1;
	}
	const qn_id y = qn_importer_op(im, QN_OP_tile, 1, &x, &inner, NULL);
	return from == 0 || y == 0 ? y : qn_importer_tile(im, y, n, outer.tile.repeats.v);
}

qn_id
qn_importer_channels_last(qn_importer *im, qn_id x)
{
	int64_t perm[QN_MAX_RANK] = {0};

	if (x == 0)
		return 0;
	int32_t rank = qn_importer_type(im, x)->rank;
	for (int32_t i = 1; i < rank; i++)
		perm[i] = i + 1 < rank ? i + 1 : 1;
	return qn_importer_transpose(im, x, perm);
}

qn_id
qn_importer_channels_first(qn_importer *im, qn_id x)
{
	int64_t perm[QN_MAX_RANK] = {0};

	if (x == 0)
		return 0;
	int32_t rank = qn_importer_type(im, x)->rank;
	for (int32_t i = 1; i < rank; i++)
		perm[i] = i == 1 ? rank - 1 : i - 1;
	return qn_importer_transpose(im, x, perm);
}

/* What a float value is as a truth value: whether it is not 0, which has integer arithmetic. */
static qn_id
as_truth(qn_importer *im, qn_id x)
{
	const qn_node *n = qn_graph_node(im->g, x);

	if (n->op == QN_OP_cast && qn_importer_type(im, n->in[0])->elem->plain == QN_PLAIN_bool)
		return n->in[0];
	return qn_importer_binary(im, QN_OP_not_equal, x, qn_importer_f32(im, 0));
}

qn_id
qn_importer_cast(qn_importer *im, qn_id x, qn_plain to)
{
	if (x == 0)
		return 0;
	if (to == QN_PLAIN_bool && qn_type_is_f32(qn_importer_type(im, x)))
		return as_truth(im, x);
	const qn_type *type = qn_importer_type(im, x);
	const qn_type *want =
		qn_type_with_elem(&im->m->types, type, qn_elem_plain(&im->m->types, to));

	return want == type ? x : qn_importer_op(im, QN_OP_cast, 1, &x, NULL, want);
}

qn_id
qn_importer_expand_dim(qn_importer *im, qn_id x, int32_t axis)
{
	int64_t dim[QN_MAX_RANK + 1];

	if (x == 0)
		return 0;
	const qn_type *t = qn_importer_type(im, x);
	for (int32_t i = 0; i <= t->rank; i++)
		dim[i] = i < axis ? t->dim[i] : i == axis ? 1 : t->dim[i - 1];
	return qn_importer_reshape(im, x, t->rank + 1, dim);
}

qn_id
qn_importer_drop_dim(qn_importer *im, qn_id x, int32_t axis)
{
	int64_t dim[QN_MAX_RANK];

	if (x == 0)
		return 0;
	const qn_type *t = qn_importer_type(im, x);
	for (int32_t i = 0; i < t->rank - 1; i++)
		dim[i] = t->dim[i < axis ? i : i + 1];
	return qn_importer_reshape(im, x, t->rank - 1, dim);
}

qn_id
qn_importer_matrix(qn_importer *im, qn_id x, int32_t axis)
{
	int64_t dim[2] = {1, 1};

	if (x == 0)
		return 0;
	const qn_type *t = qn_importer_type(im, x);
	for (int32_t i = 0; i < t->rank; i++)
		dim[i < axis ? 0 : 1] *= t->dim[i];
	return qn_importer_reshape(im, x, 2, dim);
}

qn_id
qn_importer_slice(qn_importer *im, qn_id x, int32_t axis, int64_t begin, int64_t end)
{
	qn_attrs a = {0};

	if (x == 0)
		return 0;
	const qn_type *t = qn_importer_type(im, x);
	if (axis < 0 || axis >= t->rank)
		return qn_importer_refuse(im, "import.rank",
					  "a value of %d dimensions has no axis %d", (int)t->rank,
					  (int)axis);
	if (begin == 0 && end == t->dim[axis])
		return x;
	a.slice.begin.n = a.slice.end.n = t->rank;
	for (int32_t i = 0; i < t->rank; i++)
		a.slice.end.v[i] = t->dim[i];
	a.slice.begin.v[axis] = begin;
	a.slice.end.v[axis] = end;
	return qn_importer_op(im, QN_OP_slice, 1, &x, &a, NULL);
}

qn_id
qn_importer_reduce(qn_importer *im, qn_op op, qn_id x, int32_t naxes, const int64_t *axes,
		   bool keepdims)
{
	qn_attrs a = {0};

	a.reduce.axes.n = naxes;
	for (int32_t i = 0; i < naxes; i++)
		a.reduce.axes.v[i] = axes[i];
	a.reduce.keepdims = keepdims;
	return qn_importer_op(im, op, 1, &x, &a, NULL);
}

qn_id
qn_importer_join(qn_importer *im, int64_t n, const qn_id *x, int32_t axis)
{
	enum { MOST = 255 }; /* inputs of concat */
	qn_attrs a = qn_importer_attrs(QN_OP_concat);
	qn_id *part = QN_NEW(im->scratch, qn_id, (size_t)(n / MOST) + 1);
	int64_t k = 0;

	if (n < 1)
		return 0;
	a.axis.axis = axis;
	for (int64_t i = 0; i < n && n > 1; i += MOST) {
		int64_t count = n - i < MOST ? n - i : MOST;

		part[k++] = count == 1 ? x[i]
				       : qn_importer_op(im, QN_OP_concat, (uint32_t)count, x + i,
							&a, NULL);
	}
	return n == 1 ? x[0] : k == 1 ? part[0] : qn_importer_join(im, k, part, axis);
}
