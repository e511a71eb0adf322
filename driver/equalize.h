/* SPDX-License-Identifier: Apache-2.0 */
/* equalize.h - the pass equalize: channel scales (passes/equalize.h) that are kept where the quantized network is nearer
 * to the float one with them. */
#ifndef QN_DRIVER_EQUALIZE_H
#define QN_DRIVER_EQUALIZE_H

#include "driver/pass_rows.h"

/* Group after group: the model is quantized and calibrated as the options say, with exponents of the group that follow
 * from ranges of its weights or of its activations, and they are kept where the outputs' squared error on the samples that
 * are held back falls.  Warns where nothing helps (equalize.dropped). */
qn_status qn_run_equalize(qn_pipeline *p) QN_MUST_CHECK;

#endif
