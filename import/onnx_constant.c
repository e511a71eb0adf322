/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_constant.c - operators that give constants: written into the file, or known from shapes.
 *
 *   Constant {value_ints=[1, 2]}        [1, 2]
 *   Shape(x) {start=1}                  the dims of x from 1 on: shapes are known at compile time
 *   Range(0, 3, 1)                      [0, 1, 2] */
#include "import/onnx.h"
#include "ir/clamp.h"

#include <math.h>
#include <onnx/onnx.pb-c.h>

/* A new constant of this shape, to be filled; NULL after a report. */
static void *
make(qn_onnx *o, qn_plain plain, int32_t rank, const int64_t *dim, qn_tensor **x)
{
	void *data;

	for (int32_t i = 0; i < rank; i++)
		if (dim[i] < 0 || dim[i] > INT32_MAX) {
			(void)qn_importer_refuse(&o->im, "import.input", "a dimension of %lld",
						 (long long)dim[i]);
			return NULL;
		}
	const qn_type *type = qn_type_plain(&o->im.m->types, plain, rank, dim);
	if (!qn_importer_dims_fit(rank, dim)) {
		(void)qn_importer_refuse(&o->im, "import.size",
					 "a constant of more than 2^40 elements");
		return NULL;
	}
	if (!qn_importer_take_type(&o->im, type))
		return NULL;
	*x = qn_tensor_new(o->im.m->arena, type, &data);
	return data;
}

static qn_id
as_const(qn_onnx *o, const qn_tensor *x)
{
	return x != NULL ? qn_importer_const(&o->im, o->im.node, x) : 0;
}

/* ---- Constant ---- */

static const qn_tensor *
one_number(qn_onnx *o, const Onnx__AttributeProto *a, bool real)
{
	qn_plain plain = real ? QN_PLAIN_f32 : QN_PLAIN_i64;
	qn_tensor *x = NULL;
	void *data = make(o, plain, 0, NULL, &x);

	if (data == NULL)
		return NULL;
	if (real)
		qn_store_f64(data, plain, 0, (double)a->f);
	else
		qn_store_i64(data, plain, 0, a->i);
	return x;
}

static const qn_tensor *
numbers(qn_onnx *o, const Onnx__AttributeProto *a, bool real)
{
	qn_plain plain = real ? QN_PLAIN_f32 : QN_PLAIN_i64;
	int64_t n = (int64_t)(real ? a->n_floats : a->n_ints);
	qn_tensor *x;
	void *data = make(o, plain, 1, &n, &x);

	for (int64_t i = 0; data != NULL && i < n; i++)
		if (real)
			qn_store_f64(data, plain, i, (double)a->floats[i]);
		else
			qn_store_i64(data, plain, i, a->ints[i]);
	return data != NULL ? x : NULL;
}

static void
constant(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	const Onnx__AttributeProto *a;

	if ((a = qn_onnx_attr(o, n, "value")) != NULL && a->t != NULL)
		out[0] = as_const(o, qn_onnx_read_tensor(o, a->t));
	else if ((a = qn_onnx_attr(o, n, "sparse_value")) != NULL && a->sparse_tensor != NULL)
		out[0] = as_const(o, qn_onnx_read_sparse(o, a->sparse_tensor));
	else if ((a = qn_onnx_attr(o, n, "value_float")) != NULL)
		out[0] = as_const(o, one_number(o, a, true));
	else if ((a = qn_onnx_attr(o, n, "value_int")) != NULL)
		out[0] = as_const(o, one_number(o, a, false));
	else if ((a = qn_onnx_attr(o, n, "value_floats")) != NULL)
		out[0] = as_const(o, numbers(o, a, true));
	else if ((a = qn_onnx_attr(o, n, "value_ints")) != NULL)
		out[0] = as_const(o, numbers(o, a, false));
	else
		(void)qn_importer_refuse(&o->im, "import.attr",
					 "no numeric value attribute; strings are not supported");
}

/* ---- from shapes ---- */

static void
shape(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	if (!qn_onnx_need(o, n, 1))
		return;
	const qn_type *t = qn_onnx_type(o, n->in[0]);
	int64_t start = qn_onnx_int(o, n, "start", 0), end = qn_onnx_int(o, n, "end", t->rank);

	start += start < 0 ? t->rank : 0;
	end += end < 0 ? t->rank : 0;
	start = qn_clamp_i64(start, 0, t->rank);
	end = qn_clamp_i64(end, start, t->rank);
	/* a scalar has no dims */
	out[0] = qn_importer_i64s(&o->im, (int32_t)(end - start),
				  t->rank > 0 ? t->dim + start : NULL);
}

static void
size(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	if (!qn_onnx_need(o, n, 1))
		return;
	int64_t count = qn_type_count(qn_onnx_type(o, n->in[0]));

	out[0] = qn_importer_i64(&o->im, count);
}

/* ---- from numbers ---- */

static void
constant_of_shape(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	int64_t dim[QN_MAX_RANK];
	int32_t rank = qn_onnx_const_ints(o, n, 0, QN_MAX_RANK, dim);
	const qn_tensor *value = rank >= 0 ? qn_onnx_tensor(o, n, "value") : NULL;
	qn_plain plain = value != NULL ? value->type->elem->plain : QN_PLAIN_f32;
	qn_tensor *x;

	if (rank < 0)
		return;
	if (value != NULL && qn_type_count(value->type) != 1) {
		(void)qn_importer_refuse(&o->im, "import.attr", "value must be one number");
		return;
	}
	void *data = make(o, plain, rank, dim, &x);
	if (data == NULL)
		return;
	int64_t count = qn_type_count(x->type);
	for (int64_t i = 0; value != NULL && i < count; i++)
		if (plain == QN_PLAIN_f32)
			qn_store_f64(data, plain, i, qn_tensor_f64(value, 0));
		else
			qn_store_i64(data, plain, i, qn_tensor_i64(value, 0));
	out[0] = as_const(o, x);
}

static void
range(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	double v[3]; /* start, limit, delta */

	if (!qn_onnx_need(o, n, 3))
		return;
	for (uint32_t i = 0; i < 3; i++)
		if (!qn_onnx_const_real(o, n, i, 0, &v[i]))
			return;
	qn_plain plain = qn_onnx_plain(o, n->in[0]);
	double steps = ceil((v[1] - v[0]) / v[2]);
	if (!(fabs(steps) <= INT32_MAX) ||
	    (plain != QN_PLAIN_f32 && !(fabs(v[0]) < 0x1p63 && fabs(v[2]) < 0x1p63))) {
		(void)qn_importer_refuse(&o->im, "import.input",
					 "from %g to %g by %g: no length, or too many elements",
					 v[0], v[1], v[2]);
		return;
	}
	int64_t count = steps > 0 ? (int64_t)steps : 0;
	qn_tensor *x;
	void *data = make(o, plain, 1, &count, &x);
	for (int64_t i = 0; data != NULL && i < count; i++)
		if (plain == QN_PLAIN_f32)
			qn_store_f64(data, plain, i, v[0] + (double)i * v[2]);
		else
			qn_store_i64(data, plain, i, /* the last one is an i64 again */
				     (int64_t)((uint64_t)(int64_t)v[0] +
					       (uint64_t)i * (uint64_t)(int64_t)v[2]));
	if (data != NULL)
		out[0] = as_const(o, x);
}

static void
eye_like(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	qn_tensor *x;

	if (!qn_onnx_need(o, n, 1))
		return;
	const qn_type *t = qn_onnx_type(o, n->in[0]);
	qn_plain plain = t->elem->plain;
	int64_t k = qn_onnx_int(o, n, "k", 0);
	if (t->rank != 2 || (qn_onnx_has(o, n, "dtype") &&
			     !qn_onnx_data_type(qn_onnx_int(o, n, "dtype", 1), &plain))) {
		(void)qn_importer_refuse(&o->im, "import.type", "a matrix of an unsupported type");
		return;
	}
	void *data = make(o, plain, 2, t->dim, &x);
	for (int64_t i = 0; data != NULL && i < t->dim[0]; i++)
		if (k >= -i && k < t->dim[1] - i) {
			if (plain == QN_PLAIN_f32)
				qn_store_f64(data, plain, i * t->dim[1] + i + k, 1);
			else
				qn_store_i64(data, plain, i * t->dim[1] + i + k, 1);
		}
	if (data != NULL)
		out[0] = as_const(o, x);
}

const qn_onnx_row qn_onnx_constant[] = {
	QN_ONNX_READ("", "Constant", 1, constant, 0),
	QN_ONNX_READ("", "Shape", 1, shape, 0),
	QN_ONNX_READ("", "Size", 1, size, 0),
	QN_ONNX_READ("", "ConstantOfShape", 1, constant_of_shape, 0),
	QN_ONNX_READ("", "Range", 1, range, 0),
	QN_ONNX_READ("", "EyeLike", 1, eye_like, 0),
	{0},
};
