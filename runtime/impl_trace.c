/* SPDX-License-Identifier: Apache-2.0 */
/* impl_trace.c - trace: the value as it is.  Who runs the graph sees it where it observes the node
 * (qn_observe_fn of interp.h). */
#include <string.h>

#include "runtime/impl_util.h"

static void
same(const qn_eval *e)
{
	memcpy(e->out, e->in[0], qn_type_bytes(e->n->type) * (size_t)e->batches);
}

/* There is nothing to prepare; the bytes are counted once. */
static void *
same_prepare(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	size_t *bytes = QN_NEW(a, size_t, 1);

	(void)g;
	*bytes = qn_type_bytes(n->type);
	return bytes;
}

static void
same_quantized(const qn_eval *e, const void *args)
{
	const size_t *bytes = args;

	memcpy(e->out, e->in[0], *bytes);
}

const qn_impl qn_impl_trace = {
	.real = same,
	.plain = same,
	.bundle = true,
	.quantized = {.prepare = same_prepare, .run = same_quantized, .families = QN_ALL_FAMILIES},
};
