/* SPDX-License-Identifier: Apache-2.0 */
/* quantizer.h - custom quantizer patterns, as the passes take them. */
#ifndef QN_DRIVER_QUANTIZER_H
#define QN_DRIVER_QUANTIZER_H

#include "calibrate/calibrate.h"
#include "driver/context.h"
#include "patterns/quantizer.h"

/* Reads the patterns' texts and checks the descriptions (quantizer.register, pattern.…); the list
 * is put into *out. */
qn_status qn_quantizers_of(qn_model *m, const qn_compile_opts *o, qn_arena *a,
			   qn_quant_opts *out) QN_MUST_CHECK;
/* Those that find the symbols' values themselves. */
void qn_quantizers_callbacks(const qn_quant_opts *o, qn_arena *a, qn_calib_opts *out);

#endif
