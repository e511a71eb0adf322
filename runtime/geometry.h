/* SPDX-License-Identifier: Apache-2.0 */
/* geometry.h - the numbers of a window that walks over an image [batch, in, in, in_c]: those of
 * conv2d, max_pool and avg_pool.  Arrays of two hold height, then width.
 *
 *   output (oy, ox), tap (ky, kx):  row    oy * stride[0] - pad[0] + ky * dil[0]
 *                                   column ox * stride[1] - pad[1] + kx * dil[1] */
#ifndef QN_RUNTIME_GEOMETRY_H
#define QN_RUNTIME_GEOMETRY_H

#include "ir/graph.h"

typedef struct qn_geometry {
	int64_t batch, in[2], in_c;
	int64_t out[2], out_c;
	int64_t kernel[2], stride[2], dil[2];
	int64_t pad[2]; /* rows above and columns left of the image */
	int64_t groups;
	int64_t end[2]; /* of averages that count padding: where that ends; else 0 */
} qn_geometry;

/* conv2d, and conv1d as an image of height 1. */
qn_geometry qn_geometry_conv(const qn_graph *g, const qn_node *n);
qn_geometry qn_geometry_conv_transpose(const qn_graph *g, const qn_node *n);
qn_geometry qn_geometry_conv2d(const qn_graph *g, const qn_node *n);
qn_geometry qn_geometry_pool(const qn_graph *g, const qn_node *n);

/* The same with three axes: depth, height, width. */
typedef struct qn_volume {
	int64_t batch, in[3], in_c;
	int64_t out[3], out_c;
	int64_t kernel[3], stride[3], dil[3];
	int64_t pad[3]; /* positions before the volume */
	int64_t groups;
	int64_t end[3];
} qn_volume;

qn_volume qn_volume_conv3d(const qn_graph *g, const qn_node *n);
qn_volume qn_volume_pool3d(const qn_graph *g, const qn_node *n);
/* All positions are 32-bit numbers. */
bool qn_volume_is_small(const qn_volume *w);
bool qn_volume_has_empty(const qn_volume *w);

/* Kernels take a pointer for each row of a window; emitted code keeps them on the stack. */
enum { QN_MAX_WINDOW_ROWS = 1024 };

/* All positions, in the image and in the padding, are 32-bit numbers, and a window has at most
 * QN_MAX_WINDOW_ROWS rows. */
bool qn_geometry_is_small(const qn_geometry *w);

/* Some window along an axis has no tap inside the image. */
bool qn_window_has_empty(int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t dil,
			 int64_t pad);
/* Some window lies in the padding as a whole, so that it has no largest value and no mean of what
 * is no padding. */
bool qn_geometry_has_empty(const qn_geometry *w);

#endif
