/* SPDX-License-Identifier: Apache-2.0 */
/* kernels_dsp.c - which layers the kernels of runtime/kernels/dsp.h take, and their weights in the
 * order in which these read them.
 *
 *   two channels (a, b), inputs 0 to 3     word 0  256 b[0] + a[0]  |  256 b[2] + a[2]
 *                                          word 1  256 b[1] + a[1]  |  256 b[3] + a[3]
 *
 * A sum of 256 b + a fits into 32 bits where |b| stays below 2^23: bounded here for each channel by
 * its weights and its bias, for all inputs that i8 can hold.  A channel whose largest and smallest sum
 * give one code gives that code always, as rescaling is monotone: pruned channels with zero weights and
 * any bias are such.  It gets no weights, and a bias and a multiplier that give the code. */
#include "codegen/kernels_dsp.h"

#include "runtime/form_args.h"

enum { BAND_BYTES = 1024 }; /* of working memory, unless three rows take more */

/* A layer as a matrix: weights [channels, depth], and the bias with the input's zero point. */
typedef struct layer {
	const qn_tensor *w, *bias;
	const qn_requantize_args *r;
	int64_t depth;
	int32_t channels, zi;
	const bool *constant; /* by channel; set for packing */
} layer;

static layer
layer_of(const qn_step_facts *f, int32_t channels, int64_t depth, int32_t zi)
{
	const qn_node *w = qn_graph_node(f->g, f->step->in[1]);
	layer l = {.w = w->op == QN_OP_const && w->type->elem->bits == 8 ? w->value : NULL,
		   .r = f->step->epilogue[0].args,
		   .depth = depth,
		   .channels = channels,
		   .zi = zi};

	if (f->core->nin > 2)
		l.bias = qn_graph_node(f->g, f->step->in[2])->value;
	return l;
}

static layer
conv_layer(const qn_step_facts *f)
{
	const qn_conv2d_args *a = &((const qn_conv2d_call *)f->step->args)->args;

	return layer_of(f, a->out_c, (int64_t)a->k_h * a->k_w * (a->in_c / a->groups), a->zi);
}

static layer
dense_layer(const qn_step_facts *f)
{
	const qn_dense_args *a = f->step->args;

	return layer_of(f, a->out, a->in, a->zi);
}

/* The bias with the share of the zero point; *reach: the largest sum that the weights can add. */
static int64_t
folded(const layer *l, int64_t channel, int64_t *reach)
{
	int64_t sum = 0, bias = l->bias != NULL ? qn_tensor_i64(l->bias, channel) : 0;

	*reach = 0;
	for (int64_t k = 0; k < l->depth; k++) {
		const int64_t w = qn_tensor_i64(l->w, channel * l->depth + k);

		sum += w;
		*reach += 128 * (w < 0 ? -w : w);
	}
	return bias - l->zi * sum;
}

static int32_t
code_of(const qn_requantize_args *r, int32_t channel, int64_t sum)
{
	const int32_t i = r->mult_n == 1 ? 0 : channel;
	const int32_t acc = sum < INT32_MIN   ? INT32_MIN
			    : sum > INT32_MAX ? INT32_MAX
					      : (int32_t)sum;

	return qn_requant(acc, r->mult[i], r->shift[i], r->zo, r->lo, r->hi, r->mode);
}

/* Whether the channel gives one code for all inputs. */
static bool
is_constant(const layer *l, int32_t channel, int32_t *code)
{
	int64_t reach, bias = folded(l, channel, &reach);

	*code = code_of(l->r, channel, bias - reach);
	return *code == code_of(l->r, channel, bias + reach);
}

/* Whether the multipliers are of the form that qn_dsp_code takes, and sums below the limit. */
static const char *
fits(const qn_step_facts *f, const layer *l, int64_t limit)
{
	if (l->w == NULL || (f->core->nin > 2 && l->bias == NULL))
		return "its weights are no constants of 8 bits";
	if (l->r->mode != QN_RQ_DOUBLE)
		return "it does not round twice";
	for (int32_t o = 0; o < l->channels; o++) {
		const int32_t i = l->r->mult_n == 1 ? 0 : o;
		int64_t reach, bias = folded(l, o, &reach);
		int32_t code;

		if (is_constant(l, o, &code))
			continue;
		if (l->r->mult[i] != 0 && l->r->shift[i] >= 0)
			return "a multiplier is 0.5 or more";
		if ((bias < 0 ? -bias : bias) + reach >= limit)
			return "the sums of a channel may be too large for two of them in a word";
	}
	return NULL;
}

enum { TWO_IN_A_WORD = 1 << 23, TWICE = 1 << 30 };

const char *
qn_fits_conv2d_dsp(const qn_step_facts *f)
{
	const layer l = conv_layer(f);

	if (((const qn_conv2d_call *)f->step->args)->args.groups != 1)
		return "its channels are in groups";
	return fits(f, &l, TWO_IN_A_WORD);
}

const char *
qn_fits_depthwise3_dsp(const qn_step_facts *f)
{
	const qn_conv2d_args *a = &((const qn_conv2d_call *)f->step->args)->args;
	const layer l = conv_layer(f);

	if (a->groups != a->in_c || a->out_c != a->in_c)
		return "its channels do not have a kernel each";
	if (a->k_h != 3 || a->k_w != 3 || a->dil_h != 1 || a->dil_w != 1)
		return "its windows are not 3x3";
	if (a->in_c % 4 != 0)
		return "its channels are no multiple of four";
	return fits(f, &l, TWICE);
}

const char *
qn_fits_dense_dsp(const qn_step_facts *f)
{
	const layer l = dense_layer(f);

	if (((const qn_dense_args *)f->step->args)->zw != 0)
		return "its weights are no constants of 8 bits";
	return fits(f, &l, TWO_IN_A_WORD);
}

/* ---- packing ---- */

/* 0 beyond the ends. */
static int32_t
weight(const layer *l, int64_t channel, int64_t k)
{
	return channel < l->channels && k < l->depth && !l->constant[channel]
		       ? (int32_t)qn_tensor_i64(l->w, channel * l->depth + k)
		       : 0;
}

static layer
find_constants(layer l, qn_arena *a)
{
	bool *constant = QN_NEW(a, bool, (size_t)l.channels);
	int32_t code;

	for (int32_t o = 0; o < l.channels; o++)
		constant[o] = is_constant(&l, o, &code);
	l.constant = constant;
	return l;
}

static uint32_t
halves(int32_t low, int32_t high)
{
	return ((uint32_t)low & 0xffffu) | (uint32_t)high << 16;
}

/* Blocks of `pairs` pairs of channels, in them blocks of four inputs. */
static uint32_t *
pack_pairs(const layer *l, int32_t pairs, int32_t *n, qn_arena *a)
{
	const int64_t inputs = (l->depth + 3) / 4,
		      blocks = (l->channels + 2 * pairs - 1) / (2 * pairs);
	uint32_t *w = QN_NEW(a, uint32_t, (size_t)(blocks * inputs * 2 * pairs)), *to = w;

	for (int64_t o = 0; o < blocks * 2 * pairs; o += 2 * pairs)
		for (int64_t k = 0; k < 4 * inputs; k += 4)
			for (int64_t j = 0; j < 2 * pairs; j++) {
				const int64_t c = o + 2 * (j % pairs), i = k + j / pairs;

				*to++ = halves(256 * weight(l, c + 1, i) + weight(l, c, i),
					       256 * weight(l, c + 1, i + 2) + weight(l, c, i + 2));
			}
	*n = (int32_t)(to - w);
	return w;
}

/* Bias and multipliers of the channels, up to a multiple of `step`. */
static int32_t
pack_scales(const layer *l, int32_t step, const int32_t **bias_out, const int32_t **scale_out,
	    qn_arena *a)
{
	const int32_t n = (l->channels + step - 1) / step * step;
	int32_t *bias = QN_NEW(a, int32_t, (size_t)n), *scale = QN_NEW(a, int32_t, (size_t)n * 2);

	for (int32_t o = 0; o < l->channels; o++) {
		const int32_t i = l->r->mult_n == 1 ? 0 : o;
		int64_t reach;
		int32_t code;

		if (is_constant(l, o, &code)) {
			bias[o] = 4 * (code - l->r->zo); /* times a quarter */
			scale[2 * o] = 1 << 30;
			continue;
		}
		bias[o] = (int32_t)folded(l, o, &reach);
		scale[2 * o] = l->r->mult[i];
		scale[2 * o + 1] = scale[2 * o] != 0 ? -l->r->shift[i] - 1 : 0;
	}
	*bias_out = bias;
	*scale_out = scale;
	return n;
}

static qn_dsp_packed *
conv_arguments(const qn_step_facts *f, const layer *l, qn_arena *a)
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
	const layer l = find_constants(conv_layer(f), a);
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
	const layer l = find_constants(conv_layer(f), a);
	qn_dsp_packed *p = conv_arguments(f, &l, a);
	uint32_t *w = QN_NEW(a, uint32_t, (size_t)l.channels * 3);

	for (int32_t c = 0; c < l.channels; c++)
		for (int32_t ky = 0; ky < 3; ky++) {
			const uint32_t w0 = (uint32_t)weight(&l, c, 3 * ky) & 0xffu,
				       w1 = (uint32_t)weight(&l, c, 3 * ky + 1) & 0xffu,
				       w2 = (uint32_t)weight(&l, c, 3 * ky + 2) & 0xffu;

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
	const layer l = find_constants(dense_layer(f), a);
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
