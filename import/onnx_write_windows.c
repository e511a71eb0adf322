/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_write_windows.c - products, and what slides over images, as the operators of ONNX, which
 * are for N,C,H,W: of what they take and give, the channels come first (onnx_axes.c).
 *
 *   conv2d(x [N,H,W,I], w [O,kh,kw,I])     Conv(x [N,I,H,W], w [O,I,kh,kw]) */
#include "import/onnx_write_op.h"
#include "ir/window.h"

/* Pads as ONNX has them: all before, then all after. */
static void
pads(qn_onnx_out *o, int32_t n, const qn_window *w)
{
	int64_t v[6];

	for (int32_t i = 0; i < n; i++) {
		v[i] = w[i].before;
		v[n + i] = w[i].after;
	}
	qn_onnx_out_ints(o, "pads", 2 * n, v);
}

/* ---- convolutions ---- */

/* What convolutions of one, two and three axes have in common. */
typedef struct sliding {
	int32_t axes, padding;
	const int64_t *stride, *dilation, *pad;
	int64_t groups;
} sliding;

static sliding
sliding_of(const qn_node *n)
{
	const qn_attrs_conv1d *a = &n->attr->conv1d;
	const qn_attrs_conv2d *b = &n->attr->conv2d;
	const qn_attrs_conv3d *c = &n->attr->conv3d;

	if (n->op == QN_OP_conv1d)
		return (sliding){1, a->padding, &a->stride, &a->dilation, a->pad, a->groups};
	if (n->op == QN_OP_conv2d)
		return (sliding){2, b->padding, b->stride, b->dilation, b->pad, b->groups};
	return (sliding){3, c->padding, c->stride, c->dilation, c->pad, c->groups};
}

const char *
qn_onnx_write_conv(qn_onnx_out *o, const qn_node *n, const char *op)
{
	const int64_t *x = qn_onnx_write_type(o, n, 0)->dim, *k = qn_onnx_write_type(o, n, 1)->dim;
	const sliding s = sliding_of(n);
	const char *in[3] = {qn_onnx_write_channels_first(o, n, 0),
			     qn_onnx_write_channels_first(o, n, 1),
			     n->nin == 3 ? qn_onnx_out_value(o, n->in[2]) : NULL};
	qn_window w[3];

	if (in[0] == NULL || in[1] == NULL || (n->nin == 3 && in[2] == NULL))
		return NULL;
	for (int32_t i = 0; i < s.axes; i++)
		(void)qn_window_resolve(s.padding, x[1 + i], k[1 + i], s.stride[i], s.dilation[i],
					s.pad + 2 * (ptrdiff_t)i, &w[i]);
	const char *y = qn_onnx_out_node(o, op, n->name, 3, in);
	pads(o, s.axes, w);
	qn_onnx_out_ints(o, "strides", s.axes, s.stride);
	qn_onnx_out_ints(o, "dilations", s.axes, s.dilation);
	qn_onnx_out_int(o, "group", s.groups);
	return y;
}

/* [O,kh,kw,I/g] as [I,O/g,kh,kw]; groups stand side by side in I. */
static const char *
turned_kernel(qn_onnx_out *o, const qn_node *n, int64_t groups)
{
	const int64_t perm[] = {3, 0, 1, 2}, grouped[] = {0, 4, 1, 2, 3};
	const int64_t *k = qn_onnx_write_type(o, n, 1)->dim;
	const int64_t five[] = {groups, k[0] / groups, k[1], k[2], k[3]};
	const int64_t four[] = {groups * k[3], k[0] / groups, k[1], k[2]};

	if (groups == 1)
		return qn_onnx_out_permuted(o, n->in[1], 4, perm);
	const char *shape = qn_onnx_out_i64s(o, "shape", 5, five);
	const char *w = qn_onnx_write_op_2(o, n, "Reshape", qn_onnx_out_value(o, n->in[1]), shape);
	if ((w = qn_onnx_write_op_1(o, n, "Transpose", w)) == NULL)
		return NULL;
	qn_onnx_out_ints(o, "perm", 5, grouped);
	return qn_onnx_write_op_2(o, n, "Reshape", w, qn_onnx_out_i64s(o, "shape", 4, four));
}

const char *
qn_onnx_write_conv_transpose(qn_onnx_out *o, const qn_node *n, const char *op)
{
	const qn_attrs_conv2d_transpose *a = &n->attr->conv2d_transpose;
	const int64_t *x = qn_onnx_write_type(o, n, 0)->dim, *k = qn_onnx_write_type(o, n, 1)->dim;
	const char *in[3] = {qn_onnx_write_channels_first(o, n, 0), turned_kernel(o, n, a->groups),
			     n->nin == 3 ? qn_onnx_out_value(o, n->in[2]) : NULL};
	int64_t extra[2];
	qn_window w[2];

	if (in[0] == NULL || in[1] == NULL || (n->nin == 3 && in[2] == NULL))
		return NULL;
	for (int i = 0; i < 2; i++) {
		(void)qn_window_transpose(a, i, x[1 + i], k[1 + i], &w[i]);
		extra[i] = w[i].out + w[i].before + w[i].after - (x[1 + i] - 1) * a->stride[i] -
			   (k[1 + i] - 1) * a->dilation[i] - 1;
	}
	const char *y = qn_onnx_out_node(o, op, n->name, 3, in);
	pads(o, 2, w);
	qn_onnx_out_ints(o, "strides", 2, a->stride);
	qn_onnx_out_ints(o, "dilations", 2, a->dilation);
	qn_onnx_out_ints(o, "output_padding", 2, extra);
	qn_onnx_out_int(o, "group", a->groups);
	return y;
}

/* ---- pools ---- */

const char *
qn_onnx_write_pool(qn_onnx_out *o, const qn_node *n, const char *op)
{
	const qn_pooling p = qn_pooling_of(n);
	const bool max = n->op == QN_OP_max_pool || n->op == QN_OP_max_pool3d;
	const char *in = qn_onnx_write_channels_first(o, n, 0);
	bool apart = max;
	qn_window w[3];

	if (in == NULL)
		return NULL;
	for (int32_t i = 0; i < p.axes; i++) {
		(void)qn_window_pool(&p, i, qn_onnx_write_type(o, n, 0)->dim[1 + i], &w[i]);
		apart = apart || p.dilation[i] != 1;
	}
	const char *y = qn_onnx_out_node(o, op, n->name, 1, &in);
	pads(o, p.axes, w);
	qn_onnx_out_ints(o, "strides", p.axes, p.stride);
	if (apart)
		qn_onnx_out_ints(o, "dilations", p.axes, p.dilation);
	qn_onnx_out_ints(o, "kernel_shape", p.axes, p.kernel);
	if (p.ceil_mode != 0)
		qn_onnx_out_int(o, "ceil_mode", 1);
	if (!max && p.count_include_pad != 0)
		qn_onnx_out_int(o, "count_include_pad", 1);
	return y;
}

const char *
qn_onnx_write_global_pool(qn_onnx_out *o, const qn_node *n, const char *op)
{
	return qn_onnx_write_op_1(o, n, op, qn_onnx_write_channels_first(o, n, 0));
}

/* ---- sizes of images ---- */

/* TFLite's positions: nearest pixels are those below (i + 0.5) * in / out, which is half_pixel with
 * halves going up; aligned ones the nearest, halves going up too; asymmetric ones those below. */
const char *
qn_onnx_write_resize(qn_onnx_out *o, const qn_node *n, const char *op)
{
	static const char *const places[] = {"half_pixel", "align_corners", "asymmetric"};
	const qn_attrs_resize *a = &n->attr->resize;
	const int64_t *y = n->type->dim, sizes[] = {y[0], y[3], y[1], y[2]};
	const char *in[4] = {qn_onnx_write_channels_first(o, n, 0), NULL, NULL,
			     qn_onnx_out_i64s(o, "sizes", 4, sizes)};
	const bool nearest = n->op == QN_OP_resize_nearest;

	if (in[0] == NULL)
		return NULL;
	const char *out = qn_onnx_out_node(o, op, n->name, 4, in);
	qn_onnx_out_text(o, "mode", nearest ? "nearest" : "linear");
	qn_onnx_out_text(o, "coordinate_transformation_mode", places[a->mode]);
	if (nearest)
		qn_onnx_out_text(o, "nearest_mode",
				 a->mode == QN_COORDINATES_asymmetric ? "floor"
								      : "round_prefer_ceil");
	return out;
}

const char *
qn_onnx_write_depth_space(qn_onnx_out *o, const qn_node *n, const char *op)
{
	const bool spread = n->op == QN_OP_depth_to_space;
	const char *y = qn_onnx_write_op_1(o, n, op, qn_onnx_write_channels_first(o, n, 0));

	if (y == NULL)
		return NULL;
	qn_onnx_out_int(o, "blocksize",
			spread ? n->attr->depth_to_space.block : n->attr->space_to_depth.block);
	if (spread && n->attr->depth_to_space.mode == QN_DEPTH_crd)
		qn_onnx_out_text(o, "mode", "CRD");
	return y;
}

/* ---- products ---- */

const char *
qn_onnx_write_dense(qn_onnx_out *o, const qn_node *n, const char *op)
{
	const int64_t channels = o->flat[n->in[0]];
	const char *in[3] = {qn_onnx_out_value(o, n->in[0]),
			     channels != 0 ? qn_onnx_out_columns(o, n->in[1], channels)
					   : qn_onnx_out_value(o, n->in[1]),
			     n->nin == 3 ? qn_onnx_out_value(o, n->in[2]) : NULL};

	if (in[0] == NULL || in[1] == NULL || (n->nin == 3 && in[2] == NULL))
		return NULL;
	const char *y = qn_onnx_out_node(o, op, n->name, 3, in);

	qn_onnx_out_int(o, "transB", 1);
	return y;
}

const char *
qn_onnx_write_matmul(qn_onnx_out *o, const qn_node *n, const char *op)
{
	const int64_t turn[2] = {n->attr->matmul.transpose_a, n->attr->matmul.transpose_b};
	const char *in[2];

	for (uint32_t i = 0; i < 2; i++) {
		int32_t rank = qn_onnx_write_type(o, n, i)->rank;
		int64_t perm[QN_MAX_RANK];

		for (int32_t k = 0; k < rank; k++)
			perm[k] = k;
		if (turn[i] != 0) {
			perm[rank - 1] = rank - 2;
			perm[rank - 2] = rank - 1;
		}
		in[i] = turn[i] != 0 ? qn_onnx_out_permuted(o, n->in[i], rank, perm)
				     : qn_onnx_out_value(o, n->in[i]);
	}
	return qn_onnx_write_op_2(o, n, op, in[0], in[1]);
}
