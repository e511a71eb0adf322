/* SPDX-License-Identifier: Apache-2.0 */
/* repair.h - wins back accuracy when the scales are known: other integers for the weights and other biases, with which a
 * layer's output, computed from its quantized inputs, is nearest to the float one.
 *
 *   samples ──▶ float graph      y of every layer
 *           └─▶ quantized graph  layer 1: weights rounded (weight_rounding.h), then
 *                                         bias += mean of y - mean of the quantized y, for each channel
 *                                layer 2: the same, its inputs computed with what layer 1 has now  …
 *
 * Layers come in the order of the graph.  One sample of four is held back: on these the squared error of the layer's output
 * decides which of the changes are kept, and at the end that of the network's outputs whether any is.  The
 * graph only gets other float constants: what quantize makes of weights are the integers that were chosen. */
#ifndef QN_CALIBRATE_REPAIR_H
#define QN_CALIBRATE_REPAIR_H

#include "calibrate/dataset.h"

/* What is done with a layer. */
typedef struct qn_layer_repair {
	qn_weight_rounding rounding;
	bool bias; /* correct biases */
} qn_layer_repair;

typedef struct qn_repair_opts {
	qn_layer_repair all;
	/* Replaces in *out, which is `all`, what rules say for a layer of g; uses: of qn_graph_uses.
	 * NULL: no rules. */
	void (*of_layer)(const void *rules, const qn_graph *g, const uint32_t *uses, qn_id layer,
			 qn_layer_repair *out);
	const void *rules;
} qn_repair_opts;

/* Repairs the layers of a symbolic graph whose symbols are bound: returns the graph to replace it, which is the
 * model's; NULL: nothing helped.  Binds the symbols of weights again where their scales change. */
qn_status qn_repair(qn_model *m, qn_dataset *data, const qn_repair_opts *opts,
		    qn_graph **out) QN_MUST_CHECK;

#endif
