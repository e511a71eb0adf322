/* SPDX-License-Identifier: Apache-2.0 */
/* geometry.h - the numbers of a window that walks over an image [batch, in, in, in_c] or a volume
 * [batch, in, in, in, in_c]: those of convolutions and pools.  Arrays hold height and width, or depth,
 * height and width.
 *
 *   output (oy, ox), tap (ky, kx):  row    oy * stride[0] - pad[0] + ky * dil[0]
 *                                   column ox * stride[1] - pad[1] + kx * dil[1] */
#ifndef QN_RUNTIME_GEOMETRY_H
#define QN_RUNTIME_GEOMETRY_H

#include "ir/graph.h"

typedef struct qn_geometry {
	int32_t axes; /* 2 or 3: that many of each array are used */
	int64_t batch, in[3], in_c;
	int64_t out[3], out_c;
	int64_t kernel[3], stride[3], dil[3];
	int64_t pad[3]; /* positions before the image: rows above, columns left */
	int64_t groups;
	int64_t end[3]; /* of averages that count padding: where that ends; else 0 */
} qn_geometry;

/* The members that the arguments of kernels over windows have in common (runtime/kernels/conv2d.h.in …),
 * for an initializer; s: const qn_geometry *. */
#define QN_WINDOW_ARGS(s)                                                                          \
	.batch = (int32_t)(s)->batch, .in_h = (int32_t)(s)->in[0], .in_w = (int32_t)(s)->in[1],    \
	.out_h = (int32_t)(s)->out[0], .out_w = (int32_t)(s)->out[1],                              \
	.k_h = (int32_t)(s)->kernel[0], .k_w = (int32_t)(s)->kernel[1],                            \
	.stride_h = (int32_t)(s)->stride[0], .stride_w = (int32_t)(s)->stride[1],                  \
	.dil_h = (int32_t)(s)->dil[0], .dil_w = (int32_t)(s)->dil[1],                              \
	.pad_t = (int32_t)(s)->pad[0], .pad_l = (int32_t)(s)->pad[1]

/* The same over volumes (runtime/kernels/conv3d.h.in …). */
#define QN_VOLUME_ARGS(s)                                                                          \
	.batch = (int32_t)(s)->batch, .in_c = (int32_t)(s)->in_c, .out_c = (int32_t)(s)->out_c,    \
	.groups = (int32_t)(s)->groups, .in = QN_THREE((s)->in), .out = QN_THREE((s)->out),        \
	.k = QN_THREE((s)->kernel), .stride = QN_THREE((s)->stride), .dil = QN_THREE((s)->dil),    \
	.pad = QN_THREE((s)->pad)
#define QN_THREE(v)                                                                                \
	{                                                                                          \
		(int32_t)(v)[0], (int32_t)(v)[1], (int32_t)(v)[2]                                  \
	}

/* conv2d, conv3d, and conv1d as an image of height 1. */
qn_geometry qn_geometry_conv(const qn_graph *g, const qn_node *n);
/* Whether a window along some axis reaches beyond the image. */
bool qn_geometry_is_padded(const qn_geometry *w);
qn_geometry qn_geometry_conv_transpose(const qn_graph *g, const qn_node *n);
/* max_pool and avg_pool, max_pool3d and avg_pool3d. */
qn_geometry qn_geometry_pool(const qn_graph *g, const qn_node *n);

/* Kernels of two axes take a pointer for each row of a window; emitted code keeps few of them on the
 * stack and many in the activation arena. */
enum { QN_MAX_WINDOW_ROWS = 1024 };

/* All positions, in the image and in the padding, are 32-bit numbers, and a window of two axes has
 * at most QN_MAX_WINDOW_ROWS rows. */
bool qn_geometry_is_small(const qn_geometry *w);

/* Some window lies in the padding as a whole, so that it has no largest value and no mean of
 * elements outside the padding. */
bool qn_geometry_has_empty(const qn_geometry *w);

#endif
