/* SPDX-License-Identifier: Apache-2.0 */
/* Pools, reductions, pads, clips and requantizes of each family of codes. */
#include "tests/unit/family_model.h"

#include "runtime/kernels/move.h"
#include "runtime/kernels/pool.h"
#include "runtime/kernels/reduce.h"
#include "runtime/kernels/requantize.h"

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
		const qn_pool_args p = {1, 2, 8, 1, 1, 6, 2, 3,     1,   1,                        \
					1, 1, 0, 0, 0, 0, 0, least, most};                         \
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
		const qn_argmax_args g = {1, 500, 1, 0, 0};                                        \
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

/* From one storage to another: the parameters of both, one multiplier. */
#define CROSS_TEST(from, from_t, from_lo, from_hi, to, to_t, to_lo, to_hi)                         \
	static void test_cross_##from##_##to(void **state)                                         \
	{                                                                                          \
		data *s = make(from_lo, from_hi, 8), *d = make(to_lo, to_hi, 8);                   \
		static from_t x[ROOM];                                                             \
		static to_t y[ROOM];                                                               \
		const int8_t up[1] = {1};                                                          \
                                                                                                   \
		(void)state;                                                                       \
		d->is_wide = false; /* codes are rescaled in 32 bits */                            \
		const qn_requantize_args a = {                                                     \
			1, 1, ROOM, (int32_t)s->zi, CODES(d), 1, d->mult, up};                     \
		for (int i = 0; i < ROOM; i++)                                                     \
			x[i] = (from_t)s->x[i];                                                    \
		qn_requantize_from_##from##_##to(&a, x, y);                                        \
		for (int i = 0; i < ROOM; i++)                                                     \
			assert_int_equal(y[i], to_code(d, x[i] - s->zi, d->mult[0], 1));           \
		for (int bits = 0; bits <= 7; bits++) {                                            \
			const qn_shift_args b = {1,                                                \
						 1,                                                \
						 ROOM,                                             \
						 (int32_t)s->zi,                                   \
						 (int32_t)d->zo,                                   \
						 (int32_t)d->lo,                                   \
						 (int32_t)d->hi,                                   \
						 bits};                                            \
                                                                                                   \
			qn_shift_from_##from##_##to(&b, x, y);                                     \
			for (int i = 0; i < ROOM; i++)                                             \
				assert_int_equal(y[i],                                             \
						 to_code(d, x[i] - s->zi, 1 << 30, bits + 1));     \
		}                                                                                  \
		free(s);                                                                           \
		free(d);                                                                           \
	}

CROSS_TEST(s8, int8_t, -128, 127, u8, uint8_t, 0, 255)
CROSS_TEST(s8, int8_t, -128, 127, s16, int16_t, -32768, 32767)
CROSS_TEST(u8, uint8_t, 0, 255, s8, int8_t, -128, 127)
CROSS_TEST(u8, uint8_t, 0, 255, s16, int16_t, -32768, 32767)
CROSS_TEST(s16, int16_t, -32768, 32767, s8, int8_t, -128, 127)
CROSS_TEST(s16, int16_t, -32768, 32767, u8, uint8_t, 0, 255)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_codes_s8),     cmocka_unit_test(test_codes_u8),
		cmocka_unit_test(test_codes_s16),    cmocka_unit_test(test_requantize64),
		cmocka_unit_test(test_cross_s8_u8),  cmocka_unit_test(test_cross_s8_s16),
		cmocka_unit_test(test_cross_u8_s8),  cmocka_unit_test(test_cross_u8_s16),
		cmocka_unit_test(test_cross_s16_s8), cmocka_unit_test(test_cross_s16_u8),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
