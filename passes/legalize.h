/* SPDX-License-Identifier: Apache-2.0 */
/* legalize.h - what of the pass `legalize` has a file of its own: rules, and the check after them. */
#ifndef QN_PASSES_LEGALIZE_H
#define QN_PASSES_LEGALIZE_H

#include "patterns/rewrite.h"

/* Their patterns bind nothing but the root. */
qn_rule_fn qn_legalize_pad_code, qn_legalize_pad_window; /* legalize_pad.c */
qn_rule_fn qn_legalize_slice;                            /* legalize_slice.c */

/* Slot 1: the product, of the second.  The user's data is a map (ir/map.h) for what they make (legalize_product.c). */
qn_rule_fn qn_legalize_matmul, qn_legalize_stacked_matmul;

/* Each node must have an integer implementation for its types; QN_EUNSUPPORTED: an error was reported for each that
 * has none (legalize_check.c). */
qn_status qn_legalize_check(qn_model *m, const qn_graph *g) QN_MUST_CHECK;

#endif
