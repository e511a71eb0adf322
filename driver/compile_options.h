/* SPDX-License-Identifier: Apache-2.0 */
/* compile_options.h - options of a compilation against the model that they are for. */
#ifndef QN_DRIVER_COMPILE_OPTIONS_H
#define QN_DRIVER_COMPILE_OPTIONS_H

#include "ir/graph.h"

/* Options within their ranges, and none that a pass which the model has been through would need
 * (option.range, option.late, method.…). */
qn_status qn_compile_opts_check(const qn_model *m, const qn_compile_opts *o) QN_MUST_CHECK;

#endif
