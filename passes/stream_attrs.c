/* SPDX-License-Identifier: Apache-2.0 */
/* stream_attrs.c - the attributes of a node that computes some of its rows.
 *
 *   conv2d {stride=[2,2], padding=same}      rows 21 to 24 from rows 38 to 48, of which windows reach 5 beyond the end:
 *                                       ->   conv2d {stride=[2,2], pad=[0,5,1,1]} */
#include "ir/window.h"
#include "passes/stream.h"

/* The pads of axis k of an image: those of the stretch on the axis of the rows, which is `rows`. */
static void
set_pads(int64_t *pad, int32_t k, int32_t rows, const qn_window *w, const qn_stretch *x)
{
	pad[2 * k] = k == rows ? x->before : w->before;
	pad[2 * k + 1] = k == rows ? x->after : w->after;
}

static void
convolution(const qn_stream *s, const qn_node *n, int32_t rows, const qn_stretch *x, qn_attrs *out)
{
	const qn_convolving c = qn_convolving_of(n);
	int64_t *pad = n->op == QN_OP_conv1d   ? out->conv1d.pad
		       : n->op == QN_OP_conv2d ? out->conv2d.pad
					       : out->conv3d.pad;
	int32_t *padding = n->op == QN_OP_conv1d   ? &out->conv1d.padding
			   : n->op == QN_OP_conv2d ? &out->conv2d.padding
						   : &out->conv3d.padding;

	for (int32_t k = 0; k < c.axes; k++) {
		const int64_t in = qn_graph_node(s->g, n->in[0])->type->dim[1 + k];
		qn_window w;

		(void)qn_window_conv(&c, k, in, qn_graph_node(s->g, n->in[1])->type->dim[1 + k],
				     &w);
		set_pads(pad, k, rows - 1, &w, x);
	}
	*padding = QN_PADDING_explicit;
}

/* The sums of rows that are there reach so far beyond the wanted ones on both sides. */
static void
transposed(const qn_stream *s, const qn_node *n, int32_t rows, const qn_stretch *x, qn_attrs *out)
{
	const qn_attrs_conv2d_transpose *a = &n->attr->conv2d_transpose;
	qn_attrs_conv2d_transpose *to = &out->conv2d_transpose;

	for (int32_t k = 0; k < 2; k++) {
		const int64_t in = qn_graph_node(s->g, n->in[0])->type->dim[1 + k];
		const int64_t kernel = qn_graph_node(s->g, n->in[1])->type->dim[1 + k];
		const int64_t reach = (kernel - 1) * a->dilation[k] + 1;
		qn_window w;

		(void)qn_window_transpose(a, k, in, kernel, &w);
		if (k == rows - 1)
			w = (qn_window){x->q - x->p, reach - 1 - x->before, reach - 1 - x->after};
		to->pad[2 * k] = w.before;
		to->pad[2 * k + 1] = w.after;
		to->output_padding[k] =
			k == rows - 1
				? 0
				: w.out - ((in - 1) * a->stride[k] + reach - w.before - w.after);
	}
	to->padding = QN_PADDING_explicit;
}

static void
resize(const qn_stream *s, const qn_node *n, int32_t rows, const qn_stretch *x, qn_attrs *out)
{
	(void)s;
	(void)n;
	if (rows >= 1 && rows <= 2)
		out->resize.size[rows - 1] = x->q - x->p;
}

/* What windows reach beyond the image with ceil_mode is padding, which is not counted. */
static void
pool(const qn_stream *s, const qn_node *n, int32_t rows, const qn_stretch *x, qn_attrs *out)
{
	const qn_pooling p = qn_pooling_of(n);
	const bool flat = n->op == QN_OP_max_pool || n->op == QN_OP_avg_pool;
	int64_t *pad = flat ? out->pool.pad : out->pool3d.pad;

	for (int32_t k = 0; k < p.axes; k++) {
		const int64_t in = qn_graph_node(s->g, n->in[0])->type->dim[1 + k];
		const int64_t reach = (p.kernel[k] - 1) * p.dilation[k] + 1;
		qn_window w;

		(void)qn_window_pool(&p, k, in, &w);
		const int64_t over = (w.out - 1) * p.stride[k] + reach - in - w.before;
		w.after = over > w.after ? over : w.after;
		set_pads(pad, k, rows - 1, &w, x);
	}
	if (flat) {
		out->pool.padding = QN_PADDING_explicit;
		out->pool.ceil_mode = 0;
	} else {
		out->pool3d.padding = QN_PADDING_explicit;
		out->pool3d.ceil_mode = 0;
	}
}

static void
reshape(const qn_stream *s, const qn_node *n, int32_t rows, const qn_stretch *x, qn_attrs *out)
{
	(void)s;
	out->shape.shape.n = n->type->rank;
	for (int32_t i = 0; i < n->type->rank; i++)
		out->shape.shape.v[i] = i == rows ? x->q - x->p : n->type->dim[i];
}

static void
slice(const qn_stream *s, const qn_node *n, int32_t rows, const qn_stretch *x, qn_attrs *out)
{
	(void)s;
	(void)n;
	out->slice.begin.v[rows] = 0;
	out->slice.end.v[rows] = x->b - x->a;
}

static void
pad(const qn_stream *s, const qn_node *n, int32_t rows, const qn_stretch *x, qn_attrs *out)
{
	(void)s;
	(void)n;
	out->pad.before.v[rows] = x->before;
	out->pad.after.v[rows] = x->after;
}

typedef void attrs_fn(const qn_stream *s, const qn_node *n, int32_t rows, const qn_stretch *x,
		      qn_attrs *out);

static attrs_fn *const of_op[QN_NOP] = {
	[QN_OP_conv1d] = convolution,
	[QN_OP_conv2d] = convolution,
	[QN_OP_conv3d] = convolution,
	[QN_OP_max_pool] = pool,
	[QN_OP_conv2d_transpose] = transposed,
	[QN_OP_resize_nearest] = resize,
	[QN_OP_resize_bilinear] = resize,
	[QN_OP_avg_pool] = pool,
	[QN_OP_max_pool3d] = pool,
	[QN_OP_avg_pool3d] = pool,
	[QN_OP_reshape] = reshape,
	[QN_OP_slice] = slice,
	[QN_OP_pad] = pad,
};

void
qn_stream_attrs(const qn_stream *s, const qn_node *n, int32_t rows, const qn_stretch *x,
		qn_attrs *out)
{
	qn_attrs_of(n, out);
	if (of_op[n->op] != NULL)
		of_op[n->op](s, n, rows, x, out);
}
