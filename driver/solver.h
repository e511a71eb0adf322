/* SPDX-License-Identifier: Apache-2.0 */
/* solver.h - the passes of the solver, with the options and the samples of a compilation. */
#ifndef QN_DRIVER_SOLVER_H
#define QN_DRIVER_SOLVER_H

#include "driver/pass_rows.h"

/* Whether the solver chooses what is quantized: an option says so, or the graph has points for it. */
bool qn_solver_is_due(const qn_pipeline *p);
/* Inserts points of statistics; with samples, they become statistics. */
qn_status qn_solver_instrument(qn_pipeline *p) QN_MUST_CHECK;
qn_status qn_solver_transform(qn_pipeline *p) QN_MUST_CHECK;

#endif
