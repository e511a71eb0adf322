/* SPDX-License-Identifier: Apache-2.0 */
/* test_kernels_vector.c - the kernels over vectors of 16 bytes, on the definitions in C, with weights as
 * they are packed, against the plain ones.  tests/mcu/vectors.c compares those definitions with the
 * instructions. */
#include "codegen/kernels_vector.h"
#include "runtime/kernels/vector_elementwise.h"
#include "tests/unit/layer_rig.h"

static bool
call(const char *name, const qn_step *s, const int8_t *const *x, void *work, int8_t *y)
{
	const int8_t *rows[16];

	if (strcmp(name, "qn_conv2d_vector") == 0)
		qn_conv2d_vector(s->args, x[0], work, y);
	else if (strcmp(name, "qn_conv2d_vector_w4") == 0)
		qn_conv2d_vector_w4(s->args, x[0], work, y);
	else if (strcmp(name, "qn_conv2d_wide_w4") == 0)
		qn_conv2d_wide_w4(s->args, x[0], work, y);
	else if (strcmp(name, "qn_depthwise_vector_w4") == 0)
		qn_depthwise_vector_w4(s->args, x[0], rows, work, y);
	else if (strcmp(name, "qn_dense_vector_w4") == 0)
		qn_dense_vector_w4(s->args, x[0], work, y);
	else if (strcmp(name, "qn_conv2d_wide") == 0)
		qn_conv2d_wide(s->args, x[0], work, y);
	else if (strcmp(name, "qn_depthwise_vector") == 0)
		qn_depthwise_vector(s->args, x[0], rows, work, y);
	else if (strcmp(name, "qn_dense_vector") == 0)
		qn_dense_vector(s->args, x[0], work, y);
	else if (strcmp(name, "qn_add_linear_vector") == 0)
		qn_add_linear_vector(s->args, x[0], x[1], y);
	else
		return false;
	return true;
}

/* By each of the targets that have the kernels. */
static const char *
check(builder *b, const layer *l)
{
	static const char *const target[] = {"cortex-m55", "x86-64-avx2", "aarch64",
					     "aarch64-dotprod", "x86-64-avx512vnni"};

	return check_layer(b, l, target[pick(0, 4)], call);
}

/* Weights and inputs: any, or the ends alone; `four`: weights of 4 bits. */
static void
draw_values(layer *l, bool four)
{
	const int how = pick(0, 3), least = four ? -8 : -127, most = four ? 7 : 127;

	l->w_lo = how == 1 ? most : least;
	l->w_hi = how == 2 ? least : most;
	l->bias_lo = -20000;
	l->bias_hi = 20000;
	l->x_lo = how == 2 ? 127 : -128;
	l->x_hi = how == 1 ? -128 : 127;
}

static const char *
draw_bias(builder *b, int channels)
{
	return pick(0, 1) == 0
		       ? NULL
		       : build_printf(b, "tensor<%dx!quant.uniform<i32:f32, 0.25*0.5>>", channels);
}

/* Results of all kinds: with a range that begins at the zero point, as after relu, too. */
static const char *
draw_result(builder *b)
{
	return pick(0, 2) == 0 ? build_printf(b, "i8:f32, %d.5:-128", pick(0, 9)) : CODES(b);
}

static void
test_dense(void **state)
{
	int reached[2] = {0, 0};

	(void)state;
	for (uint64_t round = 1; round <= 600; round++) {
		builder b;
		const bool four = round % 2 == 0;
		const int n = pick(1, 3), in = pick(1, 150), out = pick(1, 25);

		build_begin(&b, "net", round);
		layer l = {
			.op = QN_OP_dense,
			.x = build_printf(&b, "tensor<%dx%dx!quant.uniform<i8:f32, 0.5:%d>>", n, in,
					  pick(-128, 127)),
			.w = build_printf(&b, "tensor<%dx%dx!quant.uniform<%s:f32, 0.25>>", out, in,
					  four ? "i4" : "i8"),
			.bias = draw_bias(&b, out),
			.y = draw_result(&b),
		};
		draw_values(&l, four);
		reached[four] +=
			strcmp(check(&b, &l), four ? "qn_dense_vector_w4" : "qn_dense_vector") == 0;
		build_end(&b);
	}
	assert_true(reached[0] > 250 && reached[1] > 250);
}

static bool
is_conv(const char *name, bool four)
{
	return strcmp(name, four ? "qn_conv2d_vector_w4" : "qn_conv2d_vector") == 0 ||
	       strcmp(name, four ? "qn_conv2d_wide_w4" : "qn_conv2d_wide") == 0;
}

/* A convolution of drawn shape; of channels that have a kernel each when `deep`; of weights of 4 bits. */
static const char *
check_conv(uint64_t round, bool deep, bool four)
{
	builder b;
	qn_attrs a = build_attrs(QN_OP_conv2d);
	const int c = pick(0, 3) == 0 ? 16 * pick(1, 3) : pick(1, 21), o = deep ? c : pick(1, 40);
	const int kh = pick(1, 4), kw = pick(0, 2) == 0 ? kh : pick(1, 4);
	const int gap = deep && pick(0, 7) > 0 ? 1 : pick(1, 2);
	const int h = pick((kh - 1) * gap + 1, 9), w = pick((kw - 1) * gap + 1, 9);

	build_begin(&b, "net", round);
	a.conv2d.groups = deep ? c : 1;
	for (int i = 0; i < 2; i++) {
		a.conv2d.stride[i] = pick(1, 3);
		a.conv2d.dilation[i] = gap;
	}
	for (int i = 0; i < 4; i++)
		a.conv2d.pad[i] = pick(0, 1) * pick(0, 4);
	layer l = {
		.op = QN_OP_conv2d,
		.x = build_printf(&b, "tensor<%dx%dx%dx%dx!quant.uniform<i8:f32, 0.5:%d>>",
				  pick(1, 2), h, w, c, pick(-128, 127)),
		.w = build_printf(&b, "tensor<%dx%dx%dx%dx!quant.uniform<%s:f32, 0.25>>", o, kh, kw,
				  deep ? 1 : c, four ? "i4" : "i8"),
		.bias = draw_bias(&b, o),
		.y = draw_result(&b),
		.attr = &a,
	};
	draw_values(&l, four);
	const char *name = check(&b, &l),
		   *want = four ? "qn_depthwise_vector_w4" : "qn_depthwise_vector";
	const bool reached = deep && c > 1 ? strcmp(name, want) == 0 : is_conv(name, four);
	build_end(&b);
	return reached ? "" : NULL;
}

static void
test_conv(void **state)
{
	int conv[2] = {0, 0}, depthwise[2] = {0, 0};

	(void)state;
	for (uint64_t round = 1; round <= 1200; round++) {
		const bool four = round % 2 == 0;

		conv[four] += check_conv(round, false, four) != NULL;
		depthwise[four] += check_conv(round, true, four) != NULL;
	}
	for (int i = 0; i < 2; i++) {
		assert_true(conv[i] > 500);
		assert_true(depthwise[i] > 400);
	}
}

/* 1x1: a pixel, an odd number of them, and channels of which the last pixels' blocks end outside. */
static void
test_one_by_one(void **state)
{
	(void)state;
	for (int c = 1; c <= 40; c++)
		for (int pixels = 2; pixels <= 11; pixels += pixels % 2 == 0 ? 1 : 3) {
			builder b;
			const bool four = pixels % 2 == 0;

			build_begin(&b, "net", 1);
			layer l = {
				.op = QN_OP_conv2d,
				.x = build_printf(&b,
						  "tensor<1x1x%dx%dx!quant.uniform<i8:f32, 0.5:7>>",
						  pixels / 2, c),
				.w = build_printf(&b,
						  "tensor<%dx1x1x%dx!quant.uniform<%s:f32, 0.25>>",
						  pick(c == 1 ? 2 : 1, 9), c, four ? "i4" : "i8"),
				.y = draw_result(&b),
			};
			draw_values(&l, four);
			assert_true(is_conv(check(&b, &l), four));
			build_end(&b);
		}
}

/* Two products of neighbouring weights fit into 16 bits up to 255: another kernel computes a layer with two
 * weights of -128. */
static void
test_bound(void **state)
{
	(void)state;
	for (int least = -128; least <= -127; least++) {
		builder b;
		qn_attrs a = build_attrs(QN_OP_conv2d);

		build_begin(&b, "net", 1);
		a.conv2d.groups = 8;
		const layer l = {
			.op = QN_OP_conv2d,
			.x = "tensor<1x5x5x8x!quant.uniform<i8:f32, 0.5:3>>",
			.w = "tensor<8x3x3x1x!quant.uniform<i8:f32, 0.25>>",
			.y = "i8:f32, 99.0:3",
			.w_lo = least,
			.w_hi = least,
			.x_lo = -128,
			.x_hi = -128,
			.attr = &a,
		};
		assert_string_equal(check(&b, &l),
				    least == -128 ? "qn_depthwise_by4_s8" : "qn_depthwise_vector");
		build_end(&b);
	}
}

/* Sums of weights of 4 bits count 16 times, so they stay below 2^27 with their bias: 128 * 8 * 1000 and 133193727. */
static void
test_bound4(void **state)
{
	(void)state;
	for (int more = 0; more < 2; more++) {
		builder b;

		build_begin(&b, "net", 1);
		const layer l = {
			.op = QN_OP_dense,
			.x = "tensor<1x1000x!quant.uniform<i8:f32, 0.5>>",
			.w = "tensor<8x1000x!quant.uniform<i4:f32, 0.25>>",
			.bias = "tensor<8x!quant.uniform<i32:f32, 0.25*0.5>>",
			.y = "i8:f32, 65536.0:-128",
			.w_lo = -8,
			.w_hi = -8,
			.bias_lo = 133193727 + more,
			.bias_hi = 133193727 + more,
			.x_lo = -128,
			.x_hi = -128,
		};
		assert_string_equal(check(&b, &l),
				    more == 0 ? "qn_dense_vector_w4" : "qn_dense_by4_s8w4");
		build_end(&b);
	}
}

/* NEON without dot products adds those of inputs that lie eight apart in 16 bits, MVE and SDOT do not. */
static void
test_bound_of_rows(void **state)
{
	static const char *const target[] = {"aarch64", "aarch64-dotprod"};
#if defined(__aarch64__) && !defined(__ARM_FEATURE_DOTPROD)
	const int ntarget = 1; /* emitted code of the other one refuses to compile here */
#else
	const int ntarget = 2;
#endif

	(void)state;
	for (int least = -128; least <= -127; least++)
		for (int i = 0; i < ntarget; i++)
			for (int depth = 8; depth <= 9; depth++) {
				builder b;

				build_begin(&b, "net", 1);
				const layer l = {
					.op = QN_OP_dense,
					.x = build_printf(
						&b, "tensor<1x%dx!quant.uniform<i8:f32, 0.5:3>>",
						depth),
					.w = build_printf(
						&b, "tensor<8x%dx!quant.uniform<i8:f32, 0.25>>",
						depth),
					.y = "i8:f32, 99.0:3",
					.w_lo = least,
					.w_hi = least,
					.x_lo = -128,
					.x_hi = -128,
				};
				assert_string_equal(check_layer(&b, &l, target[i], call),
						    least == -128 && i == 0 && depth == 9
							    ? "qn_dense_by4_s8"
							    : "qn_dense_vector");
				build_end(&b);
			}
}

/* Channels whose bias alone decides are constant, however large it is. */
static void
test_constant_channels(void **state)
{
	(void)state;
	for (int sign = -1; sign <= 1; sign += 2) {
		builder b;

		build_begin(&b, "net", 1);
		const layer l = {
			.op = QN_OP_dense,
			.x = "tensor<1x16x!quant.uniform<i8:f32, 0.5:-3>>",
			.w = "tensor<8x16x!quant.uniform<i8:f32, 0.25>>",
			.bias = "tensor<8x!quant.uniform<i32:f32, 0.25*0.5>>",
			.y = "i8:f32, 0.5:3",
			.w_lo = -128,
			.w_hi = 127,
			.bias_lo = sign * 1000000000,
			.bias_hi = sign * 1000000000,
			.x_lo = -128,
			.x_hi = 127,
		};
		assert_string_equal(check(&b, &l), "qn_dense_vector");
		build_end(&b);
	}
}

static void
test_add(void **state)
{
	int reached = 0;

	(void)state;
	for (uint64_t round = 1; round <= 60; round++) {
		builder b;
		const int n = pick(256, 300);

		build_begin(&b, "net", round);
		qn_id x =
			build_input(&b, "x",
				    build_printf(&b, "tensor<1x%dx!quant.uniform<i8:f32, 0.%d:%d>>",
						 n, pick(10, 99), pick(-128, 127)));
		qn_id y =
			build_input(&b, "y",
				    build_printf(&b, "tensor<1x%dx!quant.uniform<i8:f32, 0.%d:%d>>",
						 n, pick(10, 99), pick(-128, 127)));
		qn_graph_output(
			b.g, "z",
			build_op(&b, QN_OP_add, "z", IDS(x, y), NULL,
				 build_printf(&b, "tensor<1x%dx!quant.uniform<i8:f32, 0.%d:%d>>", n,
					      pick(10, 99), pick(-128, 127))));
		reached += strcmp(check_step(&b, "cortex-m55", -128, 127, call),
				  "qn_add_linear_vector") == 0;
		build_end(&b);
	}
	assert_true(reached > 20);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dense),         cmocka_unit_test(test_conv),
		cmocka_unit_test(test_one_by_one),    cmocka_unit_test(test_bound),
		cmocka_unit_test(test_bound_of_rows), cmocka_unit_test(test_constant_channels),
		cmocka_unit_test(test_add),           cmocka_unit_test(test_bound4),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
