/* SPDX-License-Identifier: Apache-2.0 */
/* calibration.h - the samples of a compilation: looked at once, before the first pass. */
#ifndef QN_DRIVER_CALIBRATION_H
#define QN_DRIVER_CALIBRATION_H

#include "driver/run.h"

/* The data set of opts->calib for the model's entry graph. */
qn_status qn_calibration_data(const qn_model *m, const qn_compile_opts *opts, qn_arena *a,
			      qn_dataset **out) QN_MUST_CHECK;

/* What reports call samples of this name: without their folder, on which nothing that is written may
 * depend. */
const char *qn_calibration_name(const char *path);

/* Reports what is wrong with the samples and warns of what looks wrong (docs/data.md).  *crc: for
 * each input that of its samples. */
qn_status qn_calibration_lint(const qn_model *m, const qn_compile_opts *opts, qn_arena *a,
			      uint32_t **crc) QN_MUST_CHECK;

#endif
