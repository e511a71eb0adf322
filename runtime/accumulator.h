/* SPDX-License-Identifier: Apache-2.0 */
/* accumulator.h - what conv2d and dense ask before they sum products of codes in 32 bits. */
#ifndef QN_RUNTIME_ACCUMULATOR_H
#define QN_RUNTIME_ACCUMULATOR_H

#include "ir/graph.h"

/* True when the node's operands and result are those of the integer form and no sum can leave
 * int32. Else reports int.unsupported or int.accumulator with the figure. */
bool qn_accumulator_check(const qn_graph *g, const qn_node *n, qn_arena *a) QN_MUST_CHECK;

#endif
