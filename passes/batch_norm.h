/* SPDX-License-Identifier: Apache-2.0 */
/* batch_norm.h - a batch norm with constant parameters as y = x * factor + offset for each channel.
 *
 *   factor = gamma / sqrt(variance + epsilon)      offset = beta - mean * factor */
#ifndef QN_PASSES_BATCH_NORM_H
#define QN_PASSES_BATCH_NORM_H

#include "patterns/rewrite.h"

/* Of each channel, in double. */
void qn_batch_norm_affine(const qn_rw *rw, const qn_node *bn, int64_t channels, double *factor,
			  double *offset);
/* b * factor + offset as a constant; b 0: just the offset. */
qn_id qn_batch_norm_bias(qn_rw *rw, const char *name, qn_id b, int64_t channels,
			 const double *factor, const double *offset);
/* The batch norm as a 1x1 depthwise convolution over [N,1,n,C] (or the image itself) and a bias.  Its parameters are
 * f32 constants, its shape is known. */
qn_id qn_batch_norm_conv(qn_rw *rw, qn_id id);

#endif
