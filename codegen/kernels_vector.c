/* SPDX-License-Identifier: Apache-2.0 */
/* kernels_vector.c - which layers the kernels of runtime/kernels/vector_*.h take, and their constants
 * in the order in which these read them.
 *
 *   convolution   blocks of 4 channels, in them blocks of 16 inputs     w[0][0..15] w[1][0..15] …
 *   … wide        blocks of 16 channels, in them blocks of 4 inputs     w[0][0..3] w[1][0..3] …
 *   dense         blocks of 8 channels
 *   depthwise     blocks of 8 channels, in them the taps                w[0..7][0] w[0..7][1] …
 *
 * Weights of 4 bits lie two in a byte, the first one in the lower half:
 *
 *   convolution   channels 0 and 2, then 1 and 3, of 16 inputs          w[0][0] w[2][0], w[0][1] w[2][1] …
 *   … wide        inputs 0 to 3 and 4 to 7 of 16 channels               w[0][0] w[0][4], w[0][1] w[0][5] …
 *   dense         channels 0 and 4, then 1 and 5 …
 *   depthwise     two taps of eight channels
 *
 * A convolution or dense layer that adds products eight inputs apart in 16 bits (QN_TARGET_PAIRS) must not
 * have weights of -128 at both.  Beside each block of channels stand its bias, 16 times as much with weights of 4
 * bits that are not depthwise, multipliers and shifts.  Sums fit into 32 bits for all inputs that i8 can hold. */
#include "codegen/kernels_vector.h"

#include "codegen/bits4.h"
#include "codegen/layer.h"
#include "runtime/impl_args.h"

enum {
	LANES = 16, /* bytes of a vector */
	DEEP = 8,   /* channels of a block of dense and depthwise layers */
	FEW = 4,    /* inputs of a block of a wide convolution */
	MOST_SHIFT = 30,
	TIMES16 = 1 << 27, /* of sums, 16 times which are computed */
	LEFT = 1 << 29,    /* of sums that are shifted to the left */
	MOST_PAIR = 255,   /* of which, times 128, two products still fit into 16 bits */
};

static const qn_conv2d_args *
conv_of(const qn_step_facts *f)
{
	return &((const qn_conv2d_call *)f->step->args)->args;
}

static const char *
differs(const qn_step_facts *f, const qn_layer *l)
{
	return qn_layer_differs(f, l, l->bits == 4 ? TIMES16 : INT32_MAX, MOST_SHIFT,
				"the sums of a channel may be too large");
}

/* Whether the products of two weights of a channel that lie so far apart fit into 16 bits when they are added. */
static bool
pairs_fit(const qn_layer *l, int64_t apart)
{
	for (int64_t i = apart; i < l->channels * l->depth; i++) {
		const int64_t v = qn_tensor_i64(l->w, i - apart), w = qn_tensor_i64(l->w, i);

		if (i % l->depth >= apart && (v < 0 ? -v : v) + (w < 0 ? -w : w) > MOST_PAIR)
			return false;
	}
	return true;
}

/* The same of inputs, for targets that add so. */
static const char *
rows_differ(const qn_step_facts *f, const qn_layer *l)
{
	const char *why = differs(f, l);

	return why != NULL || (f->features & QN_TARGET_PAIRS) == 0 || pairs_fit(l, LANES / 2)
		       ? why
		       : "two weights of -128 are eight inputs apart";
}

const char *
qn_fits_conv2d_vector(const qn_step_facts *f)
{
	const qn_layer l = qn_layer_of_conv(f, 0);

	return conv_of(f)->groups != 1 ? "its channels are in groups" : rows_differ(f, &l);
}

const char *
qn_fits_conv2d_wide(const qn_step_facts *f)
{
	return qn_fits_conv2d_vector(f);
}

/* why: of the layer's numbers. */
static const char *
fits_depthwise(const qn_step_facts *f, const qn_layer *l, const char *why)
{
	const qn_conv2d_args *a = conv_of(f);

	if (a->groups != a->in_c || a->out_c != a->in_c)
		return "it is not depthwise";
	if (a->dil_h != 1 || a->dil_w != 1)
		return "its windows have gaps";
	return why != NULL || pairs_fit(l, 1) ? why : "two weights of -128 are adjacent";
}

const char *
qn_fits_depthwise_vector(const qn_step_facts *f)
{
	const qn_layer l = qn_layer_of_conv(f, 0);

	return fits_depthwise(f, &l, differs(f, &l));
}

const char *
qn_fits_depthwise_up_vector(const qn_step_facts *f)
{
	const qn_layer l = qn_layer_of_conv(f, 0);

	return fits_depthwise(
		f, &l,
		qn_layer_differs_up(f, &l, LEFT, MOST_SHIFT,
				    "the sums of a channel may be too large for its multiplier"));
}

const char *
qn_fits_dense_vector(const qn_step_facts *f)
{
	const qn_layer l = qn_layer_of_dense(f, 0);

	return ((const qn_dense_args *)f->step->args)->zw != 0 ? "its weights are not constant"
							       : rows_differ(f, &l);
}

/* ---- packing ---- */

/* Blocks of `block` channels, in them blocks of `some` inputs, of which those `high` channels further stand in the
 * upper halves of the bytes. */
static int8_t *
pack_rows4(const qn_layer *l, int32_t block, int64_t some, int32_t *n, qn_arena *a)
{
	const int64_t inputs = (l->depth + some - 1) / some * some, half = block / 2,
		      channels = (l->channels + block - 1) / block * block;
	int8_t *w = QN_NEW(a, int8_t, (size_t)(inputs * channels / 2)), *to = w;

	for (int64_t o = 0; o < channels; o += block)
		for (int64_t k = 0; k < inputs; k += some)
			for (int64_t i = 0; i < half * some; i++)
				*to++ = qn_both4(
					qn_layer_weight(l, o + i / some, k + i % some),
					qn_layer_weight(l, o + half + i / some, k + i % some));
	*n = (int32_t)(to - w);
	return w;
}

/* Blocks of 16 channels, in them blocks of four inputs with the next four in the upper halves. */
static int8_t *
pack_wide4(const qn_layer *l, int32_t *n, qn_arena *a)
{
	const int64_t inputs = (l->depth + 2 * FEW - 1) / (2 * FEW) * 2 * FEW,
		      channels = (l->channels + LANES - 1) / LANES * LANES;
	int8_t *w = QN_NEW(a, int8_t, (size_t)(inputs * channels / 2)), *to = w;

	for (int64_t o = 0; o < channels; o += LANES)
		for (int64_t k = 0; k < inputs; k += 2 * FEW)
			for (int64_t i = 0; i < FEW * LANES; i++)
				*to++ = qn_both4(
					qn_layer_weight(l, o + i / FEW, k + i % FEW),
					qn_layer_weight(l, o + i / FEW, k + FEW + i % FEW));
	*n = (int32_t)(to - w);
	return w;
}

/* Blocks of `block` channels, in them blocks of `some` inputs. */
static int8_t *
pack_rows(const qn_layer *l, int32_t block, int64_t some, int32_t *n, qn_arena *a)
{
	if (l->bits == 4)
		return some == FEW ? pack_wide4(l, n, a) : pack_rows4(l, block, some, n, a);
	const int64_t inputs = (l->depth + some - 1) / some * some,
		      channels = (l->channels + block - 1) / block * block;
	int8_t *w = QN_NEW(a, int8_t, (size_t)(inputs * channels)), *to = w;

	for (int64_t o = 0; o < channels; o += block)
		for (int64_t k = 0; k < inputs; k += some)
			for (int64_t i = 0; i < (int64_t)block * some; i++)
				*to++ = (int8_t)qn_layer_weight(l, o + i / some, k + i % some);
	*n = (int32_t)(to - w);
	return w;
}

int8_t *
qn_vector_pack_eights(const qn_layer *l, int32_t *n, qn_arena *a)
{
	return pack_rows(l, DEEP, LANES, n, a);
}

bool
qn_vector_pairs_fit(const qn_layer *l)
{
	return pairs_fit(l, LANES / 2);
}

/* Place i of a block of `block` channels is that of channel `order(i)`: even ones first or as they are. */
static int32_t
channel_at(int32_t i, bool even_first)
{
	return even_first ? i % 4 * 2 + i / 4 : i;
}

/* Of place i of a block, in words of four. */
static void
put_byte(int32_t *to, int32_t i, int32_t byte)
{
	to[i / 4] = (int32_t)((uint32_t)to[i / 4] | ((uint32_t)byte & 0xffu) << i % 4 * 8);
}

/* Bias, `times` as much, multipliers and words of four shifts of each block, and room for `more` words. */
static int32_t *
pack_scales(const qn_layer *l, int32_t block, int32_t times, bool even_first, int32_t more,
	    int32_t *n, qn_arena *a)
{
	const int32_t words = 2 * block + block / 4 + more,
		      blocks = (l->channels + block - 1) / block;
	int32_t *scale = QN_NEW(a, int32_t, (size_t)blocks * (size_t)words), *to = scale;

	for (int32_t o = 0; o < blocks * block; o += block, to += words)
		for (int32_t i = 0; i < block; i++) {
			const int32_t c = o + channel_at(i, even_first);
			int32_t shift;

			qn_layer_scale(l, c, &to[i], &to[block + i], &shift);
			to[i] *= times;
			put_byte(to + 2 * block, i, -1 - shift);
		}
	*n = blocks * words;
	return scale;
}

/* How often sums of weights of that many bits count where they are computed. */
static int32_t
times_of(const qn_layer *l)
{
	return l->bits == 4 ? 16 : 1;
}

static qn_vector_packed *
conv_arguments(const qn_step_facts *f, qn_arena *a)
{
	const qn_conv2d_args *c = conv_of(f);
	qn_vector_packed *p = QN_NEW(a, qn_vector_packed, 1);

	p->args = (qn_vector_args){
		QN_LAYER_SHAPE(c),
		.away = qn_layer_goes_away(f->step->epilogue[0].args),
	};
	return p;
}

void *
qn_pack_conv2d_vector(const qn_step_facts *f, qn_arena *a)
{
	const qn_layer l = qn_layer_find_constants(qn_layer_of_conv(f, 0), a);
	qn_vector_packed *p = conv_arguments(f, a);

	p->args.w = pack_rows(&l, 4, LANES, &p->nw, a);
	p->args.scale = pack_scales(&l, 4, times_of(&l), false, 0, &p->nscale, a);
	return p;
}

/* Inputs are taken 128 more each, which the bias takes off again; sums wrap. */
void *
qn_pack_conv2d_wide(const qn_step_facts *f, qn_arena *a)
{
	const qn_layer l = qn_layer_find_constants(qn_layer_of_conv(f, 0), a);
	qn_vector_packed *p = conv_arguments(f, a);

	p->args.w = pack_rows(&l, LANES, FEW, &p->nw, a);
	int32_t *scale = pack_scales(&l, LANES, times_of(&l), false, 0, &p->nscale, a);
	for (int32_t c = 0; c < l.channels; c++) {
		int32_t *bias = &scale[c / LANES * (2 * LANES + LANES / 4) + c % LANES];
		int64_t sum = 0;

		for (int64_t k = 0; k < l.depth; k++)
			sum += qn_layer_weight(&l, c, k);
		*bias = (int32_t)((uint32_t)*bias - (uint32_t)(128 * times_of(&l) * sum));
	}
	p->args.scale = scale;
	return p;
}

/* All but scales. */
static qn_vector_packed *
pack_depthwise(const qn_step_facts *f, const qn_layer *l, qn_arena *a)
{
	qn_vector_packed *p = conv_arguments(f, a);
	const int32_t blocks = (l->channels + DEEP - 1) / DEEP, each = l->bits == 4 ? 2 : 1;
	const int64_t bytes = (l->depth + each - 1) / each * DEEP;
	int8_t *w = QN_NEW(a, int8_t, (size_t)(blocks * bytes)), *to = w;

	for (int32_t o = 0; o < blocks * DEEP; o += DEEP)
		for (int64_t t = 0; t < l->depth; t += each)
			for (int32_t i = o; i < o + DEEP; i++) {
				const int32_t first = qn_layer_weight(l, i, t);

				*to++ = each == 2 ? qn_both4(first, qn_layer_weight(l, i, t + 1))
						  : (int8_t)first;
			}
	p->args.w = w;
	p->nw = (int32_t)(to - w);
	p->bits = l->bits;
	return p;
}

void *
qn_pack_depthwise_vector(const qn_step_facts *f, qn_arena *a)
{
	const qn_layer l = qn_layer_find_constants(qn_layer_of_conv(f, 0), a);
	qn_vector_packed *p = pack_depthwise(f, &l, a);

	p->args.scale = pack_scales(&l, DEEP, 1, true, 0, &p->nscale, a);
	p->args.ring = qn_depthwise_vector_ring(&p->args);
	return p;
}

void *
qn_pack_depthwise_up_vector(const qn_step_facts *f, qn_arena *a)
{
	const qn_layer l = qn_layer_find_constants(qn_layer_of_conv(f, 0), a);
	qn_vector_packed *p = pack_depthwise(f, &l, a);
	const int32_t lefts = 2 * DEEP + DEEP / 4, more = 2 * DEEP / 4;
	int32_t *scale = pack_scales(&l, DEEP, 1, true, more, &p->nscale, a), first, then;

	for (int32_t at = 0; at < p->nscale / (lefts + more); at++)
		for (int32_t i = 0; i < DEEP; i++) {
			int32_t *to = scale + at * (lefts + more) + lefts;

			qn_layer_lefts(&l, DEEP * at + channel_at(i, true), &first, &then);
			put_byte(to, i, first);
			put_byte(to + DEEP / 4, i, then);
		}
	p->args.scale = scale;
	p->args.ring = p->args.k_h;
	return p;
}

void *
qn_pack_dense_vector(const qn_step_facts *f, qn_arena *a)
{
	const qn_dense_args *d = f->step->args;
	const qn_layer l = qn_layer_find_constants(qn_layer_of_dense(f, 0), a);
	qn_dense_vector_packed *p = QN_NEW(a, qn_dense_vector_packed, 1);

	p->args = (qn_dense_vector_args){.batch = d->batch,
					 .in = d->in,
					 .out = d->out,
					 .zo = d->zo,
					 .lo = d->lo,
					 .hi = d->hi,
					 .away = qn_layer_goes_away(f->step->epilogue[0].args)};
	p->args.w = pack_rows(&l, DEEP, LANES, &p->nw, a);
	p->args.scale = pack_scales(&l, DEEP, times_of(&l), false, 0, &p->nscale, a);
	return p;
}

/* ---- working memory ---- */

size_t
qn_work_conv2d_vector(const void *args)
{
	const qn_vector_args *a = args;
	const size_t depth = (size_t)a->k_h * (size_t)a->k_w * (size_t)a->in_c;

	return 2 * ((depth + LANES - 1) / LANES + 1) * LANES;
}

size_t
qn_work_conv2d_wide(const void *args)
{
	return 2 * qn_work_conv2d_vector(args);
}

size_t
qn_work_depthwise_vector(const void *args)
{
	const qn_vector_args *a = args;
	const size_t blocks = ((size_t)a->in_c + DEEP - 1) / DEEP;
	const size_t taps = (size_t)a->k_h * (size_t)a->k_w;
	const bool four = ((const qn_vector_packed *)args)->bits == 4;

	return DEEP * blocks * (size_t)a->ring * (size_t)qn_depthwise_vector_columns(a) +
	       (four ? (taps + 1) / 2 * 2 * DEEP : 0); /* of a block, unpacked */
}

size_t
qn_work_depthwise_up_vector(const void *args)
{
	return qn_work_depthwise_vector(args);
}

size_t
qn_work_dense_vector(const void *args)
{
	const qn_dense_vector_args *a = args;

	return a->in % LANES == 0 ? 1 : ((size_t)a->in + LANES - 1) / LANES * LANES;
}
