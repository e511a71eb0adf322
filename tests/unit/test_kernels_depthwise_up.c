/* SPDX-License-Identifier: Apache-2.0 */
/* test_kernels_depthwise_up.c - depthwise convolutions with multipliers of 0.5 or more, whose sums are shifted to the left,
 * over vectors and with the DSP extension, on the definitions in C, against the interpreter. */
#include "codegen/kernels_dsp.h"
#include "codegen/kernels_vector.h"
#include "runtime/kernels/dsp_depthwise_any.h"
#include "tests/unit/layer_rig.h"

static bool
call(const char *name, const qn_step *s, const int8_t *const *x, void *work, int8_t *y)
{
	const int8_t *rows[16];

	if (strcmp(name, "qn_depthwise_up_vector") == 0)
		qn_depthwise_up_vector(s->args, x[0], rows, work, y);
	else if (strcmp(name, "qn_depthwise_up_vector_w4") == 0)
		qn_depthwise_up_vector_w4(s->args, x[0], rows, work, y);
	else if (strcmp(name, "qn_depthwise_up_dsp") == 0)
		qn_depthwise_up_dsp(s->args, x[0], work, y);
	else if (strcmp(name, "qn_depthwise_up_dsp_w4") == 0)
		qn_depthwise_up_dsp_w4(s->args, x[0], work, y);
	else
		return false;
	return true;
}

/* Scales of c channels: small ones, and such that with those of x and y sums are multiplied by up to `most`. */
static const char *
scales(builder *b, int c, int most)
{
	const char *s = "";

	for (int i = 0; i < c; i++)
		s = build_printf(b, "%s%s%d.%03d", s, i > 0 ? ", " : "",
				 pick(0, 2) == 0 ? pick(0, most) : 0, pick(1, 999));
	return s;
}

/* A depthwise layer of drawn shape; the function that it is planned with. */
static const char *
check(builder *b, const char *target, bool four, int most)
{
	qn_attrs a = build_attrs(QN_OP_conv2d);
	const int c = pick(4, 21), kh = pick(1, 5), kw = pick(0, 2) == 0 ? kh : pick(1, 5);

	a.conv2d.groups = c;
	for (int i = 0; i < 2; i++)
		a.conv2d.stride[i] = pick(1, 3);
	for (int i = 0; i < 4; i++)
		a.conv2d.pad[i] = pick(0, 1) * pick(0, 4);
	const layer l = {
		.op = QN_OP_conv2d,
		.x = build_printf(b, "tensor<%dx%dx%dx%dx!quant.uniform<i8:f32, 0.5:%d>>",
				  pick(1, 2), pick(kh, 9), pick(kw, 9), c, pick(-128, 127)),
		.w = build_printf(b, "tensor<%dx%dx%dx1x!quant.uniform<%s:f32:0, {%s}>>", c, kh, kw,
				  four ? "i4" : "i8", scales(b, c, most)),
		.y = build_printf(b, "i8:f32, 0.5:%d", pick(0, 2) == 0 ? -128 : pick(-128, 127)),
		.w_lo = four ? -8 : -127,
		.w_hi = four ? 7 : 127,
		.x_lo = -128,
		.x_hi = 127,
		.attr = &a,
	};

	return check_layer(b, &l, target, call);
}

static void
check_all(const char *target, bool four, const char *want)
{
	int reached = 0;

	for (uint64_t round = 1; round <= 300; round++) {
		builder b;

		build_begin(&b, "net", round);
		reached += strcmp(check(&b, target, four, pick(0, 1) == 0 ? 2 : 90), want) == 0;
		build_end(&b);
	}
	assert_true(reached > 200);
}

static void
test_vectors(void **state)
{
	(void)state;
	check_all("cortex-m55", false, "qn_depthwise_up_vector");
	check_all("x86-64-avx2", true, "qn_depthwise_up_vector_w4");
}

static void
test_dsp(void **state)
{
	(void)state;
	check_all("cortex-m4", false, "qn_depthwise_up_dsp");
	check_all("cortex-m4", true, "qn_depthwise_up_dsp_w4");
}

/* Sums that leave 32 bits when they are shifted have another kernel. */
static void
test_bound(void **state)
{
	(void)state;
	for (int scale = 1 << 9; scale <= 1 << 16; scale *= 2)
		for (int dsp = 0; dsp < 2; dsp++) {
			builder b;
			qn_attrs a = build_attrs(QN_OP_conv2d);

			build_begin(&b, "net", 1);
			a.conv2d.groups = 8;
			const layer l = {
				.op = QN_OP_conv2d,
				.x = "tensor<1x1x1x8x!quant.uniform<i8:f32, 0.5:0>>",
				.w = build_printf(
					&b, "tensor<8x1x1x1x!quant.uniform<i8:f32, %d.0>>", scale),
				.y = "i8:f32, 0.5:3",
				.w_lo = 127,
				.w_hi = 127,
				.x_lo = -128,
				.x_hi = 127,
				.attr = &a,
			};
			/* 128 * 127 * 2 * scale * 2 < 2^29 */
			const bool fits = 4LL * 128 * 127 * scale < 1 << 29;
			assert_string_equal(
				check_layer(&b, &l, dsp ? "cortex-m4" : "cortex-m55", call),
				!fits ? "qn_depthwise_by4_s8"
				: dsp ? "qn_depthwise_up_dsp"
				      : "qn_depthwise_up_vector");
			build_end(&b);
		}
}

/* The rounding form is that of the plain kernel. */
static void
test_rounding(void **state)
{
	(void)state;
	for (int round = 0; round < 40000; round++) {
		const int32_t left = pick(0, 12), zo = pick(-128, 127);
		const int32_t m = pick(0, 3) == 0 ? 1 << 30 : pick(1 << 30, INT32_MAX);
		const int32_t acc = pick(0, 1) == 0 ? pick(-300, 300) : pick(-(1 << 15), 1 << 15);
		const bool twice = LAYER_ROUNDING == QN_RQ_DOUBLE;
		const uint32_t n =
			twice ? 65536u + 256u * (uint32_t)left : 256u * (uint32_t)(left + 1);
		const uint32_t scale[2] = {(uint32_t)m, n};

		assert_int_equal(qn_dsp_code_up(acc, scale, 2 * zo + 1),
				 qn_requant(acc, m, left, zo, -128, 127, LAYER_ROUNDING));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vectors),
		cmocka_unit_test(test_dsp),
		cmocka_unit_test(test_bound),
		cmocka_unit_test(test_rounding),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
