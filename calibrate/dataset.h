/* SPDX-License-Identifier: Apache-2.0 */
/* dataset.h - samples for calibration and evaluation: batches by index, so that they can be
 * visited in any order and more than once. */
#ifndef QN_CALIBRATE_DATASET_H
#define QN_CALIBRATE_DATASET_H

#include "ir/graph.h"

typedef struct qn_dataset {
	size_t nbatch;
	size_t batch; /* samples in a batch: dimension 0 of the model's inputs */
	/* Batch `index`: one tensor for each graph input, valid until the next call. */
	qn_status (*get)(struct qn_dataset *d, size_t index, const qn_tensor *const **inputs);
	/* The same batches with a view of its own, for another thread.  Optional. */
	struct qn_dataset *(*reader)(struct qn_dataset *d, qn_arena *a);
	void *user;
} qn_dataset;

/* A data set over arrays, one for each input of g.  Dimension 0 of an array indexes samples and
 * is a multiple of the batch; the other dims are the input's.  f64 data is rounded to f32.  All
 * values must be finite.  Ids: data.empty, data.count, data.type, data.shape, data.remainder,
 * data.nonfinite (sample and index).  names: for messages, one an array. */
qn_status qn_dataset_arrays(const qn_graph *g, qn_arena *a, size_t narray,
			    const qn_tensor *const *array, const char *const *names,
			    qn_dataset **out) QN_MUST_CHECK;

/* Reports the first element that is no finite number, by sample and element (data.nonfinite).
 * name: for messages. */
qn_status qn_samples_finite(qn_env *env, const qn_tensor *x, const char *name) QN_MUST_CHECK;

#endif
