/* SPDX-License-Identifier: Apache-2.0 */
/* macs.h - how much work a node is. */
#ifndef QN_IR_MACS_H
#define QN_IR_MACS_H

#include "ir/graph.h"

/* Multiplications of a convolution or a product; 0: none, or a shape is not known. */
uint64_t qn_node_macs(const qn_graph *g, const qn_node *n);

#endif
