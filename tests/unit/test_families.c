/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels' functions for u8 and i16 codes and for weights of 4 bits, against models that compute
 * in wide integers on arrays of one type, whatever the family. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/kernels/conv2d.h"
#include "runtime/kernels/conv_transpose.h"
#include "runtime/kernels/dense.h"
#include "runtime/kernels/matmul.h"
#include "runtime/kernels/move.h"
#include "runtime/kernels/pool.h"
#include "runtime/kernels/reduce.h"
#include "runtime/kernels/requantize.h"

__extension__ typedef __int128 wide;

enum { ROOM = 4096 };

/* What the models compute on; the kernels get it in their own types. */
typedef struct data {
	int64_t lo, hi; /* codes */
	int64_t zi, zo;
	bool is_wide; /* 64-bit accumulators */
	int32_t x[ROOM], w[ROOM], b[ROOM];
	int64_t bias[64];
	int32_t mult[64];
	int8_t shift[64];
	int64_t acc[ROOM], y[ROOM];
} data;

static uint64_t seed = 1;

static int64_t
draw(int64_t lo, int64_t hi)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return lo + (int64_t)((seed >> 33) % (uint64_t)(hi - lo + 1));
}

/* Random data; weights of so many bits. */
static data *
make(int64_t lo, int64_t hi, int weight_bits)
{
	data *d = calloc(1, sizeof(*d));
	int32_t most = (1 << (weight_bits - 1)) - 1;

	assert_non_null(d);
	d->lo = lo;
	d->hi = hi;
	d->is_wide = hi > 255;
	d->zi = d->is_wide ? 0 : draw(lo, hi);
	d->zo = d->is_wide ? 0 : draw(lo, hi);
	for (int i = 0; i < ROOM; i++) {
		d->x[i] = (int32_t)draw(lo, hi);
		d->b[i] = (int32_t)draw(lo, hi);
		d->w[i] = (int32_t)draw(-most - 1, most);
	}
	for (int i = 0; i < 64; i++) {
		d->bias[i] = draw(-1000, 1000) * (d->is_wide ? 40000 : 10);
		d->mult[i] = (int32_t)draw(INT32_C(1) << 30, INT32_MAX);
		d->shift[i] = (int8_t)draw(-12, -6);
	}
	d->mult[3] = INT32_MAX;
	return d;
}

/* floor((x m + half) / 2^t), of 64-bit accumulators with 15 bits of m. */
static wide
rescale(const data *d, wide x, int32_t m, int32_t s)
{
	wide r = d->is_wide ? (m >= 0x7fff0000 ? 0x7fff : ((wide)m + 32768) / 65536) : m;
	wide unit = (wide)1 << ((d->is_wide ? 15 : 31) - s);
	wide p = x * r + unit / 2;

	return p >= 0 ? p / unit : -((-p + unit - 1) / unit);
}

static int64_t
to_code(const data *d, wide x, int32_t m, int32_t s)
{
	wide q = rescale(d, x, m, s) + d->zo;

	return (int64_t)(q < d->lo ? d->lo : q > d->hi ? d->hi : q);
}

/* ---- the 64-bit multiplier ---- */

static void
test_apply64(void **state)
{
	static const struct {
		int64_t x;
		int32_t m, s, mode;
		int64_t want;
	} rows[] = {
		{15, 1717986918, -3, QN_RQ_DOUBLE, 1}, /* 0.1 */
		{25, 1717986918, -3, QN_RQ_SINGLE, 2},
		{-25, 1717986918, -3, QN_RQ_SINGLE, -2},
		{5, 1 << 30, 0, QN_RQ_SINGLE, 3}, /* 0.5 */
		{-5, 1 << 30, 0, QN_RQ_SINGLE, -2},
		{-5, 1 << 30, 0, QN_RQ_NEAREST, -3},
		{1000, INT32_MAX, 0, QN_RQ_DOUBLE, 1000}, /* 0x7fff / 2^15 */
		{100000, INT32_MAX, 0, QN_RQ_DOUBLE, 99997},
		{100000, 0x7ffeffff, 0, QN_RQ_DOUBLE, 99997}, /* 0x7fff */
		{(INT64_C(1) << 47) - 1, 1 << 30, 7, QN_RQ_DOUBLE, ((INT64_C(1) << 47) - 1) * 64},
		{-(INT64_C(1) << 47), INT32_MAX, -31, QN_RQ_DOUBLE, -65534},
		{INT64_C(1) << 40, 1 << 30, -31, QN_RQ_DOUBLE, 256},
		{-3, 1 << 30, -1, QN_RQ_DOUBLE, -1}, /* -0.75 */
		{-2, 1 << 30, -1, QN_RQ_DOUBLE, 0},  /* -0.5 */
		{123456789, 0, 0, QN_RQ_DOUBLE, 0},
	};
	data d = {.is_wide = true};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(qn_apply64(rows[i].x, rows[i].m, rows[i].s, rows[i].mode),
				 rows[i].want);
	for (int i = 0; i < 200000; i++) {
		int64_t x = draw(-(INT64_C(1) << 30), INT64_C(1) << 30) * draw(0, 1 << 16);
		int32_t m = (int32_t)draw(INT32_C(1) << 30, INT32_MAX), s = (int32_t)draw(-31, 7);

		assert_true(qn_apply64(x, m, s, QN_RQ_DOUBLE) == (int64_t)rescale(&d, x, m, s));
	}
}

static void
test_read4(void **state)
{
	int8_t packed[9];

	(void)state;
	memset(packed, 0, sizeof(packed));
	for (int i = 0; i < 17; i++) /* -8 .. 7, -8 */
		packed[i / 2] =
			(int8_t)(packed[i / 2] | (int8_t)(((i % 16 - 8) & 15) << i % 2 * 4));
	for (int i = 0; i < 17; i++)
		assert_int_equal(qn_read4(packed, i), i % 16 - 8);
}

/* ---- products ---- */

static void
pack(const data *d, int bits, int8_t *to)
{
	memset(to, 0, ROOM);
	for (int i = 0; i < ROOM; i++) {
		if (bits == 8)
			to[i] = (int8_t)d->w[i];
		else
			to[i / 2] = (int8_t)(to[i / 2] | (int8_t)((d->w[i] & 15) << i % 2 * 4));
	}
}

/* x [2, 5, 6, 4], two groups, w [6, 3, 2, 2], stride 2 and 1, dilation 1 and 2, padded by 1. */
enum { CH = 6, OH = 3, OW = 6 };

static void
conv_model(data *d)
{
	for (int i = 0; i < 2 * OH * OW * CH; i++) {
		int o = i % CH, ox = i / CH % OW, oy = i / CH / OW % OH, b = i / CH / OW / OH;
		wide acc = d->bias[o];

		for (int k = 0; k < 3 * 2 * 2; k++) {
			int c = k % 2, kx = k / 2 % 2, ky = k / 4;
			int iy = oy * 2 - 1 + ky, ix = ox - 1 + kx * 2;

			if (iy >= 0 && iy < 5 && ix >= 0 && ix < 6)
				acc += (wide)(d->x[((b * 5 + iy) * 6 + ix) * 4 + o / 3 * 2 + c] -
					      d->zi) *
				       d->w[o * 12 + k];
		}
		d->acc[i] = (int64_t)acc;
		d->y[i] = to_code(d, acc, d->mult[o], d->shift[o]);
	}
}

/* x [2, 3, 4, 2], w [3, 3, 2, 2], stride 2 and 3, one row cut off above: y [2, 5, 11, 3]. */
static void
transpose_model(data *d)
{
	for (int i = 0; i < 2 * 5 * 11 * 3; i++) {
		int o = i % 3, ox = i / 3 % 11, oy = i / 33 % 5, b = i / 165;
		wide acc = d->bias[o];

		for (int k = 0; k < 12 * 12; k++) { /* all pairs of a position and a tap */
			int p = k / 12, c = k % 2, kx = k / 2 % 2, ky = k / 4 % 3;

			if (p / 4 * 2 + ky == oy + 1 && p % 4 * 3 + kx == ox)
				acc += (wide)(d->x[(b * 12 + p) * 2 + c] - d->zi) *
				       d->w[o * 12 + k % 12];
		}
		d->acc[i] = (int64_t)acc;
		d->y[i] = to_code(d, acc, d->mult[o], d->shift[o]);
	}
}

static void
dense_model(data *d)
{
	for (int i = 0; i < 3 * 7; i++) {
		wide acc = d->bias[i % 7];

		for (int k = 0; k < 35; k++)
			acc += (wide)(d->x[i / 7 * 35 + k] - d->zi) * d->w[i % 7 * 35 + k];
		d->acc[i] = (int64_t)acc;
		d->y[i] = to_code(d, acc, d->mult[i % 7], d->shift[i % 7]);
	}
}

static void
matmul_model(data *d, int64_t zb)
{
	for (int i = 0; i < 4 * 5; i++) {
		wide acc = 0;

		for (int k = 0; k < 30; k++)
			acc += (wide)(d->x[i / 5 * 30 + k] - d->zi) * (d->b[k * 5 + i % 5] - zb);
		d->acc[i] = (int64_t)acc;
		d->y[i] = to_code(d, acc, d->mult[0], d->shift[0]);
	}
}

#define SHAPE(d) (int32_t)(d)->zi
#define CODES(d) (int32_t)(d)->zo, (int32_t)(d)->lo, (int32_t)(d)->hi, QN_RQ_SINGLE
#define SAME(n)                                                                                    \
	for (int i = 0; i < (n); i++) {                                                            \
		assert_true(acc[i] == d->acc[i]);                                                  \
		assert_int_equal(y[i], d->y[i]);                                                   \
	}

#define PRODUCTS(name, q, o, a, code, acc_t, least, most, bits)                                    \
	static void test_products##name(void **state)                                              \
	{                                                                                          \
		data *d = make(least, most, bits);                                                 \
		int64_t zb = d->is_wide ? 0 : draw(least, most);                                   \
		static code x[ROOM], b[ROOM], y[ROOM];                                             \
		static acc_t acc[ROOM], bias[64];                                                  \
		static int8_t w[ROOM];                                                             \
		const code *rows[3];                                                               \
                                                                                                   \
		(void)state;                                                                       \
		pack(d, bits, w);                                                                  \
		for (int i = 0; i < ROOM; i++) {                                                   \
			x[i] = (code)d->x[i];                                                      \
			b[i] = (code)d->b[i];                                                      \
			bias[i % 64] = (acc_t)d->bias[i % 64];                                     \
		}                                                                                  \
		const qn_conv2d_args##a c = {2,        5,        6,  4, 3,    6,       6,       3, \
					     2,        2,        1,  1, 2,    1,       1,       2, \
					     SHAPE(d), CODES(d), CH, w, bias, d->mult, d->shift};  \
		conv_model(d);                                                                     \
		qn_conv2d_acc##o(&c, x, rows, acc);                                                \
		qn_conv2d##name(&c, x, rows, y);                                                   \
		SAME(2 * OH * OW * CH)                                                             \
		const qn_conv_transpose_args##a t = {                                              \
			2, 3, 4, 2,        5,        11, 3, 3,    2,       2,       3,             \
			1, 0, 1, SHAPE(d), CODES(d), 3,  w, bias, d->mult, d->shift};              \
		transpose_model(d);                                                                \
		qn_conv_transpose_acc##o(&t, x, rows, acc);                                        \
		qn_conv_transpose##name(&t, x, rows, y);                                           \
		SAME(2 * 5 * 11 * 3)                                                               \
		const qn_dense_args##a f = {3, 35, 7,    SHAPE(d), 0,       CODES(d),              \
					    7, w,  bias, d->mult,  d->shift};                      \
		dense_model(d);                                                                    \
		qn_dense_acc##o(&f, x, acc);                                                       \
		qn_dense##name(&f, x, y);                                                          \
		SAME(3 * 7)                                                                        \
		MATMUL(q, bits)                                                                    \
		free(d);                                                                           \
	}

#define MATMUL(q, bits) MATMUL_##bits(q)
#define MATMUL_4(q) (void)b, (void)zb;
#define MATMUL_8(q)                                                                                \
	const qn_matmul_args p = {{1, 1, 1, 1}, {0}, {0},     4,       30,       5,                \
				  30,           1,   5,       1,       SHAPE(d), (int32_t)zb,      \
				  CODES(d),     1,   d->mult, d->shift};                           \
	matmul_model(d, zb);                                                                       \
	MATMUL_ACC##q(&p, x, b, acc);                                                              \
	qn_matmul##q(&p, x, b, y);                                                                 \
	SAME(4 * 5)
#define MATMUL_ACC_s8 qn_matmul_acc
#define MATMUL_ACC_u8 qn_matmul_acc_u8
#define MATMUL_ACC_s16 qn_matmul_acc_s16

PRODUCTS(_s8, _s8, , , int8_t, int32_t, -128, 127, 8)
PRODUCTS(_u8, _u8, _u8, , uint8_t, int32_t, 0, 255, 8)
PRODUCTS(_s16, _s16, _s16, 64, int16_t, int64_t, -32768, 32767, 8)
PRODUCTS(_s8w4, _s8, _w4, , int8_t, int32_t, -128, 127, 4)
PRODUCTS(_u8w4, _u8, _u8w4, , uint8_t, int32_t, 0, 255, 4)
PRODUCTS(_s16w4, _s16, _s16w4, 64, int16_t, int64_t, -32768, 32767, 4)

/* ---- one value in, one out ---- */

static int64_t
round_half_away(int64_t sum, int64_t n)
{
	return sum >= 0 ? (2 * sum + n) / (2 * n) : -((-2 * sum + n) / (2 * n));
}

/* Sum, largest and smallest of the 2 x 3 window at (0, k) of rows of 8. */
static int64_t
window(const data *d, int k, int kind)
{
	int64_t sum = 0, most = d->lo, least = d->hi;

	for (int i = 0; i < 6; i++) {
		int64_t c = d->x[i / 3 * 8 + k + i % 3];

		sum += c;
		most = c > most ? c : most;
		least = c < least ? c : least;
	}
	return kind == 0 ? sum : kind > 0 ? most : least;
}

#define CODES_TEST(q, code, least, most)                                                           \
	static void test_codes##q(void **state)                                                    \
	{                                                                                          \
		data *d = make(least, most, 8);                                                    \
		const int32_t zi = (int32_t)d->zi, zo = (int32_t)d->zo;                            \
		static code x[ROOM], y[ROOM];                                                      \
		const code *rows[2];                                                               \
		int32_t place[1];                                                                  \
                                                                                                   \
		(void)state;                                                                       \
		for (int i = 0; i < ROOM; i++)                                                     \
			x[i] = (code)d->x[i];                                                      \
		const qn_pool_args p = {1, 2, 8, 1, 1, 6, 2, 3, 1, 1, 0, 0, least, most};          \
		qn_max_pool##q(&p, x, rows, y);                                                    \
		for (int i = 0; i < 6; i++)                                                        \
			assert_int_equal(y[i], window(d, i, 1));                                   \
		qn_avg_pool##q(&p, x, rows, y);                                                    \
		for (int i = 0; i < 6; i++)                                                        \
			assert_int_equal(y[i], round_half_away(window(d, i, 0), 6));               \
		qn_reduce_args r = {{1, 1, 1, 6}, {0, 0, 0, 1}, {1, 1, 2, 3}, {0, 0, 8, 1},        \
				    zi,           zo,           least,        most,                \
				    1 << 30,      -1,           QN_RQ_SINGLE, 0};                  \
		qn_reduce_sum##q(&r, x, y);                                                        \
		for (int i = 0; i < 6; i++) { /* a quarter */                                      \
			int64_t sum = window(d, i, 0) - 6 * d->zi + 2;                             \
			int64_t v = (sum >= 0 ? sum / 4 : -((-sum + 3) / 4)) + d->zo;              \
                                                                                                   \
			assert_int_equal(y[i], v<least ? least : v> most ? most : v);              \
		}                                                                                  \
		qn_reduce_max##q(&r, x, y);                                                        \
		for (int i = 0; i < 6; i++)                                                        \
			assert_int_equal(y[i], window(d, i, 1));                                   \
		r.flip = -1;                                                                       \
		qn_reduce_max##q(&r, x, y);                                                        \
		for (int i = 0; i < 6; i++)                                                        \
			assert_int_equal(y[i], window(d, i, -1));                                  \
		const qn_argmax_args g = {1, 500, 1, 0};                                           \
		qn_argmax##q##_s32(&g, x, place);                                                  \
		for (int i = 0; i < 500; i++)                                                      \
			assert_true(i < place[0] ? x[i] < x[place[0]] : x[i] <= x[place[0]]);      \
		const qn_pad_args pad = {2, {3, 4}, {1, 2}, {0, 1}, (int32_t)most};                \
		qn_pad##q(&pad, x, y);                                                             \
		for (int i = 0; i < 4 * 7; i++) {                                                  \
			bool inside = i / 7 >= 1 && i % 7 >= 2 && i % 7 < 6;                       \
                                                                                                   \
			assert_int_equal(y[i],                                                     \
					 inside ? d->x[(i / 7 - 1) * 4 + i % 7 - 2] : (most));     \
		}                                                                                  \
		const qn_clip_args clip = {ROOM, least / 2 + 3, most / 2};                         \
		qn_clip##q(&clip, x, y);                                                           \
		for (int i = 0; i < ROOM; i++)                                                     \
			assert_int_equal(y[i], d->x[i]<clip.lo ? clip.lo : d->x[i]> clip.hi        \
						       ? clip.hi                                   \
						       : d->x[i]);                                 \
		d->is_wide = false; /* codes are rescaled in 32 bits */                            \
		const int8_t up[1] = {1};                                                          \
		const qn_requantize_args rq = {1, 1, ROOM, zi, CODES(d), 1, d->mult, up};          \
		qn_requantize##q(&rq, x, y);                                                       \
		for (int i = 0; i < ROOM; i++)                                                     \
			assert_int_equal(y[i], to_code(d, d->x[i] - d->zi, d->mult[0], 1));        \
		free(d);                                                                           \
	}

CODES_TEST(_s8, int8_t, -128, 127)
CODES_TEST(_u8, uint8_t, 0, 255)
CODES_TEST(_s16, int16_t, -32768, 32767)

/* 64-bit accumulators, a multiplier for each of three channels; those beyond 2^47 saturate. */
static void
test_requantize64(void **state)
{
	data *d = make(-32768, 32767, 8);
	static int64_t x[300];
	static int16_t y[300];
	const qn_requantize_args a = {20, 3, 5, 0, CODES(d), 3, d->mult, d->shift};

	(void)state;
	for (int i = 0; i < 300; i++)
		x[i] = draw(-(INT64_C(1) << 22), INT64_C(1) << 22) * (i % 7);
	x[0] = INT64_MAX;
	x[1] = INT64_MIN;
	qn_requantize_s64_s16(&a, x, y);
	assert_int_equal(y[0], 32767);
	assert_int_equal(y[1], -32768);
	for (int i = 2; i < 300; i++)
		assert_int_equal(y[i], to_code(d, x[i], d->mult[i / 5 % 3], d->shift[i / 5 % 3]));
	free(d);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_apply64),       cmocka_unit_test(test_read4),
		cmocka_unit_test(test_products_s8),   cmocka_unit_test(test_products_u8),
		cmocka_unit_test(test_products_s16),  cmocka_unit_test(test_products_s8w4),
		cmocka_unit_test(test_products_u8w4), cmocka_unit_test(test_products_s16w4),
		cmocka_unit_test(test_codes_s8),      cmocka_unit_test(test_codes_u8),
		cmocka_unit_test(test_codes_s16),     cmocka_unit_test(test_requantize64),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
