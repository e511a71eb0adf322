/* SPDX-License-Identifier: Apache-2.0 */
/* indexed.h - arguments of the kernels that find elements by a tensor of indices, input 1, in the
 * data, input 0: gather_elements, gather_nd, scatter_elements, scatter_nd.  Both implementations use
 * these kernels' positions, the float one with elements of 4 bytes. */
#ifndef QN_RUNTIME_INDEXED_H
#define QN_RUNTIME_INDEXED_H

#include "runtime/impl_args.h"
#include "runtime/impl_util.h"

/* Why the kernels cannot do node n; NULL when they can. */
const char *qn_indexed_problem(const qn_graph *g, const qn_node *n);

/* 1 for i64 */
int32_t qn_index_wide(const qn_type *type);

/* run: bytes of an element of the data; total: bytes of the data; how: 0. */
qn_elements_args qn_elements_args_of(const qn_graph *g, const qn_node *n, int64_t axis);
qn_nd_args qn_nd_args_of(const qn_graph *g, const qn_node *n, int64_t batch);

#endif
