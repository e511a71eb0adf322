/* SPDX-License-Identifier: Apache-2.0 */
/* kernels_by4.c - see kernels_by4.h. */
#include "codegen/kernels_by4.h"

#include "codegen/bits4.h"
#include "codegen/layer.h"
#include "runtime/impl_args.h"

const qn_tensor *
qn_weights_of(const qn_step_facts *f)
{
	const qn_node *w = qn_graph_node(f->g, f->step->in[1]);

	return w->op == QN_OP_const ? w->value : NULL;
}

static bool
is_packed(const qn_step_facts *f)
{
	return qn_graph_node(f->g, f->step->in[1])->type->elem->bits == 4;
}

static const char *
fits_blocks(int32_t channels)
{
	return channels < 4 ? "fewer than four output channels" : NULL;
}

const char *
qn_fits_dense_by4(const qn_step_facts *f)
{
	const qn_dense_args *a = f->step->args;

	return a->zw != 0 || qn_weights_of(f) == NULL ? "the weights are not constant"
						      : fits_blocks(a->out);
}

const char *
qn_fits_conv2d_by4(const qn_step_facts *f)
{
	const qn_conv2d_args *a = &((const qn_conv2d_call *)f->step->args)->args;

	return a->groups != 1 ? "its channels are in groups" : fits_blocks(a->out_c);
}

const char *
qn_fits_transposed_by4(const qn_step_facts *f)
{
	const qn_conv_transpose_args *a = &((const qn_conv_transpose_call *)f->step->args)->args;

	if (a->groups != 1)
		return "its channels are in groups";
	return a->dil_h != 1 || a->dil_w != 1 ? "its kernel is dilated" : fits_blocks(a->out_c);
}

const char *
qn_fits_depthwise_by4(const qn_step_facts *f)
{
	const qn_conv2d_args *a = &((const qn_conv2d_call *)f->step->args)->args;

	if (a->groups != a->in_c || a->out_c != a->in_c)
		return "it is not depthwise";
	if (qn_weights_of(f) == NULL)
		return "the weights are not constant";
	if (qn_graph_node(f->g, f->step->in[1])->type->elem->bits == 2)
		return "its weights have 2 bits";
	return fits_blocks(a->out_c);
}

/* Weights [c, k_h, k_w, 1] of 4 bits as blocks of four channels, the last one of which begins early, in them
 * [k_h, k_w, 2] bytes. */
static int8_t *
pack_depthwise4(const qn_tensor *w, int32_t taps, int32_t channels, int32_t *n, qn_arena *a)
{
	int8_t *packed = QN_NEW(a, int8_t, 2 * (size_t)taps * (size_t)((channels + 3) / 4)),
	       *to = packed;

	for (int32_t k = 0; k < channels; k += 4) {
		const int32_t first = k + 4 <= channels ? k : channels - 4;

		for (int32_t t = 0; t < taps; t++)
			for (int32_t i = first; i < first + 4; i += 2)
				*to++ = qn_both4(
					(int32_t)qn_tensor_i64(w, (int64_t)i * taps + t),
					(int32_t)qn_tensor_i64(w, (int64_t)(i + 1) * taps + t));
	}
	*n = (int32_t)(to - packed);
	return packed;
}

/* Weights [c, k_h, k_w, 1] as [k_h, k_w, c]. */
static int8_t *
pack_depthwise8(const qn_tensor *w, int32_t taps, int32_t channels, int32_t *n, qn_arena *a)
{
	int8_t *to = QN_NEW(a, int8_t, (size_t)taps * (size_t)channels);

	for (int32_t i = 0; i < channels; i++)
		for (int32_t t = 0; t < taps; t++)
			to[t * channels + i] = (int8_t)qn_tensor_i64(w, (int64_t)i * taps + t);
	*n = taps * channels;
	return to;
}

void *
qn_pack_depthwise_by4(const qn_step_facts *f, qn_arena *a)
{
	qn_by4_packed *d = QN_NEW(a, qn_by4_packed, 1);

	d->args = ((const qn_conv2d_call *)f->step->args)->args;
	d->args.w = (is_packed(f) ? pack_depthwise4 : pack_depthwise8)(
		qn_weights_of(f), d->args.k_h * d->args.k_w, d->args.in_c, &d->weights, a);
	return d;
}

/* ---- values of 16 bits with sums of 32 bits ---- */

/* Why the layer is not one of these. */
static const char *
narrow_differs(const qn_step_facts *f, const qn_layer *l)
{
	if (l->w == NULL || (f->core->nin > 2 && l->bias == NULL))
		return "its weights are not constants of 8 or 4 bits, or its bias is not one";
	for (int32_t o = 0; o < l->channels; o++)
		if (qn_layer_largest16(f, l, o) > INT32_MAX)
			return qn_layer_too_wide;
	return NULL;
}

static const char *
conv_differs(const qn_step_facts *f)
{
	const qn_layer l = qn_layer_of_conv(f, 0);

	return narrow_differs(f, &l);
}

static const char *
dense_differs(const qn_step_facts *f)
{
	const qn_layer l = qn_layer_of_dense(f, 0);

	return ((const qn_dense_args *)f->step->args)->zw != 0 ? "its weights have a zero point"
							       : narrow_differs(f, &l);
}

const char *
qn_fits_dense_narrow(const qn_step_facts *f)
{
	return dense_differs(f);
}

const char *
qn_fits_dense_by4_narrow(const qn_step_facts *f)
{
	const char *why = qn_fits_dense_by4(f);

	return why != NULL ? why : dense_differs(f);
}

const char *
qn_fits_conv2d_narrow(const qn_step_facts *f)
{
	return conv_differs(f);
}

const char *
qn_fits_conv2d_by4_narrow(const qn_step_facts *f)
{
	const char *why = qn_fits_conv2d_by4(f);

	return why != NULL ? why : conv_differs(f);
}

const char *
qn_fits_depthwise_by4_narrow(const qn_step_facts *f)
{
	const char *why = qn_fits_depthwise_by4(f);

	return why != NULL ? why : conv_differs(f);
}

/* The biases with 32 bits, and how many they are; NULL for a layer without them. */
static int32_t *
narrow_bias(const qn_layer *l, int32_t *n, qn_arena *a)
{
	*n = l->bias != NULL ? l->channels : 0;
	if (l->bias == NULL)
		return NULL;
	int32_t *bias = QN_NEW(a, int32_t, (size_t)l->channels);

	for (int32_t o = 0; o < l->channels; o++)
		bias[o] = (int32_t)qn_tensor_i64(l->bias, o);
	return bias;
}

void *
qn_pack_dense_narrow(const qn_step_facts *f, qn_arena *a)
{
	const qn_layer l = qn_layer_of_dense(f, 0);
	qn_dense_narrow_packed *d = QN_NEW(a, qn_dense_narrow_packed, 1);

	d->args = *(const qn_dense_args *)f->step->args;
	d->args.bias = narrow_bias(&l, &d->biases, a);
	return d;
}

void *
qn_pack_conv2d_narrow(const qn_step_facts *f, qn_arena *a)
{
	const qn_layer l = qn_layer_of_conv(f, 0);
	qn_by4_packed *d = QN_NEW(a, qn_by4_packed, 1);

	d->args = ((const qn_conv2d_call *)f->step->args)->args;
	d->args.bias = narrow_bias(&l, &d->biases, a);
	return d;
}

void *
qn_pack_depthwise_by4_narrow(const qn_step_facts *f, qn_arena *a)
{
	const qn_layer l = qn_layer_of_conv(f, 0);
	qn_by4_packed *d = qn_pack_depthwise_by4(f, a);

	d->args.bias = narrow_bias(&l, &d->biases, a);
	return d;
}
