/* SPDX-License-Identifier: Apache-2.0 */
/* impl_move.c - reshape, flatten, transpose, concat: elements change their positions and nothing
 * else.
 *
 *   transpose [2,3], perm [1,0]:   a view (view.h) of dim {3, 2}, stride {1, 3} */
#include <string.h>

#include "runtime/impl_args.h"
#include "runtime/impl_util.h"
#include "runtime/view.h"

enum { KERNEL_RANK = 6 }; /* axes that the kernel of transpose knows */

static void
reshape_real(const qn_eval *e)
{
	memcpy(e->out, e->in[0], qn_type_bytes(e->n->type) * (size_t)e->batches);
}

static void
transpose_view(const qn_graph *g, const qn_node *n, uint32_t part, qn_view *v)
{
	const qn_type *in = qn_in_type(g, n, 0);

	(void)part;
	for (int32_t i = 0; i < in->rank; i++) {
		int32_t from = qn_axis_of(in, n->attr->perm.perm.v[i]);

		qn_view_add(v, in->dim[from], qn_dim_product(in, from + 1, in->rank));
	}
}

static void
transpose_real(const qn_eval *e)
{
	qn_view_real(e, transpose_view);
}

static void
transpose_plain(const qn_eval *e)
{
	qn_view_plain(e, transpose_view);
}

/* Where input i of a concat lies in the result, in bytes. */
static qn_concat_args
part(const qn_graph *g, const qn_node *n, uint32_t i)
{
	const qn_type *in = qn_in_type(g, n, i), *out = n->type;
	int32_t axis = qn_axis_of(out, n->attr->axis.axis);
	int64_t size = (int64_t)qn_elem_bytes(out->elem);

	return (qn_concat_args){
		.outer = (int32_t)qn_dim_product(out, 0, axis),
		.run = (int32_t)(qn_dim_product(in, axis, in->rank) * size),
		.stride = (int32_t)(qn_dim_product(out, axis, out->rank) * size),
	};
}

static void
concat_real(const qn_eval *e)
{
	const qn_type *out = e->n->type;
	int32_t axis = qn_axis_of(out, e->n->attr->axis.axis);
	int64_t outer = qn_dim_product(out, 0, axis), size = (int64_t)qn_elem_bytes(out->elem);
	int64_t step = qn_dim_product(out, axis, out->rank) * size, at = 0;

	for (uint32_t i = 0; i < e->n->nin; i++) {
		const qn_type *in = qn_in_type(e->g, e->n, i);
		int64_t run = qn_dim_product(in, axis, in->rank) * size;

		for (int64_t o = 0; o < outer; o++)
			memcpy((char *)e->out + o * step + at, (const char *)e->in[i] + o * run,
			       (size_t)run);
		at += run;
	}
}

/* All inputs have the result's element; a moved channel axis (transpose, reshape) makes another
 * one. */
static bool
moves_quantized(const qn_graph *g, const qn_node *n, bool axis_may_move)
{
	for (uint32_t i = 0; i < n->nin; i++) {
		const qn_elem *in = qn_in_type(g, n, i)->elem, *out = n->type->elem;
		bool moved = axis_may_move && in->gran != QN_PER_TENSOR &&
			     out->gran != QN_PER_TENSOR && qn_elem_bytes(in) == qn_elem_bytes(out);

		if (in != out && !moved) {
			(void)qn_int_refuse(g, n, "only equal types in and out");
			return false;
		}
	}
	return qn_int_sizes(g, n);
}

static void *
copy_prepare(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	qn_copy_args *d = QN_NEW(a, qn_copy_args, 1);

	if (!moves_quantized(g, n, true))
		return NULL;
	d->n = (int32_t)qn_type_bytes(n->type);
	return d;
}

static void
copy_quantized(const qn_eval *e, const void *args)
{
	const qn_copy_args *d = args;

	qn_copy(e->in[0], d->n, e->out);
}

static void *
transpose_prepare(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	qn_transpose_args *d = QN_NEW(a, qn_transpose_args, 1);

	if (!moves_quantized(g, n, true))
		return NULL;
	qn_view v = {0};
	transpose_view(g, n, 0, &v);
	for (int32_t i = 0; i < v.rank; i++) {
		if (v.dim[i] == 1)
			continue;
		if (d->rank == KERNEL_RANK)
			return qn_int_refuse(g, n, "more than 6 axes longer than 1");
		d->dim[d->rank] = (int32_t)v.dim[i];
		d->stride[d->rank++] = (int32_t)v.stride[i];
	}
	if (d->rank == 0) {
		d->rank = 1;
		d->dim[0] = d->stride[0] = 1;
	}
	d->size = (int32_t)qn_elem_bytes(n->type->elem);
	return d;
}

static void
transpose_quantized(const qn_eval *e, const void *args)
{
	qn_transpose(args, e->in[0], e->out);
}

static void *
concat_prepare(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	qn_concat_call *c = QN_NEW(a, qn_concat_call, 1);
	qn_concat_args *parts = QN_NEW(a, qn_concat_args, n->nin);
	int32_t *offset = QN_NEW(a, int32_t, n->nin);
	int32_t at = 0;

	if (!moves_quantized(g, n, false))
		return NULL;
	for (uint32_t i = 0; i < n->nin; i++) {
		parts[i] = part(g, n, i);
		offset[i] = at;
		at += parts[i].run;
	}
	*c = (qn_concat_call){.n = (int32_t)n->nin, .part = parts, .offset = offset};
	return c;
}

static void
concat_quantized(const qn_eval *e, const void *args)
{
	const qn_concat_call *c = args;

	for (int32_t i = 0; i < c->n; i++)
		qn_concat_part(&c->part[i], e->in[i], (int8_t *)e->out + c->offset[i]);
}

const qn_impl qn_impl_reshape = {
	.real = reshape_real,
	.plain = reshape_real,
	.bundle = true,
	.quantized = {.prepare = copy_prepare, .run = copy_quantized, .families = QN_ALL_FAMILIES},
};
const qn_impl qn_impl_flatten = {
	.real = reshape_real,
	.plain = reshape_real,
	.bundle = true,
	.quantized = {.prepare = copy_prepare, .run = copy_quantized, .families = QN_ALL_FAMILIES},
};
const qn_impl qn_impl_transpose = {
	.real = transpose_real,
	.plain = transpose_plain,
	.quantized = {.prepare = transpose_prepare,
		      .run = transpose_quantized,
		      .families = QN_ALL_FAMILIES},
};
const qn_impl qn_impl_concat = {
	.real = concat_real,
	.plain = concat_real,
	.quantized = {.prepare = concat_prepare,
		      .run = concat_quantized,
		      .families = QN_ALL_FAMILIES},
};
