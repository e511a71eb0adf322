/* SPDX-License-Identifier: Apache-2.0 */
/* view.c - copies a view (view.h): in runs or squares for f32, by the transpose kernel for quantized values.
 *
 *   dim {2, 1, 3, 4}, stride {24, 9, 4, 1}    ->    dim {2, 12}, stride {24, 1}
 *
 * Axes of length 1 and axes whose elements lie as if they were one are left out, so a contiguous view
 * is one copy. */
#include "runtime/view.h"

#include <string.h>

enum { KERNEL_RANK = 6, SQUARE = 16 /* floats of a cache line */ };

static const qn_type *
part_type(const qn_node *n, uint32_t part)
{
	return n->type->is_tuple ? n->type->field[part] : n->type;
}

/* The view with as few axes as will do. */
static qn_view
merged(const qn_view *v)
{
	qn_view m = {.start = v->start};

	for (int32_t i = 0; i < v->rank; i++) {
		if (v->dim[i] == 1)
			continue;
		if (m.rank > 0 && m.stride[m.rank - 1] == v->dim[i] * v->stride[i]) {
			m.dim[m.rank - 1] *= v->dim[i];
			m.stride[m.rank - 1] = v->stride[i];
		} else {
			qn_view_add(&m, v->dim[i], v->stride[i]);
		}
	}
	if (m.rank == 0)
		qn_view_add(&m, 1, 1);
	return m;
}

/* The last two axes of a view: rows of x with stride 1 become columns of y, by squares that stay in
 * the nearest cache. */
static float *
copy_turned(const qn_view *v, const float *x, float *y)
{
	int64_t rows = v->dim[v->rank - 2], cols = v->dim[v->rank - 1];
	int64_t stride = v->stride[v->rank - 1];

	for (int64_t r0 = 0; r0 < rows; r0 += SQUARE) {
		int64_t r1 = r0 + SQUARE < rows ? r0 + SQUARE : rows;

		for (int64_t c0 = 0; c0 < cols; c0 += SQUARE) {
			int64_t c1 = c0 + SQUARE < cols ? c0 + SQUARE : cols;

			for (int64_t r = r0; r < r1; r++)
				for (int64_t c = c0; c < c1; c++)
					y[r * cols + c] = x[r + c * stride];
		}
	}
	return y + rows * cols;
}

/* Copies axes from `axis` on; returns the end of what it wrote. */
static float *
copy(const qn_view *v, int32_t axis, const float *x, float *y)
{
	int64_t n = v->dim[axis], stride = v->stride[axis];

	if (axis == v->rank - 1) {
		if (stride == 1)
			memcpy(y, x, (size_t)n * sizeof *y);
		else
			for (int64_t k = 0; k < n; k++)
				y[k] = x[k * stride];
		return y + n;
	}
	if (axis == v->rank - 2 && stride == 1 && v->stride[axis + 1] != 1)
		return copy_turned(v, x, y);
	for (int64_t k = 0; k < n; k++)
		y = copy(v, axis + 1, x + k * stride, y);
	return y;
}

void
qn_view_real(const qn_eval *e, qn_view_fn *make)
{
	qn_view v = {0};

	if (qn_static_count(part_type(e->n, e->part)) == 0)
		return;
	make(e->g, e->n, e->part, &v);
	v = merged(&v);
	(void)copy(&v, 0, (const float *)e->in[0] + v.start, e->out);
}

/* n elements that lie `stride` elements apart, by the size of one. */
static char *
copy_run(const char *x, int64_t stride, size_t size, int64_t n, char *y)
{
	if (stride == 1)
		memcpy(y, x, (size_t)n * size);
	else if (size == 1)
		for (int64_t k = 0; k < n; k++)
			y[k] = x[k * stride];
	else
		for (int64_t k = 0; k < n; k++)
			memcpy(y + (size_t)k * size, x + k * stride * (int64_t)size, size);
	return y + (size_t)n * size;
}

static char *
copy_sized(const qn_view *v, int32_t axis, size_t size, const char *x, char *y)
{
	if (axis == v->rank - 1)
		return copy_run(x, v->stride[axis], size, v->dim[axis], y);
	for (int64_t k = 0; k < v->dim[axis]; k++)
		y = copy_sized(v, axis + 1, size, x + k * v->stride[axis] * (int64_t)size, y);
	return y;
}

void
qn_view_plain(const qn_eval *e, qn_view_fn *make)
{
	const qn_type *type = part_type(e->n, e->part);
	size_t size = qn_elem_bytes(type->elem);
	qn_view v = {0};

	if (qn_static_count(type) == 0)
		return;
	make(e->g, e->n, e->part, &v);
	v = merged(&v);
	(void)copy_sized(&v, 0, size, (const char *)e->in[0] + v.start * (int64_t)size, e->out);
}

static bool
prepare_part(const qn_graph *g, const qn_node *n, uint32_t part, qn_view_fn *make,
	     qn_strided_call *c)
{
	const qn_type *type = part_type(n, part);
	qn_view v = {0};

	c->args.size = (int32_t)qn_elem_bytes(type->elem);
	if (qn_static_count(type) == 0) { /* a single axis of length 0 */
		c->args.rank = 1;
		return true;
	}
	make(g, n, part, &v);
	v = merged(&v);
	if (v.rank > KERNEL_RANK) {
		(void)qn_int_refuse(g, n, "more than 6 axes that cannot be copied as one");
		return false;
	}
	c->start = (int32_t)v.start;
	c->args.rank = v.rank;
	for (int32_t i = 0; i < v.rank; i++) {
		c->args.dim[i] = (int32_t)v.dim[i];
		c->args.stride[i] = (int32_t)v.stride[i];
	}
	return true;
}

void *
qn_view_prepare(const qn_graph *g, const qn_node *n, qn_arena *a, qn_view_fn *make)
{
	uint32_t parts = n->type->is_tuple ? n->type->nfield : 1;
	qn_strided_call *c = QN_NEW(a, qn_strided_call, parts);

	if (!qn_int_sizes(g, n))
		return NULL;
	for (uint32_t i = 0; i < parts; i++)
		if (!prepare_part(g, n, i, make, &c[i]))
			return NULL;
	return c;
}

void
qn_view_quantized(const qn_eval *e, const void *args)
{
	const qn_strided_call *c = (const qn_strided_call *)args + e->part;

	qn_transpose(&c->args, (const int8_t *)e->in[0] + c->start * c->args.size, e->out);
}
