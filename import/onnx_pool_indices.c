/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_pool_indices.c - where the largest elements of windows stand: MaxPool's second result, and MaxUnpool.
 *
 *   x [N*C, S]                                     S spatial positions, and one more of -infinity
 *   gather by a constant [O, K]                    O windows of K positions, S for a pad
 *   argmax over K                                  the index in the window
 *   gather of the same constant by o * K + that    the position; then + S for each channel before */
#include "import/onnx_window.h"

#include <math.h>

enum { MANY = 1 << 24 };

/* Constants of 64 bits. */
static qn_id
numbers(qn_onnx *o, int32_t rank, const int64_t *dim, const int64_t *v)
{
	const qn_type *type = qn_type_plain(&o->im.m->types, QN_PLAIN_i64, rank, dim);

	return qn_importer_const(&o->im, NULL, qn_tensor_of(o->im.m->arena, type, v));
}

/* MANY + 1 when there are more. */
static int64_t
product(int32_t n, const int64_t *dim)
{
	int64_t p = 1;

	for (int32_t i = 0; i < n; i++)
		p = dim[i] > 0 && p > MANY / dim[i] ? MANY + INT64_C(1) : p * dim[i];
	return p;
}

/* The position of element k of window j, -1 in a pad.  columns: the first axis goes by ones. */
static int64_t
position(const qn_onnx_window *w, const int64_t *out, int64_t j, int64_t k, bool columns)
{
	int64_t at = 0, step = 1, by_column = 0;

	for (int32_t i = w->n - 1; i >= 0; i--) {
		int64_t p = j % out[i] * w->stride[i] + k % w->kernel[i] * w->dilation[i] -
			    w->before[i];
		if (p < 0 || p >= w->in[i])
			return -1;
		j /= out[i];
		k /= w->kernel[i];
		at += p * step;
		step *= w->in[i];
		by_column = by_column * w->in[i] + p;
	}
	return columns ? by_column : at;
}

qn_id
qn_onnx_pool_indices(qn_onnx *o, const qn_onnx_node *n, const qn_onnx_window *w, qn_id y)
{
	qn_importer *im = &o->im;
	const qn_type *tx = qn_onnx_type(o, n->in[0]), *ty = qn_onnx_type(o, y);
	bool columns = qn_onnx_int(o, n, "storage_order", 0) != 0;
	int64_t planes = tx->dim[0] * tx->dim[1], size = product(w->n, w->in);
	int64_t windows = product(w->n, ty->dim + 2), each = product(w->n, w->kernel);
	qn_attrs pad = qn_importer_attrs(QN_OP_pad), take = qn_importer_attrs(QN_OP_gather);
	qn_attrs most = qn_importer_attrs(QN_OP_argmax);

	if (size > MANY || each > MANY || windows > MANY || windows * each > MANY || planes > MANY)
		return qn_importer_refuse(im, "import.size", "too many windows to compute indices");
	/* The four tables, and what becomes a constant of them. */
	if (!qn_importer_take(im, 48 * (uint64_t)(windows * each) + 16 * (uint64_t)planes))
		return 0;
	int64_t *from = QN_NEW(im->scratch, int64_t, (size_t)(windows * each));
	int64_t *told = QN_NEW(im->scratch, int64_t, (size_t)(windows * each));
	int64_t *start = QN_NEW(im->scratch, int64_t, (size_t)windows);
	int64_t *base = QN_NEW(im->scratch, int64_t, (size_t)planes);
	for (int64_t i = 0; i < windows * each; i++) {
		int64_t p = position(w, ty->dim + 2, i / each, i % each, false);
		from[i] = p < 0 ? size : p;
		told[i] = p < 0 ? 0 : position(w, ty->dim + 2, i / each, i % each, columns);
		start[i / each] = i / each * each;
	}
	for (int64_t i = 0; i < planes; i++)
		base[i] = i * size;
	pad.pad.before.n = pad.pad.after.n = 2;
	pad.pad.after.v[1] = 1;
	pad.pad.value = -HUGE_VAL;
	qn_id x = qn_importer_cast(im, n->in[0], QN_PLAIN_f32);
	x = qn_importer_reshape(im, x, 2, (int64_t[]){planes, size});
	x = qn_importer_op(im, QN_OP_pad, 1, &x, &pad, NULL);
	take.gather.axis = 1;
	qn_id table = numbers(o, 2, (int64_t[]){windows, each}, from);
	x = qn_importer_op(im, QN_OP_gather, 2, (qn_id[]){x, table}, &take, NULL);
	most.argmax.axis = 2;
	const qn_type *places =
		qn_type_plain(&im->m->types, QN_PLAIN_i64, 2, (int64_t[]){planes, windows});
	x = qn_importer_op(im, QN_OP_argmax, 1, &x, &most, places);
	x = qn_importer_binary(im, QN_OP_add, x, numbers(o, 1, &windows, start));
	take.gather.axis = 0;
	int64_t all = windows * each;
	x = qn_importer_op(im, QN_OP_gather, 2, (qn_id[]){numbers(o, 1, &all, told), x}, &take,
			   NULL);
	x = qn_importer_binary(im, QN_OP_add, x, numbers(o, 2, (int64_t[]){planes, 1}, base));
	return qn_importer_reshape(im, x, ty->rank, ty->dim);
}

/* ---- the way back ---- */

/* The size that the pool had before, and what the node wants it to be. */
static bool
unpooled(qn_onnx *o, const qn_onnx_node *n, const qn_onnx_window *w, int64_t *dim, int64_t *want)
{
	const qn_type *t = qn_onnx_type(o, n->in[0]);
	bool ok = true;

	for (int32_t i = 0; i < t->rank; i++) {
		int32_t k = i - 2;
		dim[i] = i < 2 ? t->dim[i]
			       : (t->dim[i] - 1) * w->stride[k] + w->kernel[k] - w->before[k] -
					 w->after[k];
		want[i] = dim[i];
		ok = ok && dim[i] >= 0 && dim[i] <= MANY;
	}
	if (qn_onnx_in(n, 2) != 0)
		ok = ok && qn_onnx_const_ints(o, n, 2, t->rank, want) == t->rank;
	for (int32_t i = 0; ok && i < t->rank; i++)
		ok = want[i] >= dim[i] && want[i] <= MANY;
	if (!ok)
		(void)qn_importer_refuse(&o->im, "import.input",
					 "output_shape does not match the windows");
	return ok;
}

static void
max_unpool(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	qn_importer *im = &o->im;
	qn_attrs pad = qn_importer_attrs(QN_OP_pad), put = {0};
	int64_t dim[QN_MAX_RANK] = {0}, want[QN_MAX_RANK] = {0};
	qn_onnx_window w;

	if (!qn_onnx_need(o, n, 2) || !qn_onnx_window_read(o, n, n->in[0], NULL, &w) ||
	    !unpooled(o, n, &w, dim, want))
		return;
	const qn_type *t = qn_onnx_type(o, n->in[0]);
	int64_t count = qn_type_count(t), all = product(t->rank, dim);
	if (all > MANY || qn_type_count(qn_onnx_type(o, n->in[1])) != count) {
		(void)qn_importer_refuse(im, "import.input", "one index per value is needed");
		return;
	}
	void *data;
	const qn_type *flat = qn_type_plain(&im->m->types, t->elem->plain, 1, &all);
	if (!qn_importer_take_type(im, flat))
		return;
	qn_id zeros = qn_importer_const(im, NULL, qn_tensor_new(im->m->arena, flat, &data));
	qn_id in[] = {zeros, qn_importer_reshape(im, n->in[1], 1, &count),
		      qn_importer_reshape(im, n->in[0], 1, &count)};
	qn_id y = qn_importer_op(im, QN_OP_scatter_elements, 3, in, &put, NULL);
	y = qn_importer_reshape(im, y, t->rank, dim);
	pad.pad.before.n = pad.pad.after.n = t->rank;
	bool more = false;
	for (int32_t i = 0; i < t->rank; i++) {
		pad.pad.after.v[i] = want[i] - dim[i];
		more = more || want[i] > dim[i];
	}
	out[0] = more ? qn_importer_op(im, QN_OP_pad, 1, &y, &pad, NULL) : y;
}

const qn_onnx_row qn_onnx_unpools[] = {
	QN_ONNX_READ("", "MaxUnpool", 9, max_unpool, 0),
	{0},
};
