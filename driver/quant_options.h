/* SPDX-License-Identifier: Apache-2.0 */
/* quant_options.h - the options of a compilation for the quantizer, as its passes read them. */
#ifndef QN_DRIVER_QUANT_OPTIONS_H
#define QN_DRIVER_QUANT_OPTIONS_H

#include "driver/context.h"
#include "patterns/quantizer.h"

/* The names of qn_weight_rounding; the last is NULL. */
extern const char *const qn_weight_roundings[];

/* Scheme, storage, custom patterns, what is skipped, the recipe, read and checked.  *out
 * lives in a. */
qn_status qn_quant_opts_of(qn_model *m, const qn_compile_opts *o, qn_arena *a,
			   qn_quant_opts *out) QN_MUST_CHECK;

#endif
