/* SPDX-License-Identifier: Apache-2.0 */
/* kernels_scalar.c - which layers the kernels of runtime/kernels/scalar_*.h take, and their constants in
 * the order in which these read them.
 *
 *   convolution, dense   blocks of 4 channels, in them the taps      128 + w[0..3][0], 128 + w[0..3][1] …
 *   … of 4 bits          two of these, 8 more each, in a byte           8 + w[0][0] | 8 + w[1][0] …
 *   depthwise            channels, in them the taps                  w[0][0..8] w[1][0..8] …
 *
 * Sums of three inputs share two words, so each of them stays in [-2^20, 2^20) for all inputs that i8 can
 * hold: a convolution's taps are cut into as few runs of one length as that takes.  64 taps always will do. */
#include "codegen/kernels_scalar.h"

#include "codegen/bits4.h"
#include "codegen/layer.h"
#include "runtime/impl_args.h"

enum {
	LIMIT = 1 << 30,    /* of sums that qn_high31 takes */
	IN_WORDS = 1 << 20, /* of sums that three inputs have in two words */
	MOST_SHIFT = 21,
	MOST_INPUTS = 1 << 16, /* of dense layers of 4 bits, whose sums count 16 times */
	BLOCK = 4,             /* channels, and the taps of a run are a multiple of it */
};

static const qn_conv2d_args *
conv_of(const qn_step_facts *f)
{
	return &((const qn_conv2d_call *)f->step->args)->args;
}

static const char *
differs(const qn_step_facts *f, const qn_layer *l)
{
	return qn_layer_differs(f, l, LIMIT, MOST_SHIFT, "the sums of a channel may be too large");
}

const char *
qn_fits_conv2d_scalar(const qn_step_facts *f)
{
	const qn_layer l = qn_layer_of_conv(f, MOST_SHIFT);

	return conv_of(f)->groups != 1 ? "its channels are in groups" : differs(f, &l);
}

/* Rows are copied before results are written over them, or a pixel is read before that; three results
 * lie in two rows at most. */
const char *
qn_fits_conv2d_over_scalar(const qn_step_facts *f)
{
	const qn_conv2d_args *a = conv_of(f);
	const char *why = qn_fits_conv2d_scalar(f);
	const bool pixels = a->stride_h == 1 && a->stride_w == 1 && a->out_h == a->in_h &&
			    a->out_w == a->in_w && a->out_c == a->in_c,
		   rows = a->dil_h == 1 && a->pad_t < a->k_h && a->out_w > 1;

	if (why != NULL)
		return why;
	if (!pixels)
		return "its result is not of the same pixels and channels";
	return rows || a->k_h * a->k_w == 1 ? NULL : "its windows span too many rows";
}

const char *
qn_fits_depthwise3_scalar(const qn_step_facts *f)
{
	const qn_conv2d_args *a = conv_of(f);
	const qn_layer l = qn_layer_of_conv(f, MOST_SHIFT);

	if (a->groups != a->in_c || a->out_c != a->in_c)
		return "it is not depthwise";
	if (a->k_h != 3 || a->k_w != 3 || a->dil_h != 1 || a->dil_w != 1)
		return "its windows are not 3x3";
	return differs(f, &l);
}

/* Rows of a channel become strips before they are written. */
const char *
qn_fits_depthwise3_over_scalar(const qn_step_facts *f)
{
	const qn_conv2d_args *a = conv_of(f);
	const char *why = qn_fits_depthwise3_scalar(f);
	const bool over = a->stride_h == 1 && a->stride_w == 1 && a->pad_t <= 2 &&
			  a->out_h == a->in_h && a->out_w == a->in_w;

	return why != NULL || over ? why : "its result is not of the same pixels";
}

const char *
qn_fits_dense_scalar(const qn_step_facts *f)
{
	const qn_layer l = qn_layer_of_dense(f, MOST_SHIFT);

	if (((const qn_dense_args *)f->step->args)->zw != 0)
		return "its weights are not constant";
	if (l.bits == 4 && l.depth > MOST_INPUTS)
		return "too many inputs";
	return differs(f, &l);
}

/* ---- runs ---- */

/* Whether the sums of each channel's taps [from, from + n) stay in words. */
static bool
in_words(const qn_layer *l, int64_t from, int64_t n)
{
	for (int32_t o = 0; o < l->channels; o++) {
		int64_t least = 0, most = 0;

		for (int64_t k = from; k < from + n; k++) {
			const int64_t w = qn_layer_weight(l, o, k);

			least += w > 0 ? -128 * w : 127 * w;
			most += w > 0 ? 127 * w : -128 * w;
		}
		if (least < -IN_WORDS || most >= IN_WORDS)
			return false;
	}
	return true;
}

static bool
all_in_words(const qn_layer *l, int64_t run)
{
	for (int64_t k = 0; k < l->depth; k += run)
		if (!in_words(l, k, run))
			return false;
	return true;
}

/* The length of the fewest runs. */
static int32_t
run_of(const qn_layer *l, int64_t taps)
{
	int64_t run = taps;

	for (int64_t runs = 2; run > BLOCK && !all_in_words(l, run); runs++)
		run = (taps + BLOCK * runs - 1) / (BLOCK * runs) * BLOCK;
	return (int32_t)run;
}

/* ---- packing ---- */

/* Bias, multiplier and shift of each channel; sum: what its bias has of each weight beside. */
static void
pack_scales(const qn_layer *l, int32_t each, const int32_t **scale, const int8_t **shift,
	    qn_arena *a)
{
	int32_t *to = QN_NEW(a, int32_t, 2 * (size_t)l->channels), m, n;
	int8_t *by = QN_NEW(a, int8_t, (size_t)l->channels);

	for (int32_t o = 0; o < l->channels; o++) {
		qn_layer_scale(l, o, &to[2 * o], &m, &n);
		for (int64_t k = 0; k < l->depth; k++)
			to[2 * o] += each * qn_layer_weight(l, o, k);
		to[2 * o + 1] = m;
		by[o] = (int8_t)(n + 1);
	}
	*scale = to;
	*shift = by;
}

/* Blocks of four channels, in them `taps` taps. */
static const int8_t *
pack_blocks4(const qn_layer *l, int64_t taps, int32_t *n, qn_arena *a)
{
	const int64_t channels = (l->channels + BLOCK - 1) / BLOCK * BLOCK;
	int8_t *w = QN_NEW(a, int8_t, (size_t)(channels * taps / 2)), *to = w;

	for (int64_t o = 0; o < channels; o += BLOCK)
		for (int64_t k = 0; k < taps; k++)
			for (int64_t j = o; j < o + BLOCK; j += 2)
				*to++ = qn_both4(qn_layer_weight(l, j, k) + 8,
						 qn_layer_weight(l, j + 1, k) + 8);
	*n = (int32_t)(to - w);
	return w;
}

static const int8_t *
pack_blocks(const qn_layer *l, int64_t taps, int32_t *n, qn_arena *a)
{
	if (l->bits == 4)
		return pack_blocks4(l, taps, n, a);
	const int64_t channels = (l->channels + BLOCK - 1) / BLOCK * BLOCK;
	int8_t *w = QN_NEW(a, int8_t, (size_t)(channels * taps)), *to = w;

	for (int64_t o = 0; o < channels; o += BLOCK)
		for (int64_t k = 0; k < taps; k++)
			for (int64_t j = o; j < o + BLOCK; j++) /* 128 more, as a byte */
				*to++ = (int8_t)((qn_layer_weight(l, j, k) + 256) % 256 - 128);
	*n = (int32_t)(to - w);
	return w;
}

static int32_t
away(const qn_layer *l)
{
	return qn_layer_goes_away(l->r) ? -1 : 0;
}

static qn_scalar_packed *
conv_arguments(const qn_step_facts *f, const qn_layer *l, int32_t each, qn_arena *a)
{
	const qn_conv2d_args *c = conv_of(f);
	qn_scalar_packed *p = QN_NEW(a, qn_scalar_packed, 1);

	p->args = (qn_scalar_args){QN_LAYER_SHAPE(c), .away = away(l)};
	p->nscale = 2 * l->channels;
	p->nshift = l->channels;
	pack_scales(l, each, &p->args.scale, &p->args.shift, a);
	return p;
}

void *
qn_pack_conv2d_scalar(const qn_step_facts *f, qn_arena *a)
{
	const qn_layer l = qn_layer_find_constants(qn_layer_of_conv(f, MOST_SHIFT), a);
	qn_scalar_packed *p = conv_arguments(f, &l, 0, a);

	p->args.taps = (int32_t)((l.depth + BLOCK - 1) / BLOCK * BLOCK);
	p->args.run = run_of(&l, p->args.taps);
	p->args.w = pack_blocks(&l, p->args.taps, &p->nw, a);
	return p;
}

void *
qn_pack_depthwise3_scalar(const qn_step_facts *f, qn_arena *a)
{
	const qn_layer l = qn_layer_find_constants(qn_layer_of_conv(f, MOST_SHIFT), a);
	qn_scalar_packed *p = conv_arguments(f, &l, -128, a);
	const int32_t each = l.bits == 4 ? 2 : 1, n = 9 * l.channels;
	int8_t *w = QN_NEW(a, int8_t, (size_t)(n + 1)), *to = w;

	for (int32_t i = 0; i < n; i += each) {
		const int32_t first = qn_layer_weight(&l, i / 9, i % 9);

		*to++ = each == 1 ? (int8_t)first
				  : qn_both4(first, qn_layer_weight(&l, (i + 1) / 9, (i + 1) % 9));
	}
	p->args.w = w;
	p->args.taps = p->args.run = 9;
	p->nw = (int32_t)(to - w);
	return p;
}

void *
qn_pack_dense_scalar(const qn_step_facts *f, qn_arena *a)
{
	const qn_dense_args *d = f->step->args;
	const qn_layer l = qn_layer_find_constants(qn_layer_of_dense(f, MOST_SHIFT), a);
	qn_dense_scalar_packed *p = QN_NEW(a, qn_dense_scalar_packed, 1);

	p->args = (qn_dense_scalar_args){.batch = d->batch,
					 .in = d->in,
					 .out = d->out,
					 .zo = d->zo,
					 .lo = d->lo,
					 .hi = d->hi,
					 .away = away(&l)};
	p->nscale = 2 * l.channels;
	p->nshift = l.channels;
	pack_scales(&l, 0, &p->args.scale, &p->args.shift, a);
	p->args.w = pack_blocks(&l, l.depth, &p->nw, a);
	return p;
}

/* ---- working memory ---- */

size_t
qn_work_conv2d_scalar(const void *args)
{
	const qn_scalar_args *a = args;

	return 4 * (size_t)qn_scalar_words(a) + (qn_scalar_inside(a) ? 0 : (size_t)a->in_c);
}

size_t
qn_ring_conv2d_scalar(const void *args)
{
	const qn_scalar_args *a = args;

	return a->k_h * a->k_w == 1 ? 0
				    : (size_t)qn_scalar_ring(a) * (size_t)a->in_w * (size_t)a->in_c;
}

size_t
qn_work_depthwise3_scalar(const void *args)
{
	return 3 * (size_t)qn_scalar_strip(args);
}
