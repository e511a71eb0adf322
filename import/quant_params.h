/* SPDX-License-Identifier: Apache-2.0 */
/* quant_params.h - quant_params.json, as Brevitas exports it, applied to the layers of a float graph
 * (docs/importing.md). */
#ifndef QN_IMPORT_QUANT_PARAMS_H
#define QN_IMPORT_QUANT_PARAMS_H

#include "ir/graph.h"

/* The entry graph of m gets the quantizers that the file describes, and is calibrated then.  Ids:
 * those of formats/quant_params.h, and quant-params.type: a type that layers do not compute with;
 * quant-params.stage. */
qn_status qn_import_quant_params(qn_model *m, const char *path) QN_MUST_CHECK;

/* The same with the text of the file `place`. */
qn_status qn_import_quant_params_text(qn_model *m, const char *place, const char *text,
				      size_t n) QN_MUST_CHECK;

#endif
