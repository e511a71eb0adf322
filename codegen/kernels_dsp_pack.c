/* SPDX-License-Identifier: Apache-2.0 */
/* kernels_dsp_pack.c - weights in the order in which the kernels of runtime/kernels/dsp.h read them.
 *
 *   two channels (a, b), inputs 0 to 3     word 0  256 b[0] + a[0]  |  256 b[2] + a[2]
 *                                          word 1  256 b[1] + a[1]  |  256 b[3] + a[3]
 *
 * Weights of 4 bits: bits4.c. */
#include "codegen/kernels_dsp.h"

#include "codegen/bits4.h"
#include "codegen/layer.h"

uint32_t
qn_dsp_halves(int32_t low, int32_t high)
{
	return ((uint32_t)low & 0xffffu) | (uint32_t)high << 16;
}

uint32_t
qn_pack_two(const qn_layer *l, int64_t channel, int64_t k)
{
	return qn_dsp_halves(
		256 * qn_layer_weight(l, channel + 1, k) + qn_layer_weight(l, channel, k),
		256 * qn_layer_weight(l, channel + 1, k + 2) + qn_layer_weight(l, channel, k + 2));
}

/* Where the bias of the second channel of a pair is: in the first word of both, in a word of its own instead, before
 * its scale. */
typedef enum place { IN_SUM, IN_FRONT, AT_SCALE } place;

/* Blocks of `pairs` pairs of channels: what their sums begin with, blocks of four inputs, scales. */
static uint32_t *
pack_pairs(const qn_layer *l, int32_t pairs, place second, int32_t *n, qn_arena *a)
{
	const int64_t inputs = (l->depth + 3) / 4,
		      blocks = (l->channels + 2 * pairs - 1) / (2 * pairs);
	uint32_t *w = QN_NEW(a, uint32_t, (size_t)(blocks * ((inputs + 3) * 2 + 1) * pairs)),
		 *to = w;
	int32_t bias[2], m, shift;

	for (int64_t o = 0; o < blocks * 2 * pairs; o += 2 * pairs) {
		for (int64_t c = o; c < o + 2 * pairs; c += 2) {
			qn_layer_scale(l, c, &bias[0], &m, &shift);
			qn_layer_scale(l, c + 1, &bias[1], &m, &shift);
			*to++ = second == IN_SUM     ? (uint32_t)bias[1] * 256u + (uint32_t)bias[0]
				: second == IN_FRONT ? (uint32_t)bias[1]
						     : (uint32_t)bias[0];
			*to++ = (uint32_t)bias[0];
		}
		for (int64_t k = 0; k < 4 * inputs; k += 4)
			for (int64_t j = 0; j < 2 * pairs; j++)
				*to++ = qn_pack_two(l, o + 2 * (j % pairs), k + j / pairs);
		for (int64_t c = o; c < o + 2 * pairs; c++) {
			qn_layer_scale(l, c, &bias[0], &m, &shift);
			if (second == AT_SCALE && c % 2 != 0)
				*to++ = 2u * (uint32_t)bias[0];
			*to++ = (uint32_t)m;
			*to++ = (uint32_t)shift;
		}
	}
	*n = (int32_t)(to - w);
	return w;
}

qn_dsp_packed *
qn_dsp_conv_packed(const qn_step_facts *f, qn_arena *a)
{
	const qn_conv2d_args *c = qn_dsp_conv_args(f);
	qn_dsp_packed *p = QN_NEW(a, qn_dsp_packed, 1);

	p->args = (qn_dsp_args){
		QN_LAYER_SHAPE(c),
	};
	return p;
}

static qn_dsp_packed *
pack_conv(const qn_step_facts *f, place second, qn_arena *a)
{
	const qn_layer l = qn_layer_find_constants(qn_layer_of_conv(f, QN_DSP_MOST_SHIFT), a);
	qn_dsp_packed *p = qn_dsp_conv_packed(f, a);

	p->args.w = l.bits == 4 ? qn_pack_fours(&l, 1, &p->nw, a)
				: pack_pairs(&l, 2, second, &p->nw, a);
	return p;
}

void *
qn_pack_conv2d_dsp(const qn_step_facts *f, qn_arena *a)
{
	return pack_conv(f, IN_SUM, a);
}

void *
qn_pack_conv2d_apart_dsp(const qn_step_facts *f, qn_arena *a)
{
	return pack_conv(f, AT_SCALE, a);
}

/* The three rows of a channel's weights, 0, 1, 1, 2 in one word. */
static uint32_t *
pack_rows(const qn_layer *l, int32_t c, uint32_t *to)
{
	for (int32_t k = 0; k < 9; k += 3) {
		const uint32_t w0 = (uint32_t)qn_layer_weight(l, c, k) & 0xffu,
			       w1 = (uint32_t)qn_layer_weight(l, c, k + 1) & 0xffu,
			       w2 = (uint32_t)qn_layer_weight(l, c, k + 2) & 0xffu;

		*to++ = w0 | w1 << 8 | w1 << 16 | w2 << 24;
	}
	return to;
}

void *
qn_pack_depthwise3_dsp(const qn_step_facts *f, qn_arena *a)
{
	const qn_layer l = qn_layer_find_constants(qn_layer_of_conv(f, QN_DSP_MOST_SHIFT), a);
	const int32_t words = l.bits == 4 ? 4 : 6;
	qn_dsp_packed *p = qn_dsp_conv_packed(f, a);
	uint32_t *w = QN_NEW(a, uint32_t, (size_t)l.channels * (size_t)words), *to = w;
	int32_t bias, m, n;

	for (int32_t c = 0; c < l.channels; c++) {
		qn_layer_scale(&l, c, &bias, &m, &n);
		if (l.bits == 4)
			*to++ = qn_pack_nibbles(&l, c, 0);
		else
			to = pack_rows(&l, c, to);
		*to++ = 2 * (uint32_t)bias;
		*to++ = (uint32_t)m;
		*to++ = (uint32_t)n | (l.bits == 4 ? qn_pack_nibbles(&l, c, 8) << 28 : 0);
	}
	p->args.w = w;
	p->nw = words * l.channels;
	return p;
}

/* The weights of four channels: of a tap or, of 4 bits, of two. */
static uint32_t
pack_taps(const qn_layer *l, int32_t first, int32_t tap)
{
	const uint32_t mask = l->bits == 4 ? 15u : 255u;
	uint32_t word = 0;

	for (int32_t i = 0; i < 32 / l->bits; i++)
		word |= ((uint32_t)qn_layer_weight(l, first + i % 4, tap + i / 4) & mask)
			<< l->bits * i;
	return word;
}

void *
qn_pack_depthwise_dsp(const qn_step_facts *f, qn_arena *a)
{
	const qn_layer l = qn_layer_find_constants(qn_layer_of_conv(f, QN_DSP_MOST_SHIFT), a);
	qn_dsp_packed *p = qn_dsp_conv_packed(f, a);
	const int32_t taps = (int32_t)l.depth, blocks = (l.channels + 3) / 4,
		      each = l.bits == 4 ? 2 : 1, words = 12 + (taps + each - 1) / each;
	uint32_t *w = QN_NEW(a, uint32_t, (size_t)blocks * (size_t)words), *to = w;
	int32_t bias, m, n, first_left, then_left;

	for (int32_t c = 0; c < 4 * blocks; c += 4) {
		const int32_t first = c + 4 > l.channels ? l.channels - 4 : c;

		for (int32_t i = first; i < first + 4; i++) {
			qn_layer_scale(&l, i, &bias, &m, &n);
			*to++ = (uint32_t)bias;
			qn_layer_lefts(&l, i, &first_left, &then_left);
			*to++ = (uint32_t)m;
			*to++ = (uint32_t)(n + 256 * first_left + 65536 * then_left);
		}
		for (int32_t t = 0; t < taps; t += each)
			*to++ = pack_taps(&l, first, t);
	}
	p->args.w = w;
	p->nw = blocks * words;
	return p;
}

static qn_dense_dsp_packed *
pack_dense(const qn_step_facts *f, place second, qn_arena *a)
{
	const qn_dense_args *d = f->step->args;
	const qn_layer l = qn_layer_find_constants(qn_layer_of_dense(f, QN_DSP_MOST_SHIFT), a);
	qn_dense_dsp_packed *p = QN_NEW(a, qn_dense_dsp_packed, 1);

	p->args = QN_DENSE_DSP_ARGS(d);
	p->args.w = l.bits == 4 ? qn_pack_fours(&l, 2, &p->nw, a)
				: pack_pairs(&l, 4, second, &p->nw, a);
	return p;
}

void *
qn_pack_dense_dsp(const qn_step_facts *f, qn_arena *a)
{
	return pack_dense(f, IN_SUM, a);
}

void *
qn_pack_dense_long_dsp(const qn_step_facts *f, qn_arena *a)
{
	return pack_dense(f, IN_FRONT, a);
}
