/* SPDX-License-Identifier: Apache-2.0 */
/* analyze.h - what the quantization of each layer costs a network, as noise of its outputs.
 *
 *            float graph                         quantized graph
 *   alone    x ─▶ [layer quantized] ─▶ outputs
 *   gain                                         x ─▶ [layer float] ─▶ outputs, against all quantized
 *   here                                         x ─▶ … ─▶ the layer's own output
 *
 * A layer is what one quantizer pattern matched (qn_part): its operands are quantized, and its
 * constants; its output is not before another layer takes it.  Layers are computed from values that are
 * kept, so that each costs a run of what comes after it. */
#ifndef QN_CALIBRATE_ANALYZE_H
#define QN_CALIBRATE_ANALYZE_H

#include "calibrate/dataset.h"

/* Sums over all elements of a value, or of the network's outputs, each relative to the squares of the float one. */
typedef struct qn_layer_noise {
	const qn_part *part;
	qn_id out; /* of the symbolic graph */
	double here;
	double alone, weights, data; /* both; only its constants; only what samples give it */
	double without;              /* all layers but this one quantized */
} qn_layer_noise;

typedef struct qn_noise_analysis {
	size_t n;
	qn_layer_noise *layer; /* in the order of the graph */
	double all;            /* all layers quantized */
	const qn_graph *real;  /* the float graph */
	const qn_id *map;      /* id of the symbolic graph -> of the float one */
} qn_noise_analysis;

/* Of a symbolic graph whose symbols are bound and that knows its parts (analyze.parts otherwise; analyze.stage). */
qn_status qn_analyze_noise(qn_model *m, qn_dataset *data, qn_noise_analysis *out) QN_MUST_CHECK;

#endif
