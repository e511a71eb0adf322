/* SPDX-License-Identifier: Apache-2.0 */
/* block_products.c - dense and convolutions with weights in blocks (runtime/kernels/products_blocks.h, windows_blocks.h):
 * the scales of the blocks are integers with one power of two for each output channel, which is in the sum's scale. */
#include <string.h>

#include "ir/block_scales.h"
#include "runtime/accumulator.h"
#include "runtime/geometry.h"
#include "runtime/impl_args.h"
#include "runtime/impl_util.h"

/* Mantissas of the weights, which the accumulator's check found to be of that form. */
static qn_block_scales
scales_of(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	qn_block_scales b;

	(void)qn_block_scales_find(&g->model->types, qn_in_type(g, n, 1), a, &b);
	return b;
}

/* What the arguments of all these products have in common, for an initializer; b: const qn_block_scales *. */
#define BLOCK_ARGS(g, n, b)                                                                        \
	.mantissas = (int32_t)((b)->channels * (b)->blocks),                                       \
	.offsets = (b)->offset != NULL ? (int32_t)((b)->channels * (b)->blocks) : 0,               \
	.zi = qn_zp_of(g, qn_in_type(g, n, 0)), .lo = INT32_MIN, .hi = INT32_MAX,                  \
	.mode = (g)->model->rounding, .mult_n = 1, .mantissa = (b)->mantissa,                      \
	.offset = (b)->offset

static void *
dense_prepare(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	const qn_type *wt = qn_in_type(g, n, 1);
	qn_dense_blocks_args *d = QN_NEW(a, qn_dense_blocks_args, 1);

	if (!qn_accumulator_check(g, n, a))
		return NULL;
	const qn_block_scales b = scales_of(g, n, a);
	*d = (qn_dense_blocks_args){
		.batch = (int32_t)qn_dim_product(n->type, 0, n->type->rank - 1),
		.in = (int32_t)wt->dim[1],
		.out = (int32_t)wt->dim[0],
		.block = (int32_t)b.size[1],
		.blocks = (int32_t)b.blocks,
		BLOCK_ARGS(g, n, &b),
	};
	return d;
}

/* An axis of the weights; conv1d has one less. */
static int32_t
along(const int64_t *by_axis, const qn_type *wt, int32_t axis)
{
	return axis == 1 && wt->rank == 3 ? 1 : (int32_t)by_axis[axis - 4 + wt->rank];
}

/* Of images: conv1d, conv2d and conv2d_transpose. */
static qn_conv2d_blocks_args
image_arguments(const qn_graph *g, const qn_node *n, const qn_geometry *s, qn_arena *a)
{
	const qn_type *wt = qn_in_type(g, n, 1);
	const qn_block_scales b = scales_of(g, n, a);

	return (qn_conv2d_blocks_args){
		QN_WINDOW_ARGS(s),
		.in_c = (int32_t)s->in_c,
		.out_c = (int32_t)s->out_c,
		.groups = (int32_t)s->groups,
		.block_h = along(b.size, wt, 1),
		.block_w = along(b.size, wt, 2),
		.block_c = along(b.size, wt, 3),
		.blocks_h = along(b.count, wt, 1),
		.blocks_w = along(b.count, wt, 2),
		.blocks_c = along(b.count, wt, 3),
		BLOCK_ARGS(g, n, &b),
	};
}

static void *
conv_prepare(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	const qn_geometry s = qn_geometry_conv(g, n);
	qn_conv2d_blocks_call *c = QN_NEW(a, qn_conv2d_blocks_call, 1);

	if (!qn_accumulator_check(g, n, a))
		return NULL;
	if (!qn_geometry_is_small(&s))
		return qn_int_refuse(g, n,
				     "windows of more than 1024 rows or beyond 2^29 positions");
	c->args = image_arguments(g, n, &s, a);
	c->rows = QN_NEW(a, const void *, (size_t)s.kernel[0]);
	return c;
}

static void *
transpose_prepare(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	const qn_geometry s = qn_geometry_conv_transpose(g, n);
	qn_conv2d_blocks_args *d = QN_NEW(a, qn_conv2d_blocks_args, 1);

	if (!qn_accumulator_check(g, n, a) || !qn_transposed_is_small(g, n, &s))
		return NULL;
	*d = image_arguments(g, n, &s, a);
	return d;
}

static void *
volume_prepare(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	const qn_geometry s = qn_geometry_conv(g, n);
	qn_conv3d_blocks_args *d = QN_NEW(a, qn_conv3d_blocks_args, 1);

	if (!qn_accumulator_check(g, n, a))
		return NULL;
	if (!qn_geometry_is_small(&s))
		return qn_int_refuse(g, n, "windows beyond 2^29 positions");
	const qn_block_scales b = scales_of(g, n, a);
	*d = (qn_conv3d_blocks_args){
		QN_VOLUME_ARGS(&s),
		.block = QN_THREE(b.size + 1),
		.blocks = QN_THREE(b.count + 1),
		.block_c = (int32_t)b.size[4],
		.blocks_c = (int32_t)b.count[4],
		BLOCK_ARGS(g, n, &b),
	};
	return d;
}

/* A kernel without working memory: its function and the struct of its arguments. */
#define PLAIN(name, kernel, type, width)                                                           \
	static void name(const qn_eval *e, const void *args)                                       \
	{                                                                                          \
		type##width d;                                                                     \
                                                                                                   \
		memcpy(&d, args, sizeof(d));                                                       \
		d.w = e->in[1];                                                                    \
		d.bias = e->n->nin > 2 ? e->in[2] : NULL;                                          \
		kernel(&d, e->in[0], e->out);                                                      \
	}
#define DENSE(name, o, width, code) PLAIN(name, qn_dense_blocks_acc##o, qn_dense_blocks_args, width)
#define TRANSPOSED(name, o, width, code)                                                           \
	PLAIN(name, qn_conv_transpose_blocks_acc##o, qn_conv2d_blocks_args, width)
#define VOLUME(name, o, width, code)                                                               \
	PLAIN(name, qn_conv3d_blocks_acc##o, qn_conv3d_blocks_args, width)
#define CONV(name, o, width, code)                                                                 \
	static void name(const qn_eval *e, const void *args)                                       \
	{                                                                                          \
		const qn_conv2d_blocks_call *c = args;                                             \
		qn_conv2d_blocks_args##width d;                                                    \
                                                                                                   \
		memcpy(&d, &c->args, sizeof(d));                                                   \
		d.w = e->in[1];                                                                    \
		d.bias = e->n->nin > 2 ? e->in[2] : NULL;                                          \
		qn_conv2d_blocks_acc##o(&d, e->in[0], (const code **)c->rows, e->out);             \
	}
/* By the storage of the data and the width of the sums. */
#define ALL(RUN, name)                                                                             \
	RUN(name##_s8, , , int8_t)                                                                 \
	RUN(name##_u8, _u8, , uint8_t)                                                             \
	RUN(name##_s16, _s16, 64, int16_t)                                                         \
	RUN(name##_s8x, _s8x, 64, int8_t)                                                          \
	RUN(name##_u8x, _u8x, 64, uint8_t)                                                         \
	static void name(const qn_eval *e, const void *args)                                       \
	{                                                                                          \
		static qn_quantized_fn *const by[][QN_NFAMILY] = {                                 \
			{name##_s8, name##_u8, name##_s16},                                        \
			{name##_s8x, name##_u8x, name##_s16},                                      \
		};                                                                                 \
                                                                                                   \
		by[e->n->type->elem->bits == 64][qn_node_family(e->g, e->n)](e, args);             \
	}

ALL(DENSE, dense_run)
ALL(CONV, conv_run)
ALL(TRANSPOSED, transpose_run)
ALL(VOLUME, volume_run)

#define IMPL(form)                                                                                 \
	{                                                                                          \
		.prepare = form##_prepare, .run = form##_run, .families = QN_ALL_FAMILIES          \
	}

static const qn_int_impl dense = IMPL(dense), conv = IMPL(conv), transposed = IMPL(transpose),
			 volume = IMPL(volume);

const qn_int_impl *
qn_blocks_impl(const qn_graph *g, const qn_node *n)
{
	if (qn_gather_rescales(g, n))
		return &qn_gather_blocks_impl;
	if (!qn_has_blocks(g, n))
		return NULL;
	return n->op == QN_OP_dense              ? &dense
	       : n->op == QN_OP_conv2d_transpose ? &transposed
	       : n->op == QN_OP_conv3d           ? &volume
						 : &conv;
}
