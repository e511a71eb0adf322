/* SPDX-License-Identifier: Apache-2.0 */
/* traced.h - quern run --trace-ops. */
#ifndef QN_PROGRAM_TRACED_H
#define QN_PROGRAM_TRACED_H

#include "quern/measure.h"

/* A qn_trace_fn: prints key, run, type, and the range of the stored values; user: counts the lines (size_t). */
int program_print_traced(void *user, const qn_traced *value);

#endif
