/* SPDX-License-Identifier: Apache-2.0 */
/* spelling.h - ops that are only read: each becomes other ops at once. */
#ifndef QN_IR_SPELLING_H
#define QN_IR_SPELLING_H

#include "ir/graph.h"

/* The row of a spelling and the op that it stands for; NULL and QN_NOP: unknown. */
const qn_opinfo *qn_spelling_lookup(const char *name, qn_op *op);
/* Adds the nodes that a spelling stands for, the last one under its name; of another row, or NULL, the node
 * as it is.  Returns the value, 0 after a report. */
qn_id qn_spelling_add(qn_graph *g, const qn_opinfo *info, const qn_node *like);

#endif
