/* SPDX-License-Identifier: Apache-2.0 */
/* analyze.h - what the quantization of each layer costs a network, as noise of its outputs.
 *
 *            float graph                         quantized graph
 *   alone    x ─▶ [layer quantized] ─▶ outputs
 *   without                                      x ─▶ [layer float] ─▶ outputs, against all quantized
 *   here                                         x ─▶ … ─▶ the layer's own output
 *
 * A layer is one of the source (network_layers.h).  Of each quantizer pattern that matched in it the operands are
 * quantized, and the constants; its output is not before another match takes it.  Networks begin at values that
 * are kept, so that a layer costs a run of what comes after it. */
#ifndef QN_CALIBRATE_ANALYZE_H
#define QN_CALIBRATE_ANALYZE_H

#include "calibrate/dataset.h"
#include "calibrate/layer_ranges.h"
#include "calibrate/outcome.h"

typedef struct qn_layer_noise {
	const qn_network_layer *layer;
	double here; /* sum of squares of the error at the layer's exits relative to that of the float values */
	qn_outcome alone, weights; /* this layer quantized; only its constants */
	double data;               /* noise of what samples give it: the rest of alone */
	qn_outcome without;        /* all layers but this one quantized */
	qn_layer_ranges ranges;
} qn_layer_noise;

typedef struct qn_noise_analysis {
	size_t n;
	qn_layer_noise *layer; /* in the order of the graph */
	qn_outcome all;        /* all layers quantized */
	qn_network_layers layers;
	qn_two_forms forms;
	qn_float_outputs outputs;
} qn_noise_analysis;

/* What an analysis costs, known once the float and the quantized network have been run. */
typedef struct qn_analysis_plan {
	size_t layers;
	uint64_t bytes;       /* of values that are kept */
	uint64_t steps, done; /* of all runs, of those so far, as docs/limits.md counts them */
} qn_analysis_plan;
typedef void qn_analysis_plan_fn(void *user, const qn_analysis_plan *plan);

/* How to analyze. */
typedef struct qn_noise_opts {
	const int64_t *label; /* by sample; NULL: not known */
	bool alone; /* only `alone`, `weights` and `data` of layers are wanted, the rest stays 0 */
	bool before_softmax;       /* outputs are measured where qn_output_compared says */
	qn_analysis_plan_fn *plan; /* NULL: not wanted */
	void *user;
} qn_noise_opts;

/* Of a symbolic graph whose symbols are bound and that knows its parts (analyze.parts otherwise; analyze.stage). */
qn_status qn_analyze_noise(qn_model *m, qn_dataset *data, const qn_noise_opts *opts,
			   qn_noise_analysis *out) QN_MUST_CHECK;

#endif
