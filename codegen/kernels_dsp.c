/* SPDX-License-Identifier: Apache-2.0 */
/* kernels_dsp.c - which layers the kernels of runtime/kernels/dsp.h take, and what memory these work in; their weights:
 * kernels_dsp_pack.c.
 *
 * A sum of 256 b + a, of two channels (a, b), fits into 32 bits where |b| stays below 2^23: bounded here for each channel
 * by its weights and its bias, for all inputs that i8 can hold.  Each 256 b + a itself has 16 bits (qn_pairs_differ). */
#include "codegen/kernels_dsp.h"

#include "codegen/bits4.h"
#include "codegen/layer.h"
#include "runtime/impl_args.h"

enum { TWO_IN_A_WORD = 1 << 23, TWICE = 1 << 30 };

#define TOO_LARGE_UP "the sums of a channel may be too large for its multiplier"
#define TOO_LARGE "the sums of a channel may be too large for two of them in a word"

static const char *
differs(const qn_step_facts *f, const qn_layer *l, int64_t limit)
{
	return qn_layer_differs(f, l, limit, QN_DSP_MOST_SHIFT, TOO_LARGE);
}

const char *
qn_pairs_differ(const qn_layer *l)
{
	for (int32_t o = 0; o + 1 < l->channels; o += 2)
		for (int64_t k = 0; k < l->depth; k++)
			if (qn_tensor_i64(l->w, (o + 1) * l->depth + k) == INT8_MIN &&
			    qn_tensor_i64(l->w, o * l->depth + k) < 0)
				return "a weight of -128 has a negative one in the channel before "
				       "it, which do not fit into one word";
	return NULL;
}

/* Of dense layers and convolutions without groups. */
static const char *
products_differ(const qn_step_facts *f, const qn_layer *l)
{
	const char *why = differs(f, l, l->bits == 4 ? TWICE : TWO_IN_A_WORD);

	if (why != NULL)
		return why;
	return l->bits == 4 ? qn_fours_differ(l) : qn_pairs_differ(l);
}

const char *
qn_dsp_goes_below(const qn_step_facts *f)
{
	const qn_requantize_args *r = f->step->epilogue[0].args;

	return r->lo >= r->zo ? NULL : "its results may be below the zero point";
}

const qn_conv2d_args *
qn_dsp_conv_args(const qn_step_facts *f)
{
	return &((const qn_conv2d_call *)f->step->args)->args;
}

const char *
qn_fits_conv2d_dsp(const qn_step_facts *f)
{
	const qn_layer l = qn_layer_of_conv(f, QN_DSP_MOST_SHIFT);

	if (qn_dsp_conv_args(f)->groups != 1)
		return "its channels are in groups";
	return products_differ(f, &l);
}

/* Only the products of second channels have to fit into a word with others. */
const char *
qn_fits_conv2d_apart_dsp(const qn_step_facts *f)
{
	const qn_layer l = qn_layer_of_conv(f, QN_DSP_MOST_SHIFT);

	if (qn_dsp_conv_args(f)->groups != 1)
		return "its channels are in groups";
	if (l.bits == 4)
		return "its weights have 4 bits";
	const char *why = differs(f, &l, TWICE);
	for (int32_t o = 1; o < l.channels && why == NULL; o += 2)
		if (qn_layer_reach(&l, o) >= TWO_IN_A_WORD)
			why = TOO_LARGE;
	return why != NULL ? why : qn_pairs_differ(&l);
}

static const char *
shape_differs(const qn_conv2d_args *a)
{
	if (a->groups != a->in_c || a->out_c != a->in_c)
		return "it is not depthwise";
	return a->in_c < 4 ? "fewer than four channels" : NULL;
}

const char *
qn_fits_depthwise_dsp(const qn_step_facts *f)
{
	const char *why = shape_differs(qn_dsp_conv_args(f));
	const qn_layer l = qn_layer_of_conv(f, QN_DSP_MOST_SHIFT);

	return why != NULL ? why : differs(f, &l, TWICE);
}

const char *
qn_fits_depthwise_up_dsp(const qn_step_facts *f)
{
	const char *why = shape_differs(qn_dsp_conv_args(f));
	const qn_layer l = qn_layer_of_conv(f, QN_DSP_MOST_SHIFT);

	return why != NULL ? why
			   : qn_layer_differs_up(f, &l, TWICE / 2, QN_DSP_MOST_SHIFT, TOO_LARGE_UP);
}

const char *
qn_fits_depthwise3_dsp(const qn_step_facts *f)
{
	const qn_conv2d_args *a = qn_dsp_conv_args(f);

	if (a->k_h != 3 || a->k_w != 3 || a->dil_h != 1 || a->dil_w != 1 || a->stride_w > 2)
		return "its windows are not 3x3, or more than two columns apart";
	return qn_fits_depthwise_dsp(f);
}

/* A pixel's channels are read before they are written, and rows of more than a pixel are copied before. */
const char *
qn_dsp_conv_over(const qn_conv2d_args *a)
{
	if (a->stride_h != 1 || a->stride_w != 1 || a->out_h != a->in_h || a->out_w != a->in_w ||
	    a->out_c != a->in_c)
		return "its result is not of the same pixels and channels";
	return a->dil_h == 1 && a->pad_t < a->k_h ? NULL : "its windows span too many rows";
}

/* Rows are laid out before they are written; with 3x3 also the first pixel of the next one. */
static const char *
depthwise_over(const qn_conv2d_args *a)
{
	const bool over = a->stride_h == 1 && a->stride_w == 1 &&
			  a->pad_t <= (a->k_h - 1) * a->dil_h / 2 && a->out_h == a->in_h &&
			  a->out_w == a->in_w && a->in_c % 4 == 0;

	return over ? NULL
		    : "its result is not of the same pixels, or its channels are not a multiple of "
		      "four";
}

QN_DSP_FITS(conv2d, qn_dsp_conv_over)
QN_DSP_FITS(depthwise3, depthwise_over)
QN_DSP_FITS(depthwise, depthwise_over)
QN_DSP_FITS_OVER(depthwise_up, depthwise_over)

const char *
qn_fits_dense_dsp(const qn_step_facts *f)
{
	const qn_layer l = qn_layer_of_dense(f, QN_DSP_MOST_SHIFT);

	if (((const qn_dense_args *)f->step->args)->zw != 0)
		return "its weights are not constant";
	return products_differ(f, &l);
}

const char *
qn_fits_dense_long_dsp(const qn_step_facts *f)
{
	const qn_layer l = qn_layer_of_dense(f, QN_DSP_MOST_SHIFT);

	if (((const qn_dense_args *)f->step->args)->zw != 0)
		return "its weights are not constant";
	if (l.bits == 4)
		return "its weights have 4 bits";
	const char *why = differs(f, &l, TWICE);
	return why != NULL ? why : qn_pairs_differ(&l);
}

/* ---- working memory ---- */

size_t
qn_work_conv2d_dsp(const void *args)
{
	const qn_dsp_args *a = args;
	const size_t window = (size_t)a->k_h * (size_t)a->k_w,
		     blocks = (window * (size_t)a->in_c + 3) / 4;
	const bool inside = a->pad_t == 0 && a->pad_l == 0 && window == 1 &&
			    (a->out_h - 1) * a->stride_h < a->in_h &&
			    (a->out_w - 1) * a->stride_w < a->in_w;

	return 16 * blocks + (inside ? 0 : (size_t)qn_dsp_room(a));
}

/* Windows of two results at a time, 24 instructions for four inputs and four channels of both. */
uint64_t
qn_cost_conv2d_dsp(const qn_step_facts *f)
{
	const qn_conv2d_args *a = qn_dsp_conv_args(f);
	const uint64_t window = (uint64_t)a->k_h * (uint64_t)a->k_w * (uint64_t)a->in_c,
		       blocks = (window + 3) / 4,
		       pairs = ((uint64_t)a->out_h * (uint64_t)a->out_w + 1) / 2,
		       channels = 24 * blocks + 3 * ((blocks + 3) / 4) + 85;

	return (uint64_t)a->batch * pairs *
	       (100 + 9 * blocks + ((uint64_t)a->out_c + 3) / 4 * channels);
}

size_t
qn_ring_conv2d_dsp(const void *args)
{
	const qn_dsp_args *a = args;
	const size_t rows = (size_t)qn_dsp_ring(a) * (size_t)a->in_w * (size_t)a->in_c;

	return a->k_h * a->k_w == 1 ? 0 : rows;
}

size_t
qn_work_depthwise3_dsp(const void *args)
{
	const qn_dsp_args *a = args;
	const size_t rows = ((size_t)qn_depthwise3_rows(a) - 1) * (size_t)a->stride_h + 3;

	return 160 + 8 * rows * (size_t)qn_depthwise3_length(a);
}

size_t
qn_work_depthwise_dsp(const void *args)
{
	const qn_dsp_args *a = args;
	const size_t rows = (size_t)qn_depthwise_reach(a) * (size_t)qn_depthwise_columns(a);

	return 8 * ((size_t)a->k_h * (size_t)a->k_w + rows);
}

size_t
qn_work_dense_dsp(const void *args)
{
	const size_t in = (size_t)((const qn_dense_dsp_args *)args)->in;

	return in % 4 == 0 ? 0 : (in + 3) / 4 * 4;
}
