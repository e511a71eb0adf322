/* SPDX-License-Identifier: Apache-2.0 */
/* callback.h - partitions whose symbols a callback finds, one after the other in topological
 * order. */
#ifndef QN_CALIBRATE_CALLBACK_H
#define QN_CALIBRATE_CALLBACK_H

#include "calibrate/info.h"
#include "quern/calibrate.h"

/* Called for each partition of the pattern.  Anything but QN_OK ends the calibration. */
typedef qn_status qn_calib_fn(void *user, qn_info *info);

typedef struct qn_calib_callback {
	/* NULL: of every pattern that no other row has, where the partition's method is this one */
	const char *pattern;
	qn_calib_fn *fn;
	void *user;
	const char *method; /* as qn_part's; NULL: that of the options */
} qn_calib_callback;

/* The row for a partition, or NULL. */
const qn_calib_callback *qn_callback_of(size_t n, const qn_calib_callback *list,
					const qn_part *part);

/* Puts the symbols of all partitions that have a callback into *found, by pointer.  Id:
 * calibrate.partition. */
qn_status qn_callback_symbols(const qn_info_graphs *s, size_t n, const qn_calib_callback *list,
			      qn_arena *a, qn_map *found) QN_MUST_CHECK;

/* Calls the callbacks of all partitions that have one and binds what they find.  Ids:
 * calibrate.missing, calibrate.extra, calibrate.future, calibrate.callback (it failed without a
 * report). */
qn_status qn_callbacks_run(const qn_info_graphs *s, size_t n, const qn_calib_callback *list,
			   qn_arena *a) QN_MUST_CHECK;

#endif
