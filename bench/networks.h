/* SPDX-License-Identifier: Apache-2.0 */
/* networks.h - graphs of the shapes of four small networks, with random weights.
 *
 *   kws  DS-CNN, 49x10 spectrogram             vww  MobileNetV1 0.25, 96x96 image
 *   ic   ResNet-8, 32x32 image                 ad   autoencoder of dense layers, 640 values */
#ifndef BENCH_NETWORKS_H
#define BENCH_NETWORKS_H

#include "ir/graph.h"

/* A model under construction; all functions abort when memory runs out or a shape is wrong. */
typedef struct maker {
	qn_model m;
	qn_graph *g;
	uint32_t seed;
} maker;

typedef struct network {
	const char *name;
	qn_id (*build)(maker *k);
	double onnxruntime_us; /* min and max of every value, one thread, batch 32 */
} network;

extern const network networks[];
extern const size_t nnetwork;

/* f32 in [-1, 1), the same on every run. */
float maker_random(maker *k);
qn_id maker_input(maker *k, int32_t rank, const int64_t *dim);
/* A conv2d with padding "same" and bias; depth 0: depthwise. */
qn_id maker_conv(maker *k, qn_id x, int64_t out, int64_t kh, int64_t kw, int64_t sh, int64_t sw);
qn_id maker_dense(maker *k, qn_id x, int64_t out);

#endif
