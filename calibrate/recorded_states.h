/* SPDX-License-Identifier: Apache-2.0 */
/* recorded_states.h - the states of a network before each batch of a data set, so that each step can be run by itself.
 *
 *   batch   0   1   2   3 | 4   5      sequences of 4
 *   state   h0  h1  h2  h3  h0  h5     h1: what the float network leaves after batch 0
 *
 * All graphs that are made of one float network begin a step from its states: errors of the steps before do not add
 * up, as in a comparison layer by layer. */
#ifndef QN_CALIBRATE_RECORDED_STATES_H
#define QN_CALIBRATE_RECORDED_STATES_H

#include "calibrate/dataset.h"

/* The states of g, an entry graph with or without quantize nodes, are recorded in the data set once, by a run of all
 * batches; *state: [nstate], for each its values by batch, of the state's type.  Reports what the run does, calibrate.state
 * for a state that is quantized already, and limit.bytes. */
qn_status qn_record_states(const qn_graph *g, qn_dataset *data, qn_arena *a,
			   const void *const *const **state) QN_MUST_CHECK;

#endif
