/* SPDX-License-Identifier: Apache-2.0 */
/* standard.h - quantize callbacks that have files of their own, for the rows of standard.c. */
#ifndef QN_PATTERNS_STANDARD_H
#define QN_PATTERNS_STANDARD_H

#include "patterns/quantizer.h"

/* Of products with weights that are constant, or stored as quantized values (weighted.c). */
int qn_accept_weighted(void *user, const qn_graph *g, const qn_match *m, const char **reason);
qn_id qn_quantize_weighted(void *user, qn_quantizing *b, const qn_match *m);

int qn_accept_lrn(void *user, const qn_graph *g, const qn_match *m, const char **reason);
qn_id qn_quantize_lrn(void *user, qn_quantizing *b, const qn_match *m);

/* Whether a gather from a constant may be one of weights with fewer bits than activations; qn_accept_table decides for
 * each, by the qn_quant_opts in `user`. */
bool qn_may_have_tables(const qn_quant_opts *o);
int qn_accept_table(void *user, const qn_graph *g, const qn_match *m, const char **reason);
qn_id qn_quantize_table(void *user, qn_quantizing *b, const qn_match *m);

/* A constant right side is made of weights; two activations have zero points, which the accumulator
 * takes out exactly. */
qn_id qn_quantize_matmul(void *user, qn_quantizing *b, const qn_match *m);

/* The op n on dequantized values in[0] and in[1], and a float bias if that is not 0. */
qn_id qn_quantize_real_product(qn_quantizing *b, const qn_node *n, const char *name,
			       const qn_id *in, qn_id bias);

#endif
