/* SPDX-License-Identifier: Apache-2.0 */
/* equalize_impl.h - what the files of passes/equalize.h share: equalize.c finds groups and scales, absorb.c moves biases. */
#ifndef QN_PASSES_EQUALIZE_IMPL_H
#define QN_PASSES_EQUALIZE_IMPL_H

#include "passes/equalize.h"

/* How a constant depends on the channels of a group. */
typedef enum qn_equal_kind { QN_EQUAL_ROWS, QN_EQUAL_COLUMNS, QN_EQUAL_BIAS } qn_equal_kind;

typedef struct qn_equal_use {
	qn_equal_kind kind;
	qn_id constant, layer, value; /* value: any of the group */
	size_t group;                 /* its number; QN_NO_GROUP: its scale is not free */
} qn_equal_use;

#define QN_NO_GROUP SIZE_MAX

/* The channel of a group of `channels` that element i of a constant belongs to. */
int64_t qn_equal_channel(const qn_graph *g, const qn_equal_use *u, int64_t i, int64_t channels);

/* Gives groups whose biases can move on a shift of 0. */
void qn_absorb_find(const qn_equalizing *e, qn_arena *a);

/* Whether shifts change the constant; adds to its n values v what they do to it. */
bool qn_absorb_changes(const qn_equalizing *e, qn_id constant);
void qn_absorb_add(const qn_equalizing *e, qn_id constant, float *v, qn_arena *a);

#endif
