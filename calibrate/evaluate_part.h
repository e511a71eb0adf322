/* SPDX-License-Identifier: Apache-2.0 */
/* evaluate_part.h - the part of a graph that some values need, as a graph of its own.
 *
 *   %i = loop {count=3}                        part for %y:
 *   %x = loop_slice %xs, %i {axis=0}             the same, and
 *   %h = loop_carry %h0, %i {index=0}            %z = loop_stack %y, %e {axis=0, length=3}
 *   %y = add %x, %h                              return %z
 *   %e = loop_end %i, %y
 *
 * A value of a loop has one value for each step: they are stacked along a new first axis, for each loop around it
 * the outermost first. */
#ifndef QN_CALIBRATE_EVALUATE_PART_H
#define QN_CALIBRATE_EVALUATE_PART_H

#include "ir/loops.h"

bool qn_part_is_in_loop(const qn_loops *loops, qn_id id);
/* Reports what cannot be: values `with` of loops that are replaced, and values of loops that are wanted where each value is
 * single (calibrate.loop): a step cannot be run by itself.  What is stacked has at most the bytes of one value
 * (limit.bytes). */
qn_status qn_part_check(const qn_graph *g, const qn_loops *loops, size_t nwith, const qn_id *with,
			bool single, size_t nwant, const qn_id *want) QN_MUST_CHECK;

/* The loop ends that the steps of these values need, in end (room for loops->n): their number.  Without them a carried value
 * would be the first one in all steps. */
size_t qn_part_ends(const qn_loops *loops, size_t n, const qn_id *id, qn_id *end);

/* A graph in arena a that computes the values `out` of g from the values `in`, which become its inputs in this order,
 * with the values of symbols in its types.  loops: those of g. */
qn_status qn_part_extract(const qn_graph *g, const qn_loops *loops, size_t nin, const qn_id *in,
			  size_t nout, const qn_id *out, qn_arena *a,
			  qn_graph **part) QN_MUST_CHECK;

#endif
