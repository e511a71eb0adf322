/* SPDX-License-Identifier: Apache-2.0 */
/* kernels_blocks_dsp.c - which layers with weights of 4 bits in blocks the kernels of
 * runtime/kernels/dsp_weight_blocks.h take, and their constants in the order in which these read them:
 *
 *   number of blocks, their lengths, then of four channels (dense: of eight)
 *       bias, multiplier, n of each | block 0: words of weights, mantissas | block 1 … */
#include "codegen/kernels_blocks.h"

#include "codegen/bits4.h"
#include "codegen/layer.h"
#include "ir/block_scales.h"

enum { MOST_BLOCK = 508, MOST_SHIFT = 21, SUM_BITS = 30 };

/* A layer with weights [channels, depth], blocks one after the other. */
typedef struct block_layer {
	qn_layer l;
	const int16_t *mantissa; /* [channels, blocks] */
	int32_t blocks;
	const int32_t *length; /* [blocks] */
} block_layer;

static const qn_conv2d_blocks_args *
conv_args(const qn_step_facts *f)
{
	return &((const qn_conv2d_blocks_call *)f->step->args)->args;
}

/* Lengths of the blocks along a row of weights, in *length; NULL, or why they are not consecutive. */
static const char *
conv_lengths(const qn_conv2d_blocks_args *c, int32_t *blocks, int32_t *length)
{
	const int32_t tap = c->in_c, row = c->k_w * tap, all = c->k_h * row;
	int32_t each = c->block_h * row, within = all, n = 0;

	if (c->block_c < c->in_c) {
		each = c->block_c;
		within = tap;
	} else if (c->block_w < c->k_w) {
		each = c->block_w * tap;
		within = row;
	}
	if ((within < all && c->block_h > 1) || (within < row && c->block_w > 1))
		return "its blocks are not consecutive weights";
	for (int32_t at = 0; at < all; at += within)
		for (int32_t k = 0; k < within; k += each, n++)
			if (length != NULL)
				length[n] = within - k < each ? within - k : each;
	*blocks = n;
	return NULL;
}

static const char *
dense_lengths(const qn_dense_blocks_args *d, int32_t *blocks, int32_t *length)
{
	*blocks = d->blocks;
	for (int32_t k = 0; length != NULL && k < d->in; k += d->block)
		*length++ = d->in - k < d->block ? d->in - k : d->block;
	return NULL;
}

/* The layer; NULL, and *why. */
static block_layer *
layer_of(const qn_step_facts *f, qn_arena *a, const char **why)
{
	const bool is_dense = f->core->op == QN_OP_dense;
	const qn_node *w = qn_graph_node(f->g, f->step->in[1]);
	const qn_dense_blocks_args *d = is_dense ? f->step->args : NULL;
	const qn_conv2d_blocks_args *c = is_dense ? NULL : conv_args(f);
	block_layer *b = QN_NEW(a, block_layer, 1);

	b->l = (qn_layer){.w = w->op == QN_OP_const ? w->value : NULL,
			  .r = f->step->epilogue[0].args,
			  .bits = 4,
			  .depth = is_dense ? d->in : c->k_h * c->k_w * c->in_c,
			  .channels = is_dense ? d->out : c->out_c,
			  .zi = is_dense ? d->zi : c->zi};
	if (f->core->nin > 2)
		b->l.bias = qn_graph_node(f->g, f->step->in[2])->value;
	b->l.constant = QN_NEW(a, bool, (size_t)b->l.channels);
	b->mantissa = is_dense ? d->mantissa : c->mantissa;
	if (b->l.w == NULL || w->type->elem->bits != 4)
		*why = "its weights are not a constant of 4 bits";
	else if (c != NULL && c->groups != 1)
		*why = "its channels are in groups";
	else
		*why = is_dense ? dense_lengths(d, &b->blocks, NULL)
				: conv_lengths(c, &b->blocks, NULL);
	if (*why != NULL)
		return NULL;
	int32_t *length = QN_NEW(a, int32_t, (size_t)b->blocks);
	*why = is_dense ? dense_lengths(d, &b->blocks, length)
			: conv_lengths(c, &b->blocks, length);
	b->length = length;
	return b;
}

/* The bias with the share of the input's zero point; *reach: the largest sum that codes of i8 add. */
static int64_t
folded(const block_layer *b, int32_t channel, int64_t *reach)
{
	int64_t sum = b->l.bias != NULL ? qn_tensor_i64(b->l.bias, channel) : 0;
	int64_t at = channel * b->l.depth;

	*reach = 0;
	for (int32_t i = 0; i < b->blocks; i++) {
		const int64_t m = b->mantissa[channel * b->blocks + i];

		for (int32_t k = 0; k < b->length[i]; k++) {
			const int64_t w = qn_tensor_i64(b->l.w, at++);

			sum -= b->l.zi * m * w;
			*reach += 128 * m * (w < 0 ? -w : w);
		}
	}
	return sum;
}

/* What all layers are to be, besides the storage of the values. */
static const char *
differs(const qn_step_facts *f, qn_arena *a)
{
	const qn_requantize_args *r = f->step->epilogue[0].args;
	const char *why;
	const block_layer *b = layer_of(f, a, &why);

	if (b == NULL)
		return why;
	if (f->core->type->elem->bits != 32)
		return "its sums have 64 bits";
	if (r->mode != QN_RQ_DOUBLE)
		return "it does not round twice";
	for (int32_t i = 0; i < b->blocks; i++)
		if (b->length[i] > MOST_BLOCK || (i + 1 < b->blocks && b->length[i] % 4 != 0))
			return "its blocks are longer than 508 weights, or not a multiple of four";
	for (int32_t o = 0; o < b->l.channels; o++) {
		const int32_t i = r->mult_n == 1 ? 0 : o;
		int64_t reach;
		const int64_t bias = folded(b, o, &reach);

		if (r->mult[i] != 0 && (r->shift[i] >= 0 || -r->shift[i] - 1 > MOST_SHIFT))
			return "a multiplier is 0.5 or more, or too small";
		if ((bias < 0 ? -bias : bias) + reach >= INT64_C(1) << SUM_BITS)
			return "the sums of a channel may be too large to be doubled";
	}
	return NULL;
}

const char *
qn_fits_blocks_dsp(const qn_step_facts *f)
{
	return differs(f, f->g->model->scratch);
}

/* ---- packing ---- */

static uint32_t
mantissa_of(const block_layer *b, int32_t channel, int32_t block)
{
	return channel < b->l.channels ? (uint32_t)b->mantissa[channel * b->blocks + block] : 0;
}

static uint32_t *
pack_scale(const block_layer *b, int32_t channel, uint32_t *to)
{
	const qn_requantize_args *r = b->l.r;
	const int32_t i = r->mult_n == 1 ? 0 : channel;
	int64_t reach;

	to[0] = to[1] = to[2] = 0;
	if (channel < b->l.channels) {
		to[0] = (uint32_t)folded(b, channel, &reach);
		to[1] = (uint32_t)r->mult[i];
		to[2] = r->mult[i] != 0 ? (uint32_t)(-r->shift[i] - 1) : 0;
	}
	return to + 3;
}

/* fours: how many times four channels stand together. */
static uint32_t *
pack(const block_layer *b, int32_t fours, int32_t *n, qn_arena *a)
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

				*to++ = mantissa_of(b, first, i) | mantissa_of(b, second, i) << 16;
			}
		}
	}
	*n = (int32_t)(to - w);
	return w;
}

void *
qn_pack_conv2d_blocks_dsp(const qn_step_facts *f, qn_arena *a)
{
	const qn_conv2d_blocks_args *c = conv_args(f);
	qn_dsp_packed *p = QN_NEW(a, qn_dsp_packed, 1);
	const char *why;

	p->args = (qn_dsp_args){
		QN_LAYER_SHAPE(c),
	};
	p->args.w = pack(layer_of(f, a, &why), 1, &p->nw, a);
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
	p->args.w = pack(layer_of(f, a, &why), 2, &p->nw, a);
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
