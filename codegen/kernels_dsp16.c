/* SPDX-License-Identifier: Apache-2.0 */
/* kernels_dsp16.c - which layers of 16-bit values the kernels of runtime/kernels/dsp_conv16.h take, and their constants in the
 * order in which these read them. */
#include "codegen/kernels_dsp.h"

enum { PIXELS = 2, LEAST_SHIFT = 17 }; /* at a time; of 15 bits */

/* Inputs that the kernels read. */
static int64_t
size_of(int64_t depth)
{
	return (depth + 3) / 4 * 4;
}

/* The 15 bits of channel o's multiplier, as qn_apply64 takes them, and the shift after them. */
static int32_t
reduced(const qn_layer *l, int64_t o, int32_t *shift)
{
	const int64_t i = l->r->mult_n == 1 ? 0 : o;
	const int32_t m = l->r->mult[i];

	*shift = m == 0 ? LEAST_SHIFT : 15 - l->r->shift[i];
	return m < 0x7fff0000 ? (m + (1 << 15)) >> 16 : 0x7fff;
}

static const char *
differs(const qn_step_facts *f, const qn_layer *l)
{
	int32_t shift;

	if (l->w == NULL || l->bits != 8 || (f->core->nin > 2 && l->bias == NULL) || l->zi != 0 ||
	    l->r->zo != 0)
		return "its weights are not constants of 8 bits, or its data has a zero point";
	if (l->r->mode != QN_RQ_DOUBLE && l->r->mode != QN_RQ_SINGLE)
		return "its ties are not rounded up";
	for (int64_t o = 0; o < l->channels; o++) {
		if (qn_layer_largest16(f, l, o) > INT32_MAX)
			return qn_layer_too_wide;
		(void)reduced(l, o, &shift);
		if (shift < LEAST_SHIFT)
			return "a multiplier is 0.25 or more";
	}
	return NULL;
}

const char *
qn_fits_conv2d_rows16_dsp(const qn_step_facts *f)
{
	const qn_layer l = qn_layer_of_conv(f, 0);

	return qn_dsp_conv_args(f)->groups != 1 ? "its channels are in groups" : differs(f, &l);
}

const char *
qn_fits_depthwise_rows16_dsp(const qn_step_facts *f)
{
	const qn_conv2d_args *a = qn_dsp_conv_args(f);
	const qn_layer l = qn_layer_of_conv(f, 0);

	if (a->groups != a->in_c || a->out_c != a->in_c)
		return "it is not depthwise";
	return a->in_c < 4 ? "fewer than four channels" : differs(f, &l);
}

const char *
qn_fits_dense_rows16_dsp(const qn_step_facts *f)
{
	const qn_layer l = qn_layer_of_dense(f, 0);

	return ((const qn_dense_args *)f->step->args)->zw != 0 ? "its weights have a zero point"
							       : differs(f, &l);
}

/* Two inputs of two channels from o on, those beyond the ends 0. */
static uint32_t
two_of_two(const qn_layer *l, int64_t o, int64_t k)
{
	uint32_t word = 0;

	for (int64_t i = 0; i < 4; i++) /* a0 b0 a1 b1 */
		if (o + i % 2 < l->channels && k + i / 2 < l->depth)
			word |= ((uint32_t)qn_tensor_i64(l->w, (o + i % 2) * l->depth + k + i / 2) &
				 0xffu)
				<< 8 * i;
	return word;
}

/* Bias, multiplier and e of a channel. */
static uint32_t *
put_scale(const qn_layer *l, int64_t o, uint32_t *to)
{
	const bool beyond = o >= l->channels;
	int32_t shift = LEAST_SHIFT;
	const int32_t m = beyond ? 0 : reduced(l, o, &shift);
	const int32_t left = shift < 33 ? 33 - shift : 0;

	*to++ = beyond || l->bias == NULL ? 0 : (uint32_t)qn_tensor_i64(l->bias, o);
	*to++ = (uint32_t)m << left;
	*to++ = (uint32_t)(shift + left - 32);
	return to;
}

/* Blocks of so many channels: words of two channels and two inputs, then scales. */
static uint32_t *
put_blocks(const qn_layer *l, int32_t channels, uint32_t *to)
{
	for (int64_t o = 0; o < l->channels; o += channels) {
		for (int64_t k = 0; k < size_of(l->depth); k += 2)
			for (int64_t i = 0; i < channels; i += 2)
				*to++ = two_of_two(l, o + i, k);
		for (int64_t i = 0; i < channels; i++)
			to = put_scale(l, o + i, to);
	}
	return to;
}

/* Packed arguments, all but the constants. */
static qn_dsp_packed *
packed(const qn_step_facts *f, const qn_layer *l, qn_arena *a)
{
	qn_dsp_packed *p = qn_dsp_conv_packed(f, a);

	p->args.lo = l->r->lo;
	p->args.hi = l->r->hi;
	return p;
}

void *
qn_pack_conv2d_rows16_dsp(const qn_step_facts *f, qn_arena *a)
{
	const qn_layer l = qn_layer_of_conv(f, 0);
	qn_dsp_packed *p = packed(f, &l, a);
	uint32_t *to =
		QN_NEW(a, uint32_t, (size_t)((l.channels + 3) / 4 * (size_of(l.depth) + 12)));

	p->args.w = to;
	to = put_blocks(&l, 4, to);
	p->nw = (int32_t)(to - p->args.w);
	return p;
}

void *
qn_pack_depthwise_rows16_dsp(const qn_step_facts *f, qn_arena *a)
{
	static const int8_t place[4] = {0, 2, 1, 3}; /* of channels in a word */
	const qn_layer l = qn_layer_of_conv(f, 0);
	qn_dsp_packed *p = packed(f, &l, a);
	uint32_t *to = QN_NEW(a, uint32_t, (size_t)((l.channels + 3) / 4 * (l.depth + 12)));

	p->args.w = to;
	for (int64_t k = 0; k < l.channels; k += 4) {
		const int64_t o = k + 4 <= l.channels ? k : l.channels - 4;

		for (int64_t i = 0; i < 4; i++)
			to = put_scale(&l, o + i, to);
		for (int64_t t = 0; t < l.depth; t++, to++)
			for (int64_t i = 0; i < 4; i++)
				*to |= ((uint32_t)qn_tensor_i64(l.w, (o + i) * l.depth + t) & 0xffu)
				       << 8 * place[i];
	}
	p->nw = (int32_t)(to - p->args.w);
	return p;
}

size_t
qn_work_conv2d_rows16_dsp(const void *args)
{
	const qn_dsp_args *a = args;

	return PIXELS * (size_t)size_of((int64_t)a->k_h * a->k_w * a->in_c) * sizeof(uint32_t);
}

void *
qn_pack_dense_rows16_dsp(const qn_step_facts *f, qn_arena *a)
{
	const qn_dense_args *d = f->step->args;
	const qn_layer l = qn_layer_of_dense(f, 0);
	qn_dense_rows16_packed *p = QN_NEW(a, qn_dense_rows16_packed, 1);
	uint32_t *w =
		QN_NEW(a, uint32_t, (size_t)((l.channels + 7) / 8 * (2 * size_of(l.depth) + 24)));

	p->args = (qn_dense_rows16_args){.batch = d->batch, .in = d->in, .out = d->out};
	p->args.lo = l.r->lo;
	p->args.hi = l.r->hi;
	p->args.w = w;
	p->nw = (int32_t)(put_blocks(&l, 8, w) - w);
	return p;
}

size_t
qn_work_dense_rows16_dsp(const void *args)
{
	const qn_dense_rows16_args *a = args;

	return a->in % 4 == 0 ? 0 : (size_t)size_of(a->in) * sizeof(int16_t);
}
