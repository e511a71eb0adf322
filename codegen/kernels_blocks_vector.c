/* SPDX-License-Identifier: Apache-2.0 */
/* kernels_blocks_vector.c - which layers with weights in blocks the kernels of runtime/kernels/vector_weight_blocks.h take,
 * and their constants: weights as those of dense layers (kernels_vector.c), and as scales
 *
 *   number of blocks, OFFSETS and NARROW, lengths of the blocks in vectors, then of eight channels
 *       bias, multipliers, two words of shifts | mantissas of block 0, upper halves: offsets | of block 1 … */
#include "codegen/block_layer.h"
#include "codegen/kernels_blocks.h"

enum { LANES = 16, CHANNELS = 8, MOST_BLOCK = 65536, MOST_SHIFT = 30 };

/* What the second word of the scales says: there are offsets; no weight is -128. */
enum { OFFSETS = 1, NARROW = 2 };

const char *
qn_fits_blocks_vector(const qn_step_facts *f)
{
	const qn_block_limits limits = {.block = MOST_BLOCK,
					.multiple = LANES,
					.shift = MOST_SHIFT,
					.sum = INT32_MAX,
					.offsets = true,
					.bits = 1U << 8 | 1U << 4};
	const char *why;
	const qn_block_layer *b = qn_block_layer_of(f, f->g->model->scratch, &why);

	if (b == NULL)
		return why;
	why = qn_block_layer_differs(f, b, &limits);
	if (why == NULL && b->offset != NULL && b->l.depth % LANES != 0 &&
	    f->core->op != QN_OP_dense)
		why = "its blocks have zero points, and its windows are not whole vectors";
	if (why == NULL && (f->features & QN_TARGET_PAIRS) != 0 && !qn_vector_pairs_fit(&b->l))
		return "two weights of -128 are eight inputs apart";
	return why;
}

/* Bias, multipliers and shifts of eight channels; those after the last one are 0, with a shift of -1. */
static int32_t *
pack_eight(const qn_block_layer *b, int32_t o, int32_t *to)
{
	const qn_requantize_args *r = b->l.r;
	uint32_t shifts[2] = {0, 0};

	for (int32_t i = 0; i < CHANNELS; i++) {
		const int32_t c = o + i, at = r->mult_n == 1 ? 0 : c;
		const bool exists = c < b->l.channels;
		const int32_t shift = exists && r->mult[at] != 0 ? r->shift[at] : -1;
		int64_t reach;

		to[i] = exists ? (int32_t)qn_block_layer_bias(b, c, &reach) : 0;
		to[CHANNELS + i] = exists ? r->mult[at] : 0;
		shifts[i / 4] |= ((uint32_t)shift & 0xffu) << i % 4 * 8;
	}
	to[2 * CHANNELS] = (int32_t)shifts[0];
	to[2 * CHANNELS + 1] = (int32_t)shifts[1];
	return to + 2 * CHANNELS + 2;
}

static bool
is_narrow(const qn_layer *l)
{
	const int64_t n = (int64_t)l->channels * l->depth;

	for (int64_t i = 0; l->bits == 8 && i < n; i++)
		if (qn_tensor_i64(l->w, i) == INT8_MIN)
			return false;
	return true;
}

static const int32_t *
pack_scales(const qn_block_layer *b, int32_t *n, qn_arena *a)
{
	const int32_t eights = (b->l.channels + CHANNELS - 1) / CHANNELS,
		      words = 2 * CHANNELS + 2 + CHANNELS * b->blocks;
	int32_t *scale = QN_NEW(a, int32_t, (size_t)(2 + b->blocks + eights * words)), *to = scale;

	*to++ = b->blocks;
	*to++ = (b->offset != NULL ? OFFSETS : 0) | (is_narrow(&b->l) ? NARROW : 0);
	for (int32_t i = 0; i < b->blocks; i++)
		*to++ = (b->length[i] + LANES - 1) / LANES;
	for (int32_t o = 0; o < eights * CHANNELS; o += CHANNELS) {
		to = pack_eight(b, o, to);
		for (int32_t i = 0; i < b->blocks; i++)
			for (int32_t c = o; c < o + CHANNELS; c++) {
				const int32_t m = qn_block_mantissa(b, c, i);

				*to++ = b->offset == NULL ? m
							  : (int32_t)qn_dsp_halves(
								    m, qn_block_offset(b, c, i));
			}
	}
	*n = (int32_t)(to - scale);
	return scale;
}

void *
qn_pack_conv2d_blocks_vector(const qn_step_facts *f, qn_arena *a)
{
	const qn_conv2d_blocks_args *c = qn_block_conv_args(f);
	qn_vector_packed *p = QN_NEW(a, qn_vector_packed, 1);
	const char *why;
	const qn_block_layer *b = qn_block_layer_of(f, a, &why);

	p->args = (qn_vector_args){QN_LAYER_SHAPE(c), .away = qn_layer_goes_away(b->l.r)};
	p->args.w = qn_vector_pack_eights(&b->l, &p->nw, a);
	p->args.scale = pack_scales(b, &p->nscale, a);
	return p;
}

void *
qn_pack_dense_blocks_vector(const qn_step_facts *f, qn_arena *a)
{
	const qn_dense_blocks_args *d = f->step->args;
	qn_dense_vector_packed *p = QN_NEW(a, qn_dense_vector_packed, 1);
	const char *why;
	const qn_block_layer *b = qn_block_layer_of(f, a, &why);

	p->args = (qn_dense_vector_args){.batch = d->batch,
					 .in = d->in,
					 .out = d->out,
					 .zo = d->zo,
					 .lo = d->lo,
					 .hi = d->hi,
					 .away = qn_layer_goes_away(b->l.r)};
	p->args.w = qn_vector_pack_eights(&b->l, &p->nw, a);
	p->args.scale = pack_scales(b, &p->nscale, a);
	return p;
}

/* Sums of the blocks' inputs. */
static size_t
totals(const int32_t *scale)
{
	return (scale[1] & OFFSETS) != 0 ? 4 * (size_t)scale[0] : 0;
}

size_t
qn_work_conv2d_blocks_vector(const void *args)
{
	const qn_vector_args *a = args;
	const size_t depth = (size_t)a->k_h * (size_t)a->k_w * (size_t)a->in_c;

	return ((depth + LANES - 1) / LANES + 1) * LANES + totals(a->scale);
}

size_t
qn_work_dense_blocks_vector(const void *args)
{
	return qn_work_dense_vector(args) + totals(((const qn_dense_vector_args *)args)->scale);
}
