/* SPDX-License-Identifier: Apache-2.0 */
/* int_rescale.h - requantize of 32-bit sums by vectors, with the results of the plain kernel. */
#ifndef QN_RUNTIME_INT_RESCALE_H
#define QN_RUNTIME_INT_RESCALE_H

#include "runtime/impls.h"
#include "runtime/kernels/requantize.h"

typedef struct qn_int_rescaling qn_int_rescaling;

/* Tables of whole vectors; NULL where the rounding is another than QN_RQ_DOUBLE, a multiplier is 1 or more, or
 * scales go along another axis than the last. */
qn_int_rescaling *qn_int_rescale_make(const qn_graph *g, const qn_node *n,
				      const qn_requantize_args *r, qn_arena *a);
void qn_int_rescale_run(const qn_int_rescaling *p, const qn_eval *e);

#endif
