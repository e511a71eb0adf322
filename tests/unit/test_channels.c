/* SPDX-License-Identifier: Apache-2.0 */
/* test_channels.c - sums, products and requantizes with a scale and a zero point for each channel, of
 * each family of codes, against a model in wide integers: shapes [a,b,c], channels along any axis,
 * operands that are repeated along any axes. */
#include "tests/unit/family_model.h"

#include "runtime/kernels/elementwise.h"
#include "runtime/kernels/requantize.h"

enum { ROUNDS = 300, MOST = 5 };

/* A shape, its channels, and where an element of an operand is. */
typedef struct shape {
	int32_t dim[4], xs[4], ys[4];
	int32_t channels, inner, count;
} shape;

static void
strides(const int32_t *dim, int32_t *out)
{
	int32_t run = 1;

	for (int i = 3; i >= 0; i--) {
		const bool repeated = draw(0, 3) == 0;

		out[i] = repeated ? 0 : run;
		run *= repeated ? 1 : dim[i];
	}
}

static shape
draw_shape(void)
{
	shape s = {.count = 1, .inner = 1};
	const int axis = (int)draw(0, 3);

	for (int i = 0; i < 4; i++) {
		s.dim[i] = (int32_t)draw(1, MOST);
		s.count *= s.dim[i];
		s.inner *= i > axis ? s.dim[i] : 1;
	}
	s.channels = s.dim[axis];
	strides(s.dim, s.xs);
	strides(s.dim, s.ys);
	return s;
}

static int32_t
offset(const shape *s, const int32_t *by, int32_t i)
{
	int32_t at = 0;

	for (int k = 3; k >= 0; k--) {
		at += i % s->dim[k] * by[k];
		i /= s->dim[k];
	}
	return at;
}

/* Multipliers and zero points of up to MOST channels, in entries of n numbers; those at 3, 5 … are
 * multipliers, after each its shift. */
static void
draw_table(const data *d, int n, int32_t least, int32_t most, int32_t *table)
{
	for (int i = 0; i < MOST * n; i++) {
		const int field = i % n;

		table[i] = field < 3        ? (d->hi > 255 ? 0 : (int32_t)draw(d->lo, d->hi))
			   : field % 2 == 1 ? (int32_t)draw(INT32_C(1) << 30, INT32_MAX)
					    : (int32_t)draw(least, most);
	}
}

static int64_t
clamped(const data *d, wide q)
{
	return (int64_t)(q < d->lo ? d->lo : q > d->hi ? d->hi : q);
}

static int64_t
sum_model(const data *d, int32_t left, int32_t sub, int32_t x, int32_t y, const int32_t *t)
{
	const wide u = rescale(d, (wide)(x - t[0]) * (1 << left), t[3], t[4]);
	const wide v = rescale(d, (wide)(y - t[1]) * (1 << left), t[5], t[6]);

	return clamped(d, rescale(d, sub != 0 ? u - v : u + v, t[7], t[8]) + t[2]);
}

static int64_t
product_model(const data *d, int32_t x, int32_t y, const int32_t *t)
{
	return clamped(d, rescale(d, (wide)(x - t[0]) * (y - t[1]), t[3], t[4]) + t[2]);
}

#define OF_SHAPE(s)                                                                                \
	.dim = {(s).dim[0], (s).dim[1], (s).dim[2], (s).dim[3]},                                   \
	.xs = {(s).xs[0], (s).xs[1], (s).xs[2], (s).xs[3]},                                        \
	.ys = {(s).ys[0], (s).ys[1], (s).ys[2], (s).ys[3]}, .channels = (s).channels,              \
	.inner = (s).inner

#define PAIR_TEST(q, code, least, most)                                                            \
	static void test_pairs##q(void **state)                                                    \
	{                                                                                          \
		(void)state;                                                                       \
		for (int round = 0; round < ROUNDS; round++) {                                     \
			static code x[ROOM], y[ROOM], z[ROOM];                                     \
			static int32_t sums[MOST * 9], products[MOST * 5];                         \
			data *d = make(least, most, 8);                                            \
			const shape s = draw_shape();                                              \
			const int32_t left = (most) > 255 ? 15 : 20, sub = (int32_t)draw(0, 1);    \
                                                                                                   \
			d->is_wide = false; /* in 32 bits */                                       \
			draw_table(d, 9, -3, 0, sums);                                             \
			for (int c = 0; c < MOST; c++)                                             \
				sums[c * 9 + 8] -= left - 3;                                       \
			draw_table(d, 5, (most) > 255 ? -18 : -9, (most) > 255 ? -13 : -5,         \
				   products);                                                      \
			for (int i = 0; i < ROOM; i++) {                                           \
				x[i] = (code)d->x[i];                                              \
				y[i] = (code)d->b[i];                                              \
			}                                                                          \
			const qn_add_axis_args a = {                                               \
				OF_SHAPE(s),          .lo = least, .hi = most,   .left = left,     \
				.mode = QN_RQ_SINGLE, .sub = sub,  .table = sums};                 \
			qn_add_axis##q(&a, x, y, z);                                               \
			for (int32_t i = 0; i < s.count; i++)                                      \
				assert_int_equal(z[i],                                             \
						 sum_model(d, left, sub, x[offset(&s, s.xs, i)],   \
							   y[offset(&s, s.ys, i)],                 \
							   sums + i / s.inner % s.channels * 9));  \
			const qn_mul_axis_args m = {OF_SHAPE(s), .lo = least, .hi = most,          \
						    .mode = QN_RQ_SINGLE, .table = products};      \
			qn_mul_axis##q(&m, x, y, z);                                               \
			for (int32_t i = 0; i < s.count; i++)                                      \
				assert_int_equal(                                                  \
					z[i],                                                      \
					product_model(d, x[offset(&s, s.xs, i)],                   \
						      y[offset(&s, s.ys, i)],                      \
						      products + i / s.inner % s.channels * 5));   \
			free(d);                                                                   \
		}                                                                                  \
	}

PAIR_TEST(_s8, int8_t, -128, 127)
PAIR_TEST(_u8, uint8_t, 0, 255)
PAIR_TEST(_s16, int16_t, -32768, 32767)

/* One kernel of a requantize: what it reads, what it writes. */
#define RESCALE_TEST(kernel, from, from_lo, from_hi, to, to_lo, to_hi)                             \
	static void test_##kernel(void **state)                                                    \
	{                                                                                          \
		(void)state;                                                                       \
		for (int round = 0; round < ROUNDS; round++) {                                     \
			static from x[ROOM];                                                       \
			static to y[ROOM];                                                         \
			int32_t zero[2 * MOST];                                                    \
			data *d = make(to_lo, to_hi, 8);                                           \
			const shape s = draw_shape();                                              \
                                                                                                   \
			d->is_wide = sizeof(from) == 8;                                            \
			for (int c = 0; c < MOST; c++) {                                           \
				zero[2 * c] =                                                      \
					(from_hi) > 255 ? 0 : (int32_t)draw(from_lo, from_hi);     \
				zero[2 * c + 1] = (to_hi) > 255 ? 0 : (int32_t)draw(to_lo, to_hi); \
				d->shift[c] = (int8_t)((from_hi) > 32767 ? -14 : draw(-2, 1));     \
			}                                                                          \
			for (int32_t i = 0; i < s.count; i++)                                      \
				x[i] = (from)draw(from_lo, from_hi);                               \
			const qn_requantize_axis_args a = {s.count / s.channels / s.inner,         \
							   s.channels,                             \
							   s.inner,                                \
							   (int32_t)d->lo,                         \
							   (int32_t)d->hi,                         \
							   QN_RQ_SINGLE,                           \
							   zero,                                   \
							   d->mult,                                \
							   d->shift};                              \
			qn_requantize_axis_##kernel(&a, x, y);                                     \
			for (int32_t i = 0; i < s.count; i++) {                                    \
				const int32_t c = i / s.inner % s.channels;                        \
                                                                                                   \
				d->zo = zero[2 * c + 1];                                           \
				assert_int_equal(y[i], to_code(d, (wide)x[i] - zero[2 * c],        \
							       d->mult[c], d->shift[c]));          \
			}                                                                          \
			free(d);                                                                   \
		}                                                                                  \
	}

#define S8 int8_t, -128, 127
#define U8 uint8_t, 0, 255
#define S16 int16_t, -32768, 32767
#define S32 int32_t, -4000000, 4000000
#define S64 int64_t, -4000000, 4000000
#define RESCALE(kernel, from, to) RESCALE_TEST(kernel, from, to)
RESCALE(s8, S8, S8)
RESCALE(u8, U8, U8)
RESCALE(s16, S16, S16)
RESCALE(from_s8_u8, S8, U8)
RESCALE(from_s8_s16, S8, S16)
RESCALE(from_u8_s8, U8, S8)
RESCALE(from_u8_s16, U8, S16)
RESCALE(from_s16_s8, S16, S8)
RESCALE(from_s16_u8, S16, U8)
RESCALE(s32_s8, S32, S8)
RESCALE(s32_u8, S32, U8)
RESCALE(s32_s16, S32, S16)
RESCALE(s64_s8, S64, S8)
RESCALE(s64_u8, S64, U8)
RESCALE(s64_s16, S64, S16)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pairs_s8),    cmocka_unit_test(test_pairs_u8),
		cmocka_unit_test(test_pairs_s16),   cmocka_unit_test(test_s8),
		cmocka_unit_test(test_u8),          cmocka_unit_test(test_s16),
		cmocka_unit_test(test_from_s8_u8),  cmocka_unit_test(test_from_s8_s16),
		cmocka_unit_test(test_from_u8_s8),  cmocka_unit_test(test_from_u8_s16),
		cmocka_unit_test(test_from_s16_s8), cmocka_unit_test(test_from_s16_u8),
		cmocka_unit_test(test_s32_s8),      cmocka_unit_test(test_s32_u8),
		cmocka_unit_test(test_s32_s16),     cmocka_unit_test(test_s64_s8),
		cmocka_unit_test(test_s64_u8),      cmocka_unit_test(test_s64_s16),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
