/* SPDX-License-Identifier: Apache-2.0 */
/* bind.h - which source is for which input, and whether its samples fit. */
#ifndef QN_CALIBRATE_BIND_H
#define QN_CALIBRATE_BIND_H

#include "calibrate/source.h"

/* bound: by input of g.  Ids: data.count, data.input. */
qn_status qn_bind_sources(const qn_graph *g, qn_arena *a, size_t n, const qn_source *const *source,
			  const qn_source **bound) QN_MUST_CHECK;

/* The source as input `in` takes it.  Ids: data.dynamic, data.type, data.shape, data.empty,
 * data.remainder. */
qn_status qn_fit_source(const qn_graph *g, qn_arena *a, const qn_node *in, const qn_source *s,
			const qn_source **out) QN_MUST_CHECK;

#endif
