/* SPDX-License-Identifier: Apache-2.0 */
/* accumulate.h - what a loop or a state adds up from step to step. */
#ifndef QN_PATTERNS_ACCUMULATE_H
#define QN_PATTERNS_ACCUMULATE_H

#include "ir/graph.h"

/* By value of g: whether it is a composite by which a carry or a state follows from itself through sums and products of
 * elements, as the cell of an LSTM does; flat, of a graph without composites: whether it is any value of this kind.  Each step rounds it again: in 8 bits what is less than
 * half of 1/255 of the range is never added.  What reads it in 8 bits, a product say, reads it requantized.  In arena
 * a; NULL: there is none. */
const bool *qn_accumulates(const qn_graph *g, bool flat, qn_arena *a);

/* Whether a composite adds or multiplies elements and does nothing else but moving them. */
bool qn_adds_elements(const qn_graph *composite);

#endif
