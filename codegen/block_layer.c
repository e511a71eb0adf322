/* SPDX-License-Identifier: Apache-2.0 */
/* block_layer.c - see block_layer.h. */
#include "codegen/block_layer.h"

const qn_conv2d_blocks_args *
qn_block_conv_args(const qn_step_facts *f)
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

/* Zero points of -1, as blocks of Q4_0 with scales below 0 have them, need no offset:
 *
 *     mantissa * (w + 1) == -mantissa * (-1 - w)
 *
 * and -1 - w has the bits of w.  So where all zero points are 0 or -1, mantissas get a sign. */
static void
take_turned(qn_block_layer *b, qn_arena *a)
{
	const size_t n = (size_t)b->l.channels * (size_t)b->blocks;
	int64_t at = 0;
	void *data;

	for (size_t i = 0; b->offset != NULL && i < n; i++)
		if (b->offset[i] != 0 && b->offset[i] != b->mantissa[i])
			return;
	if (b->offset == NULL)
		return;
	int16_t *mantissa = qn_arena_copy(a, b->mantissa, n * sizeof *mantissa);
	qn_tensor *w = qn_tensor_new(a, b->l.w->type, &data);
	for (size_t i = 0; i < n; i++) {
		const bool turned = b->offset[i] != 0;

		if (turned)
			mantissa[i] = (int16_t)-mantissa[i];
		for (int32_t k = b->length[i % (size_t)b->blocks]; k > 0; k--, at++) {
			const int64_t v = qn_tensor_i64(b->l.w, at);

			qn_store_i64(data, w->type->elem->plain, at, turned ? -1 - v : v);
		}
	}
	b->l.w = w;
	b->mantissa = mantissa;
	b->offset = NULL;
}

/* The layer; NULL, and *why. */
qn_block_layer *
qn_block_layer_of(const qn_step_facts *f, qn_arena *a, const char **why)
{
	const bool is_dense = f->core->op == QN_OP_dense;
	const qn_node *w = qn_graph_node(f->g, f->step->in[1]);
	const qn_dense_blocks_args *d = is_dense ? f->step->args : NULL;
	const qn_conv2d_blocks_args *c = is_dense ? NULL : qn_block_conv_args(f);
	qn_block_layer *b = QN_NEW(a, qn_block_layer, 1);

	b->l = (qn_layer){.w = w->op == QN_OP_const ? w->value : NULL,
			  .r = f->step->epilogue[0].args,
			  .bits = w->type->elem->bits,
			  .depth = is_dense ? d->in : c->k_h * c->k_w * c->in_c,
			  .channels = is_dense ? d->out : c->out_c,
			  .zi = is_dense ? d->zi : c->zi};
	if (f->core->nin > 2)
		b->l.bias = qn_graph_node(f->g, f->step->in[2])->value;
	b->l.constant = QN_NEW(a, bool, (size_t)b->l.channels);
	b->mantissa = is_dense ? d->mantissa : c->mantissa;
	b->offset = is_dense ? d->offset : c->offset;
	if (b->l.w == NULL || (b->l.bits != 8 && b->l.bits != 4 && b->l.bits != 2))
		*why = "its weights are not a constant of 8, 4 or 2 bits";
	else if (!is_dense && c->groups != 1)
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
	take_turned(b, a);
	return b;
}

int64_t
qn_block_layer_bias(const qn_block_layer *b, int32_t channel, int64_t *reach)
{
	int64_t sum = b->l.bias != NULL ? qn_tensor_i64(b->l.bias, channel) : 0;
	int64_t at = channel * b->l.depth;

	*reach = 0;
	for (int32_t i = 0; i < b->blocks; i++) {
		const int64_t m = qn_block_mantissa(b, channel, i),
			      z = qn_block_offset(b, channel, i);

		for (int32_t k = 0; k < b->length[i]; k++) {
			const int64_t w = m * qn_tensor_i64(b->l.w, at++);

			sum -= b->l.zi * (w + z);
			*reach += 128 * ((w < 0 ? -w : w) + (z < 0 ? -z : z));
		}
	}
	return sum;
}

const char *
qn_block_lengths_differ(const qn_block_layer *b, int32_t most, int32_t multiple)
{
	for (int32_t i = 0; i < b->blocks; i++)
		if (b->length[i] > most || (i + 1 < b->blocks && b->length[i] % multiple != 0))
			return "its blocks are too long, or do not begin at a multiple of what it "
			       "takes at once";
	return NULL;
}

const char *
qn_block_layer_differs(const qn_step_facts *f, const qn_block_layer *b,
		       const qn_block_limits *limits)
{
	const qn_requantize_args *r = b->l.r;

	if (f->core->type->elem->bits != 32)
		return "its sums have 64 bits";
	if (b->offset != NULL && !limits->offsets)
		return "its blocks have zero points";
	if ((limits->bits >> b->l.bits & 1) == 0)
		return "its weights have other bits";
	const char *why = qn_block_lengths_differ(b, limits->block, limits->multiple);
	if (why != NULL)
		return why;
	for (int32_t o = 0; o < b->l.channels; o++) {
		const int32_t i = r->mult_n == 1 ? 0 : o;
		int64_t reach;
		const int64_t bias = qn_block_layer_bias(b, o, &reach);

		if (r->mult[i] != 0 && (r->shift[i] >= 0 || -r->shift[i] - 1 > limits->shift))
			return "a multiplier is 0.5 or more, or too small";
		if ((bias < 0 ? -bias : bias) + reach >= limits->sum)
			return "the sums of a channel may be too large";
		if (qn_layer_ties_differ(r, i, bias - reach, bias + reach))
			return qn_layer_has_ties;
	}
	return NULL;
}

int32_t
qn_block_mantissa(const qn_block_layer *b, int32_t channel, int32_t block)
{
	return channel < b->l.channels ? b->mantissa[channel * b->blocks + block] : 0;
}

int32_t
qn_block_offset(const qn_block_layer *b, int32_t channel, int32_t block)
{
	return channel < b->l.channels && b->offset != NULL ? b->offset[channel * b->blocks + block]
							    : 0;
}
