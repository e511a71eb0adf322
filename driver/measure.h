/* SPDX-License-Identifier: Apache-2.0 */
/* measure.h - one measurement of a model on samples: what it compares with what. */
#ifndef QN_DRIVER_MEASURE_H
#define QN_DRIVER_MEASURE_H

#include "calibrate/dataset.h"
#include "driver/metric.h"
#include "driver/score.h"
#include "quern/measure.h"

/* One output: of each sample that many elements.  A state, whose dimension 0 is not the batch, is
 * compared as a whole: a row for each batch. */
typedef struct qn_measured {
	const char *name;
	size_t rows;               /* of a batch: one for each sample, or 1 */
	size_t each;               /* elements of a row */
	const qn_type *real;       /* of a batch as float values; NULL: it is not quantized */
	const qn_tensor *want;     /* what it should be, all samples; NULL: unknown */
	qn_difference *difference; /* by row */
} qn_measured;

/* The sample that row i begins with; samples: of a batch, the rows of the first output. */
static inline size_t
qn_measured_sample(const qn_measured *o, size_t samples, size_t i)
{
	return i / o->rows * samples + (o->rows == samples ? i % o->rows : 0);
}

typedef struct qn_measurement {
	qn_model *m;
	size_t nin;
	qn_array *const *in;
	const qn_measure_opts *o;
	size_t nwant;
	qn_array *const *want; /* one per output */
	qn_metric_fn *fn;
	void *user;
	/* while it runs */
	qn_dataset *d;
	size_t samples, window, noutput;
	qn_measured *out;
	const int64_t *label; /* one per window; NULL: none */
	qn_scoring scoring;
	uint32_t *rank;               /* by sample; NULL: not wanted */
	double *score, *wanted_score; /* by sample; NULL: not wanted */
} qn_measurement;

/* Finds outputs, labels, scores and what outputs should be, and makes room for what each sample
 * gives; the samples are there.  Ids: eval.output, eval.target, eval.nonfinite, eval.score,
 * eval.window, eval.top, data.labels. */
qn_status qn_measurement_set_up(qn_measurement *c, qn_arena *a) QN_MUST_CHECK;

/* The samples for the reference, an array for each: quantized values of an input of the model are
 * dequantized, unless the reference's input has the same type; others stay as they are.  They live
 * as long as the arena. */
qn_status qn_measurement_translate(const qn_measurement *c, qn_arena *a,
				   qn_array ***out) QN_MUST_CHECK;

#endif
