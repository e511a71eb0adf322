/* SPDX-License-Identifier: Apache-2.0 */
/* bits4.c - see bits4.h.
 *
 *   four channels (a, b, c, d), inputs 0 to 3, each weight but those of d 8 more
 *       word 0  4096 d[0] + 256 c[0] + 16 b[0] + a[0]  |  the same of input 2
 *       word 1  the same of input 1                    |  the same of input 3
 *
 * Sums with inputs of i8 keep that many bits above those that are multiplied in:
 *
 *   4096 D          |D| < 2^19, without its bias, which is added later
 *   256 (C + 8 X)   |C + 8 X| < 2^23 with the bias; X is the sum of the inputs
 *   16 (B + 8 X)    |B + 8 X| < 2^27 with the bias */
#include "codegen/bits4.h"

enum { MORE = 8, MOST_INPUT = 128 };

const char *
qn_fours_differ(const qn_layer *l)
{
	static const int64_t limit[4] = {INT64_MAX, 1 << 27, 1 << 23, 1 << 19};

	for (int32_t o = 0; o < l->channels; o++) {
		int64_t sum = 0, raised = 0;
		int32_t bias, m, n;

		qn_layer_scale(l, o, &bias, &m, &n);
		for (int64_t k = 0; k < l->depth; k++) {
			const int64_t w = qn_tensor_i64(l->w, o * l->depth + k);

			sum += w < 0 ? -w : w;
			raised += (w > 0 ? w : 0) + MORE; /* of constant channels weights are 0 */
		}
		const int64_t reach =
			o % 4 == 3 ? MOST_INPUT * sum
				   : MOST_INPUT * raised + (bias < 0 ? -(int64_t)bias : bias);
		if (reach >= limit[o % 4])
			return "the sums of a channel may be too large for four of them in a word";
	}
	return NULL;
}

static uint32_t
half_of_four(const qn_layer *l, int64_t channel, int64_t k)
{
	uint32_t half = ((uint32_t)qn_layer_weight(l, channel + 3, k) & 15u) << 12;

	for (int64_t i = 0; i < 3; i++)
		half |= (uint32_t)(qn_layer_weight(l, channel + i, k) + MORE) << 4 * i;
	return half;
}

uint32_t
qn_pack_four(const qn_layer *l, int64_t channel, int64_t k)
{
	return half_of_four(l, channel, k) | half_of_four(l, channel, k + 2) << 16;
}

/* What the sums of four channels begin with. */
static uint32_t *
pack_begin(const qn_layer *l, int64_t channel, uint32_t *to)
{
	uint32_t sum = 0;

	for (int32_t i = 0; i < 3; i++) {
		int32_t bias, m, n;

		qn_layer_scale(l, channel + i, &bias, &m, &n);
		sum += (uint32_t)bias << 4 * i;
		to[2 - i] = sum;
	}
	return to + 3;
}

static uint32_t *
pack_scales(const qn_layer *l, int64_t channel, uint32_t *to)
{
	for (int32_t i = 0; i < 4; i++) {
		int32_t bias, m, n;

		qn_layer_scale(l, channel + i, &bias, &m, &n);
		if (i == 3)
			*to++ = 2 * (uint32_t)bias;
		*to++ = (uint32_t)m;
		*to++ = (uint32_t)n;
	}
	return to;
}

uint32_t *
qn_pack_fours(const qn_layer *l, int32_t fours, int32_t *n, qn_arena *a)
{
	const int64_t inputs = (l->depth + 3) / 4 * 4, block = 4 * (int64_t)fours,
		      blocks = (l->channels + block - 1) / block;
	uint32_t *w = QN_NEW(a, uint32_t, (size_t)(blocks * fours * (12 + inputs / 2))), *to = w;

	for (int64_t o = 0; o < blocks * block; o += block) {
		for (int64_t c = o; c < o + block; c += 4)
			to = pack_begin(l, c, to);
		for (int64_t k = 0; k < inputs; k += 4)
			for (int64_t j = 0; j < 2 * fours; j++) {
				const int64_t c = o + j % fours * 4, i = k + j / fours;

				*to++ = qn_pack_four(l, c, i);
			}
		for (int64_t c = o; c < o + block; c += 4)
			to = pack_scales(l, c, to);
	}
	*n = (int32_t)(to - w);
	return w;
}

uint32_t
qn_pack_nibbles(const qn_layer *l, int64_t channel, int64_t k)
{
	uint32_t word = 0;

	for (int64_t i = 0; i < 8; i++)
		word |= ((uint32_t)qn_layer_weight(l, channel, k + i) & 15u) << 4 * i;
	return word;
}

int8_t
qn_both4(int32_t low, int32_t high)
{
	const int32_t byte = (low & 15) + 16 * (high & 15);

	return (int8_t)(byte < 128 ? byte : byte - 256);
}
