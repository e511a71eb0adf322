/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_repeat.h - operators whose body is read once for each step, Loop and Scan. */
#ifndef QN_IMPORT_ONNX_REPEAT_H
#define QN_IMPORT_ONNX_REPEAT_H

#include "import/onnx.h"

typedef struct qn_onnx_repeat {
	const struct Onnx__GraphProto *body;
	uint32_t first_in,
		first_out; /* of the body, after those that are not values of the loop: step and condition */
	uint32_t nstate, nscan,
		ncollect; /* carried on; a slice of each in each step; a result of each step */
	qn_id *in, *out;  /* of the body */
	qn_id *collected; /* [ncollect][most] */
	int64_t most, steps;
	size_t problems; /* before it */
} qn_onnx_repeat;

/* Room for `most` steps, whether the body has what the node gives and takes; false after a report. */
bool qn_onnx_repeat_begin(qn_onnx *o, qn_onnx_repeat *r, int64_t most);
/* One step; false after a report. */
bool qn_onnx_repeat_step(qn_onnx *o, qn_onnx_repeat *r);
/* The results of all steps along a new axis, counted from the end when it is negative; 0 after a report. */
qn_id qn_onnx_repeat_stack(qn_onnx *o, const qn_onnx_repeat *r, uint32_t i, int64_t axis,
			   bool reversed);
/* Whether the body gives a value for each result, and states of the types with which they began; reports. */
bool qn_onnx_repeat_results_ok(qn_onnx *o, const qn_onnx_repeat *r);

/* The operators. */
void qn_onnx_loop(qn_onnx *o, const qn_onnx_node *n, qn_id *out);
void qn_onnx_scan(qn_onnx *o, const qn_onnx_node *n, qn_id *out);

#endif
