/* SPDX-License-Identifier: Apache-2.0 */
/* pool.h - pools that are drawn, of so many channels or more, for kernels of dsp.c and of vectors.c; after jobs.h. */
#ifndef QN_TESTS_MCU_POOL_H
#define QN_TESTS_MCU_POOL_H

#include "runtime/kernels/pool.h"

static inline void
draw_pool(qn_pool_args *a, int32_t channels)
{
	*a = (qn_pool_args){.batch = 1,
			    .c = pick(channels, 40),
			    .k_h = pick(1, 5),
			    .k_w = pick(1, 20),
			    .stride_h = pick(1, 2),
			    .stride_w = pick(1, 2),
			    .dil_h = 1,
			    .dil_w = 1,
			    .lo = pick(-128, -100),
			    .hi = pick(0, 127)};
	a->in_h = pick(a->k_h, 8);
	a->in_w = pick(a->k_w, 24);
	a->out_h = (a->in_h - a->k_h) / a->stride_h + 1;
	a->out_w = (a->in_w - a->k_w) / a->stride_w + 1;
}

#endif
