/* SPDX-License-Identifier: Apache-2.0 */
/* int_conv.h - 8-bit conv2d as a product of positions and packed weights, or channel by channel when
 * it is depthwise: the accumulators of the plain kernels. */
#ifndef QN_RUNTIME_INT_CONV_H
#define QN_RUNTIME_INT_CONV_H

#include "runtime/impls.h"

typedef struct qn_int_conv qn_int_conv;

/* A copy of the image and the weights in panels; NULL where the plan does not cover the node. */
qn_int_conv *qn_int_conv_make(const qn_graph *g, const qn_node *n, qn_arena *a, size_t *room);
void qn_int_conv_run(const qn_int_conv *c, const qn_eval *e);

#endif
