/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_pool.c - pools.
 *
 *   MaxPool(x [N,C,H,W])     transpose, max_pool, transpose;  [N,C,W] as [N,C,1,W]
 *   LpPool(x) {p=2}          sqrt(k * avg_pool(x * x)), k elements in a window */
#include "import/onnx_window.h"
#include "import/onnx_write_op.h"

#include <string.h>

/* x [N,C,…] through a pool with this window. */
static qn_id
pool_of(qn_onnx *o, qn_op op, qn_id x, qn_onnx_window *w, bool ceil, bool count_pads)
{
	qn_attrs a;
	bool row = w->n == 1;

	if (row) {
		qn_onnx_window_image(w);
		x = qn_importer_expand_dim(&o->im, x, 2);
	}
	if (w->n == 3)
		op = op == QN_OP_max_pool ? QN_OP_max_pool3d : QN_OP_avg_pool3d;
	a = qn_importer_attrs(op);
	if (w->n == 3) {
		memcpy(a.pool3d.kernel, w->kernel, sizeof a.pool3d.kernel);
		memcpy(a.pool3d.stride, w->stride, sizeof a.pool3d.stride);
		memcpy(a.pool3d.dilation, w->dilation, sizeof a.pool3d.dilation);
		qn_onnx_window_pads(w, a.pool3d.pad);
		a.pool3d.ceil_mode = ceil;
		a.pool3d.count_include_pad = count_pads;
	} else {
		memcpy(a.pool.kernel, w->kernel, sizeof a.pool.kernel);
		memcpy(a.pool.stride, w->stride, sizeof a.pool.stride);
		memcpy(a.pool.dilation, w->dilation, sizeof a.pool.dilation);
		qn_onnx_window_pads(w, a.pool.pad);
		a.pool.ceil_mode = ceil;
		a.pool.count_include_pad = count_pads;
	}
	x = qn_importer_channels_last(&o->im, x);
	qn_id y = qn_importer_op(&o->im, op, 1, &x, &a, NULL);
	y = qn_importer_channels_first(&o->im, y);
	return row ? qn_importer_drop_dim(&o->im, y, 2) : y;
}

static bool
read_window(qn_onnx *o, const qn_onnx_node *n, qn_onnx_window *w)
{
	return qn_onnx_need(o, n, 1) && qn_onnx_window_read(o, n, n->in[0], NULL, w);
}

static void
max_pool(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	qn_onnx_window w, image;

	if (!read_window(o, n, &w))
		return;
	/* Plain integers are f32 on the way: every byte is one. */
	qn_plain plain = qn_onnx_plain(o, n->in[0]);
	bool quantized = qn_elem_is_quant(qn_onnx_type(o, n->in[0])->elem);
	qn_id x = quantized ? n->in[0] : qn_importer_cast(&o->im, n->in[0], QN_PLAIN_f32);
	image = w;
	x = pool_of(o, QN_OP_max_pool, x, &image, qn_onnx_int(o, n, "ceil_mode", 0) != 0, false);
	out[0] = quantized ? x : qn_importer_cast(&o->im, x, plain);
	if (n->nout > 1 && out[0] != 0)
		out[1] = qn_onnx_pool_indices(o, n, &w, out[0]);
}

static void
average_pool(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	qn_onnx_window w;

	if (read_window(o, n, &w))
		out[0] = pool_of(o, QN_OP_avg_pool, n->in[0], &w,
				 qn_onnx_int(o, n, "ceil_mode", 0) != 0,
				 qn_onnx_int(o, n, "count_include_pad", 0) != 0);
}

/* Pads so far after the end that the last window of ceil_mode lies inside, and its mean is over all its
 * elements.  A window that would start in the pads after the end does not exist. */
static void
cover_last(qn_onnx_window *w)
{
	for (int32_t i = 0; i < w->n; i++) {
		int64_t reach = (w->kernel[i] - 1) * w->dilation[i] + 1, step = w->stride[i];
		int64_t left = w->in[i] + w->before[i] + w->after[i] - reach;
		int64_t start = left > 0 ? (left + step - 1) / step * step : 0;

		if (start > left && left >= 0 && start < w->in[i] + w->before[i])
			w->after[i] += start - left;
	}
}

/* (sum of |x|^p)^(1/p), the sum being the mean times the number of elements. */
static void
lp_pool(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	double p = n->version < 2 ? qn_onnx_float(o, n, "p", 2) : (double)qn_onnx_int(o, n, "p", 2);
	double count = 1;
	qn_onnx_window w;

	if (!read_window(o, n, &w))
		return;
	for (int32_t i = 0; i < w.n; i++)
		count *= (double)w.kernel[i];
	qn_id x = qn_importer_unary(&o->im, QN_OP_abs, n->in[0]);
	x = qn_importer_binary(&o->im, QN_OP_pow, x, qn_importer_f32(&o->im, p));
	if (qn_onnx_int(o, n, "ceil_mode", 0) != 0)
		cover_last(&w);
	x = pool_of(o, QN_OP_avg_pool, x, &w, false, true);
	x = qn_importer_binary(&o->im, QN_OP_mul, x, qn_importer_f32(&o->im, count));
	out[0] = qn_importer_binary(&o->im, QN_OP_pow, x, qn_importer_f32(&o->im, 1 / p));
}

const qn_onnx_row qn_onnx_pool[] = {
	QN_ONNX_BOTH("MaxPool", 1, max_pool, qn_onnx_write_pool, 0, FIRST, QN_OP_max_pool,
		     QN_OP_max_pool3d),
	QN_ONNX_BOTH("AveragePool", 1, average_pool, qn_onnx_write_pool, 0, FIRST, QN_OP_avg_pool,
		     QN_OP_avg_pool3d),
	QN_ONNX_READ("", "LpPool", 1, lp_pool, 0),
	QN_ONNX_WRITE("GlobalAveragePool", qn_onnx_write_global_pool, 0, FIRST,
		      QN_OP_global_avg_pool),
	{0},
};
