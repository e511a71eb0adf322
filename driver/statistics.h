/* SPDX-License-Identifier: Apache-2.0 */
/* statistics.h - the options of a compilation for calibration. */
#ifndef QN_DRIVER_STATISTICS_H
#define QN_DRIVER_STATISTICS_H

#include "calibrate/calibrate.h"

/* Method and statistics of the options, checked against the model, which is symbolic; id: what the
 * samples are, from the statistics where there are some.  crc: of each input's samples, NULL when
 * they were not read yet. */
qn_status qn_calib_options(qn_model *m, const qn_compile_opts *o, const uint32_t *crc,
			   qn_arena *scratch, qn_calib_opts *calib,
			   qn_samples_id *id) QN_MUST_CHECK;
/* Of a symbolic model, whatever its rounding will be: what statistics belong to. */
uint32_t qn_stats_hash(const qn_model *m, qn_arena *scratch);

#endif
