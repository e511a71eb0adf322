/* SPDX-License-Identifier: Apache-2.0 */
/* legalize.h - rules of the pass `legalize` that have a file of their own. */
#ifndef QN_PASSES_LEGALIZE_H
#define QN_PASSES_LEGALIZE_H

#include "patterns/rewrite.h"

/* Their patterns bind nothing but the root. */
qn_rule_fn qn_legalize_pad_code, qn_legalize_pad_window; /* legalize_pad.c */

#endif
