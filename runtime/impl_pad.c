/* SPDX-License-Identifier: Apache-2.0 */
/* impl_pad.c - pad: the input among added elements, which have one value or are copies of its own.
 *
 *   [a b c], before 1, after 2:   constant [v a b c v v]
 *                                 reflect [b a b c b a]   edge [a a b c c c]
 *                                 symmetric [a a b c c b] wrap [c a b c a b] */
#include <math.h>

#include <string.h>

#include "runtime/impl_args.h"
#include "runtime/impl_util.h"
#include "runtime/plain.h"

enum { KERNEL_RANK = 6 }; /* axes that the kernels know */

/* The kernel's numbers for the modes that copy. */
static const int32_t copy_mode[] = {
	[QN_PAD_edge] = 0, [QN_PAD_reflect] = 1, [QN_PAD_symmetric] = 2, [QN_PAD_wrap] = 3};

/* The position of an axis of dim elements that stands at p, -1 for the pad value. */
static int64_t
source(int64_t p, int64_t dim, int32_t mode)
{
	if (p >= 0 && p < dim)
		return p;
	return mode == QN_PAD_constant ? -1 : qn_pad_outside(p, dim, copy_mode[mode]);
}

/* A pad of plain elements.  Axes from `whole` on are not padded: their elements are copied
 * together. */
typedef struct filler {
	const qn_type *in, *out;
	const qn_attrs_pad *attr;
	int32_t whole;
	size_t size;   /* bytes of an element */
	char value[8]; /* the pad value as an element */
} filler;

/* n elements of x, or of the pad value where x is NULL.  Returns the end of what was written. */
static char *
put(const filler *f, const char *x, int64_t n, char *y)
{
	size_t bytes = (size_t)n * f->size;

	if (x != NULL && bytes > 0)
		memcpy(y, x, bytes);
	for (size_t i = 0; x == NULL && i < bytes; i += f->size)
		memcpy(y + i, f->value, f->size);
	return y + bytes;
}

/* Axes from `axis` on; x is NULL outside. */
static char *
fill(const filler *f, int32_t axis, const char *x, char *y)
{
	if (axis == f->whole)
		return put(f, x, qn_dim_product(f->in, axis, f->in->rank), y);
	int64_t length = qn_dim_product(f->in, axis + 1, f->in->rank);
	int64_t step = length * (int64_t)f->size;
	int64_t before = f->attr->before.v[axis], n = f->in->dim[axis];
	for (int64_t k = 0; k < f->out->dim[axis]; k++) {
		int64_t p = source(k - before, n, f->attr->mode);

		if (k == before && n > 0 && x != NULL && axis + 1 == f->whole) {
			y = put(f, x, n * length, y); /* all that is inside */
			k += n - 1;
			continue;
		}
		y = fill(f, axis + 1, x != NULL && p >= 0 ? x + p * step : NULL, y);
	}
	return y;
}

static void
pad_real(const qn_eval *e)
{
	filler f = {.in = qn_in_type(e->g, e->n, 0),
		    .out = e->n->type,
		    .attr = &e->n->attr->pad,
		    .whole = e->n->type->rank,
		    .size = qn_elem_bytes(e->n->type->elem)};

	qn_plain_bytes_of(qn_plain_of(e->n->type), f.attr->value, f.value);
	while (f.whole > 0 && f.in->dim[f.whole - 1] == f.out->dim[f.whole - 1])
		f.whole--;
	(void)fill(&f, 0, qn_static_count(f.in) > 0 ? e->in[0] : NULL, e->out);
}

/* The pad value, quantized. */
static bool
pad_code(const qn_graph *g, const qn_node *n, int64_t *code)
{
	const qn_elem *e = n->type->elem;
	double value = n->attr->pad.value;

	*code = n->attr->pad.code;
	if (*code != INT32_MIN)
		return true;
	*code = 0;
	if (e->kind == QN_ELEM_UNIFORM && e->gran == QN_PER_TENSOR) {
		*code = qn_code_of(&g->model->types, e, value);
		return true;
	}
	if (e->kind == QN_ELEM_PLAIN && !qn_plain_table[e->plain].is_float &&
	    qn_plain_table[e->plain].bits <= 8 && value >= -128 && value <= 255 &&
	    rint(value) == value) {
		*code = (int64_t)value;
		return true;
	}
	/* Without a scale, or with several: only the value that is stored as 0 with all of them. */
	bool zero = e->kind == QN_ELEM_PLAIN || qn_elem_is_i32(&g->model->types, e);
	if (zero && value >= 0.0 && value <= 0.0)
		return true;
	(void)qn_int_refuse(
		g, n, "the pad value %g has no quantized value common to the whole tensor", value);
	return false;
}

/* Where the kernel fills with bytes, a wider value must consist of equal bytes, as 0 does. */
static bool
pad_byte(const qn_graph *g, const qn_node *n, int32_t size, int32_t *byte)
{
	int64_t code = 0;

	if (!pad_code(g, n, &code))
		return false;
	*byte = (int32_t)code;
	for (int32_t i = 1; i < size; i++) {
		if ((((uint64_t)code >> (8 * i)) & 0xff) == ((uint64_t)code & 0xff))
			continue;
		(void)qn_int_refuse(g, n, "pad value %lld in %d-byte storage, only 0 or -1",
				    (long long)code, (int)size);
		return false;
	}
	return true;
}

/* Shape and pads for a kernel whose elements are positions. */
static int32_t
put_shape(const qn_graph *g, const qn_node *n, int32_t *dim, int32_t *before, int32_t *after)
{
	const qn_type *in = qn_in_type(g, n, 0);
	const qn_attrs_pad *attr = &n->attr->pad;

	dim[0] = 1;
	for (int32_t i = 0; i < in->rank; i++) {
		dim[i] = (int32_t)in->dim[i];
		before[i] = (int32_t)attr->before.v[i];
		after[i] = (int32_t)attr->after.v[i];
	}
	return in->rank > 0 ? in->rank : 1;
}

static void *
fill_prepare(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	qn_pad_args *d = QN_NEW(a, qn_pad_args, 1);
	bool quantized = qn_node_family(g, n) != QN_NFAMILY;
	int32_t size = quantized ? 1 : (int32_t)qn_elem_bytes(n->type->elem);

	if (!pad_byte(g, n, size, &d->value))
		return NULL;
	d->rank = put_shape(g, n, d->dim, d->before, d->after);
	/* An element of several bytes and of no family is that many positions along the last axis. */
	d->dim[d->rank - 1] *= size;
	d->before[d->rank - 1] *= size;
	d->after[d->rank - 1] *= size;
	return d;
}

static void *
pad_prepare(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	qn_pad_copy_args *d = QN_NEW(a, qn_pad_copy_args, 1);

	if (!qn_int_sizes(g, n))
		return NULL;
	if (qn_in_type(g, n, 0)->rank > KERNEL_RANK)
		return qn_int_refuse(g, n, "more than 6 axes");
	if (n->attr->pad.mode == QN_PAD_constant)
		return fill_prepare(g, n, a);
	if (qn_static_count(qn_in_type(g, n, 0)) == 0)
		return qn_int_refuse(g, n, "an empty input has no elements to copy");
	d->rank = put_shape(g, n, d->dim, d->before, d->after);
	d->size = (int32_t)qn_elem_bytes(n->type->elem);
	d->mode = copy_mode[n->attr->pad.mode];
	return d;
}

QN_CALL_BY_FAMILY(fill_quantized, qn_pad, e->in[0])

static void
pad_quantized(const qn_eval *e, const void *args)
{
	if (e->n->attr->pad.mode != QN_PAD_constant)
		qn_pad_copy(args, e->in[0], e->out);
	else if (qn_node_family(e->g, e->n) != QN_NFAMILY)
		fill_quantized(e, args);
	else
		qn_pad_s8(args, e->in[0], e->out);
}

const qn_impl qn_impl_pad = {
	.real = pad_real,
	.plain = pad_real,
	.quantized = {.prepare = pad_prepare, .run = pad_quantized, .families = QN_ALL_FAMILIES},
};
