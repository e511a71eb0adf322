/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_scatter.c - values put into others: SCATTER_ND, SPARSE_TO_DENSE, DYNAMIC_UPDATE_SLICE,
 * SEGMENT_SUM, MATRIX_DIAG, MATRIX_SET_DIAG.
 *
 *   DYNAMIC_UPDATE_SLICE x [4,6,C], update [2,6,C], start 1 0 0     scatter_nd at indices [[1], [2]]
 *
 * TFLite fills up quantized values with the integer 0, whatever the zero point; so does this. */
#include "import/tflite.h"

#include <string.h>

/* A constant of type `type`, all its elements the integer or number 0; 0 after a report. */
static qn_id
zeros(qn_tfl_op *o, const qn_type *type)
{
	void *data;

	if (!qn_importer_take_type(o->im, type))
		return 0;
	return qn_importer_const(o->im, NULL, qn_tensor_new(o->im->m->arena, type, &data));
}

/* A shape that is input i: false after a report. */
static bool
wanted_shape(qn_tfl_op *o, uint32_t i, qn_list *shape)
{
	shape->n = qn_tfl_ints(o, i, QN_MAX_RANK, shape->v);
	for (int32_t k = 0; k < shape->n; k++)
		if (shape->v[k] < 0)
			return qn_importer_refuse(o->im, "import.input", "dimension %d is %lld",
						  (int)k, (long long)shape->v[k]) != 0;
	return shape->n >= 0 &&
	       (qn_importer_dims_fit(shape->n, shape->v) ||
		qn_importer_refuse(o->im, "import.size", "the shape has too many elements") != 0);
}

static qn_id
put(qn_tfl_op *o, qn_id x, qn_id at, qn_id updates, int32_t reduction)
{
	const qn_attrs a = {.scatter_nd = {reduction}};
	const qn_id in[3] = {x, at, updates};

	return qn_importer_op(o->im, QN_OP_scatter_nd, 3, in, &a, NULL);
}

/* Whether constant tuples of indices all differ; false too after a report. */
static bool
all_differ(qn_importer *im, const qn_tensor *at)
{
	int64_t k = at != NULL && at->type->rank > 0 ? at->type->dim[at->type->rank - 1] : 0;
	int64_t n = k > 0 && k <= QN_MAX_RANK ? qn_type_count(at->type) / k : -1;

	if (n < 0 || n > 1 << 12 || !qn_importer_may_compare(im, (uint64_t)(n * n / 2)))
		return false;
	for (int64_t i = 0; i < n; i++)
		for (int64_t j = 0; j < i; j++) {
			int64_t same = 0;

			while (same < k &&
			       qn_tensor_i64(at, i * k + same) == qn_tensor_i64(at, j * k + same))
				same++;
			if (same == k)
				return false;
		}
	return true;
}

/* Updates of one index add up, on zeros of the wanted shape.  Quantized values cannot be added, so each
 * index has one update. */
static void
scatter_nd(qn_tfl_op *o)
{
	qn_list shape;
	qn_id updates = qn_tfl_moved(o, 1);
	const qn_elem *to = qn_tfl_result(o, 0);

	if (!wanted_shape(o, 2, &shape) || updates == 0)
		return;
	if (qn_tfl_is_quantized(o, updates) &&
	    !all_differ(o->im, qn_importer_known(o->im, o->in[0]))) {
		(void)qn_importer_refuse(
			o->im, "import.input",
			"quantized updates need constant indices, at most 4096, all different");
		return;
	}
	if (qn_tfl_is_quantized(o, updates) && qn_elem_is_quant(to))
		updates = qn_tfl_retyped(o, updates, to);
	const qn_type *type = qn_type_tensor(
		&o->im->m->types, qn_importer_type(o->im, updates)->elem, shape.n, shape.v);
	qn_tfl_set_result(
		o, 0,
		put(o, zeros(o, type), o->in[0], updates,
		    qn_tfl_is_quantized(o, updates) ? QN_REDUCTION_none : QN_REDUCTION_add));
}

/* Input i, of at most 2 dimensions, as [n, k]. */
static qn_id
as_tuples(qn_tfl_op *o, uint32_t i, int64_t *n)
{
	const qn_type *t = qn_importer_type(o->im, o->in[i]);
	int64_t k = t->rank == 2 ? t->dim[1] : 1;

	if (t->rank > 2 || k < 1 || qn_type_count(t) < 0)
		return qn_importer_refuse(o->im, "import.rank", "indices of %d dimensions",
					  (int)t->rank);
	*n = qn_type_count(t) / k;
	return qn_importer_reshape(o->im, o->in[i], 2, (int64_t[]){*n, k});
}

/* A value everywhere, and others at the indices of a list; one of them for all, or one for each. */
static void
sparse_to_dense(qn_tfl_op *o)
{
	qn_attrs a = {0};
	qn_id values = qn_tfl_moved(o, 2), rest = qn_tfl_moved(o, 3);
	int64_t n = 0;

	if (!wanted_shape(o, 1, &a.shape.shape) || values == 0 || rest == 0)
		return;
	qn_id at = as_tuples(o, 0, &n);
	qn_id dense = qn_importer_op(o->im, QN_OP_expand, 1, &rest, &a, NULL);
	a.shape.shape = (qn_list){1, {n}};
	if (at == 0 || dense == 0)
		return;
	if (qn_importer_type(o->im, values)->rank == 0)
		values = qn_importer_op(o->im, QN_OP_expand, 1, &values, &a, NULL);
	qn_tfl_set_result(o, 0, put(o, dense, at, values, QN_REDUCTION_none));
}

/* ---- DYNAMIC_UPDATE_SLICE ---- */

/* The indices of the update along the first k axes, [u0, …, u(k-1), k]. */
static qn_id
update_places(qn_tfl_op *o, const qn_type *u, int32_t k, const int64_t *start)
{
	int64_t dim[QN_MAX_RANK + 1], n = 1;
	void *data;

	for (int32_t i = 0; i < k; i++)
		n *= dim[i] = u->dim[i];
	dim[k] = k;
	if (k == QN_MAX_RANK)
		return qn_importer_refuse(o->im, "import.rank", "%d dimensions", (int)k);
	const qn_type *type = qn_type_plain(&o->im->m->types, QN_PLAIN_i32, k + 1, dim);
	if (!qn_importer_take_type(o->im, type))
		return 0;
	qn_tensor *at = qn_tensor_new(o->im->m->arena, type, &data);
	for (int64_t i = 0; i < n; i++) {
		int64_t left = i;

		for (int32_t j = k - 1; j >= 0; j--) {
			qn_store_i64(data, QN_PLAIN_i32, i * k + j, start[j] + left % dim[j]);
			left /= dim[j];
		}
	}
	return qn_importer_const(o->im, NULL, at);
}

/* The update is at constant indices, moved inward where it would not fit. */
static void
dynamic_update_slice(qn_tfl_op *o)
{
	const qn_type *x = qn_importer_type(o->im, o->in[0]);
	const qn_type *u = qn_importer_type(o->im, o->in[1]);
	int64_t start[QN_MAX_RANK];
	int32_t n = qn_tfl_ints(o, 2, QN_MAX_RANK, start), k = 0;

	if (n < 0)
		return;
	bool fits =
		n == x->rank && u->rank == x->rank && qn_type_count(x) > 0 && qn_type_count(u) > 0;
	for (int32_t i = 0; fits && i < n; i++) {
		fits = u->dim[i] <= x->dim[i];
		start[i] = start[i] > x->dim[i] - u->dim[i] ? x->dim[i] - u->dim[i] : start[i];
		start[i] = start[i] < 0 ? 0 : start[i];
		k = u->dim[i] < x->dim[i] ? i + 1 : k;
	}
	if (!fits) {
		(void)qn_importer_refuse(o->im, "import.input",
					 "an update of %d dimensions at %d indices does not match "
					 "data of %d dimensions",
					 (int)u->rank, (int)n, (int)x->rank);
		return;
	}
	qn_id in[2] = {qn_tfl_moved(o, 0), qn_tfl_moved(o, 1)};
	for (int i = 0; i < 2 && qn_tfl_result_is_quantized(o); i++)
		in[i] = qn_tfl_retyped(o, in[i], qn_tfl_result(o, 0));
	qn_tfl_set_result(
		o, 0,
		k == 0 ? in[1]
		       : put(o, in[0], update_places(o, u, k, start), in[1], QN_REDUCTION_none));
}

/* ---- SEGMENT_SUM ---- */

/* Row i of the result is the sum of the data's rows whose number is i; constant numbers, rising. */
static void
segment_sum(qn_tfl_op *o)
{
	const qn_tensor *id = qn_importer_known(o->im, o->in[1]);
	const qn_type *x = qn_importer_type(o->im, o->in[0]);
	qn_id data = qn_tfl_result_is_quantized(o) ? qn_tfl_real(o, 0) : qn_tfl_moved(o, 0);
	int64_t dim[QN_MAX_RANK], n = id != NULL ? qn_type_count(id->type) : 0, last = 0;

	for (int64_t i = 0; i < n; i++) {
		int64_t v = qn_tensor_i64(id, i);

		n = v < last || v >= INT32_MAX ? -1 : n;
		last = v;
	}
	if (n < 1 || x->rank < 1 || x->dim[0] != n) {
		(void)qn_importer_refuse(
			o->im, "import.input",
			"the segments must be constants, one per row, in ascending order");
		return;
	}
	for (int32_t i = 0; i < x->rank; i++)
		dim[i] = i == 0 ? last + 1 : x->dim[i];
	if (data == 0)
		return;
	if (!qn_importer_dims_fit(x->rank, dim)) {
		(void)qn_importer_refuse(o->im, "import.size", "%lld segments are too many",
					 (long long)last + 1);
		return;
	}
	qn_id at = qn_importer_reshape(o->im, o->in[1], 2, (int64_t[]){n, 1});
	const qn_type *type =
		qn_type_tensor(&o->im->m->types, qn_importer_type(o->im, data)->elem, x->rank, dim);
	qn_tfl_set_result(o, 0, put(o, zeros(o, type), at, data, QN_REDUCTION_add));
}

/* ---- diagonals ---- */

/* Whether row = column, [rows, columns]. */
static qn_id
diagonal(qn_tfl_op *o, int64_t rows, int64_t columns)
{
	const qn_type *type =
		qn_type_plain(&o->im->m->types, QN_PLAIN_bool, 2, (int64_t[]){rows, columns});
	void *data;

	if (!qn_importer_dims_fit(2, type->dim))
		return qn_importer_refuse(o->im, "import.size", "a matrix of %lld rows",
					  (long long)rows);
	if (!qn_importer_take_type(o->im, type))
		return 0;
	qn_tensor *x = qn_tensor_new(o->im->m->arena, type, &data);
	for (int64_t i = 0; i < rows && i < columns; i++)
		((uint8_t *)data)[i * columns + i] = 1;
	return qn_importer_const(o->im, NULL, x);
}

static void
matrix_diag(qn_tfl_op *o)
{
	const qn_type *x = qn_importer_type(o->im, o->in[0]);
	int64_t n = x->rank > 0 && x->rank < QN_MAX_RANK ? x->dim[x->rank - 1] : -1;
	qn_id d = qn_tfl_moved(o, 0);

	if (n < 0 || d == 0) {
		(void)qn_importer_refuse(o->im, "import.rank", "a diagonal of %d dimensions",
					 (int)x->rank);
		return;
	}
	const qn_type *zero =
		qn_type_tensor(&o->im->m->types, qn_importer_type(o->im, d)->elem, 0, NULL);
	const qn_id in[3] = {diagonal(o, n, n), qn_importer_expand_dim(o->im, d, x->rank),
			     zeros(o, zero)};
	qn_tfl_set_result(o, 0, qn_importer_op(o->im, QN_OP_where, 3, in, NULL, NULL));
}

/* The diagonal is replaced; matrices need not be square. */
static void
matrix_set_diag(qn_tfl_op *o)
{
	const qn_type *x = qn_importer_type(o->im, o->in[0]);
	qn_id d = qn_tfl_moved(o, 1), m = qn_tfl_moved(o, 0);

	if (x->rank < 2 || qn_type_count(x) < 1 || qn_tfl_rank(o, 1) != x->rank - 1) {
		(void)qn_importer_refuse(o->im, "import.rank",
					 "matrices of %d dimensions, diagonals of %d", (int)x->rank,
					 (int)qn_tfl_rank(o, 1));
		return;
	}
	if (qn_tfl_result_is_quantized(o) && d != 0)
		d = qn_tfl_retyped(o, d, qn_importer_type(o->im, m)->elem);
	int64_t rows = x->dim[x->rank - 2], columns = x->dim[x->rank - 1];
	const qn_id in[3] = {
		diagonal(o, rows, columns),
		qn_importer_expand_dim(o->im, d, rows <= columns ? x->rank - 1 : x->rank - 2), m};
	qn_tfl_set_result(o, 0, qn_importer_op(o->im, QN_OP_where, 3, in, NULL, NULL));
}

const qn_tfl_row qn_tfl_scatter_rows[] = {
	{QN_TFL_SCATTER_ND, scatter_nd, 0, 3, 3, 1, 0},
	{QN_TFL_SPARSE_TO_DENSE, sparse_to_dense, 0, 4, 4, 1, 0},
	{QN_TFL_DYNAMIC_UPDATE_SLICE, dynamic_update_slice, 0, 3, 3, 1, 0},
	{QN_TFL_SEGMENT_SUM, segment_sum, 0, 2, 2, 1, 0},
	{QN_TFL_MATRIX_DIAG, matrix_diag, 0, 1, 1, 1, 0},
	{QN_TFL_MATRIX_SET_DIAG, matrix_set_diag, 0, 2, 2, 1, 0},
	{0},
};
