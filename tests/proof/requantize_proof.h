/* SPDX-License-Identifier: Apache-2.0 */
/* requantize_proof.h - a calibrated graph before and behind the requantizer, value by value (requantize_proof.c). */
#ifndef QN_TESTS_REQUANTIZE_PROOF_H
#define QN_TESTS_REQUANTIZE_PROOF_H

#include "tests/proof/real_graph.h"

/* Values compared, and of them those one code apart, those further apart. */
typedef struct tally {
	size_t graphs, values, by_one, by_more;
	int64_t worst;
} tally;

/* Runs the builder's graph, and fails the test where a value is further off than its bound. */
void requantize_prove(builder *b, tally *t);

#endif
