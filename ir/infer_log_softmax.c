/* SPDX-License-Identifier: Apache-2.0 */
/* infer_log_softmax.c - type of log_softmax along an axis: as softmax, whose attributes it has. */
#include "ir/infer.h"

const qn_type *
qn_infer_log_softmax(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	return qn_infer_softmax(g, n, declared);
}
