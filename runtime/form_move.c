/* SPDX-License-Identifier: Apache-2.0 */
/* form_move.c - reshape, flatten, transpose, concat: elements change their places and nothing
 * else.
 *
 *   transpose [2,3], perm [1,0]:   dim {3, 2}  distances in x {1, 3}  in y {2, 1} */
#include <string.h>

#include "runtime/form_args.h"
#include "runtime/form_util.h"

enum { KERNEL_RANK = 6 }; /* axes that the kernel of transpose knows */

/* Places of the same elements in two arrays. */
typedef struct places {
	int32_t rank;
	int64_t dim[QN_MAX_RANK];
	int64_t xs[QN_MAX_RANK], ys[QN_MAX_RANK]; /* distances in elements */
} places;

static void
copy(const places *p, int32_t axis, const float *x, float *y)
{
	if (axis == p->rank) {
		*y = *x;
		return;
	}
	for (int64_t k = 0; k < p->dim[axis]; k++, x += p->xs[axis], y += p->ys[axis])
		copy(p, axis + 1, x, y);
}

static void
reshape_real(const qn_eval *e)
{
	memcpy(e->out, e->in[0], qn_type_bytes(e->n->type) * (size_t)e->batches);
}

static places
transposed(const qn_type *in, const qn_type *out, const qn_list *perm)
{
	places p = {.rank = out->rank};

	for (int32_t i = 0; i < p.rank; i++) {
		int32_t from = qn_axis_of(in, perm->v[i]);

		p.dim[i] = out->dim[i];
		p.xs[i] = qn_dim_product(in, from + 1, in->rank);
		p.ys[i] = qn_dim_product(out, i + 1, out->rank);
	}
	return p;
}

static void
transpose_real(const qn_eval *e)
{
	places p = transposed(qn_in_type(e->g, e->n, 0), e->n->type, &e->n->attr->perm.perm);

	copy(&p, 0, e->in[0], e->out);
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
	int64_t outer = qn_dim_product(out, 0, axis);
	int64_t step = qn_dim_product(out, axis, out->rank), at = 0;

	for (uint32_t i = 0; i < e->n->nin; i++) {
		const qn_type *in = qn_in_type(e->g, e->n, i);
		int64_t run = qn_dim_product(in, axis, in->rank);

		for (int64_t o = 0; o < outer; o++)
			memcpy((float *)e->out + o * step + at, (const float *)e->in[i] + o * run,
			       (size_t)run * sizeof(float));
		at += run;
	}
}

/* All inputs have the result's element; a moved channel axis (transpose, reshape) makes another
 * one. */
static bool
moves_codes(const qn_graph *g, const qn_node *n, bool axis_may_move)
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

	if (!moves_codes(g, n, true))
		return NULL;
	d->n = (int32_t)qn_type_bytes(n->type);
	return d;
}

static void
copy_codes(const qn_eval *e, const void *args)
{
	const qn_copy_args *d = args;

	qn_copy(e->in[0], d->n, e->out);
}

static void *
transpose_prepare(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	qn_transpose_args *d = QN_NEW(a, qn_transpose_args, 1);

	if (!moves_codes(g, n, true))
		return NULL;
	places p = transposed(qn_in_type(g, n, 0), n->type, &n->attr->perm.perm);
	for (int32_t i = 0; i < p.rank; i++) {
		if (p.dim[i] == 1)
			continue;
		if (d->rank == KERNEL_RANK)
			return qn_int_refuse(g, n, "more than 6 axes longer than 1");
		d->dim[d->rank] = (int32_t)p.dim[i];
		d->stride[d->rank++] = (int32_t)p.xs[i];
	}
	if (d->rank == 0) {
		d->rank = 1;
		d->dim[0] = d->stride[0] = 1;
	}
	d->size = (int32_t)qn_elem_bytes(n->type->elem);
	return d;
}

static void
transpose_codes(const qn_eval *e, const void *args)
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

	if (!moves_codes(g, n, false))
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
concat_codes(const qn_eval *e, const void *args)
{
	const qn_concat_call *c = args;

	for (int32_t i = 0; i < c->n; i++)
		qn_concat_part(&c->part[i], e->in[i], (int8_t *)e->out + c->offset[i]);
}

const qn_form qn_form_reshape = {
	.real = reshape_real,
	.bundle = true,
	.codes = {.prepare = copy_prepare, .run = copy_codes, .families = QN_ALL_FAMILIES},
};
const qn_form qn_form_flatten = {
	.real = reshape_real,
	.bundle = true,
	.codes = {.prepare = copy_prepare, .run = copy_codes, .families = QN_ALL_FAMILIES},
};
const qn_form qn_form_transpose = {
	.real = transpose_real,
	.codes = {.prepare = transpose_prepare,
		  .run = transpose_codes,
		  .families = QN_ALL_FAMILIES},
};
const qn_form qn_form_concat = {
	.real = concat_real,
	.codes = {.prepare = concat_prepare, .run = concat_codes, .families = QN_ALL_FAMILIES},
};
