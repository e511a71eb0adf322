/* SPDX-License-Identifier: Apache-2.0 */
/* prune.h - the halves of the pass `prune` (prune.c): which channels go, and the graph without them. */
#ifndef QN_PASSES_PRUNE_H
#define QN_PASSES_PRUNE_H

#include "passes/channels.h"

/* By channel: it stays.  Of each value that is followed one stays at least.  *some: others go. */
const bool *qn_channels_needed(qn_model *m, const qn_channels *c, bool *some);

/* A copy of the graph without the channels that are not needed, and what the model notes of it
 * (qn_model_pruned).  All nodes of the graph are needed by its outputs. */
qn_status qn_channels_remove(qn_model *m, const qn_channels *c, const bool *need,
			     qn_graph **out) QN_MUST_CHECK;

#endif
