/* SPDX-License-Identifier: Apache-2.0 */
/* unary.h - the functions of one value, for all forms that compute them.
 *
 *   qn_unary_value(leaky_relu {alpha=0.1}, -2)  ->  -0.2 */
#ifndef QN_RUNTIME_UNARY_H
#define QN_RUNTIME_UNARY_H

#include "ir/graph.h"

/* The function of a node of family unary at x; pow and prelu are none. */
double qn_unary_value(const qn_node *n, double x);

#endif
