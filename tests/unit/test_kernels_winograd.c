/* SPDX-License-Identifier: Apache-2.0 */
/* test_kernels_winograd.c - the kernel of runtime/kernels/dsp_winograd.h, with weights as they are packed,
 * gives the bytes of the interpreter: graphs of one layer are planned for cortex-m4, and every kernel that
 * fits is called, whatever it costs. */
#include "codegen/kernels_dsp.h"
#include "tests/unit/layer_rig.h"

static int plain, relu, over; /* results that were computed */

static bool
call(const char *name, const qn_step *s, const int8_t *const *x, void *work, int8_t *y)
{
	if (strcmp(name, "qn_winograd_dsp") == 0) {
		qn_winograd_dsp(s->args, x[0], work, y);
		plain++;
	} else if (strcmp(name, "qn_winograd_relu_dsp") == 0) {
		qn_winograd_relu_dsp(s->args, x[0], work, y);
		relu++;
	} else {
		return false;
	}
	over += y == x[0];
	return true;
}

typedef struct shape {
	int n, h, w, c, o;
	int pad[4]; /* top, bottom, left, right */
	int zp;
} shape;

/* Checks a convolution 3x3; its kernel. */
static const char *
check_conv(builder *b, const shape *s, layer l)
{
	qn_attrs a = build_attrs(QN_OP_conv2d);

	for (int i = 0; i < 4; i++)
		a.conv2d.pad[i] = s->pad[i];
	l.op = QN_OP_conv2d;
	l.x = build_printf(b, "tensor<%dx%dx%dx%dx!quant.uniform<i8:f32, 0.5:%d>>", s->n, s->h,
			   s->w, s->c, s->zp);
	l.w = build_printf(b, "tensor<%dx3x3x%dx!quant.uniform<i8:f32, 0.25>>", s->o, s->c);
	if (l.bias != NULL)
		l.bias = build_printf(b, "tensor<%dx!quant.uniform<i32:f32, 0.25*0.5>>", s->o);
	l.attr = &a;
	return check_layer(b, &l, "cortex-m4", call);
}

/* Weights and inputs: any, or the ends alone. */
static layer
draw_values(builder *b)
{
	const int how = pick(0, 4);

	return (layer){.bias = pick(0, 2) == 0 ? NULL : "",
		       .y = CODES(b),
		       .w_lo = how == 1 ? 127 : -128,
		       .w_hi = how == 2 ? -128 : 127,
		       .bias_lo = -20000,
		       .bias_hi = 20000,
		       .x_lo = how == 2 ? 127 : -128,
		       .x_hi = how == 1 || how == 3 ? -128 : 127,
		       .relu = pick(0, 1) == 0};
}

static void
test_shapes(void **state)
{
	(void)state;
	plain = relu = over = 0;
	for (uint64_t round = 1; round <= 700; round++) {
		const bool same = pick(0, 2) == 0;
		shape s = {.n = pick(1, 2), .zp = pick(0, 3) == 0 ? -128 : pick(-128, 127)};
		builder b;

		build_begin(&b, "net", round);
		s.c = pick(0, 2) == 0 ? 4 * pick(1, 9) : pick(1, 19);
		s.o = same ? s.c : pick(1, 13);
		for (int i = 0; i < 4; i++)
			s.pad[i] = same ? 1 : pick(0, 2);
		/* one pixel, the border alone, any */
		s.h = pick(s.pad[0] + s.pad[1] >= 2 ? 1 : 3 - s.pad[0] - s.pad[1], 9);
		s.w = pick(s.pad[2] + s.pad[3] >= 2 ? 1 : 3 - s.pad[2] - s.pad[3], 13);
		(void)check_conv(&b, &s, draw_values(&b));
		build_end(&b);
	}
	assert_true(plain > 200 && relu > 200 && over > 100);
}

/* Where a value is written over the rows that later ones want: padding that is not the same on all sides. */
static void
test_over(void **state)
{
	(void)state;
	over = 0;
	for (int top = 0; top <= 2; top++)
		for (int left = 0; left <= 2; left++)
			for (int size = 1; size <= 11; size++) {
				builder b;
				const shape s = {.n = 2,
						 .h = size,
						 .w = 12 - size,
						 .c = 4,
						 .o = 4,
						 .pad = {top, 2 - top, left, 2 - left},
						 .zp = -7};

				build_begin(&b, "net", 1);
				(void)check_conv(&b, &s, draw_values(&b));
				build_end(&b);
			}
	assert_true(over >= 99);
}

/* Four times the sum of 36864 products of -128 and 113 or -113, and of the bias, reaches to one below 2^31; with
 * one more it is another kernel that computes the layer. */
static void
test_bound(void **state)
{
	static const int least[] = {-1, 0, 1};

	(void)state;
	for (int sign = -1; sign <= 1; sign += 2)
		for (size_t i = 0; i < COUNT(least); i++) {
			const shape s = {
				.n = 1, .h = 2, .w = 3, .c = 4096, .o = 2, .pad = {1, 1, 1, 1}};
			const int64_t sum = INT64_C(9) * 4096 * 113 * 128,
				      bias = (1 << 29) - 1 - sum;
			builder b;

			build_begin(&b, "net", 1);
			const layer l = {
				.bias = "",
				.y = "i8:f32, 1048576.0:3",
				.w_lo = -113 * sign,
				.w_hi = -113 * sign,
				.bias_lo = sign * (bias + least[i]),
				.bias_hi = sign * (bias + least[i]),
				.x_lo = -128,
				.x_hi = -128,
			};
			plain = relu = 0;
			(void)check_conv(&b, &s, l);
			assert_int_equal(plain + relu > 0, least[i] <= 0);
			build_end(&b);
		}
}

/* The rounding form is that of the plain kernel for every sum, multiplier and shift that is let through, ties too. */
static void
test_rounding(void **state)
{
	(void)state;
	for (int32_t n = 0; n <= 21; n++)
		for (int round = 0; round < 4000; round++) {
			const int32_t m = pick(0, 3) == 0 ? 1 << 30 : pick(1 << 30, INT32_MAX);
			const int32_t zo = pick(-128, 127);
			const int32_t acc = pick_sum(round, m, n, 29);
			const uint32_t scale[3] = {
				(uint32_t)m, (2 * (uint32_t)zo + 1) * (2u << n) + !QN_ROUNDS_ONCE,
				(uint32_t)n + 1};
			const int32_t want =
				qn_requant(acc, m, -n - 1, zo, -128, 127, LAYER_ROUNDING);

			assert_int_equal(qn_winograd_value(4 * acc, scale, 0), want);
			const int8_t up = qn_winograd_value(4 * acc, scale, 1);
			assert_int_equal(up > zo ? up : zo, want > zo ? want : zo);
		}
}

static void
test_instructions(void **state)
{
	static const uint32_t edge[] = {0,          1,           0x7fff,      0x8000,
					0xffff,     0x10000,     0x7fff7fffu, 0x80008000u,
					0x80007fff, 0xffff0001u, 0xffffffffu};

	(void)state;
	for (size_t i = 0; i < COUNT(edge); i++)
		for (size_t j = 0; j < COUNT(edge); j++) {
			const uint32_t x = edge[i], y = edge[j];
			const uint32_t low = (x & 0xffff) + (y & 0xffff),
				       high = (x >> 16) + (y >> 16);

			assert_int_equal(qn_sadd16(x, y), (low & 0xffff) | high << 16);
			assert_int_equal(qn_ssub16(qn_sadd16(x, y), y), x);
			const int64_t p = (int64_t)(int32_t)x * (int32_t)y;
			const int64_t floor = (p - ((p % (INT64_C(1) << 32)) + (INT64_C(1) << 32)) %
							   (INT64_C(1) << 32)) /
					      (INT64_C(1) << 32);
			assert_int_equal((uint32_t)qn_smmla((int32_t)x, (int32_t)y, (int32_t)y),
					 (uint32_t)(floor + (int32_t)y));
		}
}

/* It is chosen where it is the faster one. */
static void
test_choice(void **state)
{
	static const struct {
		shape s;
		const char *name;
	} of[] = {
		{{1, 8, 8, 16, 16, {1, 1, 1, 1}, 0}, "qn_winograd_dsp"},
		{{1, 1, 1, 16, 16, {1, 1, 1, 1}, 0}, "qn_conv2d_dsp"},
		{{1, 40, 1, 8, 3, {1, 1, 1, 1}, 0}, "qn_conv2d_dsp"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(of); i++) {
		builder b;

		build_begin(&b, "net", 1);
		const layer l = {.y = "i8:f32, 100.0:3",
				 .w_lo = -127,
				 .w_hi = 127,
				 .x_lo = -128,
				 .x_hi = 127};
		assert_string_equal(check_conv(&b, &of[i].s, l), of[i].name);
		build_end(&b);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_instructions), cmocka_unit_test(test_shapes),
		cmocka_unit_test(test_over),         cmocka_unit_test(test_bound),
		cmocka_unit_test(test_rounding),     cmocka_unit_test(test_choice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
