/* SPDX-License-Identifier: Apache-2.0 */
/* states.h - where the next values of states are written (states.c). */
#ifndef QN_CODEGEN_STATES_H
#define QN_CODEGEN_STATES_H

#include "codegen/emit.h"

/* Whether nothing reads the old value of state k from step `from` on, nor is it an output or the next value
 * of a state, so that step `by` may write its result over it, which is in use from `from` on.  Only `by`
 * itself may read it, if its kernel writes over that operand. */
bool qn_state_is_free(const qn_graph *g, const qn_step *step, size_t nstep, const uint32_t *step_of,
		      size_t k, size_t from, size_t by);
/* Whether state k is its own next value. */
bool qn_state_stays(const qn_graph *g, const qn_step *step, const uint32_t *step_of, size_t k);
/* Whether the next value of state k is the old one of another state; the bytes of all such states. */
bool qn_state_is_moved(const qn_graph *g, const qn_step *step, const uint32_t *step_of, size_t k);
size_t qn_states_moved_bytes(const qn_graph *g, const qn_step *step, const uint32_t *step_of);

#endif
