/* SPDX-License-Identifier: Apache-2.0 */
/* report.h - NAME.report.json: what was compiled, into how many bytes, step by step
 * (docs/report.md). */
#ifndef QN_DRIVER_REPORT_H
#define QN_DRIVER_REPORT_H

#include "codegen/emit.h"

void qn_report_print(qn_buf *b, const qn_model *m, const qn_plan *p, const qn_emit_style *opts);

#endif
