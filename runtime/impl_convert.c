/* SPDX-License-Identifier: Apache-2.0 */
/* impl_convert.c - cast between plain types.
 *
 *   real -> integer   toward zero, limited to the type's range; NaN is 0
 *   integer -> real   the nearest of the type, ties to even
 *   integer -> integer   the low bits, as in C and numpy
 *   anything -> bool     0 is false, all else (NaN too) is true */
#include "runtime/impl_args.h"
#include "runtime/impl_util.h"
#include "runtime/plain.h"

static void
cast_plain(const qn_eval *e)
{
	qn_plain from = qn_plain_of(qn_in_type(e->g, e->n, 0)), to = qn_plain_of(e->n->type);
	int64_t count = qn_static_count(e->n->type);
	qn_number x[QN_PLAIN_RUN_LENGTH];

	for (int64_t i = 0, n; i < count; i += n) {
		n = count - i < QN_PLAIN_RUN_LENGTH ? count - i : QN_PLAIN_RUN_LENGTH;
		qn_plain_load(from, e->in[0], i, 1, n, x);
		qn_plain_convert(from, to, n, x);
		qn_plain_store(to, e->out, i, n, x);
	}
}

static bool
is_narrow(const qn_plain_info *p)
{
	return p->bits == 2 || p->bits == 4;
}

static void *
cast_prepare(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	const qn_elem *from = qn_in_type(g, n, 0)->elem, *to = n->type->elem;
	const qn_plain_info *p = &qn_plain_table[from->plain], *q = &qn_plain_table[to->plain];
	qn_cast_args *d = QN_NEW(a, qn_cast_args, 1);

	if (is_narrow(p) || is_narrow(q))
		return qn_int_refuse(g, n, "types of 2 and 4 bits");
	if (q->is_float && to->plain != QN_PLAIN_f32)
		return qn_int_refuse(g, n, "only f32 among the float types");
	if (!qn_int_sizes(g, n))
		return NULL;
	*d = (qn_cast_args){
		.n = (int32_t)qn_static_count(n->type),
		.from = p->bytes,
		.to = q->bytes,
		.from_signed = p->is_signed,
		.to_bool = to->plain == QN_PLAIN_bool,
	};
	return d;
}

static void
cast_quantized(const qn_eval *e, const void *args)
{
	if (qn_elem_is_float(e->n->type->elem))
		cast_plain(e);
	else
		qn_cast(args, e->in[0], e->out);
}

const qn_impl qn_impl_cast = {
	.real = cast_plain,
	.plain = cast_plain,
	.quantized = {.prepare = cast_prepare, .run = cast_quantized, .families = QN_ALL_FAMILIES},
};
