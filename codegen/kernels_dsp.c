/* SPDX-License-Identifier: Apache-2.0 */
/* kernels_dsp.c - which layers the kernels of runtime/kernels/dsp.h take, and their weights in the
 * order in which these read them.
 *
 *   two channels (a, b), inputs 0 to 3     word 0  256 b[0] + a[0]  |  256 b[2] + a[2]
 *                                          word 1  256 b[1] + a[1]  |  256 b[3] + a[3]
 *
 * A sum of 256 b + a fits into 32 bits where |b| stays below 2^23: bounded here for each channel by
 * its weights and its bias, for all inputs that i8 can hold. */
#include "codegen/kernels_dsp.h"

#include "codegen/layer.h"
#include "runtime/form_args.h"

enum { BAND_BYTES = 1024 }; /* of working memory, unless three rows take more */

enum { TWO_IN_A_WORD = 1 << 23, TWICE = 1 << 30 };

#define TOO_LARGE "the sums of a channel may be too large for two of them in a word"

const char *
qn_fits_conv2d_dsp(const qn_step_facts *f)
{
	const qn_layer l = qn_layer_of_conv(f);

	if (((const qn_conv2d_call *)f->step->args)->args.groups != 1)
		return "its channels are in groups";
	return qn_layer_differs(f, &l, TWO_IN_A_WORD, TOO_LARGE);
}

const char *
qn_fits_depthwise3_dsp(const qn_step_facts *f)
{
	const qn_conv2d_args *a = &((const qn_conv2d_call *)f->step->args)->args;
	const qn_layer l = qn_layer_of_conv(f);

	if (a->groups != a->in_c || a->out_c != a->in_c)
		return "its channels do not have a kernel each";
	if (a->k_h != 3 || a->k_w != 3 || a->dil_h != 1 || a->dil_w != 1)
		return "its windows are not 3x3";
	if (a->in_c % 4 != 0)
		return "its channels are no multiple of four";
	return qn_layer_differs(f, &l, TWICE, TOO_LARGE);
}

const char *
qn_fits_dense_dsp(const qn_step_facts *f)
{
	const qn_layer l = qn_layer_of_dense(f);

	if (((const qn_dense_args *)f->step->args)->zw != 0)
		return "its weights are no constants of 8 bits";
	return qn_layer_differs(f, &l, TWO_IN_A_WORD, TOO_LARGE);
}

/* ---- packing ---- */

static uint32_t
halves(int32_t low, int32_t high)
{
	return ((uint32_t)low & 0xffffu) | (uint32_t)high << 16;
}

/* Blocks of `pairs` pairs of channels, in them blocks of four inputs. */
static uint32_t *
pack_pairs(const qn_layer *l, int32_t pairs, int32_t *n, qn_arena *a)
{
	const int64_t inputs = (l->depth + 3) / 4,
		      blocks = (l->channels + 2 * pairs - 1) / (2 * pairs);
	uint32_t *w = QN_NEW(a, uint32_t, (size_t)(blocks * inputs * 2 * pairs)), *to = w;

	for (int64_t o = 0; o < blocks * 2 * pairs; o += 2 * pairs)
		for (int64_t k = 0; k < 4 * inputs; k += 4)
			for (int64_t j = 0; j < 2 * pairs; j++) {
				const int64_t c = o + 2 * (j % pairs), i = k + j / pairs;

				*to++ = halves(256 * qn_layer_weight(l, c + 1, i) +
						       qn_layer_weight(l, c, i),
					       256 * qn_layer_weight(l, c + 1, i + 2) +
						       qn_layer_weight(l, c, i + 2));
			}
	*n = (int32_t)(to - w);
	return w;
}

/* Bias and multipliers of the channels, up to a multiple of `step`. */
static int32_t
pack_scales(const qn_layer *l, int32_t step, const int32_t **bias_out, const int32_t **scale_out,
	    qn_arena *a)
{
	const int32_t n = (l->channels + step - 1) / step * step;
	int32_t *bias = QN_NEW(a, int32_t, (size_t)n), *scale = QN_NEW(a, int32_t, (size_t)n * 2);

	for (int32_t o = 0; o < l->channels; o++)
		qn_layer_scale(l, o, &bias[o], &scale[2 * o], &scale[2 * o + 1]);
	*bias_out = bias;
	*scale_out = scale;
	return n;
}

static qn_dsp_packed *
conv_arguments(const qn_step_facts *f, const qn_layer *l, qn_arena *a)
{
	const qn_conv2d_args *c = &((const qn_conv2d_call *)f->step->args)->args;
	qn_dsp_packed *p = QN_NEW(a, qn_dsp_packed, 1);

	p->args = (qn_dsp_args){
		.batch = c->batch,
		.in_h = c->in_h,
		.in_w = c->in_w,
		.in_c = c->in_c,
		.out_h = c->out_h,
		.out_w = c->out_w,
		.out_c = c->out_c,
		.k_h = c->k_h,
		.k_w = c->k_w,
		.stride_h = c->stride_h,
		.stride_w = c->stride_w,
		.dil_h = c->dil_h,
		.dil_w = c->dil_w,
		.pad_t = c->pad_t,
		.pad_l = c->pad_l,
		.zi = c->zi,
		.zo = c->zo,
		.lo = c->lo,
		.hi = c->hi,
	};
	p->nbias = pack_scales(l, 4, &p->args.bias, &p->args.scale, a);
	p->nscale = 2 * p->nbias;
	return p;
}

void *
qn_pack_conv2d_dsp(const qn_step_facts *f, qn_arena *a)
{
	const qn_layer l = qn_layer_find_constants(qn_layer_of_conv(f), a);
	qn_dsp_packed *p = conv_arguments(f, &l, a);

	p->args.w = pack_pairs(&l, 2, &p->nw, a);
	return p;
}

/* Bytes of the strips of a band. */
static size_t
band_bytes(const qn_dsp_args *a, int32_t band)
{
	return 8 * ((size_t)(band - 1) * (size_t)a->stride_h + 3) * (size_t)qn_depthwise3_length(a);
}

void *
qn_pack_depthwise3_dsp(const qn_step_facts *f, qn_arena *a)
{
	const qn_layer l = qn_layer_find_constants(qn_layer_of_conv(f), a);
	qn_dsp_packed *p = conv_arguments(f, &l, a);
	uint32_t *w = QN_NEW(a, uint32_t, (size_t)l.channels * 3);

	for (int32_t c = 0; c < l.channels; c++)
		for (int32_t ky = 0; ky < 3; ky++) {
			const uint32_t w0 = (uint32_t)qn_layer_weight(&l, c, 3 * ky) & 0xffu,
				       w1 = (uint32_t)qn_layer_weight(&l, c, 3 * ky + 1) & 0xffu,
				       w2 = (uint32_t)qn_layer_weight(&l, c, 3 * ky + 2) & 0xffu;

			w[3 * c + ky] = w0 | w2 << 8 | w1 << 16;
		}
	p->args.w = w;
	p->nw = 3 * l.channels;
	p->args.band = 1;
	while (p->args.band < p->args.out_h && band_bytes(&p->args, p->args.band + 1) <= BAND_BYTES)
		p->args.band++;
	return p;
}

void *
qn_pack_dense_dsp(const qn_step_facts *f, qn_arena *a)
{
	const qn_dense_args *d = f->step->args;
	const qn_layer l = qn_layer_find_constants(qn_layer_of_dense(f), a);
	qn_dense_dsp_packed *p = QN_NEW(a, qn_dense_dsp_packed, 1);

	p->args = (qn_dense_dsp_args){.batch = d->batch,
				      .in = d->in,
				      .out = d->out,
				      .zo = d->zo,
				      .lo = d->lo,
				      .hi = d->hi};
	p->nbias = pack_scales(&l, 8, &p->args.bias, &p->args.scale, a);
	p->nscale = 2 * p->nbias;
	p->args.w = pack_pairs(&l, 4, &p->nw, a);
	return p;
}

/* ---- working memory ---- */

size_t
qn_work_conv2d_dsp(const void *args)
{
	const qn_dsp_args *a = args;

	return 20 * (((size_t)a->k_h * (size_t)a->k_w * (size_t)a->in_c + 3) / 4);
}

size_t
qn_work_depthwise3_dsp(const void *args)
{
	return band_bytes(args, ((const qn_dsp_args *)args)->band);
}

size_t
qn_work_dense_dsp(const void *args)
{
	return 8 * (((size_t)((const qn_dense_dsp_args *)args)->in + 3) / 4);
}
