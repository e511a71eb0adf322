/* SPDX-License-Identifier: Apache-2.0 */
/* reduce.h - which axes a reduction goes over.
 *
 *   axes=[-1, 0], rank 4  ->  mask 1001 (bit k: axis k)        axes=[]  ->  all axes */
#ifndef QN_IR_REDUCE_H
#define QN_IR_REDUCE_H

#include "ir/graph.h"

/* Axes are in [-rank, rank). */
static inline uint32_t
qn_reduce_mask(const qn_list *axes, int32_t rank)
{
	uint32_t mask = axes->n == 0 ? (UINT32_C(1) << rank) - 1 : 0;

	for (int32_t i = 0; i < axes->n; i++)
		mask |= UINT32_C(1) << (axes->v[i] < 0 ? axes->v[i] + rank : axes->v[i]);
	return mask;
}

#endif
