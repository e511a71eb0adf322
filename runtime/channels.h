/* SPDX-License-Identifier: Apache-2.0 */
/* channels.h - scales and zero points of their own for each channel of an op's operands and result.
 *
 *   add   x [2,3,4] along axis 1    y [3,1] along axis 0    result [2,3,4], one scale
 *         both are axis 2 from the end: 3 channels, 4 elements of the result in a run of one */
#ifndef QN_RUNTIME_CHANNELS_H
#define QN_RUNTIME_CHANNELS_H

#include "runtime/impl_util.h"

typedef struct qn_channels {
	int32_t count, inner; /* the result is [outer, count, inner] */
} qn_channels;

/* Whether an operand or the result of the node has a type with several scales. */
bool qn_by_channel(const qn_graph *g, const qn_node *n);
/* The channels of a node of quantized values of one storage whose types pass qn_int_need_channels
 * and have their scales along one axis of the result; else reports. */
bool qn_channels_get(const qn_graph *g, const qn_node *n, qn_channels *c) QN_MUST_CHECK;
/* Scale and zero point of channel i, or those of all channels. */
void qn_channel_param(const qn_graph *g, const qn_type *type, int32_t i, double *scale,
		      int32_t *zp);
/* Whether the channels of the node's first operand, or of its result, differ in their zero points. */
bool qn_zero_points_differ(const qn_graph *g, const qn_node *n);

#endif
