/* SPDX-License-Identifier: Apache-2.0 */
/* kernels_blocks_dsp.c - which layers with weights of 4 bits in blocks the kernels of
 * runtime/kernels/dsp_weight_blocks.h take, and their constants in the order in which these read them:
 *
 *   number of blocks, their lengths, then of four channels (dense: of eight)
 *       bias, multiplier, n of each | block 0: words of weights, mantissas | block 1 … */
#include "codegen/bits4.h"
#include "codegen/block_layer.h"
#include "codegen/kernels_blocks.h"

enum { MOST_BLOCK = 508, MOST_SHIFT = 21 };

const char *
qn_fits_blocks_dsp(const qn_step_facts *f)
{
	const qn_block_limits limits = {
		.block = MOST_BLOCK, .multiple = 4, .shift = MOST_SHIFT, .sum = INT64_C(1) << 30};
	const char *why;
	const qn_block_layer *b = qn_block_layer_of(f, f->g->model->scratch, &why);

	if (b != NULL && b->l.bits != 4)
		return "its weights do not have 4 bits";
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

/* fours: how many times four channels stand together. */
static uint32_t *
pack(const qn_block_layer *b, int32_t fours, int32_t *n, qn_arena *a)
{
	const int32_t each = 4 * fours, groups = (b->l.channels + each - 1) / each;
	int64_t inputs = 0, words;

	for (int32_t i = 0; i < b->blocks; i++)
		inputs += (b->length[i] + 3) / 4;
	words = 1 + b->blocks +
		groups * (3 * each + 2 * fours * inputs + (int64_t)b->blocks * 2 * fours);
	uint32_t *w = QN_NEW(a, uint32_t, (size_t)words), *to = w;
	*to++ = (uint32_t)b->blocks;
	for (int32_t i = 0; i < b->blocks; i++)
		*to++ = (uint32_t)((b->length[i] + 3) / 4);
	for (int32_t o = 0; o < groups * each; o += each) {
		int64_t k = 0;

		for (int32_t c = 0; c < each; c++) /* of dense channels i and 4 + i in turn */
			to = pack_scale(b, o + c % fours * 4 + c / fours, to);
		for (int32_t i = 0; i < b->blocks; i++) {
			for (int32_t j = 0; j < b->length[i]; j += 4)
				for (int32_t half = 0; half < 2 * fours; half++)
					*to++ = qn_pack_four(&b->l, o + half % fours * 4,
							     k + j + half / fours);
			k += b->length[i];
			for (int32_t c = 0; c < each; c += 2) {
				const int32_t first = o + c % fours * 4 + c / fours,
					      second = fours == 2 ? first + 4 : first + 1;

				*to++ = (uint32_t)qn_block_mantissa(b, first, i) |
					(uint32_t)qn_block_mantissa(b, second, i) << 16;
			}
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
	p->args.w = pack(qn_block_layer_of(f, a, &why), 1, &p->nw, a);
	return p;
}

void *
qn_pack_dense_blocks_dsp(const qn_step_facts *f, qn_arena *a)
{
	const qn_dense_blocks_args *d = f->step->args;
	qn_dense_dsp_packed *p = QN_NEW(a, qn_dense_dsp_packed, 1);
	const char *why;

	p->args = (qn_dense_dsp_args){.batch = d->batch,
				      .in = d->in,
				      .out = d->out,
				      .zo = d->zo,
				      .lo = d->lo,
				      .hi = d->hi};
	p->args.w = pack(qn_block_layer_of(f, a, &why), 2, &p->nw, a);
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

size_t
qn_work_dense_blocks_dsp(const void *args)
{
	const qn_dense_dsp_args *a = args;
	const size_t in = (size_t)a->in;

	return 4 * a->w[0] + (in % 4 == 0 ? 0 : (in + 3) / 4 * 4);
}
