/* SPDX-License-Identifier: Apache-2.0 */
/* test_kernels_pool.c - pools and means of codes, against models that find windows by position. */
#include "tests/unit/kernel_rig.h"

#include "runtime/fixed.h"
#include "runtime/kernels/pool.h"

static void
test_round_div(void **state)
{
	static const int32_t row[][3] = {{3, 2, 2},   {-3, 2, -2}, {5, 4, 1}, {-6, 4, -2},
					 {-2, 4, -1}, {-9, 6, -2}, {0, 3, 0}, {5, 0, 0}};
	(void)state;

	for (size_t i = 0; i < COUNT(row); i++)
		assert_int_equal(qn_round_div(row[i][0], row[i][1]), row[i][2]);
}

/* A pool of random size, some with taps apart, some whose padding counts. */
static qn_pool_args
pool_args(void)
{
	int32_t k = pick(1, 3), l = pick(1, 3), dh = pick(1, 2), dw = pick(1, 2);
	qn_pool_args a = {.batch = pick(1, 2),
			  .in_h = pick((k - 1) * dh + 1, 7),
			  .in_w = pick((l - 1) * dw + 1, 7),
			  .c = pick(1, 3),
			  .k_h = k,
			  .k_w = l,
			  .stride_h = pick(1, 3),
			  .stride_w = pick(1, 3),
			  .dil_h = dh,
			  .dil_w = dw,
			  .pad_t = pick(0, k - 1),
			  .pad_l = pick(0, l - 1),
			  .zi = pick(-128, 127),
			  .lo = pick(-128, -20),
			  .hi = pick(20, 127)};

	/* one window more, as rounding up gives, reaches beyond the padding */
	a.out_h = (a.in_h + 2 * a.pad_t - (k - 1) * dh - 1) / a.stride_h + 1;
	a.out_h += a.out_h * a.stride_h < a.in_h + a.pad_t ? pick(0, 1) : 0;
	a.out_w = (a.in_w + 2 * a.pad_l - (l - 1) * dw - 1) / a.stride_w + 1;
	if (pick(0, 1) != 0) {
		a.end_h = a.in_h + a.pad_t;
		a.end_w = a.in_w + a.pad_l;
	}
	return a;
}

/* The codes that the window of output i covers: the largest, or the average of those that count. */
static int32_t
pooled(const qn_pool_args *a, const int8_t *x, int32_t i, int average)
{
	int32_t ox = i / a->c % a->out_w, oy = i / a->c / a->out_w % a->out_h;
	int32_t b = i / a->c / a->out_w / a->out_h, most = -128, sum = 0, count = 0;

	for (int32_t k = 0; k < a->k_h * a->k_w; k++) {
		int32_t iy = oy * a->stride_h - a->pad_t + k / a->k_w * a->dil_h;
		int32_t ix = ox * a->stride_w - a->pad_l + k % a->k_w * a->dil_w;
		int inside = iy >= 0 && iy < a->in_h && ix >= 0 && ix < a->in_w;
		int32_t v =
			!inside ? a->zi : x[((b * a->in_h + iy) * a->in_w + ix) * a->c + i % a->c];

		if (!inside && (a->end_h == 0 || iy >= a->end_h || ix >= a->end_w))
			continue;
		most = inside && v > most ? v : most;
		sum += v, count++;
	}
	if (!average || count == 0)
		return (int32_t)limit(average ? 0 : most, a->lo, a->hi);
	sum = (2 * (sum < 0 ? -sum : sum) + count / 2 * 2) / (2 * count) * (sum < 0 ? -1 : 1);
	return (int32_t)limit(sum, a->lo, a->hi);
}

static void
test_pool(void **state)
{
	(void)state;

	for (int round = 0; round < 300; round++) {
		const qn_pool_args a = pool_args();
		const int8_t *rows[3];
		int32_t n = a.batch * a.out_h * a.out_w * a.c;
		int8_t *x = codes(a.batch * a.in_h * a.in_w * a.c, -128);
		int8_t *top = malloc((size_t)n), *avg = malloc((size_t)n);

		qn_max_pool_s8(&a, x, rows, top);
		qn_avg_pool_s8(&a, x, rows, avg);
		for (int32_t i = 0; i < n; i++) {
			assert_int_equal(top[i], pooled(&a, x, i, 0));
			assert_int_equal(avg[i], pooled(&a, x, i, 1));
		}
		free(x), free(top), free(avg);
	}
}

static void
test_pool_empty(void **state)
{
	qn_pool_args a = {1, 1, 1, 1, 2, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, -100, 50};
	const int8_t *rows[1], x[1] = {77};
	int8_t y[2];
	(void)state;

	qn_max_pool_s8(&a, x, rows, y);
	assert_int_equal(y[0], -100);
	assert_int_equal(y[1], 50);
}

/* Multiplier of a mean over n: TFLite Mean for quantized inputs. */
static qn_mean_args
mean_args(int32_t n, double si, double so)
{
	qn_mean_args a = {1, n, 1, 0, 0, -128, 127, 0, 0, QN_RQ_DOUBLE};
	int32_t k = 0;

	multiplier(si / so, &a.m, &a.sh);
	while (n >> (k + 1) != 0 && k < 31 + a.sh)
		k++;
	a.m = (int32_t)(((int64_t)a.m << k) / n);
	a.sh -= k;
	return a;
}

static void
test_mean(void **state)
{
	static const int8_t tens[] = {10, 20, 30}, up[] = {1, 2}, down[] = {-1, -2},
			    five[] = {5, 6, 7, 8, 9};
	qn_mean_args a = mean_args(3, 0.5, 0.5);
	int8_t y[6], *x;
	(void)state;

	qn_mean_s8(&a, tens, y);
	assert_int_equal(y[0], 20);
	a = mean_args(2, 1.0, 1.0);
	qn_mean_s8(&a, up, y);
	assert_int_equal(y[0], 2);
	qn_mean_s8(&a, down, y);
	assert_int_equal(y[0], -1);
	a = mean_args(5, 0.2, 0.1);
	a.zi = 5, a.zo = -3;
	qn_mean_s8(&a, five, y);
	assert_int_equal(y[0], 1);

	x = codes(2 * 49 * 3, -128);
	a = mean_args(49, 0.1, 0.07);
	a.outer = 2, a.inner = 3, a.zi = -7, a.zo = 11;
	qn_mean_s8(&a, x, y);
	for (int32_t i = 0; i < 6; i++) {
		int32_t sum = 0;
		double e;

		for (int32_t k = 0; k < 49; k++)
			sum += x[(i / 3 * 49 + k) * 3 + i % 3] + 7;
		e = (double)sum / 49.0 * 0.1 / 0.07 + 11.0 - y[i];
		assert_true(e > -0.76 && e < 0.76);
	}
	free(x);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_div),
		cmocka_unit_test(test_pool),
		cmocka_unit_test(test_pool_empty),
		cmocka_unit_test(test_mean),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
