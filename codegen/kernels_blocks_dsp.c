/* SPDX-License-Identifier: Apache-2.0 */
/* kernels_blocks_dsp.c - which convolutions with weights of 4 bits in blocks the kernel of
 * runtime/kernels/dsp_weight_blocks.h takes, and their constants in the order in which it reads them:
 *
 *   number of blocks, their lengths, then of four channels
 *       bias, multiplier, n of each | block 0: words of weights, mantissas | block 1 … */
#include "codegen/bits4.h"
#include "codegen/block_layer.h"
#include "codegen/kernels_blocks.h"

enum { MOST_BLOCK = 508, MOST_SHIFT = 21 };

const char *
qn_fits_conv2d_blocks_dsp(const qn_step_facts *f)
{
	const qn_block_limits limits = {.block = MOST_BLOCK,
					.multiple = 4,
					.shift = MOST_SHIFT,
					.sum = INT64_C(1) << 30,
					.bits = 1U << 4};
	const char *why;
	const qn_block_layer *b = qn_block_layer_of(f, f->g->model->scratch, &why);

	return b != NULL ? qn_block_layer_differs(f, b, &limits) : why;
}

/* ---- packing ---- */

static uint32_t *
pack_scale(const qn_block_layer *b, int32_t channel, uint32_t *to)
{
	const qn_requantize_args *r = b->l.r;
	const int32_t i = r->mult_n == 1 ? 0 : channel;
	int64_t reach;

	to[0] = to[1] = to[2] = 0;
	if (channel < b->l.channels) {
		to[0] = (uint32_t)qn_block_layer_bias(b, channel, &reach);
		to[1] = (uint32_t)r->mult[i];
		to[2] = r->mult[i] != 0 ? (uint32_t)(-r->shift[i] - 1) : 0;
	}
	return to + 3;
}

static uint32_t *
pack(const qn_block_layer *b, int32_t *n, qn_arena *a)
{
	const int32_t groups = (b->l.channels + 3) / 4;
	int64_t inputs = 0, words;

	for (int32_t i = 0; i < b->blocks; i++)
		inputs += (b->length[i] + 3) / 4;
	words = 1 + b->blocks + groups * (12 + 2 * inputs + (int64_t)b->blocks * 2);
	uint32_t *w = QN_NEW(a, uint32_t, (size_t)words), *to = w;
	*to++ = (uint32_t)b->blocks;
	for (int32_t i = 0; i < b->blocks; i++)
		*to++ = (uint32_t)((b->length[i] + 3) / 4);
	for (int32_t o = 0; o < groups * 4; o += 4) {
		int64_t k = 0;

		for (int32_t c = o; c < o + 4; c++)
			to = pack_scale(b, c, to);
		for (int32_t i = 0; i < b->blocks; k += b->length[i++]) {
			for (int32_t j = 0; j < b->length[i]; j += 4)
				for (int32_t half = 0; half < 2; half++)
					*to++ = qn_pack_four(&b->l, o, k + j + half);
			for (int32_t c = o; c < o + 4; c += 2)
				*to++ = qn_dsp_halves(qn_block_mantissa(b, c, i),
						      qn_block_mantissa(b, c + 1, i));
		}
	}
	*n = (int32_t)(to - w);
	return w;
}

void *
qn_pack_conv2d_blocks_dsp(const qn_step_facts *f, qn_arena *a)
{
	const qn_conv2d_blocks_args *c = qn_block_conv_args(f);
	qn_dsp_packed *p = QN_NEW(a, qn_dsp_packed, 1);
	const char *why;

	p->args = (qn_dsp_args){
		QN_LAYER_SHAPE(c),
	};
	p->args.w = pack(qn_block_layer_of(f, a, &why), &p->nw, a);
	return p;
}

/* ---- working memory ---- */

size_t
qn_work_conv2d_blocks_dsp(const void *args)
{
	const qn_dsp_args *a = args;
	const size_t inputs = ((size_t)a->k_h * (size_t)a->k_w * (size_t)a->in_c + 3) / 4;

	return 16 * inputs + 8 * a->w[0] + (size_t)qn_dsp_room(a);
}
