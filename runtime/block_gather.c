/* SPDX-License-Identifier: Apache-2.0 */
/* block_gather.c - gather from a constant with blocks, or with a scale for each index of the axis that is gathered
 * (runtime/kernels/gather_blocks.h).  Scales become integers of one power of two for each row:
 *
 *   row 0 of a table: 0.3, 0.1     ->   mantissas 19661, 6554, unit 2^-16
 *
 * The largest scale of a row has 15 bits, so another one changes by at most 2^-15 of it. */
#include <math.h>

#include "ir/block_scales.h"
#include "runtime/impl_args.h"
#include "runtime/impl_util.h"
#include "runtime/indexed.h"

/* How the elements of one index are laid out in lines with blocks, and where that is in the table's type. */
typedef struct layout {
	const qn_type *x;
	int32_t axis;   /* that is gathered */
	int32_t inner;  /* the last axis after it with several scales; the axis itself: none */
	int64_t behind; /* elements that one index of `inner` stands for */
} layout;

static layout
layout_of(const qn_type *x, int32_t axis)
{
	layout l = {.x = x, .axis = axis, .inner = axis};

	for (int32_t d = axis + 1; d < x->rank; d++)
		if (qn_block_along(x, d) < x->dim[d])
			l.inner = d;
	l.behind = qn_dim_product(x, l.inner + 1, x->rank);
	return l;
}

static void
set_layout(qn_gather_blocks_args *d, const layout *l)
{
	const qn_type *x = l->x;
	const int64_t each = qn_block_along(x, l->axis), dim = x->dim[l->axis];

	d->outer = (int32_t)qn_dim_product(x, 0, l->axis);
	d->dim = (int32_t)dim;
	d->each = (int32_t)each;
	d->rows = (int32_t)((dim + each - 1) / each);
	d->lines = d->blocks = 1;
	d->line = d->block = (int32_t)l->behind;
	if (l->inner == l->axis)
		return;
	const int64_t size = qn_block_along(x, l->inner), n = x->dim[l->inner];
	d->lines = (int32_t)qn_dim_product(x, l->axis + 1, l->inner);
	d->line = (int32_t)(n * l->behind);
	d->block = (int32_t)(size * l->behind);
	d->blocks = (int32_t)((n + size - 1) / size);
}

/* Splits `at` into the indices of axes [from, to). */
static void
set_index(const qn_type *x, int64_t at, int32_t from, int32_t to, int64_t *idx)
{
	for (int32_t i = to - 1; i >= from; i--) {
		idx[i] = at % x->dim[i];
		at /= x->dim[i];
	}
}

/* The scales and zero points of row r of mantissas of index o before the axis. */
static void
read_row(const qn_graph *g, const layout *l, const qn_gather_blocks_args *d, int64_t o, int64_t r,
	 double *scale, double *zp)
{
	int64_t idx[QN_MAX_RANK] = {0};

	set_index(l->x, o, 0, l->axis, idx);
	idx[l->axis] = r * d->each;
	for (int64_t i = 0; i < d->lines; i++) {
		set_index(l->x, i, l->axis + 1, l->inner, idx);
		for (int64_t b = 0; b < d->blocks; b++) {
			const int64_t at = i * d->blocks + b;

			if (l->inner > l->axis)
				idx[l->inner] = b * qn_block_along(l->x, l->inner);
			const size_t k = qn_type_param_index(l->x, idx);
			int64_t unused;

			qn_elem_param(&g->model->types, l->x->elem, k, &scale[at], &unused);
			zp[at] = qn_elem_zero_point(&g->model->types, l->x->elem, k);
		}
	}
}

/* Where the tables of a row are; offset NULL: its zero points are integers. */
typedef struct row_tables {
	int16_t *mantissa, *offset;
	int8_t *zp, *shift;
} row_tables;

/* The zero points of a row, as integers or as offsets in units of its mantissas; false: one has more bits than
 * the table. */
static bool
set_zeros(const double *zp, size_t count, const row_tables *to)
{
	const double most = to->offset != NULL ? 0x1p15 : 0x1p7;

	for (size_t i = 0; i < count; i++) {
		const double z = to->offset != NULL ? floor(0.5 - zp[i] * to->mantissa[i]) : zp[i];

		if (!(z >= -most && z < most))
			return false;
		if (to->offset != NULL)
			to->offset[i] = (int16_t)z;
		else
			to->zp[i] = (int8_t)z;
	}
	return true;
}

/* The scales of a row as integers of at most 15 bits, fewer where offsets need them.  scale, zp: changed. */
static bool
set_mantissas(const qn_elem *e, double *scale, double *zp, size_t count, const row_tables *to,
	      int *unit, qn_arena *a)
{
	if (to->offset != NULL)
		(void)qn_block_scales_fix_offsets(e, scale, zp, count, QN_MANTISSA_MOST, a);
	else
		(void)qn_block_scales_fix(scale, count, QN_MANTISSA_MOST, false);
	(void)qn_block_scales_unit(scale, count, unit);
	for (size_t i = 0; i < count; i++)
		to->mantissa[i] = (int16_t)ldexp(scale[i], -*unit);
	return set_zeros(zp, count, to);
}

/* A row's tables, and the multiplier of the unit of its scales. */
static bool
set_row(const qn_graph *g, const qn_node *n, double *scale, double *zp, size_t count,
	const row_tables *to, int32_t *mult, qn_arena *a)
{
	int unit = 0;
	int32_t m, s;

	if (!set_mantissas(qn_in_type(g, n, 0)->elem, scale, zp, count, to, &unit, a))
		return qn_int_refuse(g, n, "zero points of 8 bits, or with fractions, only") !=
		       NULL;
	if (!qn_int_multiplier(g, n, "unit of a row's scales / result scale",
			       ldexp(1, unit) / qn_scale_of(g, n->type), &m, &s))
		return false;
	*mult = m != 0 ? m : *mult; /* one for all units, which are powers of two */
	*to->shift = (int8_t)(m != 0 ? s : -31);
	return true;
}

static void
drop_equal_shifts(qn_gather_blocks_args *d, const int8_t *shift)
{
	for (int32_t i = 1; i < d->shifts; i++)
		if (shift[i] != shift[0])
			return;
	d->shifts = 1;
}

static bool
set_rows(const qn_graph *g, const qn_node *n, const layout *l, qn_gather_blocks_args *d,
	 qn_arena *a)
{
	const size_t row = (size_t)(d->lines * d->blocks),
		     rows = (size_t)d->outer * (size_t)d->rows;
	const bool fraction = l->x->elem->zp_fraction != 0;
	row_tables t = {.mantissa = QN_NEW(a, int16_t, rows * row),
			.offset = fraction ? QN_NEW(a, int16_t, rows * row) : NULL,
			.zp = QN_NEW(a, int8_t, rows * row),
			.shift = QN_NEW(a, int8_t, rows)};
	double *scale = QN_NEW(a, double, row), *zps = QN_NEW(a, double, row);

	d->mantissas = (int32_t)(rows * row);
	d->offsets = fraction ? d->mantissas : 0;
	d->shifts = (int32_t)rows;
	for (size_t i = 0; i < rows; i++) {
		const row_tables to = {t.mantissa + i * row, fraction ? t.offset + i * row : NULL,
				       t.zp + i * row, t.shift + i};

		read_row(g, l, d, (int64_t)i / d->rows, (int64_t)i % d->rows, scale, zps);
		if (!set_row(g, n, scale, zps, row, &to, &d->mult, a))
			return false;
		for (size_t k = 0; k < row && !fraction; k++)
			if (to.zp[k] != 0)
				d->zero_points = d->mantissas;
	}
	drop_equal_shifts(d, t.shift);
	d->mantissa = t.mantissa;
	d->zp = d->zero_points != 0 ? t.zp : NULL;
	d->offset = t.offset;
	d->shift = t.shift;
	return true;
}

static bool
check_types(const qn_graph *g, const qn_node *n)
{
	const qn_elem *x = qn_in_type(g, n, 0)->elem;
	const char *why = NULL;

	if (qn_graph_node(g, n->in[0])->op != QN_OP_const || qn_elem_has_symbol(x))
		why = "only a constant that has several scales";
	else if (!x->is_signed || x->bits > 8)
		why = "only values of up to 8 signed bits with several scales";
	else if (!qn_elem_in_family(&g->model->types, n->type->elem))
		why = "only a result of storage i8, u8 or i16 with a zero point inside it";
	if (why != NULL)
		return qn_int_refuse(g, n, "%s", why) != NULL;
	return qn_int_sizes(g, n);
}

static void *
gather_prepare(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	qn_gather_blocks_call *c = QN_NEW(a, qn_gather_blocks_call, 1);
	qn_gather_blocks_args *d = &c->args;
	const int bits = qn_in_type(g, n, 0)->elem->bits;

	if (!check_types(g, n))
		return NULL;
	const layout l = layout_of(qn_in_type(g, n, 0),
				   qn_axis_of(qn_in_type(g, n, 0), n->attr->gather.axis));
	if (qn_static_count(l.x) == 0)
		return qn_int_refuse(g, n, "only a table with elements");
	set_layout(d, &l);
	d->n = (int32_t)qn_static_count(qn_in_type(g, n, 1));
	c->index = qn_gather_indices(g, n, l.x->dim[l.axis], a);
	d->wide = c->index == NULL && qn_index_wide(qn_in_type(g, n, 1)) != 0;
	d->bits = bits == 4 || bits == 2 ? bits : 8;
	d->zo = qn_zp_of(g, n->type);
	d->lo = (int32_t)n->type->elem->qmin;
	d->hi = (int32_t)n->type->elem->qmax;
	d->mode = g->model->rounding;
	return set_rows(g, n, &l, d, a) ? c : NULL;
}

/* The interpreter has an element in a byte. */
#define GATHER(name, q, o, a, code)                                                                \
	static void name(const qn_eval *e, const void *args)                                       \
	{                                                                                          \
		const qn_gather_blocks_call *c = args;                                             \
		qn_gather_blocks_args d = c->args;                                                 \
                                                                                                   \
		d.bits = 8;                                                                        \
		d.x = e->in[0];                                                                    \
		qn_gather_blocks##q(&d, c->index != NULL ? c->index : e->in[1], e->out);           \
	}
GATHER(gather_s8, _s8, , , int8_t)
GATHER(gather_u8, _u8, , , uint8_t)
GATHER(gather_s16, _s16, , , int16_t)

static void
gather_run(const qn_eval *e, const void *args)
{
	static qn_quantized_fn *const by[QN_NFAMILY] = {gather_s8, gather_u8, gather_s16};

	by[qn_family_of(e->n->type->elem)](e, args);
}

const qn_int_impl qn_gather_blocks_impl = {
	.prepare = gather_prepare, .run = gather_run, .families = QN_ALL_FAMILIES};
