/* SPDX-License-Identifier: Apache-2.0 */
/* layout_quantizer.h - quantizers: from float values to a tensor of planes.
 *
 *   static     scales are given          qs = round(x * scale + offset)        d = 1 / scale
 *   dynamic    from the values           scale = largest integer / max |x|
 *
 * The scale of a quantizer multiplies: it is the reciprocal of the layout's d. */
#ifndef QN_IR_LAYOUT_QUANTIZER_H
#define QN_IR_LAYOUT_QUANTIZER_H

#include "ir/layout.h"

enum { QN_NO_AXIS = -1 };

typedef struct qn_scaled_quantizer {
	const qn_dtype *dtype; /* of qs */
	bool dynamic;
	int32_t axis;       /* one scale for each index of it; QN_NO_AXIS: one */
	int64_t block;      /* one for each so many elements of the last axis; 0: none */
	bool no_saturation; /* a value beyond the range of dtype is an error */
	/* Static: so many scales (1, the length of the axis, or the blocks in their order). */
	int64_t n;
	const float *scale, *rscale; /* rscale NULL: 1 / scale */
	const double *offset;        /* values of dtype; NULL: none */
} qn_scaled_quantizer;

/* Reports quantizer.dtype, quantizer.axis, quantizer.scale, quantizer.offset. */
qn_status qn_scaled_quantizer_check(qn_env *env, const char *place,
				    const qn_scaled_quantizer *q) QN_MUST_CHECK;
/* TensorScaledLayout, with blocks BlockScaledLayout.  A quantized x is dequantized first, with a
 * warning (quantizer.again).  Reports also quantizer.shape, quantizer.range and layout.value. */
qn_status qn_scaled_quantize(qn_env *env, qn_arena *a, const char *place,
			     const qn_scaled_quantizer *q, const qn_layout_tensor *x,
			     qn_layout_tensor *out) QN_MUST_CHECK;

/* ---- as tensors of planes, in archives ---- */

/* StaticScaledQuantizer, DynamicScaledQuantizer; NULL: another name. */
const qn_layout_row *qn_quantizer_row(const char *name);
bool qn_layout_is_quantizer(const qn_layout_tensor *t);
/* A checked one as a quantizer, and back (without blocks). */
void qn_quantizer_load(qn_arena *a, const qn_layout_tensor *t, qn_scaled_quantizer *out);
qn_layout_tensor qn_quantizer_store(qn_arena *a, const qn_scaled_quantizer *q);

#endif
