/* SPDX-License-Identifier: Apache-2.0 */
/* kernels_winograd.c - which layers the kernel of runtime/kernels/dsp_winograd.h takes, what it costs, and
 * its weights in the order in which it reads them: (2G) g (2G)' of each input, two inputs in a word. */
#include "codegen/kernels_dsp.h"
#include "codegen/layer.h"

/* Four times a sum fits into 32 bits. */
enum { A_QUARTER = 1 << 29, MOST_SHIFT = 21 };

const char *
qn_fits_winograd_dsp(const qn_step_facts *f)
{
	const qn_conv2d_args *a = qn_dsp_conv_args(f);
	const qn_layer l = qn_layer_of_conv(f, 0);

	if (a->groups != 1)
		return "its channels are in groups";
	if (a->k_h != 3 || a->k_w != 3 || a->stride_h != 1 || a->stride_w != 1 || a->dil_h != 1 ||
	    a->dil_w != 1)
		return "its windows are not 3x3, one apart";
	if (l.bits == 4)
		return "its weights have 4 bits, which it would store as 16";
	return qn_layer_differs(f, &l, A_QUARTER, MOST_SHIFT,
				"four times the sums of a channel may be too large");
}
QN_DSP_FITS(winograd, qn_dsp_conv_over)

/* ---- packing ---- */

/* (2G) g (2G)' of a channel and input, by columns, both in the kernel's order. */
static void
transform(const qn_layer *l, int64_t channel, int32_t input, int32_t in_c, int32_t u[16])
{
	static const int8_t g[4][3] = {{1, 1, 1}, {2, 0, 0}, {1, -1, 1}, {0, 0, 2}};
	int32_t t[4][3] = {{0}};

	for (int32_t k = 0; k < 9; k++) {
		const int32_t w =
			input < in_c ? qn_layer_weight(l, channel, (int64_t)k * in_c + input) : 0;

		for (int32_t i = 0; i < 4; i++)
			t[i][k % 3] += g[i][k / 3] * w;
	}
	for (int32_t at = 0; at < 16; at++) {
		const int32_t *row = t[at % 4];
		const int8_t *column = g[at / 4];

		u[at] = column[0] * row[0] + column[1] * row[1] + column[2] * row[2];
	}
}

/* Biases, places and scales of four channels from `from` on. */
static uint32_t *
pack_channels(const qn_layer *l, int32_t in_c, int64_t from, uint32_t *to)
{
	const int32_t words = (in_c + 3) / 4 * 8;          /* of a place */
	const uint32_t first = l->r->mode == QN_RQ_DOUBLE; /* half of what is cut off first */
	int32_t bias, m, n, low[16], high[16];

	for (int64_t c = from; c < from + 4; c++) {
		qn_layer_scale(l, c, &bias, &m, &n);
		*to++ = 4 * (uint32_t)bias;
	}
	for (int32_t i = 0; i < words; i++) {
		const int32_t input = i / 8 * 4 + i % 8 / 4;

		transform(l, from + i % 4, input, in_c, low);
		transform(l, from + i % 4, input + 2, in_c, high);
		for (int32_t at = 0; at < 16; at++)
			to[at * words + i] = qn_dsp_halves(low[at], high[at]);
	}
	to += 16 * words;
	for (int64_t c = from; c < from + 4; c++) {
		qn_layer_scale(l, c, &bias, &m, &n);
		*to++ = (uint32_t)m;
		*to++ = (2 * (uint32_t)l->r->zo + 1) * (2u << n) + first;
		*to++ = (uint32_t)n + 1;
	}
	return to;
}

void *
qn_pack_winograd_dsp(const qn_step_facts *f, qn_arena *a)
{
	const qn_layer l = qn_layer_find_constants(qn_layer_of_conv(f, 0), a);
	const qn_conv2d_args *c = qn_dsp_conv_args(f);
	qn_dsp_packed *p = qn_dsp_conv_packed(f, a);
	const size_t blocks = ((size_t)c->out_c + 3) / 4,
		     words = 16 + 128 * (((size_t)c->in_c + 3) / 4);
	uint32_t *w = QN_NEW(a, uint32_t, blocks * words), *to = w;

	for (int32_t o = 0; o < c->out_c; o += 4)
		to = pack_channels(&l, c->in_c, o, to);
	p->args.w = w;
	p->nw = (int32_t)(to - w);
	return p;
}

/* ---- working memory and cost ---- */

size_t
qn_work_winograd_dsp(const void *args)
{
	return 4 * (size_t)qn_winograd_work(args);
}

size_t
qn_ring_winograd_dsp(const void *args)
{
	const qn_dsp_args *a = args;

	return 4 * (size_t)a->in_w * (size_t)a->in_c;
}

static uint64_t
blocks_of(int32_t n, uint64_t size)
{
	return ((uint64_t)n + size - 1) / size;
}

uint64_t
qn_cost_winograd_dsp(const qn_step_facts *f)
{
	const qn_conv2d_args *a = qn_dsp_conv_args(f);
	const uint64_t in = blocks_of(a->in_c, 4), out = blocks_of(a->out_c, 4),
		       pairs = (uint64_t)a->batch * blocks_of(a->out_h, 2) * blocks_of(a->out_w, 4),
		       products = 16 * (22 * in + 3 * blocks_of(a->in_c, 16) + 7);

	return pairs * (300 + 330 * in + out * (products + 450));
}
