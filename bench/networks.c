/* SPDX-License-Identifier: Apache-2.0 */
/* networks.c - the four networks, layer by layer. */
#include "bench/networks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

float
maker_random(maker *k)
{
	k->seed = k->seed * 1664525u + 1013904223u;
	return (float)(int32_t)k->seed * 0x1p-31f;
}

static const qn_type *
f32(maker *k, int32_t rank, const int64_t *dim)
{
	return qn_type_plain(&k->m.types, QN_PLAIN_f32, rank, dim);
}

static qn_id
checked(qn_id id)
{
	if (id == 0) {
		fprintf(stderr, "bench: a node of the network is wrong\n");
		exit(1);
	}
	return id;
}

qn_id
maker_input(maker *k, int32_t rank, const int64_t *dim)
{
	return checked(qn_graph_input(k->g, "x", f32(k, rank, dim)));
}

static qn_id
weights(maker *k, int32_t rank, const int64_t *dim, int64_t terms)
{
	void *data;
	qn_tensor *w = qn_tensor_new(k->m.arena, f32(k, rank, dim), &data);
	float scale = (float)(1.7 / sqrt((double)terms));

	for (int64_t i = 0; i < qn_type_count(w->type); i++)
		((float *)data)[i] = maker_random(k) * scale;
	return checked(qn_graph_const(k->g, NULL, w));
}

static qn_id
op(maker *k, qn_op kind, uint32_t nin, const qn_id *in, const qn_attrs *attrs)
{
	return checked(qn_graph_op(k->g, kind, NULL, nin, in, attrs, NULL));
}

static qn_id
relu(maker *k, qn_id x)
{
	return op(k, QN_OP_relu, 1, &x, NULL);
}

/* depthwise: out is the number of channels. */
static qn_id
convolution(maker *k, qn_id x, int64_t out, const int64_t kernel[2], const int64_t stride[2],
	    bool depthwise)
{
	int64_t in = qn_graph_node(k->g, x)->type->dim[3];
	int64_t each = depthwise ? 1 : in;
	qn_attrs *a = QN_NEW(k->m.arena, qn_attrs, 1);

	qn_attrs_default(QN_ATTRS(conv2d), a);
	a->conv2d.stride[0] = stride[0];
	a->conv2d.stride[1] = stride[1];
	a->conv2d.padding = QN_PADDING_same;
	a->conv2d.groups = depthwise ? in : 1;
	const qn_id args[] = {
		x,
		weights(k, 4, (int64_t[]){out, kernel[0], kernel[1], each},
			kernel[0] * kernel[1] * each),
		weights(k, 1, &out, 100),
	};
	return op(k, QN_OP_conv2d, 3, args, a);
}

qn_id
maker_conv(maker *k, qn_id x, int64_t out, int64_t kh, int64_t kw, int64_t sh, int64_t sw)
{
	return convolution(k, x, out, (int64_t[]){kh, kw}, (int64_t[]){sh, sw}, false);
}

static qn_id
depthwise(maker *k, qn_id x, int64_t stride)
{
	int64_t c = qn_graph_node(k->g, x)->type->dim[3];

	return relu(k, convolution(k, x, c, (int64_t[]){3, 3}, (int64_t[]){stride, stride}, true));
}

qn_id
maker_dense(maker *k, qn_id x, int64_t out)
{
	int64_t in = qn_graph_node(k->g, x)->type->dim[1];
	const qn_id args[] = {x, weights(k, 2, (int64_t[]){out, in}, in), weights(k, 1, &out, 100)};

	return op(k, QN_OP_dense, 3, args, NULL);
}

/* Mean over the image, classes, softmax. */
static qn_id
head(maker *k, qn_id x, int64_t classes)
{
	qn_attrs *axis = QN_NEW(k->m.arena, qn_attrs, 1);
	qn_attrs *shape = QN_NEW(k->m.arena, qn_attrs, 1);
	int64_t c = qn_graph_node(k->g, x)->type->dim[3];

	axis->axis.axis = -1;
	shape->shape.shape = (qn_list){2, {1, c}};
	x = op(k, QN_OP_global_avg_pool, 1, &x, NULL);
	if (qn_graph_node(k->g, x)->type->rank != 2)
		x = op(k, QN_OP_reshape, 1, &x, shape);
	x = maker_dense(k, x, classes);
	return op(k, QN_OP_softmax, 1, &x, axis);
}

static qn_id
build_kws(maker *k)
{
	qn_id x = maker_input(k, 4, (int64_t[]){1, 49, 10, 1});

	x = relu(k, maker_conv(k, x, 64, 10, 4, 2, 2));
	for (int i = 0; i < 4; i++) {
		x = depthwise(k, x, 1);
		x = relu(k, maker_conv(k, x, 64, 1, 1, 1, 1));
	}
	return head(k, x, 12);
}

static qn_id
build_ic(maker *k)
{
	qn_id x = maker_input(k, 4, (int64_t[]){1, 32, 32, 3});

	x = relu(k, maker_conv(k, x, 16, 3, 3, 1, 1));
	for (int64_t c = 16; c <= 64; c *= 2) {
		int64_t s = c > 16 ? 2 : 1;
		qn_id y = relu(k, maker_conv(k, x, c, 3, 3, s, s));

		y = maker_conv(k, y, c, 3, 3, 1, 1);
		if (s > 1)
			x = maker_conv(k, x, c, 1, 1, s, s);
		x = relu(k, op(k, QN_OP_add, 2, (const qn_id[]){x, y}, NULL));
	}
	return head(k, x, 10);
}

static qn_id
build_vww(maker *k)
{
	static const struct {
		int64_t out, stride;
	} block[] = {{16, 1},  {32, 2},  {32, 1},  {64, 2},  {64, 1},  {128, 2}, {128, 1},
		     {128, 1}, {128, 1}, {128, 1}, {128, 1}, {256, 2}, {256, 1}};
	qn_id x = maker_input(k, 4, (int64_t[]){1, 96, 96, 3});

	x = relu(k, maker_conv(k, x, 8, 3, 3, 2, 2));
	for (size_t i = 0; i < QN_COUNT(block); i++) {
		x = depthwise(k, x, block[i].stride);
		x = relu(k, maker_conv(k, x, block[i].out, 1, 1, 1, 1));
	}
	return head(k, x, 2);
}

static qn_id
build_ad(maker *k)
{
	static const int64_t out[] = {128, 128, 128, 128, 8, 128, 128, 128, 128};
	qn_id x = maker_input(k, 2, (int64_t[]){1, 640});

	for (size_t i = 0; i < QN_COUNT(out); i++)
		x = relu(k, maker_dense(k, x, out[i]));
	return maker_dense(k, x, 640);
}

const network networks[] = {
	{"kws", build_kws, 134.0},
	{"ic", build_ic, 382.0},
	{"vww", build_vww, 498.0},
	{"ad", build_ad, 6.8},
};
const size_t nnetwork = QN_COUNT(networks);
