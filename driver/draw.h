/* SPDX-License-Identifier: Apache-2.0 */
/* draw.h - a graph as a picture. */
#ifndef QN_DRIVER_DRAW_H
#define QN_DRIVER_DRAW_H

#include "ir/graph.h"

/* The graphs of a model in Graphviz's language: a box a node with its op, name, type and what it
 * multiplies; colours by what flows (real values, codes, accumulators, casts, constants). */
void qn_draw(qn_buf *b, const qn_model *m);

#endif
