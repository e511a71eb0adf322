/* SPDX-License-Identifier: Apache-2.0 */
/* vectors.c - the instructions for vectors and the kernels over them give the bytes of their definitions in
 * C: on random arguments, here or on a microcontroller (vectors.sh). */
#include "tests/mcu/jobs.h"
#include "tests/mcu/pool.h"
#include "tests/mcu/product.h"
#include "tests/mcu/vectors.h"

enum { BYTES = 36000, WORDS = 256, FEW_WORDS = 16, JOBS = 1200 };

static int8_t x[BYTES], y[BYTES], w[BYTES], all_w[BYTES], native[BYTES], portable[BYTES];
static _Alignas(int32_t) int8_t work[BYTES]; /* words first, where blocks have offsets */
static int32_t words[WORDS];
static int16_t halves[BYTES / 2];
/* Of blocks of so many channels: bias, multipliers, shifts. */
static void
draw_scales(int32_t block)
{
	const int32_t size = 2 * block + block / 4;

	for (int32_t i = 0; i < WORDS; i++) {
		const int32_t at = i % size;

		words[i] = at < block ? pick(-100000, 100000)
			   : at < 2 * block
				   ? pick(1 << 30, INT32_MAX)
				   : (int32_t)((uint32_t)(0xf0 | pick(0, 15)) * 0x01010101u ^
					       (uint32_t)pick(0, 3) << 8 * pick(0, 3));
	}
}

static void
draw_conv(job *j, int deep, int32_t block)
{
	qn_vector_args *a = &j->conv;

	memset(a, 0, sizeof(*a));
	a->batch = pick(1, 2);
	a->in_c = deep || block == 16 || pick(0, 1) == 0 ? pick(1, 40) : 16 * pick(1, 5);
	a->out_c = deep ? a->in_c : pick(1, block == 16 ? 48 : 17);
	a->k_h = pick(0, 1) == 0 ? 3 : pick(1, 4);
	a->k_w = pick(0, 1) == 0 ? a->k_h : pick(1, 4);
	a->stride_h = pick(1, 3);
	a->stride_w = pick(0, 1) == 0 ? a->stride_h : pick(1, 3);
	a->dil_h = deep ? 1 : pick(1, 2);
	a->dil_w = deep ? 1 : pick(1, 2);
	a->pad_t = pick(0, 3);
	a->pad_l = pick(0, 3);
	a->in_h = pick(1, 8);
	a->in_w = pick(1, 8);
	a->out_h = pick(1, 7);
	a->out_w = pick(1, 7);
	if (pick(0, 3) == 0) {
		a->k_h = a->k_w = a->stride_h = a->stride_w = 1;
		a->pad_t = a->pad_l = 0;
		a->out_h = a->in_h;
		a->out_w = a->in_w;
	}
	a->zi = pick(-128, 127);
	a->zo = pick(-128, 127);
	a->lo = pick(0, 1) == 0 ? -128 : pick(-128, 0);
	a->hi = pick(0, 1) == 0 ? 127 : pick(1, 127);
	a->away = pick(0, 1);
	a->w = w;
	a->scale = words;
	a->ring = qn_depthwise_vector_ring(a);
	draw_scales(block);
}

/* Four bytes up to `most`. */
static int32_t
bytes_up_to(int32_t most)
{
	return pick(0, most) | pick(0, most) << 8 | pick(0, most) << 16 | pick(0, most) << 24;
}

/* Of blocks of eight channels with multipliers of 0.5 or more: bias, multipliers, shifts, those to the left before and
 * after. */
static void
draw_lefts(job *j)
{
	draw_conv(j, 1, 8);
	j->conv.ring = j->conv.k_h;
	for (int32_t i = 0; i < WORDS; i++) {
		const int32_t at = i % 22;

		words[i] = at < 8    ? pick(-100000, 100000)
			   : at < 16 ? pick(1 << 30, INT32_MAX)
			   : at < 18 ? (int32_t)((uint32_t)(0xf0 | pick(0, 15)) * 0x01010101u)
				     : bytes_up_to(at < 20 ? 9 : 1);
	}
}

static void
draw_dense(job *j)
{
	j->dense = (qn_dense_vector_args){.batch = pick(1, 2),
					  .in = pick(1, 200),
					  .out = pick(1, 40),
					  .zo = pick(-128, 127),
					  .lo = -128,
					  .hi = 127,
					  .away = pick(0, 1),
					  .w = w,
					  .scale = words};
	draw_scales(8);
}

/* Weights in blocks, of which a long one has more products than 16 bits take; -128 among them or not. */
static void
draw_blocks(job *j)
{
	const int32_t blocks = pick(1, 5), offsets = pick(0, 1), narrow = pick(0, 1);
	int32_t *to = words, in = 0;

	draw_dense(j);
	*to++ = blocks;
	*to++ = offsets + (narrow || j->four ? 2 : 0);
	for (int32_t i = 0; i < blocks; i++, in += 16 * *to++)
		*to = pick(0, 2) > 0 ? pick(1, 4) : pick(1, 20);
	j->dense.in = in - pick(0, 15);
	j->dense.out = pick(1, 17);
	j->dense.w = narrow ? w : all_w;
	for (int32_t o = 0; o < j->dense.out; o += 8) {
		for (int32_t i = 0; i < 16; i++)
			*to++ = i < 8 ? pick(-100000, 100000) : pick(1 << 30, INT32_MAX);
		for (int32_t i = 0; i < 2; i++)
			*to++ = (int32_t)((uint32_t)(0xf0 | pick(0, 15)) * 0x01010101u);
		for (int32_t i = 0; i < 8 * blocks; i++)
			*to++ = offsets != 0
					? pick(INT16_MIN, INT16_MAX) * 65536 + pick(0, UINT16_MAX)
					: pick(INT16_MIN, INT16_MAX);
	}
}

static void
draw_matmul(job *j)
{
	draw_product(&j->matmul, j->kind == JOB_MATMUL);
	draw_halves(halves, x, BYTES);
	j->a = halves;
	j->b = halves + PRODUCT_ROWS * PRODUCT_TERMS;
}

/* Layers of up to 2,100 inputs, whose products are more than 32 bits hold, or of blocks; of some, all inputs are ends. */
static void
draw_rows16(job *j)
{
	qn_dense_args64 *p = &j->rows16;
	static int8_t shift[12];

	*p = (qn_dense_args64){.batch = pick(1, 2),
			       .in = pick(0, 3) == 0 ? pick(1, 2100) : pick(1, 100),
			       .out = pick(1, 12),
			       .lo = INT16_MIN,
			       .hi = INT16_MAX,
			       .mode = QN_RQ_SINGLE,
			       .mult_n = 1,
			       .mult = words,
			       .shift = shift,
			       .w = pick(0, 1) == 0 ? y : w};
	for (int32_t i = 0; i < 12; i++) {
		words[i] = pick(1 << 30, INT32_MAX);
		shift[i] = (int8_t)-pick(8, 31);
	}
	draw_halves(halves, x, BYTES);
	j->a = halves;
	j->blocks16 = (qn_dense_blocks_args64){.batch = p->batch,
					       .in = p->in,
					       .out = p->out,
					       .block = pick(0, 1) * (p->in / 64 + pick(1, 70)),
					       .lo = p->lo,
					       .hi = p->hi,
					       .mode = p->mode,
					       .mult_n = 1,
					       .mult = words,
					       .shift = shift,
					       .w = p->w,
					       .mantissa = halves + 4200};
}

static void
draw(job *j, int n)
{
	j->kind = (job_kind)pick(JOB_PRIMITIVES, JOB_MATMUL8);
	j->four = pick(0, 1);
	if (n % 16 == 0) {
		draw_bytes(x, BYTES, -128);
		draw_bytes(y, BYTES, -128);
		draw_bytes(w, BYTES, -127); /* neighbouring products of depthwise weights fit */
		draw_bytes(all_w, BYTES, -128);
		for (int32_t i = 0; i < BYTES; i++) /* two of -128 do not fit eight inputs apart */
			if (i % 16 >= 8 && all_w[i] == -128)
				all_w[i] = -127;
	}
	for (int32_t i = 0; i < FEW_WORDS; i++)
		words[i] = pick(0, 3) > 0 ? (int32_t)((uint32_t)pick(0, INT32_MAX) << pick(0, 31))
			   : pick(0, 1) == 0 ? INT32_MIN
					     : INT32_MAX;
	if (j->kind == JOB_CONV)
		draw_conv(j, 0, 4);
	else if (j->kind == JOB_WIDE)
		draw_conv(j, 0, 16);
	else if (j->kind == JOB_DEPTHWISE)
		draw_conv(j, 1, 8);
	else if (j->kind == JOB_DEPTHWISE_UP)
		draw_lefts(j);
	else if (j->kind == JOB_DENSE)
		draw_dense(j);
	else if (j->kind == JOB_BLOCKS)
		draw_blocks(j);
	else if (j->kind == JOB_POOL)
		draw_pool(&j->pool, 8);
	else if (j->kind == JOB_MATMUL || j->kind == JOB_MATMUL8)
		draw_matmul(j);
	else if (j->kind == JOB_ROWS16)
		draw_rows16(j);
	else
		j->add = (qn_add_linear_args){.n = pick(1, 300),
					      .a = pick(-3000000, 3000000),
					      .b = pick(-3000000, 3000000),
					      .c = pick(-30000000, 30000000),
					      .shift = pick(14, 23),
					      .lo = pick(-128, 0),
					      .hi = pick(0, 127)};
}

COUNT_EQUAL(z)

int
mcu_main(void)
{
	job j = {.x = x + 1, .y = y + 2, .words = words, .work = work};
	const int n = count_equal(&j);

	return report_jobs(n, JOBS, (int)j.kind, native_vectors());
}
