/* SPDX-License-Identifier: Apache-2.0 */
/* test_kernels_dsp.c - the instructions of the DSP extension by their definitions, and the kernels
 * over them, with weights as they are packed, against the plain ones: graphs of one layer are planned
 * for cortex-m4 and its kernel is called with the packed arguments. */
#include "codegen/kernels_dsp.h"
#include "tests/unit/layer_rig.h"

/* ---- instructions ---- */

static void
test_instructions(void **state)
{
	static const uint32_t edge[] = {0,           1,           0x7f,        0x80,
					0xff,        0x7fff,      0x8000,      0xffff,
					0x80008000u, 0x7fff7fffu, 0x80807f7fu, 0xffffffffu};

	(void)state;
	for (size_t i = 0; i < COUNT(edge); i++)
		for (size_t j = 0; j < COUNT(edge); j++) {
			const uint32_t x = edge[i], y = edge[j];
			const int64_t xl = (int16_t)(x & 0xffff), xh = (int16_t)(x >> 16);
			const int64_t yl = (int16_t)(y & 0xffff), yh = (int16_t)(y >> 16);
			const int64_t both = xl * yl + xh * yh + (int32_t)x;

			assert_int_equal((uint32_t)qn_smlad(x, y, (int32_t)x), (uint32_t)both);
			assert_int_equal((uint32_t)qn_smlabb(x, y, 5), (uint32_t)(xl * yl + 5));
			assert_int_equal((uint32_t)qn_smlatt(x, y, 5), (uint32_t)(xh * yh + 5));
			assert_int_equal(qn_pkhbt(x, y), (x & 0xffffu) | y << 16);
			assert_int_equal(qn_pkhtb(x, y), x >> 16 | (y & 0xffff0000u));
			const int64_t p = (int64_t)(int32_t)x * (int32_t)y + (INT64_C(1) << 31);
			assert_int_equal(qn_smmulr((int32_t)x, (int32_t)y), (int32_t)(p >> 32));
			assert_int_equal(qn_ssat8((int32_t)x), limit((int32_t)x, -128, 127));
			const uint32_t even = ((uint32_t)(int8_t)(x & 0xff) & 0xffffu) |
					      (uint32_t)(int8_t)(x >> 16 & 0xff) << 16;
			assert_int_equal(qn_sxtb16(x), even);
			assert_int_equal(qn_sxtb16_ror8(x), qn_sxtb16(x >> 8));
		}
}

/* ---- layers ---- */

static bool
call(const char *name, const qn_step *s, const int8_t *const *x, void *work, int8_t *y)
{
	if (strcmp(name, "qn_conv2d_dsp") == 0)
		qn_conv2d_dsp(s->args, x[0], work, y);
	else if (strcmp(name, "qn_depthwise3_dsp") == 0)
		qn_depthwise3_dsp(s->args, x[0], work, y);
	else if (strcmp(name, "qn_dense_dsp") == 0)
		qn_dense_dsp(s->args, x[0], work, y);
	else
		return false;
	return true;
}

static const char *
check(builder *b, const layer *l)
{
	return check_layer(b, l, "cortex-m4", call);
}

static void
test_dense(void **state)
{
	int reached = 0;

	(void)state;
	for (uint64_t round = 1; round <= 200; round++) {
		builder b;
		const int n = pick(1, 2), in = pick(1, 41), out = pick(1, 19);

		build_begin(&b, "net", round);
		const layer l = {
			.op = QN_OP_dense,
			.x = build_printf(&b, "tensor<%dx%dx!quant.uniform<i8:f32, 0.5:%d>>", n, in,
					  pick(-128, 127)),
			.w = build_printf(&b, "tensor<%dx%dx!quant.uniform<i8:f32, 0.25>>", out,
					  in),
			.bias = pick(0, 1) == 0
					? NULL
					: build_printf(
						  &b,
						  "tensor<%dx!quant.uniform<i32:f32, 0.25*0.5>>",
						  out),
			.y = CODES(&b),
			.w_lo = -127,
			.w_hi = 127,
			.bias_lo = -20000,
			.bias_hi = 20000,
			.x_lo = -128,
			.x_hi = 127,
		};
		reached += strcmp(check(&b, &l), "qn_dense_dsp") == 0;
		build_end(&b);
	}
	assert_true(reached > 150);
}

static void
test_conv(void **state)
{
	int conv = 0, depthwise = 0;

	(void)state;
	for (uint64_t round = 1; round <= 400; round++) {
		builder b;
		const bool deep = pick(0, 1) == 0;
		const int c = deep ? 4 * pick(1, 3) : pick(1, 9), o = deep ? c : pick(1, 9);
		const int kh = deep ? 3 : pick(1, 3), kw = deep ? 3 : pick(1, 4);
		const int h = pick(kh, 8), w = pick(kw, 9), zp = pick(-128, 127);
		qn_attrs a = build_attrs(QN_OP_conv2d);

		build_begin(&b, "net", round);
		a.conv2d.groups = deep ? c : 1;
		a.conv2d.stride[0] = pick(1, 2);
		a.conv2d.stride[1] = pick(1, 3);
		for (int i = 0; i < 4; i++)
			a.conv2d.pad[i] = pick(0, 2);
		const layer l = {
			.op = QN_OP_conv2d,
			.x = build_printf(&b, "tensor<1x%dx%dx%dx!quant.uniform<i8:f32, 0.5:%d>>",
					  h, w, c, zp),
			.w = build_printf(&b, "tensor<%dx%dx%dx%dx!quant.uniform<i8:f32, 0.25>>", o,
					  kh, kw, deep ? 1 : c),
			.bias = pick(0, 1) == 0
					? NULL
					: build_printf(
						  &b,
						  "tensor<%dx!quant.uniform<i32:f32, 0.25*0.5>>",
						  o),
			.y = CODES(&b),
			.w_lo = -127,
			.w_hi = 127,
			.bias_lo = -20000,
			.bias_hi = 20000,
			.x_lo = -128,
			.x_hi = 127,
			.attr = &a,
		};
		const char *name = check(&b, &l);
		conv += strcmp(name, "qn_conv2d_dsp") == 0;
		depthwise += strcmp(name, "qn_depthwise3_dsp") == 0;
		build_end(&b);
	}
	assert_true(conv > 100 && depthwise > 100);
}

/* 516 weights of 127 and inputs of -128 reach 8388096 below zero: with a bias of 511 more that is the
 * last sum of which two fit into a word; with 512 another kernel computes the layer. */
static void
test_bound(void **state)
{
	(void)state;
	for (int sign = -1; sign <= 1; sign += 2)
		for (int more = 0; more < 2; more++) {
			builder b;

			build_begin(&b, "net", 1);
			const layer l = {
				.op = QN_OP_dense,
				.x = "tensor<1x516x!quant.uniform<i8:f32, 0.5>>",
				.w = "tensor<8x516x!quant.uniform<i8:f32, 0.25>>",
				.bias = "tensor<8x!quant.uniform<i32:f32, 0.25*0.5>>",
				.y = "i8:f32, 16384.0:3",
				.w_lo = 127 * sign,
				.w_hi = 127 * sign,
				.bias_lo = -sign * (511 + more),
				.bias_hi = -sign * (511 + more),
				.x_lo = -128,
				.x_hi = -128,
			};
			assert_string_equal(check(&b, &l),
					    more == 0 ? "qn_dense_dsp" : "qn_dense_by4_s8");
			build_end(&b);
		}
}

/* Channels whose bias alone decides are constant, however large it is. */
static void
test_constant_channels(void **state)
{
	builder b;

	(void)state;
	for (int sign = -1; sign <= 1; sign += 2) {
		build_begin(&b, "net", 1);
		const layer l = {
			.op = QN_OP_dense,
			.x = "tensor<1x16x!quant.uniform<i8:f32, 0.5:-3>>",
			.w = "tensor<8x16x!quant.uniform<i8:f32, 0.25>>",
			.bias = "tensor<8x!quant.uniform<i32:f32, 0.25*0.5>>",
			.y = "i8:f32, 0.5:3",
			.w_lo = -127,
			.w_hi = 127,
			.bias_lo = sign * 1000000000,
			.bias_hi = sign * 1000000000,
			.x_lo = -128,
			.x_hi = 127,
		};
		assert_string_equal(check(&b, &l), "qn_dense_dsp");
		build_end(&b);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_instructions),
		cmocka_unit_test(test_dense),
		cmocka_unit_test(test_conv),
		cmocka_unit_test(test_bound),
		cmocka_unit_test(test_constant_channels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
