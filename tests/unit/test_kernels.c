/* SPDX-License-Identifier: Apache-2.0 */
/* test_kernels.c - convolutions, dense and requantize in integers, against slow
 * models that are written another way: images are padded in memory where the kernels skip, sums are
 * 64 bits wide. */
#include "tests/unit/kernels_tables.h"

/* Tables of n multipliers near 2^-shift, and biases. */
typedef struct tables {
	int32_t mult[16], bias[16];
	int8_t shift[16];
} tables;

static void
fill_tables(tables *t, int32_t shift)
{
	for (int i = 0; i < 16; i++) {
		t->mult[i] = pick(1 << 30, INT32_MAX);
		t->shift[i] = (int8_t)(shift + pick(-2, 2));
		t->bias[i] = pick(-5000, 5000);
	}
}

/* Accumulators of a convolution over an image that is padded with its zero point in memory. */
static void
conv_model(const qn_conv2d_args *a, const int8_t *x, int64_t *y)
{
	int32_t reach_h = (a->k_h - 1) * a->dil_h + 1, reach_w = (a->k_w - 1) * a->dil_w + 1;
	int32_t h = (a->out_h - 1) * a->stride_h + reach_h + a->in_h;
	int32_t w = (a->out_w - 1) * a->stride_w + reach_w + a->in_w;
	int32_t depth = a->in_c / a->groups, per = a->out_c / a->groups;
	int8_t *image = take(h * w * a->in_c);

	for (int32_t b = 0; b < a->batch; b++) {
		memset(image, a->zi, (size_t)(h * w * a->in_c));
		for (int32_t i = 0; i < a->in_h; i++)
			memcpy(image + ((i + a->pad_t) * w + a->pad_l) * a->in_c,
			       x + (b * a->in_h + i) * a->in_w * a->in_c,
			       (size_t)(a->in_w * a->in_c));
		for (int32_t i = 0; i < a->out_h * a->out_w * a->out_c; i++) {
			int32_t o = i % a->out_c, ox = i / a->out_c % a->out_w;
			int32_t oy = i / a->out_c / a->out_w;
			int64_t acc = a->bias != NULL ? a->bias[o] : 0;

			for (int32_t k = 0; k < a->k_h * a->k_w * depth; k++) {
				int32_t c = o / per * depth + k % depth;
				int32_t ix = ox * a->stride_w + k / depth % a->k_w * a->dil_w;
				int32_t iy = oy * a->stride_h + k / depth / a->k_w * a->dil_h;

				acc += (int64_t)(image[(iy * w + ix) * a->in_c + c] - a->zi) *
				       a->w[o * a->k_h * a->k_w * depth + k];
			}
			*y++ = acc;
		}
	}
	free(image);
}

static qn_conv2d_args
conv_shape(void)
{
	qn_conv2d_args a = {0};
	int32_t kind = pick(0, 2), reach_h, reach_w;

	a.batch = pick(1, 2), a.in_h = pick(1, 7), a.in_w = pick(1, 7);
	a.groups = kind == 0 ? 1 : pick(1, 3);
	a.in_c = kind == 2 ? a.groups : a.groups * pick(1, 4);
	a.out_c = a.groups * pick(1, 4);
	a.k_h = pick(1, 4), a.k_w = pick(1, 4);
	a.stride_h = pick(1, 3), a.stride_w = pick(1, 3);
	a.dil_h = pick(1, 2), a.dil_w = pick(1, 2);
	reach_h = (a.k_h - 1) * a.dil_h + 1, reach_w = (a.k_w - 1) * a.dil_w + 1;
	a.pad_t = pick(0, reach_h), a.pad_l = pick(0, reach_w);
	a.out_h = pick(1, (a.in_h + a.pad_t + reach_h) / a.stride_h + 1);
	a.out_w = pick(1, (a.in_w + a.pad_l + reach_w) / a.stride_w + 1);
	a.zi = pick(-128, 127), a.zo = pick(-128, 127);
	a.lo = pick(0, 1) ? -128 : pick(-128, 0), a.hi = pick(0, 1) ? 127 : pick(0, 127);
	a.mode = pick(0, 2);
	return a;
}

static void
test_conv2d(void **state)
{
	int seen_lo = 0, seen_hi = 0;
	(void)state;

	for (int round = 0; round < 400; round++) {
		qn_conv2d_args a = conv_shape();
		tables t;
		int32_t n = a.batch * a.out_h * a.out_w * a.out_c;
		int8_t *x = codes(a.batch * a.in_h * a.in_w * a.in_c, -128);
		int8_t *w = codes(a.out_c * a.k_h * a.k_w * a.in_c / a.groups, -127);
		int8_t *y = malloc((size_t)n);
		int32_t *acc = malloc((size_t)n * 4);
		int64_t *want = malloc((size_t)n * 8);
		const int8_t *rows[4];

		fill_tables(&t, -8);
		a.w = w, a.bias = pick(0, 3) ? t.bias : NULL;
		a.mult = t.mult, a.shift = t.shift, a.mult_n = pick(0, 1) ? a.out_c : 1;
		conv_model(&a, x, want);
		qn_conv2d_acc(&a, x, rows, acc);
		qn_conv2d_s8(&a, x, rows, y);
		for (int32_t i = 0; i < n; i++) {
			int32_t c = a.mult_n == 1 ? 0 : i % a.out_c;

			assert_int_equal(acc[i], want[i]);
			assert_int_equal(y[i], code(want[i], t.mult[c], t.shift[c], a.zo, a.lo,
						    a.hi, a.mode));
			seen_lo += y[i] == -128;
			seen_hi += y[i] == 127;
		}
		free(x), free(w), free(y), free(acc), free(want);
	}
	assert_true(seen_lo > 0 && seen_hi > 0);
}

/* Rows that lie apart in memory, in a ring, give what the whole image gives. */
static void
test_conv2d_rows(void **state)
{
	const int32_t mult = 1717986918;
	const int8_t shift = -6;
	qn_conv2d_args a = {1, 9,    5,    3,     9,     5,   2,
			    3, 3,    1,    1,     1,     1,   1,
			    1, 1,    7,    -3,    -128,  127, QN_RQ_DOUBLE,
			    1, NULL, NULL, &mult, &shift};
	int8_t *x = codes(9 * 15, -128), *w = codes(2 * 27, -127), ring[3][15], y[10], whole[90];
	const int8_t *rows[3];
	(void)state;

	a.w = w;
	qn_conv2d_s8(&a, x, rows, whole);
	for (int32_t iy = 0, oy = -1; oy < 9; iy++, oy++) {
		if (iy < 9)
			memcpy(ring[iy % 3], x + iy * 15, 15);
		for (int32_t k = 0; k < 3; k++)
			rows[k] = oy - 1 + k >= 0 && oy - 1 + k < 9 ? ring[(oy - 1 + k) % 3] : NULL;
		if (oy < 0)
			continue;
		qn_conv2d_row_s8(&a, rows, y);
		assert_memory_equal(y, whole + oy * 10, 10);
	}
	free(x), free(w);
}

static void
test_dense(void **state)
{
	(void)state;

	for (int round = 0; round < 200; round++) {
		qn_dense_args a = {pick(1, 3),  pick(1, 40),
				   pick(1, 16), pick(-128, 127),
				   0,           pick(-128, 127),
				   -128,        127,
				   pick(0, 2),  1,
				   NULL,        NULL,
				   NULL,        NULL};
		tables t;
		int8_t *x = codes(a.batch * a.in, -128), *w = codes(a.out * a.in, -128);
		int32_t acc[48];
		int8_t y[48];

		fill_tables(&t, -9);
		a.w = w, a.mult = t.mult, a.shift = t.shift;
		a.bias = pick(0, 3) ? t.bias : NULL;
		a.zw = pick(0, 1) ? pick(-128, 127) : 0, a.mult_n = pick(0, 1) ? a.out : 1;
		qn_dense_acc(&a, x, acc);
		qn_dense_s8(&a, x, y);
		for (int32_t i = 0; i < a.batch * a.out; i++) {
			int32_t o = i % a.out, c = a.mult_n == 1 ? 0 : o;
			int64_t xw = 0, sx = 0, sw = 0, want;

			for (int32_t k = 0; k < a.in; k++) {
				xw += x[i / a.out * a.in + k] * w[o * a.in + k];
				sx += x[i / a.out * a.in + k], sw += w[o * a.in + k];
			}
			want = xw - a.zi * sw - a.zw * sx + (int64_t)a.in * a.zi * a.zw;
			want += a.bias != NULL ? a.bias[o] : 0;
			assert_int_equal(acc[i], want);
			assert_int_equal(
				y[i], code(want, t.mult[c], t.shift[c], a.zo, a.lo, a.hi, a.mode));
		}
		free(x), free(w);
	}
}

/* The zero point of the input may be folded into the bias: -zi * sum of w is +8 and +12. */
static void
test_dense_fold(void **state)
{
	static const int8_t w[] = {1, -2, 3, 4, 5, -6}, x[] = {-128, 17, 127};
	static const int32_t folded[] = {8, 12};
	qn_dense_args plain = {1, 3, 2, -4, 0, 0, -128, 127, 0, 1, w, NULL, NULL, NULL};
	qn_dense_args fold = {1, 3, 2, 0, 0, 0, -128, 127, 0, 1, w, folded, NULL, NULL};
	int32_t a[2], b[2];
	(void)state;

	qn_dense_acc(&plain, x, a);
	qn_dense_acc(&fold, x, b);
	assert_memory_equal(a, b, sizeof a);
}

static void
test_requantize(void **state)
{
	(void)state;

	for (int round = 0; round < 200; round++) {
		qn_requantize_args a = {pick(1, 3),
					pick(1, 5),
					pick(1, 4),
					pick(-128, 127),
					pick(-128, 127),
					pick(-128, 0),
					pick(0, 127),
					pick(0, 2),
					1,
					NULL,
					NULL};
		int32_t n = a.outer * a.channels * a.inner, wide[60];
		int8_t *x = codes(n, -128), y[60], z[60];
		tables t;

		fill_tables(&t, pick(-3, 3));
		a.mult = t.mult, a.shift = t.shift, a.mult_n = pick(0, 1) ? a.channels : 1;
		for (int32_t i = 0; i < n; i++)
			wide[i] = x[i];
		qn_requantize_s8(&a, x, y);
		qn_requantize_s32_s8(&a, wide, z);
		assert_memory_equal(y, z, (size_t)n);
		for (int32_t i = 0; i < n; i++) {
			int32_t c = a.mult_n == 1 ? 0 : i / a.inner % a.channels;

			assert_int_equal(y[i], code(x[i] - a.zi, t.mult[c], t.shift[c], a.zo, a.lo,
						    a.hi, a.mode));
		}
		qn_requantize_s8(&a, x, x);
		assert_memory_equal(x, y, (size_t)n);
		free(x);
	}
}

static void
test_requantize_limits(void **state)
{
	static const int32_t mult = 1 << 30, x[] = {INT32_MIN, INT32_MAX, -129, 128};
	static const int8_t shift = 1, q[] = {-128, -1, 0, 5, 127};
	qn_requantize_args a = {1, 1, 4, 0, 0, -128, 127, 0, 1, &mult, &shift};
	qn_clip_args clip = {5, -1, 5};
	int8_t y[5];
	(void)state;

	for (a.mode = QN_RQ_DOUBLE; a.mode <= QN_RQ_EVEN; a.mode++) {
		for (a.zi = -128; a.zi <= 127; a.zi += 255) {
			a.zo = a.zi;
			qn_requantize_s32_s8(&a, x, y);
			for (int i = 0; i < 4; i++)
				assert_int_equal(y[i], i % 2 == 0 ? -128 : 127);
		}
	}
	qn_clip_s8(&clip, q, y);
	for (int i = 0; i < 5; i++)
		assert_int_equal(y[i], limit(q[i], -1, 5));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_conv2d),     cmocka_unit_test(test_conv2d_rows),
		cmocka_unit_test(test_dense),      cmocka_unit_test(test_dense_fold),
		cmocka_unit_test(test_requantize), cmocka_unit_test(test_requantize_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
