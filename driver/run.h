/* SPDX-License-Identifier: Apache-2.0 */
/* run.h - samples from public arrays. */
#ifndef QN_DRIVER_RUN_H
#define QN_DRIVER_RUN_H

#include "calibrate/dataset.h"
#include "driver/context.h"

/* A data set over arrays for the inputs of g; its values are not looked at yet (qn_dataset_check).
 * names: for messages, one an array, or NULL. */
qn_status qn_samples_for(const qn_graph *g, qn_arena *a, size_t n, qn_array *const *in,
			 const char *const *names, qn_dataset **out) QN_MUST_CHECK;

#endif
