/* SPDX-License-Identifier: Apache-2.0 */
/* float_conv.c - positions of a convolution as pointers into its image.
 *
 *   image 4x4, kernel 3x3, pad 1        padded copy 6x6 with zeros around it
 *   position (oy, ox) begins at row oy * stride, column ox * stride of the copy;
 *   row ky of the kernel is one stretch of 3 * c terms, ky rows further down
 *
 * A zero of the padding adds a zero to a sum that is never -0, so the bytes are those of a sum
 * that skips it.  Without padding the image is read in place. */
#include "runtime/float_conv.h"

#include <string.h>

#include "runtime/float_product.h"
#include "runtime/impl_util.h"

/* A padded copy may have this many times the image's floats, and this many more. */
enum { COPY_TIMES = 8, COPY_MORE = 1 << 20 };

struct qn_conv_plan {
	qn_geometry s;
	bool constant; /* the weights are packed */
	bool covered;
	bool padded;        /* reads a copy */
	int64_t rows, cols; /* of the copy, or of the image */
	int64_t channels;   /* from one column to the next; of a depthwise copy a whole panel */
	float *copy;
	qn_product *group; /* [groups]; one when depthwise */
	int64_t ngroup;
};

/* Rows or columns that the windows reach, from the first of the padding on. */
static int64_t
reach(const qn_geometry *s, int i)
{
	return s->out[i] > 0 ? (s->out[i] - 1) * s->stride[i] + (s->kernel[i] - 1) * s->dil[i] + 1
			     : 0;
}

/* Chooses whether a copy is needed; false when it would be out of proportion. */
static bool
plan_image(qn_conv_plan *c, bool depthwise, qn_arena *a)
{
	const qn_geometry *s = &c->s;
	int64_t reached[2] = {reach(s, 0), reach(s, 1)};

	c->channels = s->in_c;
	for (int i = 0; i < 2; i++)
		c->padded = c->padded || s->pad[i] > 0 || reached[i] > s->in[i];
	if (depthwise && s->in_c % QN_PANEL != 0) {
		c->channels = (s->in_c + QN_PANEL - 1) / QN_PANEL * QN_PANEL;
		c->padded = true;
	}
	c->rows = c->padded ? reached[0] : s->in[0];
	c->cols = c->padded ? reached[1] : s->in[1];
	if (!c->padded)
		return true;
	double floats = (double)c->rows * (double)c->cols * (double)c->channels;
	if (floats >
	    (double)COPY_TIMES * (double)s->in[0] * (double)s->in[1] * (double)c->channels +
		    COPY_MORE)
		return false;
	c->copy = qn_arena_alloc(a, (size_t)(c->rows * c->cols * c->channels), sizeof(float));
	return true;
}

/* Where the stretches of one position's terms begin. */
static void
plan_runs(const qn_conv_plan *c, qn_product *p, int64_t base, bool whole_rows)
{
	const qn_geometry *s = &c->s;
	int64_t n = 0;

	for (int64_t ky = 0; ky < s->kernel[0]; ky++) {
		int64_t row = base + ky * s->dil[0] * c->cols * c->channels;

		if (whole_rows) {
			p->run[n++] = row;
			continue;
		}
		for (int64_t kx = 0; kx < s->kernel[1]; kx++)
			p->run[n++] = row + kx * s->dil[1] * c->channels;
	}
}

static void
plan_products(qn_conv_plan *c, bool depthwise, const qn_simd *simd, qn_arena *a, size_t *room)
{
	const qn_geometry *s = &c->s;
	int64_t depth = s->in_c / s->groups;
	bool whole_rows = s->groups == 1 && s->dil[1] == 1;
	int64_t nrun = whole_rows ? s->kernel[0] : s->kernel[0] * s->kernel[1];
	int64_t len = whole_rows ? s->kernel[1] * depth : depth;

	c->ngroup = depthwise ? 1 : s->groups;
	c->group = QN_NEW(a, qn_product, (size_t)c->ngroup);
	for (int64_t i = 0; i < c->ngroup; i++) {
		qn_product_init(&c->group[i], simd, s->out_c / c->ngroup, nrun, len, a, room);
		c->group[i].depthwise = depthwise;
		plan_runs(c, &c->group[i], i * depth, whole_rows);
	}
}

static void
pack(qn_conv_plan *c, const float *w, const float *bias)
{
	for (int64_t i = 0; i < c->ngroup; i++) {
		qn_product *p = &c->group[i];

		qn_product_pack(p, w + i * p->out * p->nrun * p->len,
				bias != NULL ? bias + i * p->out : NULL);
	}
}

qn_conv_plan *
qn_conv_plan_make(const qn_graph *g, const qn_node *n, qn_arena *a, size_t *room)
{
	qn_conv_plan *c = QN_NEW(a, qn_conv_plan, 1);

	c->s = qn_geometry_conv(g, n);
	const qn_geometry *s = &c->s;
	bool depthwise = s->groups > 1 && s->groups == s->in_c && s->groups == s->out_c;

	if (!qn_geometry_is_small(s) || !plan_image(c, depthwise, a))
		return c;
	c->covered = true;
	plan_products(c, depthwise, qn_simd_get(g->model->env->simd), a, room);
	const float *w = qn_const_f32(g, n, 1, a);
	const float *bias = n->nin > 2 ? qn_const_f32(g, n, 2, a) : NULL;
	c->constant = w != NULL && (n->nin < 3 || bias != NULL);
	if (c->constant)
		pack(c, w, bias);
	return c;
}

/* The image into the middle of the zeros. */
static void
copy_image(const qn_conv_plan *c, const float *x)
{
	const qn_geometry *s = &c->s;
	int64_t top = s->pad[0], left = s->pad[1];
	int64_t height = c->rows - top < s->in[0] ? c->rows - top : s->in[0];
	int64_t width = c->cols - left < s->in[1] ? c->cols - left : s->in[1];

	for (int64_t y = 0; width > 0 && y < height; y++) {
		const float *from = x + y * s->in[1] * s->in_c;
		float *to = c->copy + ((top + y) * c->cols + left) * c->channels;

		if (c->channels == s->in_c) {
			memcpy(to, from, (size_t)(width * s->in_c) * sizeof *to);
			continue;
		}
		for (int64_t i = 0; i < width; i++)
			memcpy(to + i * c->channels, from + i * s->in_c,
			       (size_t)s->in_c * sizeof *to);
	}
}

/* All positions of some images, a chunk at a time. */
static void
run_images(const qn_conv_plan *c, const float *x, int64_t images, float *y)
{
	const qn_geometry *s = &c->s;
	const float *at[QN_CHUNK_CAPACITY];
	int64_t down = s->stride[0] * c->cols * c->channels, right = s->stride[1] * c->channels;
	int64_t image = s->in[0] * s->in[1] * s->in_c;
	int64_t n = images * s->out[0] * s->out[1], oy = 0, ox = 0;

	for (int64_t first = 0; first < n; first += QN_CHUNK) {
		int64_t count = n - first < QN_CHUNK ? n - first : QN_CHUNK;

		for (int64_t i = 0; i < count; i++) {
			at[i] = x + oy * down + ox * right;
			if (++ox == s->out[1]) {
				ox = 0;
				oy++;
			}
			if (oy == s->out[0]) {
				oy = 0;
				x += image;
			}
		}
		for (int64_t i = 0; i < c->ngroup; i++)
			qn_product_run(&c->group[i], at, count, 0,
				       y + first * s->out_c + i * c->group[i].out, s->out_c);
	}
}

bool
qn_conv_run(qn_conv_plan *c, const qn_eval *e)
{
	const qn_geometry *s = &c->s;
	const float *x = e->in[0];
	float *y = e->out;

	if (!c->covered)
		return false;
	if (!c->constant)
		pack(c, e->in[1], e->n->nin > 2 ? e->in[2] : NULL);
	for (int64_t i = 0; c->padded && i < c->ngroup; i++)
		if (!c->group[i].finite)
			return false;
	if (!c->padded) {
		run_images(c, x, s->batch * e->batches, y);
		return true;
	}
	for (int64_t b = 0; b < s->batch * e->batches; b++) {
		copy_image(c, x);
		run_images(c, c->copy, 1, y);
		x += s->in[0] * s->in[1] * s->in_c;
		y += s->out[0] * s->out[1] * s->out_c;
	}
	return true;
}
