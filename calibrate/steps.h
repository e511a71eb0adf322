/* SPDX-License-Identifier: Apache-2.0 */
/* steps.h - samples that are longer than the input of a stateful network, as sequences of steps (steps.c). */
#ifndef QN_CALIBRATE_STEPS_H
#define QN_CALIBRATE_STEPS_H

#include "calibrate/source.h"

/* Replaces the sources, one for each input of g, by those of its steps where the samples of an input are longer than it
 * along one axis; *steps: of a sample, 1: nothing changed.  Ids: data.steps, data.sequence. */
qn_status qn_steps_cut(const qn_graph *g, qn_arena *a, const qn_source **raw,
		       size_t *steps) QN_MUST_CHECK;

#endif
