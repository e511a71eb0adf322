/* SPDX-License-Identifier: Apache-2.0 */
/* noise_join.h - warns of outputs that join values of very different sizes with one step. */
#ifndef QN_DRIVER_NOISE_JOIN_H
#define QN_DRIVER_NOISE_JOIN_H

#include "driver/trial.h"

/* Looks at output k of the calibrated graph g, whose quantized values are `step` apart (0: it has no one step), with the
 * float values of t.  Id: accuracy.joined. */
void qn_check_join(const qn_trials *t, const qn_graph *g, size_t k, double step);

#endif
