/* SPDX-License-Identifier: Apache-2.0 */
/* passes.h - graph -> graph functions.  Each file is one pass with one public function; the
 * order is in driver/pipeline.c. */
#ifndef QN_PASSES_PASSES_H
#define QN_PASSES_PASSES_H

#include "ir/graph.h"

/* Folds constants and batch norms; prepares a float graph for the quantizer. */
qn_status qn_clean(qn_model *m) QN_MUST_CHECK;

/* Puts the values of bound symbols into all types; fails while one is unbound. symbolic ->
 * calibrated. */
qn_status qn_bind(qn_model *m) QN_MUST_CHECK;

/* Melts dequantize/quantize pairs so that values stay integer.  calibrated -> calibrated. */
qn_status qn_requantize(qn_model *m) QN_MUST_CHECK;

/* Makes inputs and outputs integer and writes codes into attributes; fails (QN_EUNSUPPORTED)
 * with a list of the nodes that stay float and the reasons. calibrated -> integer. */
qn_status qn_legalize(qn_model *m) QN_MUST_CHECK;

#endif
