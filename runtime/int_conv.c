/* SPDX-License-Identifier: Apache-2.0 */
/* int_conv.c - positions of a convolution as pointers into a copy of its image, in 16 bits and less the zero
 * point, so that zeros stand where padding is; of a depthwise one in 32 bits.
 *
 *   image 4x4, kernel 3x3, pad 1        padded copy 6x6 with zeros around it
 *   position (oy, ox) begins at row oy * stride, column ox * stride of the copy;
 *   row ky of the kernel is one stretch of 3 * c terms, ky rows further down */
#include "runtime/int_conv.h"

#include <string.h>

#include "runtime/impl_util.h"
#include "runtime/geometry.h"
#include "runtime/int_product.h"

/* A copy may have this many times the image's elements, and this many more. */
enum { COPY_TIMES = 8, COPY_MORE = 1 << 20 };

struct qn_int_conv {
	qn_geometry s;
	int32_t zero;
	bool is_signed;
	int64_t rows, cols; /* of the copy */
	int64_t channels; /* 16-bit elements from one column to the next; of a depthwise copy two each, of whole panels */
	int16_t *copy, *row;
	qn_int_product *group; /* [ngroup]; one when depthwise */
	int64_t ngroup;
};

/* Rows or columns that the windows reach, from the first of the padding on. */
static int64_t
reach(const qn_geometry *s, int i)
{
	return s->out[i] > 0 ? (s->out[i] - 1) * s->stride[i] + (s->kernel[i] - 1) * s->dil[i] + 1
			     : 0;
}

static bool
is_depthwise(const qn_geometry *s)
{
	return s->groups > 1 && s->groups == s->in_c && s->groups == s->out_c;
}

/* False when a copy would be out of proportion. */
static bool
plan_image(qn_int_conv *c, qn_arena *a)
{
	const qn_geometry *s = &c->s;
	const bool depthwise = is_depthwise(s);

	c->rows = reach(s, 0);
	c->cols = reach(s, 1);
	c->channels = depthwise ? (s->in_c + QN_PANEL - 1) / QN_PANEL * QN_PANEL * 2 : s->in_c;
	const double elements = (double)c->rows * (double)c->cols * (double)c->channels;
	if (elements >
	    (double)COPY_TIMES * (double)s->in[0] * (double)s->in[1] * (double)c->channels +
		    COPY_MORE)
		return false;
	c->copy = qn_int_zeros(a, c->rows * c->cols * c->channels);
	c->row = depthwise ? qn_int_zeros(a, s->in[1] * s->in_c) : NULL;
	return true;
}

/* Where the stretches of one position's terms begin. */
static void
plan_runs(const qn_int_conv *c, qn_int_product *p, int64_t base, bool whole_rows)
{
	const qn_geometry *s = &c->s;
	int64_t n = 0;

	for (int64_t ky = 0; ky < s->kernel[0]; ky++) {
		const int64_t row = base + ky * s->dil[0] * c->cols * c->channels;

		for (int64_t kx = 0; kx < (whole_rows ? 1 : s->kernel[1]); kx++)
			p->run[n++] = row + kx * s->dil[1] * c->channels;
	}
}

static bool
plan_products(qn_int_conv *c, const int8_t *w, const qn_tensor *bias, const qn_int_simd *simd,
	      qn_arena *a, size_t *room)
{
	const qn_geometry *s = &c->s;
	const bool depthwise = is_depthwise(s), whole_rows = s->groups == 1 && s->dil[1] == 1;
	const int64_t depth = s->in_c / s->groups;
	const int64_t nrun = whole_rows ? s->kernel[0] : s->kernel[0] * s->kernel[1];
	const int64_t terms = whole_rows ? s->kernel[1] * depth : depth;

	c->ngroup = depthwise ? 1 : s->groups;
	const int64_t out = s->out_c / c->ngroup;
	c->group = QN_NEW(a, qn_int_product, (size_t)c->ngroup);
	for (int64_t i = 0; i < c->ngroup; i++) {
		if (!qn_int_product_init(&c->group[i], simd, out, nrun, terms, depthwise, a, room))
			return false;
		plan_runs(c, &c->group[i], i * depth, whole_rows);
		qn_int_product_pack(&c->group[i], w, bias, i * out);
	}
	return true;
}

qn_int_conv *
qn_int_conv_make(const qn_graph *g, const qn_node *n, qn_arena *a, size_t *room)
{
	const int8_t *w;
	const qn_tensor *bias;

	if (*room == 0 || !qn_int_product_constants(g, n, &w, &bias))
		return NULL;
	qn_int_conv *c = QN_NEW(a, qn_int_conv, 1);
	c->s = qn_geometry_conv(g, n);
	c->zero = qn_zp_of(g, qn_in_type(g, n, 0));
	c->is_signed = qn_node_family(g, n) == QN_FAMILY_s8;
	if (!qn_geometry_is_small(&c->s) || !plan_image(c, a) ||
	    !plan_products(c, w, bias, qn_int_simd_get(g->model->env->simd), a, room))
		return NULL;
	return c;
}

/* A row of 16 bits as one of 32, with whole panels of channels. */
static void
spread_row(const qn_int_conv *c, int64_t width, int16_t *to)
{
	const int64_t in_c = c->s.in_c;
	const int16_t *from = c->row;

	for (int64_t i = 0; i < width; i++, from += in_c, to += c->channels) {
		int32_t *wide =
			(int32_t *)(void *)to; /* a multiple of 32 elements from an aligned one */

		for (int64_t k = 0; k < in_c; k++)
			wide[k] = from[k];
	}
}

/* The image into the middle of the zeros. */
static void
copy_image(const qn_int_conv *c, const void *x, int64_t image)
{
	const qn_geometry *s = &c->s;
	const qn_int_simd *simd = c->group[0].simd;
	const int64_t top = s->pad[0], left = s->pad[1], line = s->in[1] * s->in_c;
	const int64_t height = c->rows - top < s->in[0] ? c->rows - top : s->in[0];
	const int64_t width = c->cols - left < s->in[1] ? c->cols - left : s->in[1];

	for (int64_t y = 0; width > 0 && y < height; y++) {
		int16_t *to = c->copy + ((top + y) * c->cols + left) * c->channels;

		qn_int_widen(simd, c->is_signed, x, (image * s->in[0] + y) * line, width * s->in_c,
			     c->zero, c->row != NULL ? c->row : to);
		if (c->row != NULL)
			spread_row(c, width, to);
	}
}

/* All positions of the image that was copied. */
static void
run_image(const qn_int_conv *c, int32_t *y)
{
	const qn_geometry *s = &c->s;
	const int64_t n = s->out[0] * s->out[1], down = s->stride[0] * c->cols * c->channels;
	const int16_t *at[QN_INT_CHUNK_CAPACITY];

	for (int64_t first = 0; first < n; first += QN_INT_CHUNK) {
		const int64_t count = n - first < QN_INT_CHUNK ? n - first : QN_INT_CHUNK;
		int64_t oy = first / s->out[1], ox = first % s->out[1];

		for (int64_t i = 0; i < count; i++) {
			at[i] = c->copy + oy * down + ox * s->stride[1] * c->channels;
			if (++ox == s->out[1]) {
				ox = 0;
				oy++;
			}
		}
		for (int64_t i = 0; i < c->ngroup; i++)
			qn_int_product_run(&c->group[i], at, count,
					   y + first * s->out_c + i * c->group[i].out, s->out_c);
	}
}

void
qn_int_conv_run(const qn_int_conv *c, const qn_eval *e)
{
	const qn_geometry *s = &c->s;
	int32_t *y = e->out;

	for (int64_t b = 0; b < s->batch * e->batches; b++) {
		copy_image(c, e->in[0], b);
		run_image(c, y);
		y += s->out[0] * s->out[1] * s->out_c;
	}
}
