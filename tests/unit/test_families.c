/* SPDX-License-Identifier: Apache-2.0 */
/* Products of u8 and i16 codes and of weights of 4 bits, and the 64-bit multiplier. */
#include "tests/unit/family_model.h"

#include "runtime/kernels/conv2d.h"
#include "runtime/kernels/conv_transpose.h"
#include "runtime/kernels/dense.h"
#include "runtime/kernels/matmul.h"

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
			2, 3, 4, 2, 5,        11,       3, 3, 2,    2,       3,       1,           \
			1, 1, 0, 1, SHAPE(d), CODES(d), 3, w, bias, d->mult, d->shift};            \
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

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_apply64),       cmocka_unit_test(test_read4),
		cmocka_unit_test(test_products_s8),   cmocka_unit_test(test_products_u8),
		cmocka_unit_test(test_products_s16),  cmocka_unit_test(test_products_s8w4),
		cmocka_unit_test(test_products_u8w4), cmocka_unit_test(test_products_s16w4),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
