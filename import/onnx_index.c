/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_index.c - elements by their indices.
 *
 *   GatherND(x, i) {batch_dims=1}     gather_nd
 *   Compress(x, [1, 0, 1]) {axis=0}   gather x, [0, 2]: what is chosen must be known
 *   Hardmax(x)                        one_hot of argmax
 *   ReverseSequence(x, [2, 3])        gather over steps and batches as one axis */
#include "import/onnx_write_op.h"

#include <math.h>
#include <string.h>

/* [before, dim of the axis, after]. */
static qn_id
three_axes(qn_onnx *o, qn_id x, int32_t axis)
{
	const qn_type *t = qn_onnx_type(o, x);
	int64_t dim[3] = {1, t->dim[axis], 1};

	for (int32_t i = 0; i < t->rank; i++)
		dim[i < axis ? 0 : 2] *= i == axis ? 1 : t->dim[i];
	return qn_importer_reshape(&o->im, x, 3, dim);
}

/* Axes along which x and the indices are equally long count as one where there are many. */
static void
gather_elements(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	enum { MANY = 6 };
	qn_attrs a = {0};
	int32_t axis;

	if (!qn_onnx_need(o, n, 2))
		return;
	const qn_type *x = qn_onnx_type(o, n->in[0]), *i = qn_onnx_type(o, n->in[1]);
	if (!qn_onnx_axis(o, qn_onnx_int(o, n, "axis", 0), x->rank, &axis))
		return;
	bool alike = x->rank == i->rank && x->rank > MANY;
	for (int32_t k = 0; alike && k < x->rank; k++)
		alike = k == axis || x->dim[k] == i->dim[k];
	a.gather.axis = alike ? 1 : axis;
	qn_id in[] = {alike ? three_axes(o, n->in[0], axis) : n->in[0],
		      alike ? three_axes(o, n->in[1], axis) : n->in[1]};
	qn_id y = qn_importer_op(&o->im, QN_OP_gather_elements, 2, in, &a, NULL);
	out[0] = alike ? qn_importer_reshape(&o->im, y, i->rank, i->dim) : y;
}

static void
gather_nd(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	qn_attrs a = {0};

	a.gather_nd.batch_dims = qn_onnx_int(o, n, "batch_dims", 0);
	if (qn_onnx_need(o, n, 2))
		out[0] = qn_importer_op(&o->im, QN_OP_gather_nd, 2, n->in, &a, NULL);
}

static void
scatter_elements(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	qn_attrs a = {0};

	a.scatter_elements.axis = qn_onnx_int(o, n, "axis", 0);
	a.scatter_elements.reduction = qn_onnx_enum(o, n, "reduction", "none", QN_ENUM_reduction);
	if (a.scatter_elements.reduction >= 0 && qn_onnx_need(o, n, 3))
		out[0] = qn_importer_op(&o->im, QN_OP_scatter_elements, 3, n->in, &a, NULL);
}

static void
scatter_nd(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	qn_attrs a = {0};

	a.scatter_nd.reduction = qn_onnx_enum(o, n, "reduction", "none", QN_ENUM_reduction);
	if (a.scatter_nd.reduction >= 0 && qn_onnx_need(o, n, 3))
		out[0] = qn_importer_op(&o->im, QN_OP_scatter_nd, 3, n->in, &a, NULL);
}

static void
trilu(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	qn_attrs a = {0};
	double k;

	if (!qn_onnx_need(o, n, 1) || !qn_onnx_const_real(o, n, 1, 0, &k))
		return;
	if (isnan(k)) {
		(void)qn_importer_refuse(&o->im, "import.input", "k is %g", k);
		return;
	}
	a.trilu.k = k > 1e9 ? 1000000000 : k < -1e9 ? -1000000000 : (int64_t)k;
	a.trilu.upper = qn_onnx_int(o, n, "upper", 1) != 0;
	out[0] = qn_importer_op(&o->im, QN_OP_trilu, 1, n->in, &a, NULL);
}

/* ---- one of many ---- */

static qn_id
one_hot_of(qn_onnx *o, qn_id indices, qn_id values, int64_t axis, int64_t depth)
{
	qn_attrs a = {0};

	a.one_hot.axis = axis;
	a.one_hot.depth = depth;
	return qn_importer_op(&o->im, QN_OP_one_hot, 2, (qn_id[]){indices, values}, &a, NULL);
}

static void
one_hot(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	double depth;

	if (!qn_onnx_need(o, n, 3) || !qn_onnx_const_real(o, n, 1, 0, &depth))
		return;
	if (!(depth >= 1 && depth <= INT32_MAX)) {
		(void)qn_importer_refuse(&o->im, "import.input", "depth is %g", depth);
		return;
	}
	out[0] = one_hot_of(o, qn_importer_cast(&o->im, n->in[0], QN_PLAIN_i64), n->in[2],
			    qn_onnx_int(o, n, "axis", -1), (int64_t)depth);
}

/* Before version 13 over all axes from `axis` on, as one. */
static void
hardmax(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	qn_importer *im = &o->im;
	qn_attrs a = qn_importer_attrs(QN_OP_argmax);
	int32_t axis;
	bool old = n->version < 13;

	if (!qn_onnx_need(o, n, 1))
		return;
	const qn_type *t = qn_onnx_type(o, n->in[0]);
	if (!qn_onnx_axis(o, qn_onnx_int(o, n, "axis", old ? 1 : -1), t->rank, &axis))
		return;
	qn_id x = old ? qn_importer_matrix(im, n->in[0], axis) : n->in[0];
	axis = old ? 1 : axis;
	a.argmax.axis = axis;
	qn_id at = qn_importer_op(im, QN_OP_argmax, 1, &x, &a, NULL);
	qn_id values = qn_importer_cast(im, qn_importer_i64s(im, 2, (int64_t[]){0, 1}),
					qn_onnx_plain(o, n->in[0]));
	qn_id y = at != 0 ? one_hot_of(o, at, values, axis, qn_onnx_type(o, x)->dim[axis]) : 0;
	out[0] = qn_importer_reshape(im, y, t->rank, t->dim);
}

/* ---- the largest ---- */

static void
top_k(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	qn_importer *im = &o->im;
	qn_attrs a = qn_importer_attrs(QN_OP_top_k_indices), g = {0};
	int64_t dim[QN_MAX_RANK];
	double k = (double)qn_onnx_int(o, n, "k", 1);
	int32_t axis;

	if (!qn_onnx_need(o, n, 1) || (n->version >= 10 && !qn_onnx_const_real(o, n, 1, 1, &k)))
		return;
	const qn_type *t = qn_onnx_type(o, n->in[0]);
	if (!qn_onnx_axis(o, qn_onnx_int(o, n, "axis", -1), t->rank, &axis))
		return;
	if (!(k >= 0 && k <= (double)t->dim[axis])) {
		(void)qn_importer_refuse(im, "import.input", "%g of %lld elements", k,
					 (long long)t->dim[axis]);
		return;
	}
	memcpy(dim, t->dim, (size_t)t->rank * sizeof dim[0]);
	dim[axis] = (int64_t)k;
	a.top_k.axis = g.gather.axis = axis;
	a.top_k.k = dim[axis];
	a.top_k.largest = qn_onnx_int(o, n, "largest", 1) != 0;
	a.top_k.sorted = qn_onnx_int(o, n, "sorted", 1) != 0;
	qn_id at = qn_importer_op(im, QN_OP_top_k_indices, 1, n->in, &a,
				  qn_type_plain(&im->m->types, QN_PLAIN_i64, t->rank, dim));
	out[0] = qn_importer_op(im, QN_OP_gather_elements, 2, (qn_id[]){n->in[0], at}, &g, NULL);
	if (n->nout > 1)
		out[1] = at;
}

/* ---- chosen by constants ---- */

static qn_id
pick(qn_onnx *o, qn_id x, int32_t axis, int64_t n, const int64_t *index)
{
	qn_attrs a = {0};

	a.gather.axis = axis;
	return qn_importer_op(&o->im, QN_OP_gather, 2,
			      (qn_id[]){x, qn_importer_i64s(&o->im, (int32_t)n, index)}, &a, NULL);
}

/* The value of a constant input of at most 2^20 elements; NULL after a report. */
static const qn_tensor *
known(qn_onnx *o, const qn_onnx_node *n, uint32_t i)
{
	const qn_tensor *x = qn_importer_known(&o->im, qn_onnx_in(n, i));

	if (x != NULL && qn_type_count(x->type) <= 1 << 20) /* indices, as work and as a constant */
		return qn_importer_take(&o->im, 16 * (uint64_t)qn_type_count(x->type)) ? x : NULL;
	qn_onnx_refuse_unknown(o, n, i, "the shape of the result depends on it");
	return NULL;
}

static void
compress(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	const qn_tensor *c = known(o, n, 1);
	int32_t axis = 0;

	if (c == NULL || !qn_onnx_need(o, n, 2))
		return;
	qn_id x = n->in[0];
	const qn_type *t = qn_onnx_type(o, x);
	int64_t all = qn_type_count(t), count = 0;
	if (!qn_onnx_has(o, n, "axis"))
		x = qn_importer_reshape(&o->im, x, 1, &all);
	else if (!qn_onnx_axis(o, qn_onnx_int(o, n, "axis", 0), t->rank, &axis))
		return;
	if (x == 0)
		return;
	int64_t most = qn_onnx_type(o, x)->dim[axis], have = qn_type_count(c->type);
	int64_t *index = QN_NEW(o->im.scratch, int64_t, (size_t)have + 1);
	for (int64_t i = 0; i < have && i < most; i++)
		if (qn_tensor_i64(c, i) != 0)
			index[count++] = i;
	out[0] = pick(o, x, axis, count, index);
}

/* The indices of elements that are not 0, a column each. */
static void
non_zero(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	const qn_tensor *x = known(o, n, 0);
	int64_t count = 0, k = 0;
	void *data;

	if (x == NULL)
		return;
	int64_t all = qn_type_count(x->type);
	for (int64_t i = 0; i < all; i++)
		count += qn_tensor_f64(x, i) < 0 || qn_tensor_f64(x, i) > 0;
	int64_t dim[] = {x->type->rank, count};
	const qn_type *type = qn_type_plain(&o->im.m->types, QN_PLAIN_i64, 2, dim);
	if (!qn_importer_take_type(&o->im, type))
		return;
	qn_tensor *y = qn_tensor_new(o->im.m->arena, type, &data);
	for (int64_t i = 0; i < all; i++) {
		int64_t rest = i;
		if (!(qn_tensor_f64(x, i) < 0 || qn_tensor_f64(x, i) > 0))
			continue;
		for (int32_t d = x->type->rank - 1; d >= 0; d--) {
			qn_store_i64(data, QN_PLAIN_i64, d * count + k, rest % x->type->dim[d]);
			rest /= x->type->dim[d];
		}
		k++;
	}
	out[0] = qn_importer_const(&o->im, o->im.node, y);
}

const qn_onnx_row qn_onnx_index[] = {
	QN_ONNX_BOTH("GatherElements", 1, gather_elements, qn_onnx_write_gather, 0, PLAIN,
		     QN_OP_gather_elements),
	QN_ONNX_BOTH("GatherND", 1, gather_nd, qn_onnx_write_gather_nd, 0, PLAIN, QN_OP_gather_nd),
	QN_ONNX_BOTH("ScatterElements", 1, scatter_elements, qn_onnx_write_scatter, 0, PLAIN,
		     QN_OP_scatter_elements),
	QN_ONNX_READ("", "Scatter", 1, scatter_elements, 0),
	QN_ONNX_BOTH("ScatterND", 1, scatter_nd, qn_onnx_write_scatter, 0, PLAIN, QN_OP_scatter_nd),
	QN_ONNX_BOTH("Trilu", 1, trilu, qn_onnx_write_trilu, 0, PLAIN, QN_OP_trilu),
	QN_ONNX_BOTH("OneHot", 1, one_hot, qn_onnx_write_one_hot, 0, PLAIN, QN_OP_one_hot),
	QN_ONNX_READ("", "Hardmax", 1, hardmax, 0),
	QN_ONNX_BOTH("TopK", 1, top_k, qn_onnx_write_top_k, 0, PLAIN, QN_OP_top_k),
	QN_ONNX_WRITE("TopK", qn_onnx_write_top_k_indices, 0, PLAIN, QN_OP_top_k_indices),
	QN_ONNX_READ("", "Compress", 1, compress, 0),
	QN_ONNX_READ("", "NonZero", 1, non_zero, 0),
	{0},
};
