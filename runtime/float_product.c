/* SPDX-License-Identifier: Apache-2.0 */
/* float_product.c - packs weights into panels and walks over tiles: for each panel all positions
 * of a chunk, so that a panel is read from the nearest cache. */
#include "runtime/float_product.h"

#include <math.h>

enum { ALIGN = 64 }; /* bytes; a vector of 16 lanes */

static int64_t
panels(const qn_product *p)
{
	return (p->out + QN_PANEL - 1) / QN_PANEL;
}

static float *
aligned_floats(qn_arena *a, int64_t n)
{
	char *p = qn_arena_alloc(a, (size_t)n + ALIGN / sizeof(float), sizeof(float));

	return (float *)(void *)(p + (size_t)(-(uintptr_t)p % ALIGN));
}

void
qn_product_init(qn_product *p, const qn_simd *simd, int64_t out, int64_t nrun, int64_t len,
		qn_arena *a, size_t *room)
{
	*p = (qn_product){.simd = simd, .out = out, .nrun = nrun, .len = len};
	size_t panel = (size_t)(QN_PANEL * nrun * len) * sizeof(float);

	p->run = QN_NEW(a, int64_t, (size_t)nrun);
	p->room = panels(p);
	if ((size_t)p->room * panel > *room && p->room > simd->rows)
		p->room = simd->rows; /* those of one call */
	else
		*room -= (size_t)p->room * panel < *room ? (size_t)p->room * panel : *room;
	p->w = aligned_floats(a, p->room * QN_PANEL * nrun * len);
	p->bias = aligned_floats(a, panels(p) * QN_PANEL);
}

/* Outputs from `first` on, at most n of them, to the front of p->w.  What follows the last
 * output there is of another panel, and its results are not read. */
static void
pack(const qn_product *p, const float *w, int64_t first, int64_t n)
{
	int64_t terms = p->nrun * p->len;

	for (int64_t i = 0; i < n && first + i < p->out; i++) {
		float *to = p->w + i / QN_PANEL * QN_PANEL * terms + i % QN_PANEL;

		for (int64_t k = 0; k < terms; k++)
			to[k * QN_PANEL] = w[(first + i) * terms + k];
	}
}

/* The packed panels from output o on. */
static const float *
panels_from(const qn_product *p, int64_t o, int64_t n)
{
	if (p->from == NULL)
		return p->w + o * p->nrun * p->len;
	pack(p, p->from, o, n);
	return p->w;
}

void
qn_product_pack(qn_product *p, const float *w, const float *bias)
{
	int64_t terms = p->nrun * p->len;
	float lo = 0.0f, hi = 0.0f;

	p->from = p->room < panels(p) ? w : NULL;
	if (p->from == NULL)
		pack(p, w, 0, p->out);
	for (int64_t o = 0; bias != NULL && o < p->out; o++)
		p->bias[o] = bias[o];
	bool nan = p->simd->range(w, p->out * terms, &lo, &hi);
	p->finite = !nan && lo > -HUGE_VALF && hi < HUGE_VALF;
}

/* One position, all panels. */
static void
run_row(const qn_product *p, qn_tile t, float *y)
{
	int64_t most = p->simd->rows * QN_PANEL;

	t.panel = p->nrun * p->len * QN_PANEL;
	for (int64_t o = 0; o < p->out; o += most) {
		t.w = panels_from(p, o, most);
		t.bias = p->bias + o;
		t.y = y + o;
		t.width = p->out - o < most ? p->out - o : most;
		p->simd->row(&t);
	}
}

/* n positions, one panel. */
static void
run_panel(const qn_product *p, qn_tile t, int64_t n)
{
	int64_t rows = p->simd->rows;

	for (int64_t i = 0; i < n; i += rows) {
		t.rows = n - i < rows ? n - i : rows;
		if (p->depthwise)
			p->simd->depthwise(&t);
		else if (t.rows <= rows / 2)
			p->simd->half(&t);
		else
			p->simd->tile(&t);
		t.x += rows;
		t.y += rows * t.stride;
	}
}

void
qn_product_run(const qn_product *p, const float **x, int64_t n, int64_t shift, float *y,
	       int64_t stride)
{
	qn_tile t = {.x = x,
		     .shift = shift,
		     .run = p->run,
		     .nrun = p->nrun,
		     .len = p->len,
		     .stride = stride};
	bool lone = !p->depthwise && n % p->simd->rows == 1;
	int64_t many = lone ? n - 1 : n;

	/* A tile reads all its pointers, also those whose results are not used. */
	for (int64_t i = n; i < n + p->simd->rows - 1; i++)
		x[i] = x[n - 1];
	for (int64_t o = 0; many > 0 && o < p->out; o += QN_PANEL) {
		t.w = panels_from(p, o, QN_PANEL);
		t.bias = p->bias + o;
		t.y = y + o;
		t.width = p->out - o < QN_PANEL ? p->out - o : QN_PANEL;
		t.shift = p->depthwise ? shift + o : shift;
		run_panel(p, t, many);
	}
	if (lone) {
		t.shift = shift;
		t.x = x + many;
		run_row(p, t, y + many * stride);
	}
}
