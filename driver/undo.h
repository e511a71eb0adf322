/* SPDX-License-Identifier: Apache-2.0 */
/* undo.h - calls of several changes that the host may end, and that leave the model as it was then. */
#ifndef QN_DRIVER_UNDO_H
#define QN_DRIVER_UNDO_H

#include "driver/context.h"

/* Runs fn, which changes the model step by step.  If a step fails, the steps before it stay; if the host
 * ends the call (QN_ECANCELLED), the model is restored as before the first step.  The arena is that of
 * the call, which is inside qn_guard. */
qn_status qn_undoable(qn_model *m, qn_arena *scratch, qn_guarded_fn *fn, void *arg) QN_MUST_CHECK;

/* Whether a graph of the model lies in this arena. */
bool qn_model_holds(const qn_model *m, const qn_arena *graphs);

#endif
