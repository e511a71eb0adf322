/* SPDX-License-Identifier: Apache-2.0 */
/* calibrate.h - gives the symbols of a symbolic graph values: runs its float form on samples and
 * looks at each value that a quantize takes. */
#ifndef QN_CALIBRATE_CALIBRATE_H
#define QN_CALIBRATE_CALIBRATE_H

#include "calibrate/dataset.h"

typedef enum qn_method {
	QN_METHOD_MINMAX,    /* from the smallest to the largest value seen */
	QN_METHOD_PERCENTILE /* leaving out the outermost values */
} qn_method;

typedef struct qn_calib_opts {
	qn_method method;
	double percentile; /* 0: 99.99 */
} qn_calib_opts;

/* The float form of a graph with quantize and dequantize nodes: they become their operand,
 * everything is inferred anew.  map: id -> id. */
qn_status qn_erase_quantization(qn_model *m, const qn_graph *g, qn_graph **out,
				qn_id **map) QN_MUST_CHECK;

/* Binds every symbol of the model: those of constants from the constants, the others from the
 * samples.  Warns of a range that is 0 (calibrate.zero-range: scale 1).  data may be NULL when
 * only constants have symbols; calibrate.no-data otherwise. */
qn_status qn_calibrate_model(qn_model *m, qn_dataset *data,
			     const qn_calib_opts *opts) QN_MUST_CHECK;

/* Where a bias in units of scale(x) * scale(w) would exceed 2^30, raises that channel's weight
 * scale until it is 2^30: it leaves room for the sum, and the weights of such a channel are tiny
 * against its bias.  real, map: as from qn_erase_quantization. */
qn_status qn_widen_bias_scales(qn_model *m, const qn_graph *g, const qn_graph *real,
			       const qn_id *map) QN_MUST_CHECK;

#endif
