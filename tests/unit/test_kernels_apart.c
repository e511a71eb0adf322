/* SPDX-License-Identifier: Apache-2.0 */
/* test_kernels_apart.c - convolutions with biases that a sum of two channels in a word has no bits for, with the DSP
 * extension, on the definitions in C, against the interpreter. */
#include "codegen/kernels_dsp.h"
#include "runtime/kernels/dsp_conv.h"
#include "tests/unit/layer_rig.h"

static bool
call(const char *name, const qn_step *s, const int8_t *const *x, void *work, int8_t *y)
{
	if (strcmp(name, "qn_conv2d_apart_dsp") != 0)
		return false;
	qn_conv2d_apart_dsp(s->args, x[0], work, y);
	return true;
}

static const char *
check(builder *b, int64_t most)
{
	qn_attrs a = build_attrs(QN_OP_conv2d);
	const int k = pick(1, 3), in_c = pick(1, 21), out_c = pick(1, 14);

	for (int i = 0; i < 2; i++)
		a.conv2d.stride[i] = pick(1, 2);
	for (int i = 0; i < 4; i++)
		a.conv2d.pad[i] = k > 1 ? pick(0, 2) : 0;
	const layer l = {
		.op = QN_OP_conv2d,
		.x = build_printf(b, "tensor<%dx%dx%dx%dx!quant.uniform<i8:f32, 0.5:%d>>",
				  pick(1, 2), pick(k, 7), pick(k, 7), in_c, pick(-128, 127)),
		.w = build_printf(b, "tensor<%dx%dx%dx%dx!quant.uniform<i8:f32, 0.25>>", out_c, k,
				  k, in_c),
		.bias = build_printf(b, "tensor<%dx!quant.uniform<i32:f32, 0.25*0.5>>", out_c),
		.y = build_printf(b, "i8:f32, %d.0:%d", most > 1 << 27 ? 1 << 19 : 1 << 15,
				  pick(-100, 100)),
		.w_lo = -127,
		.w_hi = 127,
		.bias_lo = -most,
		.bias_hi = most,
		.x_lo = -128,
		.x_hi = 127,
		.attr = &a,
	};

	return check_layer(b, &l, "cortex-m4", call);
}

static void
test_apart(void **state)
{
	int reached = 0;

	(void)state;
	for (uint64_t round = 1; round <= 300; round++) {
		builder b;

		build_begin(&b, "net", round);
		reached += strcmp(check(&b, round % 2 == 0 ? 30000000 : 1000000000),
				  "qn_conv2d_apart_dsp") == 0;
		build_end(&b);
	}
	if (reached < 150)
		fail_msg("%d of 300 have it", reached);
}

/* The products alone decide: weights of a second channel that reach 2^23 decline. */
static void
test_bound(void **state)
{
	(void)state;
	for (int second = 0; second < 2; second++) {
		builder b;
		int8_t w[2 * 528] = {0};

		for (int k = 0; k < 528; k++)
			w[528 * second + k] = 127; /* 528 * 127 * 128 is more than 2^23 */
		w[528 * (1 - second)] = 1;
		build_begin(&b, "net", 1);
		const layer l = {
			.op = QN_OP_conv2d,
			.x = "tensor<1x2x2x528x!quant.uniform<i8:f32, 0.5>>",
			.w = "tensor<2x1x1x528x!quant.uniform<i8:f32, 0.25>>",
			.bias = "tensor<2x!quant.uniform<i32:f32, 0.25*0.5>>",
			.y = "i8:f32, 65536.0:3",
			.weight = w,
			.w_hi = 1,
			.bias_lo = 20000000,
			.bias_hi = 20000000,
			.x_lo = -128,
			.x_hi = 127,
		};
		assert_string_equal(check_layer(&b, &l, "cortex-m4", call),
				    second ? "qn_conv2d_s8" : "qn_conv2d_apart_dsp");
		build_end(&b);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_apart),
					   cmocka_unit_test(test_bound)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
