/* SPDX-License-Identifier: Apache-2.0 */
/* print_names.h - which names the nodes of a printed pattern need: those that stand in several places. */
#ifndef QN_PATTERNS_PRINT_NAMES_H
#define QN_PATTERNS_PRINT_NAMES_H

#include "ir/map.h"
#include "patterns/build.h"

static inline const qn_pattern *
qn_pattern_of(const qn_pat *p)
{
	return (const qn_pattern *)(const void *)p; /* the first member */
}

/* Of each node the places in which it stands, a uint32_t by its address; in arena a. */
void qn_pattern_places(const qn_pattern *root, qn_arena *a, qn_map *out);
/* A node's own name, or for a nameless one in several places one made of its slot.  NULL: none is needed. */
const char *qn_pattern_print_name(const qn_map *places, const qn_pattern *p, qn_arena *a);

#endif
