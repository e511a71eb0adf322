/* SPDX-License-Identifier: Apache-2.0 */
/* layout_split.h - one tensor in the memories of several devices, as sharktank's archives hold it.
 *
 *   SplitPrimitiveTensor   planes "0", "1" …: parts along one dimension     shard_count 2, shard_dim 0
 *   ReplicatedTensor       plane "": the whole, which each device has       shard_count 2
 *
 * Both stand for the plain tensor that they were made of. */
#ifndef QN_IR_LAYOUT_SPLIT_H
#define QN_IR_LAYOUT_SPLIT_H

#include "ir/layout.h"

/* SplitPrimitiveTensor, ReplicatedTensor; NULL: another name. */
const qn_layout_row *qn_split_row(const char *name);
bool qn_layout_is_split(const qn_layout_tensor *t); /* one of the two */
/* A plain matrix, or one of more dimensions, in `count` parts of its rows: views, of which the last may
 * be shorter.  Others, and one with too few rows for so many parts, are replicated.  count: 2 …
 * QN_PLANES. */
qn_layout_tensor qn_layout_split(qn_arena *a, const qn_layout_tensor *t, int32_t count);
/* The plain tensor again, in arena a. */
qn_layout_tensor qn_layout_join(qn_arena *a, const qn_layout_tensor *t);

#endif
