/* SPDX-License-Identifier: Apache-2.0 */
/* form_convert.c - cast between plain types.
 *
 *   f32 -> integer   toward zero, limited to the type's range; NaN is 0
 *   integer -> f32   the nearest f32, ties to even
 *   integer -> integer   the low bits, as in C and numpy
 *   anything -> bool     0 is false, all else (NaN too) is true */
#include <math.h>

#include "runtime/form_args.h"
#include "runtime/form_util.h"

/* x toward zero, limited to type p; the bits of the code. */
static int64_t
truncated(double x, const qn_plain_info *p)
{
	int bits = p->bits - (p->is_signed ? 1 : 0);
	double end = ldexp(1.0, bits);

	if (isnan(x))
		return 0;
	if (x <= (p->is_signed ? -end : 0.0))
		return p->is_signed ? -(int64_t)(UINT64_C(1) << (bits - 1)) * 2 : 0;
	if (x >= end)
		return bits == 64 ? -1 : (int64_t)((UINT64_C(1) << bits) - 1);
	return p->is_signed ? (int64_t)x : (int64_t)(uint64_t)x;
}

static void
cast_real(const qn_eval *e)
{
	const float *x = e->in[0];
	qn_plain to = e->n->type->elem->plain;
	const qn_plain_info *p = &qn_plain_table[to];
	int64_t n = qn_static_count(e->n->type);

	for (int64_t i = 0; i < n; i++) {
		if (to == QN_PLAIN_f32)
			qn_store_f64(e->out, to, i, (double)x[i]);
		else if (to == QN_PLAIN_bool)
			qn_store_i64(e->out, to, i, !(x[i] >= 0.0f && x[i] <= 0.0f));
		else
			qn_store_i64(e->out, to, i, truncated((double)x[i], p));
	}
}

static void *
cast_prepare(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	const qn_elem *from = qn_in_type(g, n, 0)->elem, *to = n->type->elem;
	const qn_plain_info *p = &qn_plain_table[from->plain], *q = &qn_plain_table[to->plain];
	qn_cast_args *d = QN_NEW(a, qn_cast_args, 1);

	if (p->bits == 4 || q->bits == 4)
		return qn_int_refuse(g, n, "4-bit types");
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
cast_codes(const qn_eval *e, const void *args)
{
	const qn_type *in = qn_in_type(e->g, e->n, 0);
	const qn_tensor x = {.type = in, .data = e->in[0], .bytes = qn_type_bytes(in)};
	int64_t n = qn_static_count(in);

	if (!qn_elem_is_float(e->n->type->elem)) {
		qn_cast(args, e->in[0], e->out);
		return;
	}
	for (int64_t i = 0; i < n; i++)
		qn_store_f64(e->out, QN_PLAIN_f32, i, qn_tensor_f64(&x, i));
}

const qn_form qn_form_cast = {
	.real = cast_real,
	.codes = {.prepare = cast_prepare, .run = cast_codes, .families = QN_ALL_FAMILIES},
};
