/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_conv.c - CONV_2D, DEPTHWISE_CONV_2D, CONV_3D, TRANSPOSE_CONV, and MediaPipe's custom operator
 * Convolution2DTransposeBias.
 *
 *   CONV_2D            weights [O,kh,kw,I/groups]   as they are
 *   DEPTHWISE_CONV_2D  weights [1,kh,kw,O]          -> [O,kh,kw,1], one group per channel of the data
 *   TRANSPOSE_CONV     weights [O,kh,kw,I]          as they are; the result's shape is an input
 *
 * Convolution2DTransposeBias is TRANSPOSE_CONV with data, weights and bias, a result as large as the strides make it, and
 * options as a struct of C: padding (1 SAME, 2 VALID), stride of the width, stride of the height, 32 bits each. */
#include <string.h>

#include "import/tflite.h"

#include "ir/window.h"

enum { HEIGHT, WIDTH };

/* Padding, a byte: SAME 0, VALID 1. */
static int32_t
padding_of(const qn_tfl_op *o)
{
	return qn_tfl_flag(o, 0, QN_TFL_PADDING_SAME) == QN_TFL_PADDING_SAME ? QN_PADDING_same
									     : QN_PADDING_valid;
}

/* Data, weights and bias all quantized or all in f32. */
static void
product_inputs(qn_tfl_op *o, uint32_t x, qn_id in[3])
{
	bool quantized = qn_tfl_is_quantized(o, o->in[x]) && qn_tfl_result_is_quantized(o);
	const uint32_t at[3] = {x, 1, x == 0 ? 2 : 3};

	for (int i = 0; i < 3; i++) {
		bool there = at[i] < o->nin && o->from[at[i]] != NULL;

		in[i] = !there ? 0 : quantized ? o->in[at[i]] : qn_tfl_real(o, at[i]);
	}
}

/* ranks of data and weights */
static bool
ranks_ok(qn_tfl_op *o, uint32_t x)
{
	return (qn_tfl_rank(o, x) == 4 && qn_tfl_rank(o, 1) == 4) ||
	       qn_importer_refuse(o->im, "import.rank",
				  "data of %d and weights of %d dimensions; both must have 4",
				  (int)qn_tfl_rank(o, x), (int)qn_tfl_rank(o, 1)) != 0;
}

static void
conv_2d(qn_tfl_op *o)
{
	qn_attrs a;
	qn_id in[3];

	if (!ranks_ok(o, 0))
		return;
	int64_t channels = qn_importer_type(o->im, o->in[0])->dim[3];
	int64_t each = qn_importer_type(o->im, o->in[1])->dim[3];
	qn_attrs_default(QN_ATTRS(conv2d), &a);
	a.conv2d.padding = padding_of(o);
	a.conv2d.stride[WIDTH] = qn_tfl_option(o, 1, 0);
	a.conv2d.stride[HEIGHT] = qn_tfl_option(o, 2, 0);
	a.conv2d.dilation[WIDTH] = qn_tfl_option(o, 4, 1);
	a.conv2d.dilation[HEIGHT] = qn_tfl_option(o, 5, 1);
	a.conv2d.groups = each > 0 && channels % each == 0 ? channels / each : 1;
	product_inputs(o, 0, in);
	qn_tfl_set_result(o, 0,
			  qn_tfl_product(o, QN_OP_conv2d, in[0], in[1], in[2], &a, false,
					 qn_tfl_flag(o, 3, QN_TFL_ACT_NONE)));
}

static void
depthwise_conv_2d(qn_tfl_op *o)
{
	static const int64_t perm[4] = {3, 1, 2, 0};
	qn_attrs a;
	qn_id in[3];

	if (!ranks_ok(o, 0))
		return;
	qn_attrs_default(QN_ATTRS(conv2d), &a);
	a.conv2d.padding = padding_of(o);
	a.conv2d.stride[WIDTH] = qn_tfl_option(o, 1, 0);
	a.conv2d.stride[HEIGHT] = qn_tfl_option(o, 2, 0);
	a.conv2d.dilation[WIDTH] = qn_tfl_option(o, 5, 1);
	a.conv2d.dilation[HEIGHT] = qn_tfl_option(o, 6, 1);
	a.conv2d.groups = qn_importer_type(o->im, o->in[0])->dim[3];
	if (qn_importer_type(o->im, o->in[1])->dim[0] != 1) {
		(void)qn_importer_refuse(o->im, "import.input",
					 "dimension 0 of the weights is %lld, must be 1",
					 (long long)qn_importer_type(o->im, o->in[1])->dim[0]);
		return;
	}
	product_inputs(o, 0, in);
	qn_tfl_set_result(o, 0,
			  qn_tfl_product(o, QN_OP_conv2d, in[0],
					 qn_importer_transpose(o->im, in[1], perm), in[2], &a,
					 false, qn_tfl_flag(o, 4, QN_TFL_ACT_NONE)));
}

/* Pads that cut the full result down to the wanted size, as TFLite finds them: half of what is too much
 * before. */
static bool
transposed_pads(qn_tfl_op *o, uint32_t data, bool same, const int64_t *want,
		qn_attrs_conv2d_transpose *a)
{
	const qn_type *x = qn_importer_type(o->im, o->in[data]),
		      *w = qn_importer_type(o->im, o->in[1]);

	if (want[0] != x->dim[0] || want[3] != w->dim[0])
		return qn_importer_refuse(o->im, "import.input",
					  "a result of %lldx%lldx%lldx%lld; the data has a batch "
					  "of %lld, the weights have %lld channels",
					  (long long)want[0], (long long)want[1],
					  (long long)want[2], (long long)want[3],
					  (long long)x->dim[0], (long long)w->dim[0]) != 0;
	for (int i = 0; i < 2; i++) {
		int64_t out = want[1 + i], stride = a->stride[i], kernel = w->dim[1 + i];
		int64_t windows = same ? (out + stride - 1) / stride : (out - kernel) / stride + 1;
		int64_t total = (windows - 1) * stride + kernel - out;
		int64_t full = (x->dim[1 + i] - 1) * stride + kernel;

		total = total > 0 ? total : 0;
		a->pad[2 * i] = total / 2;
		a->pad[2 * i + 1] = full - a->pad[2 * i] - out;
		if (a->pad[2 * i + 1] < 0) {
			a->output_padding[i] = -a->pad[2 * i + 1];
			a->pad[2 * i + 1] = 0;
		}
		if (windows != x->dim[1 + i] || out < 1)
			return qn_importer_refuse(
				       o->im, "import.input",
				       "a result of %lld elements along axis %d has %lld windows, "
				       "the data has %lld",
				       (long long)out, 1 + i, (long long)windows,
				       (long long)x->dim[1 + i]) != 0;
	}
	return true;
}

static void
transpose_conv(qn_tfl_op *o)
{
	qn_attrs a;
	int64_t want[4];
	qn_id in[3];

	qn_attrs_default(QN_ATTRS(conv2d_transpose), &a);
	a.conv2d_transpose.groups = 1;
	a.conv2d_transpose.padding = QN_PADDING_explicit;
	a.conv2d_transpose.stride[WIDTH] = qn_tfl_option(o, 1, 0);
	a.conv2d_transpose.stride[HEIGHT] = qn_tfl_option(o, 2, 0);
	int32_t n = qn_tfl_dims(o, 0, 0, 4, want);
	if (n < 0 || !ranks_ok(o, 2))
		return;
	if (n != 4 || a.conv2d_transpose.stride[0] < 1 || a.conv2d_transpose.stride[1] < 1) {
		(void)qn_importer_refuse(o->im, "import.attr",
					 "a result of %d dimensions, must be 4; strides %lld and "
					 "%lld, must be positive",
					 (int)n, (long long)a.conv2d_transpose.stride[0],
					 (long long)a.conv2d_transpose.stride[1]);
		return;
	}
	product_inputs(o, 2, in);
	if (transposed_pads(o, 2, padding_of(o) == QN_PADDING_same, want, &a.conv2d_transpose))
		qn_tfl_set_result(o, 0,
				  qn_tfl_product(o, QN_OP_conv2d_transpose, in[0], in[1], in[2], &a,
						 false, qn_tfl_flag(o, 3, QN_TFL_ACT_NONE)));
}

enum { SAME = 1, VALID = 2, MOST_STRIDE = 65535 }; /* TfLitePadding of a struct */

static int64_t
little_endian(const unsigned char *p)
{
	return (int64_t)(int32_t)((uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
				  (uint32_t)p[3] << 24);
}

static void
transpose_bias(qn_tfl_op *o)
{
	const qn_flat_vector *v = &o->custom_options;
	const unsigned char *p = v->n >= 12 ? v->f->data + v->at : NULL;
	const int64_t padding = p != NULL ? little_endian(p) : 0;
	qn_attrs a;
	int64_t want[4];
	qn_id in[3];

	if (!ranks_ok(o, 0))
		return;
	qn_attrs_default(QN_ATTRS(conv2d_transpose), &a);
	a.conv2d_transpose.groups = 1;
	a.conv2d_transpose.padding = QN_PADDING_explicit;
	a.conv2d_transpose.stride[WIDTH] = p != NULL ? little_endian(p + 4) : 0;
	a.conv2d_transpose.stride[HEIGHT] = p != NULL ? little_endian(p + 8) : 0;
	const int64_t *stride = a.conv2d_transpose.stride;
	if ((padding != SAME && padding != VALID) || stride[0] < 1 || stride[0] > MOST_STRIDE ||
	    stride[1] < 1 || stride[1] > MOST_STRIDE) {
		(void)qn_importer_refuse(
			o->im, "import.attr",
			"custom options of %zu bytes with padding %lld and strides %lld and %lld; "
			"needed are 12 bytes or more, padding 1 or 2, strides of 1 to %d",
			v->n, (long long)padding, (long long)stride[0], (long long)stride[1],
			(int)MOST_STRIDE);
		return;
	}
	const qn_type *x = qn_importer_type(o->im, o->in[0]),
		      *w = qn_importer_type(o->im, o->in[1]);
	want[0] = x->dim[0];
	want[3] = w->dim[0];
	for (int i = 0; i < 2; i++) {
		want[1 + i] = padding == SAME ? x->dim[1 + i] * stride[i]
					      : (x->dim[1 + i] - 1) * stride[i] + w->dim[1 + i];
	}
	product_inputs(o, 0, in);
	if (transposed_pads(o, 0, padding == SAME, want, &a.conv2d_transpose))
		qn_tfl_set_result(o, 0,
				  qn_tfl_product(o, QN_OP_conv2d_transpose, in[0], in[1], in[2], &a,
						 false, QN_TFL_ACT_NONE));
}

const qn_tfl_row *
qn_tfl_custom_conv(const char *name)
{
	static const qn_tfl_row row = {QN_TFL_CUSTOM, transpose_bias, 0, 2, 3, 1, 1};

	return strcmp(name, "Convolution2DTransposeBias") == 0 ? &row : NULL;
}

/* Weights [kd,kh,kw,I,O] become [O,kd,kh,kw,I]. */
static void
conv_3d(qn_tfl_op *o)
{
	static const int64_t perm[5] = {4, 0, 1, 2, 3};
	static const uint32_t stride[3] = {1, 3, 2},
			      dilation[3] = {5, 7, 6}; /* depth, height, width */
	qn_attrs a;
	qn_id in[3];

	if (qn_tfl_rank(o, 0) != 5 || qn_tfl_rank(o, 1) != 5) {
		(void)qn_importer_refuse(
			o->im, "import.rank",
			"data of %d and weights of %d dimensions; both must have 5",
			(int)qn_tfl_rank(o, 0), (int)qn_tfl_rank(o, 1));
		return;
	}
	qn_attrs_default(QN_ATTRS(conv3d), &a);
	a.conv3d.padding = padding_of(o);
	for (int i = 0; i < 3; i++) {
		a.conv3d.stride[i] = qn_tfl_option(o, stride[i], 0);
		a.conv3d.dilation[i] = qn_tfl_option(o, dilation[i], 1);
	}
	product_inputs(o, 0, in);
	qn_tfl_set_result(o, 0,
			  qn_tfl_product(o, QN_OP_conv3d, in[0],
					 qn_importer_transpose(o->im, in[1], perm), in[2], &a,
					 false, qn_tfl_flag(o, 4, QN_TFL_ACT_NONE)));
}

const qn_tfl_row qn_tfl_conv_rows[] = {
	{QN_TFL_CONV_2D, conv_2d, 0, 2, 3, 1, 1},
	{QN_TFL_DEPTHWISE_CONV_2D, depthwise_conv_2d, 0, 2, 3, 1, 1},
	{QN_TFL_CONV_3D, conv_3d, 0, 2, 3, 1, 1},
	{QN_TFL_TRANSPOSE_CONV, transpose_conv, 0, 3, 4, 1, 1},
	{0},
};
