/* SPDX-License-Identifier: Apache-2.0 */
/* states.c - where the next values of states are written.
 *
 *   step      0    1    2             next h is computed by step 1:
 *   reads h   x                       straight into state->h, no step reads the old h from 1 on
 *   reads h   x    o                  the same, if the kernel of step 1 may write over this operand: a cache
 *                                     gets its new row, the others stay where they are
 *   reads h   x         x             in the activation arena, and copied to state->h at the end
 *
 * At the end outputs are copied first, then states.  What a state takes from another state is copied to
 * the arena before any of them changes: two states may exchange their values. */
#include "codegen/states.h"

#include "codegen/kernel_table.h"
#include "codegen/schedule.h"

/* The input that has the bytes of a value; 0: a step or a constant has made them. */
static qn_id
input_root(const qn_graph *g, const qn_step *step, const uint32_t *step_of, qn_id value)
{
	const qn_id root = qn_value_root(step, step_of, value);

	return qn_graph_node(g, root)->op == QN_OP_input ? root : 0;
}

/* Whether a step may write its result over its operand j, without more working memory. */
static bool
writes_over(const qn_step *s, uint32_t j)
{
	return s->strip == NULL && s->kernel != NULL && s->kernel->work_over == NULL &&
	       (s->kernel->in_place >> j & 1) != 0;
}

bool
qn_state_is_free(const qn_graph *g, const qn_step *step, size_t nstep, const uint32_t *step_of,
		 size_t k, size_t from, size_t by)
{
	const qn_id old = g->input[qn_graph_fed(g) + k];

	for (size_t i = from; i < nstep; i++)
		for (uint32_t j = 0; j < step[i].nin; j++)
			if (input_root(g, step, step_of, step[i].in[j]) == old &&
			    !(i == by && from == by && writes_over(&step[i], j)))
				return false;
	for (size_t i = 0; i < g->noutput; i++)
		if (input_root(g, step, step_of, g->output[i].value) == old)
			return false;
	return true;
}

bool
qn_state_stays(const qn_graph *g, const qn_step *step, const uint32_t *step_of, size_t k)
{
	return input_root(g, step, step_of, g->output[qn_graph_given(g) + k].value) ==
	       g->input[qn_graph_fed(g) + k];
}

bool
qn_state_is_moved(const qn_graph *g, const qn_step *step, const uint32_t *step_of, size_t k)
{
	const qn_id from = input_root(g, step, step_of, g->output[qn_graph_given(g) + k].value);

	for (size_t i = 0; from != 0 && i < g->nstate; i++)
		if (i != k && g->input[qn_graph_fed(g) + i] == from)
			return true;
	return false;
}

size_t
qn_states_moved_bytes(const qn_graph *g, const qn_step *step, const uint32_t *step_of)
{
	size_t bytes = 0;

	for (size_t k = 0; k < g->nstate; k++)
		if (qn_state_is_moved(g, step, step_of, k))
			bytes += qn_type_bytes(qn_graph_state(g, k)->type);
	return bytes;
}
