/* SPDX-License-Identifier: Apache-2.0 */
/* draw.h - a graph as an image. */
#ifndef QN_DRIVER_DRAW_H
#define QN_DRIVER_DRAW_H

#include "ir/graph.h"

/* The graphs of a model in Graphviz's language: a box for each node with its name, op, attributes, the
 * constants that it reads, and type; colours by what flows (float values, quantized values,
 * accumulators, casts); below each graph a line for each node, to which the boxes link. */
void qn_draw(qn_buf *b, const qn_model *m);

#endif
