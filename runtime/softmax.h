/* SPDX-License-Identifier: Apache-2.0 */
/* softmax.h - what softmax and log_softmax share: the walk along an axis, the quantized types, the
 * multiplier that makes an exponent of a difference of quantized values. */
#ifndef QN_RUNTIME_SOFTMAX_H
#define QN_RUNTIME_SOFTMAX_H

#include "runtime/impl_util.h"

/* n elements, n > 0, whose distance is step. */
typedef void qn_axis_fn(const float *x, float *y, int64_t n, int64_t step);

/* All runs along the axis of the node. */
void qn_each_axis(const qn_eval *e, qn_axis_fn *run);

/* The largest of n elements, and the sum of e^(x - largest), in their order. */
double qn_softmax_sum(const float *x, int64_t n, int64_t step, double *top);

/* Quantized values along the last axis, with parameters that the op's arithmetic can produce; else reports. */
bool qn_softmax_types(const qn_graph *g, const qn_node *n) QN_MUST_CHECK;

/* Differences of quantized values as Q5.26 (TFLite PreprocessSoftmaxScaling and CalculateInputRadius, beta 1):
 * d * 2^left * m; those below diff_min count as 0. */
void qn_softmax_scaling(const qn_graph *g, const qn_node *n, int32_t *m, int32_t *left,
			int32_t *diff_min);

#endif
