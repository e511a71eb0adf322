/* SPDX-License-Identifier: Apache-2.0 */
/* unary.h - the functions of one value, for all implementations.
 *
 *   qn_unary_value(leaky_relu {alpha=0.1}, -2)  ->  -0.2 */
#ifndef QN_RUNTIME_UNARY_H
#define QN_RUNTIME_UNARY_H

#include "ir/graph.h"

typedef double qn_unary_fn(double x, const qn_attrs *a);

/* The function of an op of family unary; pow and prelu have none. */
qn_unary_fn *qn_unary_of(qn_op op);
/* That of node n at x. */
double qn_unary_value(const qn_node *n, double x);

#endif
