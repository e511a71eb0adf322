/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_window.h - attributes of the windows of convolutions and pools, one number for each spatial axis.
 *
 *   kernel_shape [3, 3]  strides [2, 2]  pads [0, 0, 1, 1]     before = [0, 0]  after = [1, 1]
 *   auto_pad SAME_UPPER                                        pads that give ceil(in / stride) */
#ifndef QN_IMPORT_ONNX_WINDOW_H
#define QN_IMPORT_ONNX_WINDOW_H

#include "import/onnx.h"

enum { QN_ONNX_SPATIAL = 3 };

typedef struct qn_onnx_window {
	int32_t n; /* spatial axes */
	int64_t in[QN_ONNX_SPATIAL], kernel[QN_ONNX_SPATIAL], stride[QN_ONNX_SPATIAL],
		dilation[QN_ONNX_SPATIAL], before[QN_ONNX_SPATIAL], after[QN_ONNX_SPATIAL];
} qn_onnx_window;

/* x [N,C,…].  kernel: the weights' spatial dims, NULL: the attribute kernel_shape.  False after a report. */
bool qn_onnx_window_read(qn_onnx *o, const qn_onnx_node *n, qn_id x, const int64_t *kernel,
			 qn_onnx_window *w);
/* The list attribute `name` with one number for each axis, `dflt` when it is left out. */
bool qn_onnx_each(qn_onnx *o, const qn_onnx_node *n, const char *name, int32_t count, int64_t dflt,
		  int64_t *v);
/* Data (input 0) and weights (input 1) of equal rank, 3 or more; false after a report (onnx_conv.c). */
bool qn_onnx_conv_operands(qn_onnx *o, const qn_onnx_node *n);
/* A window over one axis as one over two, the first of length 1. */
void qn_onnx_window_image(qn_onnx_window *w);
/* [before, after] of each axis, as the attribute pad of conv2d and pools has them. */
void qn_onnx_window_pads(const qn_onnx_window *w, int64_t *pad);

/* Where the largest elements of a max pool's windows stand: positions in all of its input.  y: its result. */
qn_id qn_onnx_pool_indices(qn_onnx *o, const qn_onnx_node *n, const qn_onnx_window *w, qn_id y);

#endif
