/* SPDX-License-Identifier: Apache-2.0 */
/* impl_trilu.c - trilu: the triangle of each matrix, the value 0 elsewhere. */
#include "ir/clamp.h"
#include "runtime/impl_args.h"
#include "runtime/impl_util.h"

static int32_t
diagonal(const qn_node *n)
{
	const int64_t most = INT64_C(1) << 30, k = n->attr->trilu.k;

	return (int32_t)qn_clamp_i64(k, -most, most);
}

static qn_trilu_args
arguments(const qn_node *n, int32_t zero)
{
	const qn_type *t = n->type;

	return (qn_trilu_args){
		.outer = (int32_t)qn_dim_product(t, 0, t->rank - 2),
		.rows = (int32_t)t->dim[t->rank - 2],
		.cols = (int32_t)t->dim[t->rank - 1],
		.size = (int32_t)qn_elem_bytes(t->elem),
		.k = diagonal(n),
		.upper = (int32_t)n->attr->trilu.upper,
		.zero = zero,
	};
}

static const char *
refuse(const qn_graph *g, const qn_node *n)
{
	const qn_type *t = n->type;

	(void)g;
	/* positions along an axis, and their differences, are 32-bit numbers */
	return t->dim[t->rank - 2] > 1 << 30 || t->dim[t->rank - 1] > 1 << 30 ||
			       qn_dim_product(t, 0, t->rank - 2) > INT32_MAX
		       ? "an axis of more than 2^30 elements"
		       : NULL;
}

static void
trilu_real(const qn_eval *e)
{
	const qn_trilu_args a = arguments(e->n, 0);

	qn_trilu(&a, e->in[0], e->out);
}

static void *
trilu_prepare(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	const qn_elem *e = n->type->elem;
	int32_t zero = 0;

	if (!qn_int_sizes(g, n))
		return NULL;
	if (refuse(g, n) != NULL)
		return qn_int_refuse(g, n, "%s", refuse(g, n));
	if (qn_elem_is_quant(e) && e->gran != QN_PER_TENSOR)
		return qn_int_refuse(g, n, "only one scale per tensor");
	if (qn_elem_is_quant(e))
		zero = qn_zp_of(g, n->type);
	if (zero != 0 && qn_elem_bytes(e) > 1)
		return qn_int_refuse(g, n, "only zero point 0 in more than 8 bits");
	const qn_trilu_args d = arguments(n, zero);
	return qn_arena_copy(a, &d, sizeof d);
}

static void
trilu_quantized(const qn_eval *e, const void *args)
{
	qn_trilu(args, e->in[0], e->out);
}

const qn_impl qn_impl_trilu = {
	.real = trilu_real,
	.plain = trilu_real,
	.refuse = refuse,
	.quantized = {.prepare = trilu_prepare,
		      .run = trilu_quantized,
		      .families = QN_ALL_FAMILIES},
};
