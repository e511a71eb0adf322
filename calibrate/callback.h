/* SPDX-License-Identifier: Apache-2.0 */
/* callback.h - partitions whose symbols a callback finds, one after the other in topological order. */
#ifndef QN_CALIBRATE_CALLBACK_H
#define QN_CALIBRATE_CALLBACK_H

#include "calibrate/info.h"

/* Called for each partition of the pattern.  Anything but QN_OK ends the calibration. */
typedef qn_status qn_calib_fn(void *user, qn_info *info);

typedef struct qn_calib_callback {
	const char *pattern; /* NULL: of every pattern that no other row has */
	qn_calib_fn *fn;
	void *user;
} qn_calib_callback;

/* The row for a partition, or NULL. */
const qn_calib_callback *qn_callback_of(size_t n, const qn_calib_callback *list,
					const qn_part *part);

/* Puts the symbols of all partitions that have a callback into *found, by pointer.  Id: calibrate.partition. */
qn_status qn_callback_symbols(const qn_info_graphs *s, size_t n, const qn_calib_callback *list,
			      qn_arena *a, qn_map *found) QN_MUST_CHECK;

/* Calls the callbacks of all partitions that have one and binds what they find.  Ids: calibrate.missing,
 * calibrate.extra, calibrate.future, calibrate.callback (it failed without a report). */
qn_status qn_callbacks_run(const qn_info_graphs *s, size_t n, const qn_calib_callback *list,
			   qn_arena *a) QN_MUST_CHECK;

/* ---- a search that looks at the partition's output ---- */

typedef enum qn_search_metric { QN_SEARCH_MSE, QN_SEARCH_COSINE } qn_search_metric;

typedef struct qn_search {
	qn_search_metric metric;
	double least; /* the smallest factor of a scale that is tried; the largest is 1 */
	int steps;    /* how many factors, at least 2 */
} qn_search;

/* A qn_calib_fn; user: a qn_search.  Begins with the method's scales; for one symbol after the other, those of
 * activations first, tries the scale times each factor and keeps the one with which the quantized output is
 * nearest to the float one over all batches; of equal ones the largest factor. */
qn_status qn_search_output(void *user, qn_info *info);

#endif
