/* SPDX-License-Identifier: Apache-2.0 */
/* parts.h - results that lie within others (parts.c). */
#ifndef QN_CODEGEN_PARTS_H
#define QN_CODEGEN_PARTS_H

#include "codegen/emit.h"
#include "ir/loops.h"

/* Of a slice whose elements are consecutive ones of its operand: the bytes before them, in *offset. */
bool qn_slice_is_part(const qn_graph *g, const qn_node *n, size_t *offset);
/* Which slices are parts of their operands without a call: an array of g->n, in arena a.  uses: as qn_schedule_make
 * counts them. */
bool *qn_parts_of_operands(const qn_graph *g, const uint32_t *uses, qn_arena *a);

/* Steps whose results are consecutive elements of a concat write them there: sets part_of and part_offset. */
void qn_parts_of_results(const qn_graph *g, qn_step *step, size_t nstep, const uint32_t *step_of,
			 const qn_loops *loops, qn_arena *a);

/* The bytes before a value within those of its root (qn_value_root), and whether it is all of the root. */
size_t qn_part_offset(const qn_step *step, const uint32_t *step_of, qn_id id);
bool qn_part_is_all(const qn_graph *g, const qn_step *step, const uint32_t *step_of, qn_id id);

#endif
