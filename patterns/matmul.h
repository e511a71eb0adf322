/* SPDX-License-Identifier: Apache-2.0 */
/* matmul.h - the quantized form of matmul, for the row of standard.c. */
#ifndef QN_PATTERNS_MATMUL_H
#define QN_PATTERNS_MATMUL_H

#include "patterns/quantizer.h"

/* A constant right side is made of weights; two activations have zero points, which the accumulator
 * takes out exactly. */
qn_id qn_quantize_matmul(void *user, qn_quantizing *b, const qn_match *m);

#endif
