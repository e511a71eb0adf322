/* SPDX-License-Identifier: Apache-2.0 */
/* float_conv.h - conv2d in floats as a product of positions and packed weights, or channel by
 * channel when it is depthwise. */
#ifndef QN_RUNTIME_FLOAT_CONV_H
#define QN_RUNTIME_FLOAT_CONV_H

#include "runtime/impls.h"
#include "runtime/geometry.h"

typedef struct qn_conv_plan qn_conv_plan;

/* Buffers for a conv2d node, and its weights in panels where they are constant. */
qn_conv_plan *qn_conv_plan_make(const qn_graph *g, const qn_node *n, qn_arena *a, size_t *room);

/* False when the plan does not cover this node or these weights: an infinite weight must not
 * meet the zeros of the padding. */
bool qn_conv_run(qn_conv_plan *c, const qn_eval *e);

#endif
