/* SPDX-License-Identifier: Apache-2.0 */
/* lrn.h - the quantized form of lrn, for the row of standard.c. */
#ifndef QN_PATTERNS_LRN_H
#define QN_PATTERNS_LRN_H

#include "patterns/quantizer.h"

int qn_accept_lrn(void *user, const qn_graph *g, const qn_match *m, const char **reason);
qn_id qn_quantize_lrn(void *user, qn_quantizing *b, const qn_match *m);

#endif
