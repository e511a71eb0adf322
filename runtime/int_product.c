/* SPDX-License-Identifier: Apache-2.0 */
/* int_product.c - packs weights into panels of pairs and walks over tiles: for each panel all positions of a
 * chunk, so that a panel is read from the nearest cache. */
#include "runtime/int_product.h"

#include <string.h>

#include "runtime/family.h"
#include "runtime/impl_util.h"

enum {
	ALIGN = 64,     /* bytes; a vector of 16 lanes */
	AFTER = 64,     /* that the last pair or vector of a copy may read */
	PAIR_BYTES = 4, /* of two weights */
};

static void *
aligned(qn_arena *a, size_t bytes)
{
	char *p = qn_arena_alloc(a, bytes + ALIGN + AFTER, 1);
	void *at = p + (size_t)(-(uintptr_t)p % ALIGN);

	memset(at, 0, bytes + AFTER);
	return at;
}

int16_t *
qn_int_zeros(qn_arena *a, int64_t n)
{
	return aligned(a, (size_t)n * sizeof(int16_t));
}

static int64_t
panels(int64_t out)
{
	return (out + QN_PANEL - 1) / QN_PANEL;
}

bool
qn_int_product_init(qn_int_product *p, const qn_int_simd *simd, int64_t out, int64_t nrun,
		    int64_t terms, bool depthwise, qn_arena *a, size_t *room)
{
	const int64_t len = (terms + 1) / 2;
	const size_t bytes = (size_t)(panels(out) * QN_PANEL * nrun * len) * PAIR_BYTES;

	if (bytes > *room)
		return false;
	*room -= bytes;
	*p = (qn_int_product){.simd = simd,
			      .out = out,
			      .nrun = nrun,
			      .terms = terms,
			      .len = len,
			      .depthwise = depthwise};
	p->run = QN_NEW(a, int64_t, (size_t)nrun);
	p->w = aligned(a, bytes);
	p->bias = aligned(a, (size_t)(panels(out) * QN_PANEL) * sizeof(int32_t));
	return true;
}

void
qn_int_product_pack(qn_int_product *p, const int8_t *w, const qn_tensor *bias, int64_t first)
{
	const int64_t panel = 2 * QN_PANEL * p->nrun * p->len;

	for (int64_t o = 0; o < p->out; o++) {
		int16_t *to = p->w + o / QN_PANEL * panel + 2 * (o % QN_PANEL);
		const int8_t *from = w + (first + o) * p->nrun * p->terms;

		if (bias != NULL)
			p->bias[o] = (int32_t)qn_tensor_i64(bias, first + o);
		for (int64_t i = 0; i < p->nrun; i++, to += 2 * QN_PANEL * p->len)
			for (int64_t k = 0; k < p->terms; k++)
				to[k / 2 * 2 * QN_PANEL + k % 2] = *from++;
		if (p->depthwise) /* the lower half of 32 bits */
			for (int64_t i = 0; i < p->nrun; i++) {
				int16_t *pair = p->w + o / QN_PANEL * panel +
						2 * (o % QN_PANEL + QN_PANEL * i);
				const int32_t both = pair[0] & 0xffff;

				memcpy(pair, &both, sizeof both);
			}
	}
}

/* One position, all panels. */
static void
run_row(const qn_int_product *p, qn_int_tile t, int32_t *y)
{
	const int64_t most = p->simd->rows * QN_PANEL;

	t.panel = 2 * p->nrun * p->len * QN_PANEL;
	for (int64_t o = 0; o < p->out; o += most) {
		t.w = p->w + o / QN_PANEL * t.panel;
		t.bias = p->bias + o;
		t.y = y + o;
		t.width = p->out - o < most ? p->out - o : most;
		p->simd->row(&t);
	}
}

void
qn_int_product_run(const qn_int_product *p, const int16_t **x, int64_t n, int32_t *y,
		   int64_t stride)
{
	const int64_t rows = p->simd->rows, panel = 2 * p->nrun * p->len * QN_PANEL;
	const bool lone = !p->depthwise && n % rows == 1;
	const int64_t many = lone ? n - 1 : n;
	qn_int_tile t = {.run = p->run, .nrun = p->nrun, .len = p->len, .stride = stride};

	/* A tile reads all its pointers, also those whose results are not used. */
	for (int64_t i = n; i < n + rows - 1; i++)
		x[i] = x[n - 1];
	for (int64_t o = 0; o < p->out; o += QN_PANEL) {
		t.w = p->w + o / QN_PANEL * panel;
		t.bias = p->bias + o;
		t.width = p->out - o < QN_PANEL ? p->out - o : QN_PANEL;
		t.shift = p->depthwise ? 2 * o : 0;
		for (int64_t i = 0; i < many; i += rows) {
			t.x = x + i;
			t.y = y + i * stride + o;
			t.rows = many - i < rows ? many - i : rows;
			(p->depthwise ? p->simd->depthwise : p->simd->tile)(&t);
		}
	}
	if (lone) {
		t.shift = 0;
		t.x = x + many;
		run_row(p, t, y + many * stride);
	}
}

bool
qn_int_product_constants(const qn_graph *g, const qn_node *n, const int8_t **w,
			 const qn_tensor **bias)
{
	const qn_node *weights = qn_graph_node(g, n->in[1]);
	const qn_node *sums = n->nin > 2 ? qn_graph_node(g, n->in[2]) : NULL;

	if (qn_node_family(g, n) == QN_FAMILY_s16 || weights->op != QN_OP_const ||
	    weights->type->elem->plain != QN_PLAIN_i8 || (sums != NULL && sums->op != QN_OP_const))
		return false;
	*w = weights->value->data;
	*bias = sums != NULL ? sums->value : NULL;
	return true;
}

void
qn_int_widen(const qn_int_simd *simd, bool is_signed, const void *x, int64_t at, int64_t n,
	     int32_t zero, int16_t *y)
{
	if (is_signed)
		simd->widen_s8((const int8_t *)x + at, n, zero, y);
	else
		simd->widen_u8((const uint8_t *)x + at, n, zero, y);
}
