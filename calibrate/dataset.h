/* SPDX-License-Identifier: Apache-2.0 */
/* dataset.h - samples for calibration and evaluation: batches by index, so that they can be
 * visited in any order and more than once.
 *
 *   sources, one per input (calibrate/source.h) ──qn_dataset_sources──▶ dataset ──get(i)──▶ a tensor per input */
#ifndef QN_CALIBRATE_DATASET_H
#define QN_CALIBRATE_DATASET_H

#include "calibrate/source.h"

typedef struct qn_dataset {
	size_t nbatch;
	/* batches after which a stateful network is reset; a divisor of nbatch; 0: all */
	size_t sequence;
	/* batches that belong together as the steps of longer samples, whose outputs are those of the last one
	 * (steps.h); 0: 1 */
	size_t steps;
	/* samples in a batch: dimension 0 of the first output and of an input; others may have
	 * another */
	size_t batch;
	/* Batch `index`: one tensor for each graph input that is not a state, valid until the next call.  The
	 * arena is the caller's (a worker's, in qn_parallel), for temporary data; it is released
	 * before the return. */
	qn_status (*get)(struct qn_dataset *d, size_t index, qn_arena *scratch,
			 const qn_tensor *const **inputs);
	/* The same batches with a view of its own, for another thread.  Optional. */
	struct qn_dataset *(*reader)(struct qn_dataset *d, qn_arena *a);
	void *user;
	/* where the data set lies; NULL: not known.  The states before each batch, NULL: not recorded so far
	 * (recorded_states.h) */
	qn_arena *arena;
	const void *const *const *states;
} qn_dataset;

/* A data set over sources.  Those with an input's name are for that input, the others for the remaining
 * inputs in order; arrays of a file that names them stay unused if no input has their name.  Dimension 0
 * counts samples and is a multiple of the batch, of each input its own; the other dims are the input's, as
 * far as source->fit says; or all are, after one that counts batches.  f64 is rounded to f32; float
 * samples of a quantized input are quantized.  Ids: data.empty, data.count, data.input, data.type,
 * data.shape, data.remainder, data.dynamic, data.sequence. */
qn_status qn_dataset_sources(const qn_graph *g, qn_arena *a, size_t n,
			     const qn_source *const *source, qn_dataset **out) QN_MUST_CHECK;

/* The same over arrays in memory, whose values are looked at (data.nonfinite).  names: for
 * messages, one per array. */
qn_status qn_dataset_arrays(const qn_graph *g, qn_arena *a, size_t narray,
			    const qn_tensor *const *array, const char *const *names,
			    qn_dataset **out) QN_MUST_CHECK;

/* How many batches have outputs of their own, and whether batch `index` is one; *at: which. */
static inline size_t
qn_dataset_results(const qn_dataset *d)
{
	return d->steps > 1 ? d->nbatch / d->steps : d->nbatch;
}

static inline bool
qn_dataset_gives(const qn_dataset *d, size_t index, size_t *at)
{
	const size_t steps = d->steps > 1 ? d->steps : 1;

	*at = index / steps;
	return index % steps == steps - 1;
}

/* Of a data set over sources: that of input k, before its values are quantized. */
const qn_source *qn_dataset_source(const qn_dataset *d, size_t k);

/* Looks at sample `index` of input `input` while it is in memory. */
typedef void qn_check_sample_fn(void *user, size_t input, size_t index, const void *data);

typedef struct qn_check {
	size_t batches;           /* how many, from the first on; 0: all */
	uint32_t *crc;            /* for each input, that of all bytes read; NULL: not wanted */
	qn_check_sample_fn *look; /* of samples that are finite; or NULL */
	void *user;
} qn_check;

/* Reads samples, so that what is wrong with one is reported with its place and before any work:
 * what reading reports, and data.nonfinite.  d is over sources. */
qn_status qn_dataset_check(const qn_dataset *d, qn_arena *scratch,
			   const qn_check *check) QN_MUST_CHECK;

#endif
