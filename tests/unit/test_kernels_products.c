/* SPDX-License-Identifier: Apache-2.0 */
/* test_kernels_products.c - the kernels of products.h against the plain ones of dense.h and conv2d.h,
 * byte for byte: every family, sizes that four does not divide, one pixel, windows in the border
 * alone, all four roundings, random and extreme data and weights.
 * Kernels of 16-bit values with 32-bit sums against those with 64-bit sums. */
#include <stdio.h>
#include <string.h>

#include "runtime/kernels/products.h"
#include "runtime/kernels/products_transpose.h"
#include "tests/unit/kernel_rig.h"

enum { ROUNDS = 400 };

/* What stands around the arguments: constants, codes and results in memory of exactly their size. */
typedef struct rig {
	int8_t *w, *shift, *transposed;
	int32_t *mult, *bias;
	int64_t *bias64;
	void *x, *got, *want;
} rig;

static void
release(const rig *r)
{
	free(r->w);
	free(r->shift);
	free(r->transposed);
	free(r->mult);
	free(r->bias);
	free(r->bias64);
	free(r->x);
	free(r->got);
	free(r->want);
}

static void *
exactly(size_t n)
{
	void *p = malloc(n);

	assert_non_null(p);
	memset(p, 0, n);
	return p;
}

/* Random, or the least or largest value everywhere. */
static int32_t
draw(int how, int32_t lo, int32_t hi)
{
	return how == 0 ? lo : how == 1 ? hi : pick(lo, hi);
}

static void
fill_codes(void *x, int32_t n, int32_t bytes, int32_t lo, int32_t hi)
{
	const int how = pick(0, 9);

	for (int32_t i = 0; i < n; i++) {
		const int32_t v = draw(how, lo, hi);

		if (bytes == 2)
			((int16_t *)x)[i] = (int16_t)v;
		else
			((uint8_t *)x)[i] = (uint8_t)v;
	}
}

/* nx codes of so many bytes in, ny out, nw weights, channels. */
static rig
rig_new(int32_t bytes, int32_t lo, int32_t hi, int32_t nx, int32_t ny, int32_t nw, int32_t channels)
{
	const int how = pick(0, 9);
	rig r = {
		.w = exactly((size_t)nw),
		.shift = exactly((size_t)channels),
		.transposed = exactly((size_t)nw),
		.mult = exactly((size_t)channels * 4),
		.bias = exactly((size_t)channels * 4),
		.bias64 = exactly((size_t)channels * 8),
		.x = exactly((size_t)(nx * bytes)),
		.got = exactly((size_t)(ny * bytes)),
		.want = exactly((size_t)(ny * bytes)),
	};

	fill_codes(r.x, nx, bytes, lo, hi);
	for (int32_t i = 0; i < nw; i++)
		r.w[i] = (int8_t)draw(how, -128, 127);
	for (int32_t i = 0; i < channels; i++) {
		r.bias64[i] = r.bias[i] = pick(-100000, 100000);
		r.mult[i] = pick(0, 15) == 0 ? 0 : pick(1 << 30, INT32_MAX);
		r.shift[i] = (int8_t)pick(-14, bytes == 2 ? -9 : 2);
	}
	return r;
}

/* Half of the rounds have no bias, a third one multiplier. */
#define COMMON(a, r, channels, lowest, highest)                                                    \
	do {                                                                                       \
		(a).zi = pick(lowest, highest);                                                    \
		(a).zo = pick(lowest, highest);                                                    \
		(a).lo = pick(lowest, (a).zo);                                                     \
		(a).hi = pick((a).zo, highest);                                                    \
		(a).mode = pick(0, 3);                                                             \
		(a).mult_n = pick(0, 2) == 0 ? 1 : (channels);                                     \
		(a).w = (r).w;                                                                     \
		(a).mult = (r).mult;                                                               \
		(a).shift = (r).shift;                                                             \
	} while (0)

/* Of n weights, so many of which are in a byte. */
#define BYTES(n, per_byte) (((n) + (per_byte)-1) / (per_byte))

/* ---- dense ---- */

#define DENSE(name, bytes, lowest, highest, per_byte, code, args, bias_of, plain, by_four)         \
	static void name(void **state)                                                             \
	{                                                                                          \
		(void)state;                                                                       \
		for (int round = 0; round < ROUNDS; round++) {                                     \
			args a = {.batch = pick(1, 3), .in = pick(1, 40), .out = pick(4, 13)};     \
			const int32_t ny = a.batch * a.out;                                        \
			rig r = rig_new(bytes, lowest, highest, a.batch * a.in, ny,                \
					BYTES(a.in * a.out, per_byte), a.out);                     \
                                                                                                   \
			COMMON(a, r, a.out, lowest, highest);                                      \
			a.bias = pick(0, 1) == 0 ? NULL : r.bias_of;                               \
			plain(&a, (const code *)r.x, (code *)r.want);                              \
			by_four(&a, (const code *)r.x, (code *)r.got);                             \
			assert_memory_equal(r.got, r.want, (size_t)(ny * (bytes)));                \
			release(&r);                                                               \
		}                                                                                  \
	}

DENSE(dense_s8, 1, -128, 127, 1, int8_t, qn_dense_args, bias, qn_dense_s8, qn_dense_by4_s8)
DENSE(dense_u8, 1, 0, 255, 1, uint8_t, qn_dense_args, bias, qn_dense_u8, qn_dense_by4_u8)
DENSE(dense_s16, 2, -32768, 32767, 1, int16_t, qn_dense_args64, bias64, qn_dense_s16,
      qn_dense_by4_s16)
DENSE(dense_s8w4, 1, -128, 127, 2, int8_t, qn_dense_args, bias, qn_dense_s8w4, qn_dense_by4_s8w4)
DENSE(dense_u8w4, 1, 0, 255, 2, uint8_t, qn_dense_args, bias, qn_dense_u8w4, qn_dense_by4_u8w4)
DENSE(dense_s16w4, 2, -32768, 32767, 2, int16_t, qn_dense_args64, bias64, qn_dense_s16w4,
      qn_dense_by4_s16w4)

/* The results of the kernels whose sums have 64 bits, for arguments of those with sums of 32. */
#define WIDE_DENSE(name, kernel)                                                                   \
	static void name(const qn_dense_args *a, const int16_t *x, int16_t *y)                     \
	{                                                                                          \
		int64_t bias[13];                                                                  \
		const qn_dense_args64 d = {WIDE_FIELDS(a, out), .in = a->in, .zw = a->zw};         \
                                                                                                   \
		kernel(&d, x, y);                                                                  \
	}
#define WIDE_FIELDS(a, channels)                                                                   \
	.batch = (a)->batch, .channels = (a)->channels, .zi = (a)->zi, .zo = (a)->zo,              \
	.lo = (a)->lo, .hi = (a)->hi, .mode = (a)->mode, .mult_n = (a)->mult_n, .w = (a)->w,       \
	.mult = (a)->mult, .shift = (a)->shift, .bias = widen((a)->bias, (a)->channels, bias)

static const int64_t *
widen(const int32_t *bias, int32_t n, int64_t *to)
{
	for (int32_t i = 0; i < n && bias != NULL; i++)
		to[i] = bias[i];
	return bias != NULL ? to : NULL;
}

WIDE_DENSE(dense_wide, qn_dense_s16)
WIDE_DENSE(dense_wide4, qn_dense_s16w4)
DENSE(dense_s16n, 2, -32768, 32767, 1, int16_t, qn_dense_args, bias, dense_wide, qn_dense_by4_s16n)
DENSE(dense_s16nw4, 2, -32768, 32767, 2, int16_t, qn_dense_args, bias, dense_wide4,
      qn_dense_by4_s16nw4)
DENSE(dense_plain_s16n, 2, -32768, 32767, 1, int16_t, qn_dense_args, bias, dense_wide,
      qn_dense_s16n)

/* ---- convolutions ---- */

/* How many windows of one axis stand in the input and its padding: any number is allowed, those in
 * the padding alone too. */
#define SHAPE(a)                                                                                   \
	do {                                                                                       \
		(a).batch = pick(1, 2);                                                            \
		(a).in_h = pick(1, 6);                                                             \
		(a).in_w = pick(1, 6);                                                             \
		(a).out_h = pick(1, 5);                                                            \
		(a).out_w = pick(1, 5);                                                            \
		(a).k_h = pick(1, 3);                                                              \
		(a).k_w = pick(1, 4);                                                              \
		(a).stride_h = pick(1, 3);                                                         \
		(a).stride_w = pick(1, 3);                                                         \
		(a).dil_h = pick(1, 2);                                                            \
		(a).dil_w = pick(1, 3);                                                            \
		(a).pad_t = pick(0, 4);                                                            \
		(a).pad_l = pick(0, 4);                                                            \
	} while (0)

#define CONV(name, bytes, lowest, highest, per_byte, code, args, bias_of, plain, by_four, most)    \
	static void name(void **state)                                                             \
	{                                                                                          \
		const code *rows[3];                                                               \
                                                                                                   \
		(void)state;                                                                       \
		for (int round = 0; round < ROUNDS; round++) {                                     \
			args a = {.in_c = pick(1, 5), .out_c = pick(4, 11), .groups = 1};          \
			SHAPE(a);                                                                  \
			if ((most) == 1)                                                           \
				a.dil_h = a.dil_w = 1;                                             \
			const int32_t ny = a.batch * a.out_h * a.out_w * a.out_c;                  \
			rig r = rig_new(                                                           \
				bytes, lowest, highest, a.batch * a.in_h * a.in_w * a.in_c, ny,    \
				BYTES(a.out_c * a.k_h * a.k_w * a.in_c, per_byte), a.out_c);       \
                                                                                                   \
			COMMON(a, r, a.out_c, lowest, highest);                                    \
			a.bias = pick(0, 1) == 0 ? NULL : r.bias_of;                               \
			plain(&a, (const code *)r.x, rows, (code *)r.want);                        \
			by_four(&a, (const code *)r.x, rows, (code *)r.got);                       \
			assert_memory_equal(r.got, r.want, (size_t)(ny * (bytes)));                \
			release(&r);                                                               \
		}                                                                                  \
	}

CONV(conv_s8, 1, -128, 127, 1, int8_t, qn_conv2d_args, bias, qn_conv2d_s8, qn_conv2d_by4_s8, 3)
CONV(conv_u8, 1, 0, 255, 1, uint8_t, qn_conv2d_args, bias, qn_conv2d_u8, qn_conv2d_by4_u8, 3)
CONV(conv_s16, 2, -32768, 32767, 1, int16_t, qn_conv2d_args64, bias64, qn_conv2d_s16,
     qn_conv2d_by4_s16, 3)
CONV(conv_s8w4, 1, -128, 127, 2, int8_t, qn_conv2d_args, bias, qn_conv2d_s8w4, qn_conv2d_by4_s8w4,
     3)
CONV(conv_u8w4, 1, 0, 255, 2, uint8_t, qn_conv2d_args, bias, qn_conv2d_u8w4, qn_conv2d_by4_u8w4, 3)
CONV(conv_s16w4, 2, -32768, 32767, 2, int16_t, qn_conv2d_args64, bias64, qn_conv2d_s16w4,
     qn_conv2d_by4_s16w4, 3)

CONV(transposed_s8, 1, -128, 127, 1, int8_t, qn_conv_transpose_args, bias, qn_conv_transpose_s8,
     qn_conv_transpose_by4_s8, 1)
CONV(transposed_u8, 1, 0, 255, 1, uint8_t, qn_conv_transpose_args, bias, qn_conv_transpose_u8,
     qn_conv_transpose_by4_u8, 1)
CONV(transposed_s16, 2, -32768, 32767, 1, int16_t, qn_conv_transpose_args64, bias64,
     qn_conv_transpose_s16, qn_conv_transpose_by4_s16, 1)
CONV(transposed_s8w4, 1, -128, 127, 2, int8_t, qn_conv_transpose_args, bias, qn_conv_transpose_s8w4,
     qn_conv_transpose_by4_s8w4, 1)
CONV(transposed_s16w4, 2, -32768, 32767, 2, int16_t, qn_conv_transpose_args64, bias64,
     qn_conv_transpose_s16w4, qn_conv_transpose_by4_s16w4, 1)

#define WIDE_CONV(name, kernel)                                                                    \
	static void name(const qn_conv2d_args *a, const int16_t *x, const int16_t **rows,          \
			 int16_t *y)                                                               \
	{                                                                                          \
		int64_t bias[11];                                                                  \
		const qn_conv2d_args64 d = {                                                       \
			WIDE_FIELDS(a, out_c),   .in_h = a->in_h,   .in_w = a->in_w,               \
			.in_c = a->in_c,         .out_h = a->out_h, .out_w = a->out_w,             \
			.k_h = a->k_h,           .k_w = a->k_w,     .stride_h = a->stride_h,       \
			.stride_w = a->stride_w, .dil_h = a->dil_h, .dil_w = a->dil_w,             \
			.pad_t = a->pad_t,       .pad_l = a->pad_l, .groups = a->groups};          \
                                                                                                   \
		kernel(&d, x, rows, y);                                                            \
	}

WIDE_CONV(conv_wide, qn_conv2d_s16)
WIDE_CONV(conv_wide4, qn_conv2d_s16w4)
CONV(conv_s16n, 2, -32768, 32767, 1, int16_t, qn_conv2d_args, bias, conv_wide, qn_conv2d_by4_s16n,
     3)
CONV(conv_s16nw4, 2, -32768, 32767, 2, int16_t, qn_conv2d_args, bias, conv_wide4,
     qn_conv2d_by4_s16nw4, 3)
CONV(conv_plain_s16n, 2, -32768, 32767, 1, int16_t, qn_conv2d_args, bias, conv_wide, qn_conv2d_s16n,
     3)

/* w [c, taps] as [taps, c]. */
static void
transpose(const rig *r, int32_t c, int32_t taps)
{
	for (int32_t i = 0; i < c; i++)
		for (int32_t t = 0; t < taps; t++)
			r->transposed[t * c + i] = r->w[i * taps + t];
}

/* w [c, taps] of 4 bits as blocks of four channels, [taps, 2] bytes each. */
static void
transpose4(const rig *r, int32_t c, int32_t taps)
{
	int8_t *to = r->transposed;

	for (int32_t k = 0; k < c; k += 4) {
		const int32_t o = k + 4 <= c ? k : c - 4;

		for (int32_t t = 0; t < taps; t++)
			for (int32_t i = o; i < o + 4; i += 2)
				*to++ = (int8_t)((qn_read4(r->w, i * taps + t) & 15) +
						 16 * qn_read4(r->w, (i + 1) * taps + t));
	}
}

#define DEPTHWISE(name, bytes, lowest, highest, each, code, args, bias_of, plain, by_four)         \
	static void name(void **state)                                                             \
	{                                                                                          \
		const code *rows[3];                                                               \
                                                                                                   \
		(void)state;                                                                       \
		for (int round = 0; round < ROUNDS; round++) {                                     \
			const int32_t c = pick(4, 11);                                             \
			args a = {.in_c = c, .out_c = c, .groups = c};                             \
			SHAPE(a);                                                                  \
			const int32_t ny = a.batch * a.out_h * a.out_w * c;                        \
			rig r = rig_new(bytes, lowest, highest, a.batch * a.in_h * a.in_w * c, ny, \
					(each) == 1 ? c * a.k_h * a.k_w                            \
						    : (c + 3) / 4 * 2 * a.k_h * a.k_w,             \
					c);                                                        \
                                                                                                   \
			COMMON(a, r, c, lowest, highest);                                          \
			a.bias = pick(0, 1) == 0 ? NULL : r.bias_of;                               \
			plain(&a, (const code *)r.x, rows, (code *)r.want);                        \
			((each) == 1 ? transpose : transpose4)(&r, c, a.k_h * a.k_w);              \
			a.w = r.transposed;                                                        \
			by_four(&a, (const code *)r.x, rows, (code *)r.got);                       \
			assert_memory_equal(r.got, r.want, (size_t)(ny * (bytes)));                \
			release(&r);                                                               \
		}                                                                                  \
	}

DEPTHWISE(depthwise_s8, 1, -128, 127, 1, int8_t, qn_conv2d_args, bias, qn_conv2d_s8,
	  qn_depthwise_by4_s8)
DEPTHWISE(depthwise_u8, 1, 0, 255, 1, uint8_t, qn_conv2d_args, bias, qn_conv2d_u8,
	  qn_depthwise_by4_u8)
DEPTHWISE(depthwise_s16, 2, -32768, 32767, 1, int16_t, qn_conv2d_args64, bias64, qn_conv2d_s16,
	  qn_depthwise_by4_s16)
DEPTHWISE(depthwise_s8w4, 1, -128, 127, 2, int8_t, qn_conv2d_args, bias, qn_conv2d_s8w4,
	  qn_depthwise_by4_s8w4)
DEPTHWISE(depthwise_u8w4, 1, 0, 255, 2, uint8_t, qn_conv2d_args, bias, qn_conv2d_u8w4,
	  qn_depthwise_by4_u8w4)
DEPTHWISE(depthwise_s16w4, 2, -32768, 32767, 2, int16_t, qn_conv2d_args64, bias64, qn_conv2d_s16w4,
	  qn_depthwise_by4_s16w4)
DEPTHWISE(depthwise_s16n, 2, -32768, 32767, 1, int16_t, qn_conv2d_args, bias, conv_wide,
	  qn_depthwise_by4_s16n)
DEPTHWISE(depthwise_s16nw4, 2, -32768, 32767, 2, int16_t, qn_conv2d_args, bias, conv_wide4,
	  qn_depthwise_by4_s16nw4)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dense_s8),         cmocka_unit_test(dense_u8),
		cmocka_unit_test(dense_s16),        cmocka_unit_test(dense_s8w4),
		cmocka_unit_test(dense_u8w4),       cmocka_unit_test(dense_s16w4),
		cmocka_unit_test(conv_s8),          cmocka_unit_test(conv_u8),
		cmocka_unit_test(conv_s16),         cmocka_unit_test(conv_s8w4),
		cmocka_unit_test(conv_u8w4),        cmocka_unit_test(conv_s16w4),
		cmocka_unit_test(transposed_s8),    cmocka_unit_test(transposed_u8),
		cmocka_unit_test(transposed_s16),   cmocka_unit_test(transposed_s8w4),
		cmocka_unit_test(transposed_s16w4), cmocka_unit_test(depthwise_s8),
		cmocka_unit_test(depthwise_u8),     cmocka_unit_test(depthwise_s16),
		cmocka_unit_test(depthwise_s8w4),   cmocka_unit_test(depthwise_u8w4),
		cmocka_unit_test(depthwise_s16w4),  cmocka_unit_test(dense_s16n),
		cmocka_unit_test(dense_s16nw4),     cmocka_unit_test(dense_plain_s16n),
		cmocka_unit_test(conv_s16n),        cmocka_unit_test(conv_s16nw4),
		cmocka_unit_test(conv_plain_s16n),  cmocka_unit_test(depthwise_s16n),
		cmocka_unit_test(depthwise_s16nw4),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
