/* SPDX-License-Identifier: Apache-2.0 */
/* test_kernels_conv16.c - layers of 16-bit values with the DSP extension, on the definitions in C, against the
 * interpreter. */
#include "codegen/kernels_dsp.h"
#include "runtime/kernels/dsp_conv16.h"
#include "tests/unit/layer_rig.h"

static bool
call(const char *name, const qn_step *s, const int8_t *const *x, void *work, int8_t *y)
{
	const void *in = x[0];
	void *out = y;

	if (strcmp(name, "qn_conv2d_rows16_dsp") == 0)
		qn_conv2d_rows16_dsp(s->args, in, work, out);
	else if (strcmp(name, "qn_depthwise_rows16_dsp") == 0)
		qn_depthwise_rows16_dsp(s->args, in, out);
	else if (strcmp(name, "qn_dense_rows16_dsp") == 0)
		qn_dense_rows16_dsp(s->args, in, work, out);
	else
		return false;
	return true;
}

/* A convolution of drawn shape, or a depthwise one; the function that it is planned with. */
static const char *
check(builder *b, bool deep)
{
	qn_attrs a = build_attrs(QN_OP_conv2d);
	const bool pixel = pick(0, 3) == 0;
	const int kh = pixel ? 1 : pick(1, 4), kw = pixel ? 1 : pick(1, 4);
	const int in_c = deep ? pick(4, 13) : pixel ? 4 * pick(1, 5) : pick(1, 9);
	const int out_c = deep ? in_c : pick(1, 14);

	a.conv2d.groups = deep ? in_c : 1;
	for (int i = 0; i < 2; i++) {
		a.conv2d.stride[i] = pick(1, 3);
		a.conv2d.dilation[i] = pick(0, 3) == 0 ? 2 : 1;
	}
	for (int i = 0; i < 4; i++)
		a.conv2d.pad[i] = pixel ? 0 : pick(0, 2);
	const layer l = {
		.op = QN_OP_conv2d,
		.x = build_printf(b, "tensor<%dx%dx%dx%dx!quant.uniform<i16:f32, 0.5>>", pick(1, 2),
				  pick(2 * kh - 1, 8), pick(2 * kw - 1, 8), in_c),
		.w = build_printf(b, "tensor<%dx%dx%dx%dx!quant.uniform<i8:f32, 0.25>>", out_c, kh,
				  kw, deep ? 1 : in_c),
		.bias = pick(0, 2) == 0
				? NULL
				: build_printf(b, "tensor<%dx!quant.uniform<i64:f32, 0.25*0.5>>",
					       out_c),
		.y = build_printf(b, "i16:f32, %d.0", pick(1, 60)),
		.w_lo = -127,
		.w_hi = 127,
		.bias_lo = -1000000,
		.bias_hi = 1000000,
		.x_lo = -128,
		.x_hi = 127,
		.attr = &a,
	};

	return check_layer(b, &l, "cortex-m4", call);
}

static void
test_conv(void **state)
{
	(void)state;
	for (uint64_t round = 1; round <= 400; round++) {
		builder b;

		build_begin(&b, "net", round);
		assert_string_equal(check(&b, round % 2 == 0), round % 2 == 0
								       ? "qn_depthwise_rows16_dsp"
								       : "qn_conv2d_rows16_dsp");
		build_end(&b);
	}
}

static void
test_dense(void **state)
{
	(void)state;
	for (uint64_t round = 1; round <= 300; round++) {
		builder b;

		build_begin(&b, "net", round);
		const int in = pick(1, 90), out = pick(1, 21);
		const layer l = {
			.op = QN_OP_dense,
			.x = build_printf(&b, "tensor<%dx%dx!quant.uniform<i16:f32, 0.5>>",
					  pick(1, 3), in),
			.w = build_printf(&b, "tensor<%dx%dx!quant.uniform<i8:f32, 0.25>>", out,
					  in),
			.bias = pick(0, 2) == 0
					? NULL
					: build_printf(
						  &b,
						  "tensor<%dx!quant.uniform<i64:f32, 0.25*0.5>>",
						  out),
			.y = build_printf(&b, "i16:f32, %d.0", pick(1, 60)),
			.w_lo = -127,
			.w_hi = 127,
			.bias_lo = -1000000,
			.bias_hi = 1000000,
			.x_lo = -128,
			.x_hi = 127,
		};
		assert_string_equal(check_layer(&b, &l, "cortex-m4", call), "qn_dense_rows16_dsp");
		build_end(&b);
	}
}

/* Absolute weights of a channel of 2^16 and more together have sums of more than 32 bits. */
static void
test_bound(void **state)
{
	(void)state;
	for (int more = 0; more < 2; more++) {
		builder b;
		int8_t w[1 * 520] = {0};

		for (int k = 0; k < 516; k++)
			w[k] = 127;
		w[516] = (int8_t)(3 + more); /* 516 * 127 + 3 is 2^16 - 1 */
		build_begin(&b, "net", 1);
		const layer l = {
			.op = QN_OP_conv2d,
			.x = "tensor<1x1x3x520x!quant.uniform<i16:f32, 0.5>>",
			.w = "tensor<1x1x1x520x!quant.uniform<i8:f32, 0.25>>",
			.y = "i16:f32, 65536.0",
			.weight = w,
			.w_hi = 1,
			.x_lo = -128,
			.x_hi = -128, /* -32640 each */
		};
		assert_string_equal(check_layer(&b, &l, "cortex-m4", call),
				    more ? "qn_conv2d_s16" : "qn_conv2d_rows16_dsp");
		build_end(&b);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_conv),
					   cmocka_unit_test(test_dense),
					   cmocka_unit_test(test_bound)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
