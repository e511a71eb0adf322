/* SPDX-License-Identifier: Apache-2.0 */
/* products.c - see products.h. */
#include "calibrate/products.h"

/* Rows of in_c features, each an image of one element. */
static qn_geometry
rows_of(const qn_type *x, int64_t out_c)
{
	qn_geometry w = {.in_c = x->dim[x->rank - 1], .out_c = out_c, .groups = 1};

	for (int i = 0; i < 3; i++)
		w.in[i] = w.out[i] = w.kernel[i] = w.stride[i] = w.dil[i] = 1;
	w.batch = w.in_c > 0 ? qn_type_count(x) / w.in_c : 0;
	return w;
}

/* An image as a volume whose last axis is 1 long. */
static void
make_volume(qn_geometry *w)
{
	for (int i = w->axes; i < 3; i++) {
		w->in[i] = w->out[i] = w->kernel[i] = w->stride[i] = w->dil[i] = 1;
		w->pad[i] = 0;
	}
}

static bool
matmul_of(const qn_graph *g, const qn_node *n, qn_product *p)
{
	const qn_type *x = qn_graph_node(g, n->in[0])->type, *w = qn_graph_node(g, n->in[1])->type;
	const qn_attrs_matmul *a = &n->attr->matmul;

	if (w->rank != 2 || a->transpose_a != 0)
		return false;
	const bool turned = a->transpose_b != 0;
	p->outputs = w->dim[turned ? 0 : 1];
	p->taps = w->dim[turned ? 1 : 0];
	p->output_step = turned ? p->taps : 1;
	p->tap_step = turned ? 1 : p->outputs;
	p->w = rows_of(x, p->outputs);
	return true;
}

bool
qn_product_of(const qn_graph *g, const qn_node *n, qn_product *p)
{
	const qn_type *x = qn_graph_node(g, n->in[0])->type, *w = qn_graph_node(g, n->in[1])->type;

	*p = (qn_product){.tap_step = 1};
	if (n->op == QN_OP_matmul) {
		if (!matmul_of(g, n, p))
			return false;
	} else {
		p->transposed = n->op == QN_OP_conv2d_transpose;
		p->w = n->op == QN_OP_dense ? rows_of(x, w->dim[0])
		       : p->transposed      ? qn_geometry_conv_transpose(g, n)
					    : qn_geometry_conv(g, n);
		p->outputs = w->dim[0];
		p->taps = p->outputs > 0 ? qn_type_count(w) / p->outputs : 0;
		p->output_step = p->taps;
		if (n->op != QN_OP_dense)
			make_volume(&p->w);
	}
	p->rows = p->outputs / p->w.groups;
	p->positions = p->w.batch * p->w.out[0] * p->w.out[1] * p->w.out[2];
	return p->taps > 0 && p->rows > 0 && p->positions > 0;
}

/* Where tap k of the window at `at` lies along an axis; -1: outside of the image. */
static int64_t
place(const qn_product *p, int axis, int64_t at, int64_t k)
{
	const qn_geometry *w = &p->w;
	int64_t from = at * w->stride[axis] - w->pad[axis] + k * w->dil[axis];

	if (p->transposed) {
		from = at + w->pad[axis] - k * w->dil[axis];
		if (from < 0 || from % w->stride[axis] != 0)
			return -1;
		from /= w->stride[axis];
	}
	return from < w->in[axis] ? from : -1;
}

void
qn_product_patch(const qn_product *p, const double *x, int64_t position, int64_t group,
		 double *patch)
{
	const qn_geometry *w = &p->w;
	const int64_t c = w->in_c / w->groups;
	int64_t at[3];

	for (int i = 2; i >= 0; i--) {
		at[i] = position % w->out[i];
		position /= w->out[i];
	}
	for (int64_t i = 0; i < w->kernel[0]; i++)
		for (int64_t j = 0; j < w->kernel[1]; j++)
			for (int64_t k = 0; k < w->kernel[2]; k++, patch += c) {
				const int64_t a = place(p, 0, at[0], i), b = place(p, 1, at[1], j),
					      d = place(p, 2, at[2], k);
				const bool inside = a >= 0 && b >= 0 && d >= 0;
				const int64_t row = (position * w->in[0] + a) * w->in[1] + b;
				const int64_t from = (row * w->in[2] + d) * w->in_c + group * c;

				for (int64_t t = 0; t < c; t++)
					patch[t] = inside ? x[from + t] : 0;
			}
}
