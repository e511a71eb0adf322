/* SPDX-License-Identifier: Apache-2.0 */
/* narrow.h - ranges of activations by the error of the outputs: a range is narrowed as far as that brings the quantized
 * network nearer to the float one.
 *
 *   range of x      100 %    90 %    80 %    70 %
 *   error         3.1e-4  2.4e-4  2.2e-4  2.9e-4     80 %, if the error on the samples held back falls, too */
#ifndef QN_DRIVER_NARROW_H
#define QN_DRIVER_NARROW_H

#include "calibrate/dataset.h"
#include "driver/pass_rows.h"

/* Whether the option or a rule of the recipe asks for it. */
bool qn_narrow_is_asked(const qn_pipeline *p);

/* Binds symbols of a calibrated symbolic graph again, one after the other in the order of the graph.  Tells what that
 * brought; warns where it brings nothing (narrow.dropped).  Ids: narrow.ranges. */
qn_status qn_narrow(qn_pipeline *p, qn_dataset *data) QN_MUST_CHECK;

#endif
