/* SPDX-License-Identifier: Apache-2.0 */
/* run.h - samples from public arrays, and the results of models on them. */
#ifndef QN_DRIVER_RUN_H
#define QN_DRIVER_RUN_H

#include "calibrate/dataset.h"
#include "driver/context.h"
#include "runtime/interp.h"

/* A data set over arrays for the inputs of g; its values are not looked at yet (qn_dataset_check).
 * names: for messages, one per array, or NULL. */
qn_status qn_samples_for(const qn_graph *g, qn_arena *a, size_t n, qn_array *const *in,
			 const char *const *names, qn_dataset **out) QN_MUST_CHECK;

/* Refuses a model whose scales are symbols (run.stage): they have no values to compute with.
 * Reported once, not for every node. */
qn_status qn_check_runs(const qn_model *m) QN_MUST_CHECK;

/* Runs m on each batch of the samples in order with an interpreter of its entry graph, whose states stay what they are
 * between calls; out: as of qn_run. */
qn_status qn_run_on(qn_model *m, qn_interp *in, size_t nin, qn_array *const *samples,
		    int dequantize, size_t nout, qn_array **out, qn_arena *scratch) QN_MUST_CHECK;

/* Classes, one per sample: those of labels, or with labels NULL those of the samples' own source;
 * *out is NULL where there are none.  wanted: how many there have to be.  Id: data.labels. */
qn_status qn_labels_for(qn_model *m, const qn_array *labels, const qn_source *samples,
			size_t wanted, qn_arena *a, const int64_t **out) QN_MUST_CHECK;
/* Labels need a first output with a number for each class, or a score: not one integer for a sample, which is a label
 * itself (data.labels; name: of the labels). */
qn_status qn_labels_fit_output(const qn_model *m, const char *name) QN_MUST_CHECK;
/* Whether all n labels of the file or folder `name` are from 0 to below `classes` (data.labels). */
qn_status qn_labels_below(qn_env *env, const int64_t *label, size_t n, int64_t classes,
			  const char *name) QN_MUST_CHECK;

#endif
