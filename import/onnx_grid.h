/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_grid.h - values at positions between the elements: which elements, with which weights.
 *
 *   nearest  round(p)          1
 *   linear   floor(p) + 0, 1   1 - t, t                         t = p - floor(p)
 *   cubic    floor(p) - 1 … 2  cubic polynomials of t */
#ifndef QN_IMPORT_ONNX_GRID_H
#define QN_IMPORT_ONNX_GRID_H

#include "import/onnx.h"

typedef enum qn_sample_between {
	QN_SAMPLE_NEAREST,
	QN_SAMPLE_LINEAR,
	QN_SAMPLE_CUBIC
} qn_sample_between;
typedef enum qn_sample_beyond {
	QN_SAMPLE_ZEROS,
	QN_SAMPLE_BORDER,
	QN_SAMPLE_REFLECTION
} qn_sample_beyond;

typedef struct qn_sampling {
	qn_importer *im;
	qn_sample_between between;
	qn_sample_beyond beyond;
	bool corners; /* reflection is at the middles of the outermost elements, not at their ends */
} qn_sampling;

enum { QN_MOST_TAPS = 4 };
typedef struct qn_taps {
	int32_t n;
	qn_id index[QN_MOST_TAPS], weight[QN_MOST_TAPS]; /* weight 0: 1 */
} qn_taps;

/* Indices and weights of the elements around position p, a value [N, …, 1], along an axis of this length;
 * false after a report. */
bool qn_onnx_taps_at(const qn_sampling *s, qn_id p, int64_t length, qn_taps *out);
/* x [N, …, C] at the positions of n axes: the sum over all combinations. */
qn_id qn_onnx_sampled(qn_importer *im, qn_id x, int32_t n, const qn_taps *axis);

#endif
