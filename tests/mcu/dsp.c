/* SPDX-License-Identifier: Apache-2.0 */
/* dsp.c - the instructions of the DSP extension and the kernels over them give the bytes of their definitions
 * in C: on random arguments, on a microcontroller (kernels.sh). */
#include "tests/mcu/dsp.h"
#include "tests/mcu/jobs.h"
#include "tests/mcu/pool.h"
#include "tests/mcu/product.h"

enum { BYTES = 20000, WORDS = 11000, WORK = 6000, FEW_WORDS = 8, JOBS = 800 };

static int8_t x[BYTES], native[BYTES], portable[BYTES];
static int16_t halves[BYTES / 2];
static uint32_t w[WORDS], words[FEW_WORDS], work[WORK];

/* Constants of blocks: `head` words of sums, `body` of weights, scales of n and what is between them. */
static void
draw_words(int32_t head, int32_t body, int32_t channels, int32_t scale)
{
	for (int32_t at = 0; at < WORDS;) {
		for (int32_t i = 0; i < head && at < WORDS; i++)
			w[at++] = (uint32_t)pick(-100000, 100000);
		for (int32_t i = 0; i < body && at < WORDS; i++)
			w[at++] = (uint32_t)pick(-1152, 1152) << 16 |
				  ((uint32_t)pick(-1152, 1152) & 0xffffu);
		for (int32_t i = 0; i < channels && at + scale <= WORDS; i++) {
			const uint32_t n = (uint32_t)pick(0, 21);

			w[at++] = (uint32_t)pick(1 << 30, INT32_MAX);
			if (scale == 3)
				w[at++] = (2 * (uint32_t)pick(-128, 127) + 1) * (2u << n) + 1;
			w[at++] = scale == 3 ? n + 1 : n;
		}
		if (channels > 0 && WORDS - at < scale)
			break;
	}
}

/* The same of blocks of four channels with the biases of second ones before their scales. */
static void
draw_apart(int32_t body)
{
	for (int32_t at = 0; at + 14 + body <= WORDS;) {
		for (int32_t i = 0; i < 4; i++)
			w[at++] = (uint32_t)pick(-100000, 100000);
		for (int32_t i = 0; i < body; i++)
			w[at++] = (uint32_t)pick(-1152, 1152) << 16 |
				  ((uint32_t)pick(-1152, 1152) & 0xffffu);
		for (int32_t i = 0; i < 4; i++) {
			if (i % 2 != 0)
				w[at++] = (uint32_t)pick(-(1 << 30), 1 << 30);
			w[at++] = (uint32_t)pick(1 << 30, INT32_MAX);
			w[at++] = (uint32_t)pick(0, 21);
		}
	}
}

static uint32_t
any_word(void)
{
	return (uint32_t)pick(0, 0xffff) << 16 | (uint32_t)pick(0, 0xffff);
}

/* Constants of blocks of so many times four channels with weights of 4 bits: sums, `body` words, scales. */
static void
draw_fours(int32_t fours, int32_t body)
{
	const int32_t head = 3 * fours, block = head + body + 9 * fours;

	for (int32_t at = 0; at < WORDS; at++) {
		const int32_t i = at % block, scale = (i - head - body) % 9;

		if (i < head)
			w[at] = (uint32_t)pick(-100000, 100000);
		else if (i < head + body)
			w[at] = any_word();
		else if (scale == 6)
			w[at] = (uint32_t)pick(-100000, 100000);
		else if (scale == 7 || (scale < 6 && scale % 2 == 0))
			w[at] = (uint32_t)pick(1 << 30, INT32_MAX);
		else
			w[at] = (uint32_t)pick(0, 21);
	}
}

/* The same of depthwise layers: eight weights, twice the bias, multiplier, shift and the ninth weight. */
static void
draw_depthwise_fours(void)
{
	for (int32_t at = 0; at < WORDS; at += 4) {
		w[at] = any_word();
		w[at + 1] = (uint32_t)pick(-200000, 200000);
		w[at + 2] = (uint32_t)pick(1 << 30, INT32_MAX);
		w[at + 3] = (any_word() & 0xf0000000u) | (uint32_t)pick(0, 21);
	}
}

/* Three taps of a row are w0 w1 w1 w2, and sums are twice what they are. */
static void
draw_depthwise_words(void)
{
	draw_words(0, 4, 1, 2);
	for (int32_t at = 0; at < WORDS; at++)
		if (at % 6 < 3)
			w[at] = (w[at] & 0xff0000ffu) | (w[at] >> 16 & 0xffu) * 0x10100u;
		else if (at % 6 == 3)
			w[at] *= 2;
}

/* Bias, multiplier and n of four channels, `up` with shifts to the left, then a word of weights for each tap. */
static void
draw_depthwise_any_words(int32_t taps, int up)
{
	for (int32_t at = 0; at + 12 + taps <= WORDS;) {
		for (int32_t i = 0; i < 4; i++) {
			w[at++] = (uint32_t)pick(-100000, 100000);
			w[at++] = (uint32_t)pick(1 << 30, INT32_MAX);
			w[at++] = (uint32_t)(pick(0, 21) +
					     (up ? 256 * pick(0, 9) + 65536 * pick(0, 1) : 0));
		}
		for (int32_t i = 0; i < taps; i++)
			w[at++] = (uint32_t)pick(0, INT32_MAX) * 3u;
	}
}

/* Windows of any size with gaps. */
static void
draw_windows(qn_dsp_args *a, int same)
{
	a->k_h = same ? 1 + 2 * pick(0, 2) : pick(1, 5);
	a->k_w = same ? 1 + 2 * pick(0, 2) : pick(1, 6);
	a->dil_h = pick(1, 2);
	a->dil_w = pick(1, 2);
	if (!same)
		return;
	a->pad_t = (a->k_h - 1) * a->dil_h / 2;
	a->pad_l = (a->k_w - 1) * a->dil_w / 2;
}

static void
draw_conv(job *j)
{
	qn_dsp_args *a = &j->conv;
	const int same = pick(0, 2) == 0,
		  any = j->kind == JOB_DEPTHWISE_ANY || j->kind == JOB_DEPTHWISE_UP,
		  deep = any || j->kind == JOB_DEPTHWISE, wino = j->kind == JOB_WINOGRAD;

	*a = (qn_dsp_args){.batch = pick(1, 2), .dil_h = 1, .dil_w = 1, .w = w};
	a->in_c = deep ? pick(4, 13) : pick(0, 1) == 0 ? 4 * pick(1, 9) : pick(1, 21);
	a->out_c = deep || same ? a->in_c : pick(1, 14);
	a->k_h = deep || wino || same ? 3 : pick(1, 4);
	a->k_w = deep || wino || same ? 3 : pick(1, 4);
	a->stride_h = wino || same ? 1 : pick(1, 2);
	a->stride_w = wino || same ? 1 : pick(1, 2);
	a->pad_t = same ? 1 : pick(0, 2);
	a->pad_l = same ? 1 : pick(0, 2);
	if (any)
		draw_windows(a, same);
	a->out_h = pick(1, 7);
	a->out_w = deep && pick(0, 3) == 0 ? pick(20, 60)
					   : pick(1, 9); /* or more rows than are made at a time */
	a->in_h = same ? a->out_h : pick(1, 8);
	a->in_w = same || a->out_w > 9 ? a->out_w : pick(1, 9);
	a->zi = pick(-128, 127);
	a->zo = pick(-128, 127);
	a->lo = pick(0, 1) == 0 ? -128 : pick(-128, 0);
	a->hi = pick(0, 1) == 0 ? 127 : pick(1, 127);
	j->over = same && (!deep || a->in_c % 4 == 0) && pick(0, 1) == 0;
	if (wino)
		draw_words(4, (a->in_c + 3) / 4 * 128, 4, 3);
	else if (any)
		draw_depthwise_any_words(a->k_h * a->k_w, j->kind == JOB_DEPTHWISE_UP);
	else if (deep && j->four)
		draw_depthwise_fours();
	else if (deep)
		draw_depthwise_words();
	else if (j->kind == JOB_CONV_APART)
		draw_apart((a->k_h * a->k_w * a->in_c + 3) / 4 * 4);
	else if (j->four)
		draw_fours(1, (a->k_h * a->k_w * a->in_c + 3) / 4 * 2);
	else
		draw_words(4, (a->k_h * a->k_w * a->in_c + 3) / 4 * 4, 4, 2);
}

/* Words of bytes, then bias, multiplier and shift of so many channels, or these first. */
static void
draw_words16(int32_t body, int first, int32_t channels)
{
	for (int32_t at = 0; at < WORDS; at++) {
		const int32_t i = at % (body + 3 * channels), scale = first ? i : i - body;

		w[at] = scale < 0 || scale >= 3 * channels ? any_word()
			: scale % 3 == 0                   ? (uint32_t)pick(-1000000, 1000000)
			: scale % 3 == 1                   ? (uint32_t)pick(0, INT32_MAX)
							   : (uint32_t)pick(1, 14);
	}
}

static void
draw_conv16(job *j)
{
	const int deep = j->kind == JOB_DEPTHWISE16;
	qn_dsp_args *a = &j->conv;

	*a = (qn_dsp_args){.batch = pick(1, 2), .dil_h = 1, .dil_w = 1, .w = w};
	a->k_h = pick(1, 3);
	a->k_w = pick(1, 3);
	a->in_c = deep ? pick(4, 13) : pick(1, 9);
	a->out_c = deep ? a->in_c : pick(1, 9);
	a->stride_h = pick(1, 2);
	a->stride_w = pick(1, 2);
	a->pad_t = pick(0, 1);
	a->pad_l = pick(0, 1);
	a->in_h = pick(3, 7);
	a->in_w = pick(3, 7);
	a->out_h = pick(1, 5);
	a->out_w = pick(1, 5);
	a->lo = -32768;
	a->hi = pick(0, 32767);
	draw_halves(halves, x, BYTES);
	j->a = halves;
	const int32_t taps = a->k_h * a->k_w;
	draw_words16(deep ? taps : (taps * a->in_c + 3) / 4 * 4, deep, 4);
}

static void
draw_dense16(job *j)
{
	j->wide = (qn_dense_rows16_args){.batch = pick(1, 3),
					 .in = pick(1, 120),
					 .out = pick(1, 20),
					 .lo = -32768,
					 .hi = pick(0, 32767),
					 .w = w};
	draw_halves(halves, x, BYTES);
	j->a = halves;
	draw_words16((j->wide.in + 3) / 4 * 8, 0, 8);
}

static void
draw(job *j, int n)
{
	j->kind = pick(JOB_PRIMITIVES, JOB_MATMUL16);
	j->relu = pick(0, 1);
	j->four = pick(0, 1);
	j->over = 0;
	if (n % 16 == 0)
		draw_bytes(x, BYTES, -128);
	for (int32_t i = 0; i < FEW_WORDS; i++)
		words[i] = pick(0, 3) > 0    ? (uint32_t)pick(0, INT32_MAX) << pick(0, 31)
			   : pick(0, 1) == 0 ? 0x80008000u
					     : 0x7fff7fffu;
	if (j->kind == JOB_DENSE) {
		j->dense = (qn_dense_dsp_args){.batch = pick(1, 2),
					       .in = pick(1, 100),
					       .out = pick(1, 20),
					       .zo = pick(-128, 127),
					       .lo = -128,
					       .hi = pick(0, 127),
					       .w = w};
		if (j->four)
			draw_fours(2, (j->dense.in + 3) / 4 * 4);
		else
			draw_words(8, (j->dense.in + 3) / 4 * 8, 8, 2);
	} else if (j->kind == JOB_DENSE_LONG) { /* parts of 504 inputs: one, or up to five */
		j->dense = (qn_dense_dsp_args){.batch = pick(1, 2),
					       .in = pick(0, 2) == 0 ? 504 * pick(1, 4)
								     : pick(1, 2400),
					       .out = pick(1, 16),
					       .zo = pick(-128, 127),
					       .lo = pick(-128, 0),
					       .hi = 127,
					       .w = w};
		draw_words(8, (j->dense.in + 3) / 4 * 8, 8, 2);
	} else if (j->kind == JOB_MATMUL8 || j->kind == JOB_MATMUL16) {
		draw_product(&j->matmul, j->kind == JOB_MATMUL16);
		draw_halves(halves, x, BYTES);
		j->a = halves;
		j->b = halves + PRODUCT_ROWS * PRODUCT_TERMS;
	} else if (j->kind == JOB_CONV16 || j->kind == JOB_DEPTHWISE16) {
		draw_conv16(j);
	} else if (j->kind == JOB_DENSE16) {
		draw_dense16(j);
	} else if (j->kind == JOB_POOL) {
		draw_pool(&j->pool, j->four ? 8 : 4);
	} else if (j->kind != JOB_PRIMITIVES) {
		draw_conv(j);
	}
}

COUNT_EQUAL(z)

int
mcu_main(void)
{
	job j = {.x = x + 1, .words = words, .work = work};
	const int n = count_equal(&j);

	return report_jobs(n, JOBS, j.kind, native_dsp());
}
