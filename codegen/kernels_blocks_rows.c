/* SPDX-License-Identifier: Apache-2.0 */
/* kernels_blocks_rows.c - dense layers and convolutions with weights in blocks for cores with the DSP extension
 * (runtime/kernels/dsp_weight_rows.h, dsp_weight_rows16.h), and their constants in the order in which these read them:
 *
 *   number of blocks, whether there are offsets, lengths of the blocks in fours, then of each eight channels (i8 weights
 *   on 16 bits: of each four)
 *       biases, multiplier and shift of each | block 0: words of weights, mantissas | block 1 … | offsets of each block */
#include "codegen/bits4.h"
#include "codegen/block_layer.h"
#include "codegen/kernels_blocks.h"

enum { MOST_BLOCK = 508, MOST_SHIFT = 21 };

/* What is packed, and how. */
typedef struct packer {
	const qn_block_layer *b;
	bool wide;    /* values of 16 bits */
	int32_t each; /* channels that stand together */
	uint32_t *to;
} packer;

static const char *
fits(const qn_step_facts *f)
{
	const qn_block_limits limits = {.block = MOST_BLOCK,
					.multiple = 4,
					.shift = MOST_SHIFT,
					.sum = INT64_C(1) << 30,
					.offsets = true,
					.bits = 1U << 8 | 1U << 4 | 1U << 2};
	const char *why;
	const qn_block_layer *b = qn_block_layer_of(f, f->g->model->scratch, &why);

	if (b == NULL)
		return why;
	why = qn_block_layer_differs(f, b, &limits);
	return why == NULL && b->l.bits == 8 ? qn_pairs_differ(&b->l) : why;
}

const char *
qn_fits_dense_blocks_dsp(const qn_step_facts *f)
{
	return fits(f);
}

const char *
qn_fits_conv2d_blocks_rows_dsp(const qn_step_facts *f)
{
	return fits(f);
}

const char *
qn_fits_dense_blocks_dsp16(const qn_step_facts *f)
{
	const char *why;
	const qn_block_layer *b = qn_block_layer_of(f, f->g->model->scratch, &why);

	if (b == NULL)
		return why;
	return b->l.bits == 2 ? "its weights have 2 bits"
			      : qn_block_lengths_differ(b, MOST_BLOCK, 4);
}

/* ---- packing ---- */

/* The channel at place i of those that stand together: of i4 weights on 8 bits i and 4 + i in turn. */
static int32_t
channel_at(const packer *p, int32_t first, int32_t i)
{
	return first + (p->b->l.bits == 4 && !p->wide ? i % 2 * 4 + i / 2 : i);
}

static int64_t
bias_of(const packer *p, int32_t channel)
{
	int64_t reach;

	return channel < p->b->l.channels ? qn_block_layer_bias(p->b, channel, &reach) : 0;
}

/* Multiplier and shift of a channel, as the kernel takes them; 0 beyond the last one. */
static void
pack_multiplier(packer *p, int32_t channel)
{
	const qn_requantize_args *r = p->b->l.r;
	const bool exists = channel < p->b->l.channels;
	const int32_t i = r->mult_n == 1 ? 0 : channel;

	*p->to++ = exists ? (uint32_t)r->mult[i] : 0;
	if (p->wide)
		*p->to++ = exists ? (uint32_t)r->shift[i] : 0;
	else
		*p->to++ = exists && r->mult[i] != 0 ? (uint32_t)(-r->shift[i] - 1) : 0;
}

/* On values of 16 bits biases are of 64. */
static void
pack_scales(packer *p, int32_t first)
{
	for (int32_t i = 0; i < p->each; i++) {
		const int64_t bias = bias_of(p, channel_at(p, first, i));

		*p->to++ = (uint32_t)bias;
		if (p->wide)
			*p->to++ = (uint32_t)((uint64_t)bias >> 32);
	}
	for (int32_t i = 0; i < p->each; i++)
		pack_multiplier(p, channel_at(p, first, i));
}

/* Byte i of a word for values of 16 bits: inputs 0, 2, 1, 3 of a channel, i4: of two. */
static uint32_t
byte_of(const packer *p, int32_t channel, int64_t k, int32_t i)
{
	const int64_t at = k + (i == 1 ? 2 : i == 2 ? 1 : i);
	const int32_t a = qn_layer_weight(&p->b->l, channel, at);

	if (p->b->l.bits != 4)
		return (uint32_t)a & 255u;
	return (uint32_t)(16 * qn_layer_weight(&p->b->l, channel + 1, at) + a + 8) & 255u;
}

static void
pack_wide_inputs(packer *p, int32_t first, int64_t k)
{
	for (int32_t c = first; c < first + p->each; c += p->b->l.bits == 4 ? 2 : 1) {
		uint32_t word = 0;

		for (int32_t i = 0; i < 4; i++)
			word |= byte_of(p, c, k, i) << 8 * i;
		*p->to++ = word;
	}
}

/* The word of eight channels with weights of 2 bits, for inputs k and k + 2. */
static uint32_t
word_of_eight(const qn_layer *l, int32_t first, int64_t k)
{
	int32_t half[2] = {0, 0};

	for (int32_t i = 0; i < 2; i++)
		for (int32_t c = 0; c < 8; c++)
			half[i] += (qn_layer_weight(l, first + c, k + 2 * i) + (c < 7 ? 2 : 0)) *
				   (1 << 2 * c);
	return qn_dsp_halves(half[0], half[1]);
}

/* The words of four inputs. */
static void
pack_inputs(packer *p, int32_t first, int64_t k)
{
	const qn_layer *l = &p->b->l;

	if (p->wide) {
		pack_wide_inputs(p, first, k);
		return;
	}
	for (int32_t j = 0; j < 2; j++)
		for (int32_t c = first; c < first + p->each; c += 16 / l->bits)
			*p->to++ = l->bits == 8   ? qn_pack_two(l, c, k + j)
				   : l->bits == 4 ? qn_pack_four(l, c, k + j)
						  : word_of_eight(l, c, k + j);
}

/* Numbers of 16 bits of two channels in a word. */
static void
pack_pairs(packer *p, int32_t first, int32_t block, qn_block_number *number)
{
	for (int32_t i = 0; i < p->each; i += 2)
		*p->to++ = qn_dsp_halves(number(p->b, channel_at(p, first, i), block),
					 number(p->b, channel_at(p, first, i + 1), block));
}

static void
pack_channels(packer *p, int32_t first)
{
	const qn_block_layer *b = p->b;
	int64_t k = 0;

	pack_scales(p, first);
	for (int32_t i = 0; i < b->blocks; k += b->length[i++]) {
		for (int32_t j = 0; j < b->length[i]; j += 4)
			pack_inputs(p, first, k + j);
		pack_pairs(p, first, i, qn_block_mantissa);
	}
	for (int32_t i = 0; i < b->blocks && b->offset != NULL; i++)
		pack_pairs(p, first, i, qn_block_offset);
}

static const uint32_t *
pack(const qn_block_layer *b, bool wide, int32_t *n, qn_arena *a)
{
	packer p = {.b = b, .wide = wide, .each = wide && b->l.bits == 8 ? 4 : 8};
	const int64_t groups = (b->l.channels + p.each - 1) / p.each;
	int64_t fours = 0;

	for (int32_t i = 0; i < b->blocks; i++)
		fours += (b->length[i] + 3) / 4;
	const int64_t words =
		2 + b->blocks + groups * p.each * (4 + fours + b->blocks); /* at most */
	uint32_t *w = QN_NEW(a, uint32_t, (size_t)words);
	p.to = w;
	*p.to++ = (uint32_t)b->blocks;
	*p.to++ = (b->offset != NULL ? 1U : 0U) + (b->l.bits < 8 && !wide ? 2U : 0U);
	for (int32_t i = 0; i < b->blocks; i++)
		*p.to++ = (uint32_t)((b->length[i] + 3) / 4);
	for (int32_t o = 0; o < b->l.channels; o += p.each)
		pack_channels(&p, o);
	*n = (int32_t)(p.to - w);
	return w;
}

void *
qn_pack_dense_blocks_dsp(const qn_step_facts *f, qn_arena *a)
{
	const qn_dense_blocks_args *d = f->step->args;
	qn_dense_dsp_packed *p = QN_NEW(a, qn_dense_dsp_packed, 1);
	const char *why;

	p->args = QN_DENSE_DSP_ARGS(d);
	p->args.w = pack(qn_block_layer_of(f, a, &why), false, &p->nw, a);
	return p;
}

void *
qn_pack_conv2d_blocks_rows_dsp(const qn_step_facts *f, qn_arena *a)
{
	const qn_conv2d_blocks_args *c = qn_block_conv_args(f);
	qn_dsp_packed *p = QN_NEW(a, qn_dsp_packed, 1);
	const char *why;

	p->args = (qn_dsp_args){
		QN_LAYER_SHAPE(c),
	};
	p->args.w = pack(qn_block_layer_of(f, a, &why), false, &p->nw, a);
	return p;
}

void *
qn_pack_dense_blocks_dsp16(const qn_step_facts *f, qn_arena *a)
{
	const qn_dense_blocks_args *d = f->step->args;
	qn_dense_dsp16_packed *p = QN_NEW(a, qn_dense_dsp16_packed, 1);
	const char *why;

	p->args = (qn_dense_dsp16_args){.batch = d->batch,
					.in = d->in,
					.out = d->out,
					.zo = d->zo,
					.lo = d->lo,
					.hi = d->hi,
					.mode = d->mode};
	p->args.w = pack(qn_block_layer_of(f, a, &why), true, &p->nw, a);
	return p;
}

/* ---- working memory: a word for each block, values up to a multiple of four ---- */

static size_t
work(const uint32_t *w, int32_t in, size_t bytes)
{
	const size_t n = (size_t)in;

	return 4 * w[0] + (n % 4 == 0 ? 0 : (n + 3) / 4 * 4 * bytes);
}

size_t
qn_work_dense_blocks_dsp(const void *args)
{
	const qn_dense_dsp_args *a = args;

	return work(a->w, a->in, 1);
}

size_t
qn_work_conv2d_blocks_rows_dsp(const void *args)
{
	const qn_dsp_args *a = args;
	const size_t window = (size_t)a->k_h * (size_t)a->k_w * (size_t)a->in_c;

	return 4 * a->w[0] + (window + 3) / 4 * 4;
}

size_t
qn_work_dense_blocks_dsp16(const void *args)
{
	const qn_dense_dsp16_args *a = args;

	return work(a->w, a->in, 2);
}
