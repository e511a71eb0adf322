/* SPDX-License-Identifier: Apache-2.0 */
/* test_kernels_scalar.c - three sums in two words, the high half of products by halves, and the kernels over
 * them, with weights as they are packed, against the plain ones: graphs of one layer are planned for
 * cortex-m0plus and its kernel is called with the packed arguments. */
#include "codegen/kernels_scalar.h"
#include "tests/unit/layer_rig.h"

/* ---- sums ---- */

/* Sums at the ends of what two words hold come apart again, and are added to what is there. */
static void
test_split(void **state)
{
	static const int32_t edge[] = {
		-(1 << 20), 1 - (1 << 20), -2049, -2048, -1025, -1024, -1,           0,
		1,          1023,          1024,  1025,  2047,  2048,  (1 << 20) - 1};

	(void)state;
	for (int round = 0; round < 20000; round++) {
		int32_t want[3], sum[3] = {5, -7, 1 << 29};

		for (int i = 0; i < 3; i++)
			want[i] = pick(0, 1) == 0 ? edge[pick(0, COUNT(edge) - 1)]
						  : pick(-(1 << 20), (1 << 20) - 1);
		const uint32_t a = (uint32_t)want[0], b = (uint32_t)want[1], c = (uint32_t)want[2];
		qn_scalar_split(a + (b << 21), c + (b << 10), sum);
		assert_int_equal(sum[0], want[0] + 5);
		assert_int_equal(sum[1], want[1] - 7);
		assert_int_equal(sum[2], want[2] + (1 << 29));
	}
}

/* The form by halves is the one by 64 bits, to the ends of what it takes. */
static void
test_high(void **state)
{
	static const int32_t edge[] = {1 - (1 << 30), -65537, -65536, -65535,       -1, 0, 1,
				       65535,         65536,  65537,  (1 << 30) - 1};
	static const int32_t factor[] = {0, 1 << 30, (1 << 30) + 0xffff, INT32_MAX - 0xffff,
					 INT32_MAX};

	(void)state;
	for (int round = 0; round < 40000; round++) {
		const int32_t x = pick(0, 1) == 0 ? edge[pick(0, COUNT(edge) - 1)]
						  : pick(1 - (1 << 30), (1 << 30) - 1);
		const int32_t m = pick(0, 1) == 0 ? factor[pick(0, COUNT(factor) - 1)]
						  : pick(1 << 30, INT32_MAX);
		const int64_t p = (int64_t)x * m + (QN_ROUNDS_ONCE ? 0 : INT64_C(1) << 30);

		assert_int_equal(qn_high_halves(x, m), p >> 31);
		assert_int_equal(qn_high31(x, m), p >> 31);
	}
}

/* Results are those of the plain kernel, which rounds twice, as TFLite does, or once, for every sum, multiplier and
 * shift that is let through, ties too. */
static void
test_rounding(void **state)
{
	(void)state;
	for (int32_t n = 1; n <= 22; n++)
		for (int round = 0; round < 4000; round++) {
			const int32_t m = pick(0, 3) == 0 ? 1 << 30 : pick(1 << 30, INT32_MAX);
			const int32_t zo = pick(-128, 127);
			const int32_t lo = pick(-128, 127), hi = pick(lo, 127);
			const int32_t sum = pick_sum(round, m, n - 1, 30);
			const int32_t scale[2] = {77, m};
			const int8_t shift = (int8_t)n;
			qn_scalar_scale s = {
				.away = lo < zo && !QN_ROUNDS_ONCE ? -1 : 0, .lo = lo, .hi = hi};

			assert_int_equal(qn_scalar_channel(scale, &shift, zo, 0, &s), 77);
			assert_int_equal(qn_scalar_code(sum, &s),
					 qn_requant(sum, m, -n, zo, lo, hi, LAYER_ROUNDING));
		}
}

/* ---- layers ---- */

static int over;     /* results that were computed over their operand */
static int32_t taps; /* of the last convolution, and of a run of them */
static int32_t run;

static bool
call(const char *name, const qn_step *s, const int8_t *const *x, void *work, int8_t *y)
{
	over += y == x[0];
	if (strcmp(name, "qn_dense_scalar") == 0)
		qn_dense_scalar(s->args, x[0], y);
	else if (strcmp(name, "qn_depthwise3_scalar") == 0)
		qn_depthwise3_scalar(s->args, x[0], work, y);
	else if (strcmp(name, "qn_conv2d_scalar") == 0)
		qn_conv2d_scalar(s->args, x[0], work, y);
	else if (strcmp(name, "qn_dense_scalar_w4") == 0)
		qn_dense_scalar_w4(s->args, x[0], y);
	else if (strcmp(name, "qn_depthwise3_scalar_w4") == 0)
		qn_depthwise3_scalar_w4(s->args, x[0], work, y);
	else if (strcmp(name, "qn_conv2d_scalar_w4") == 0)
		qn_conv2d_scalar_w4(s->args, x[0], work, y);
	else
		return false;
	if (strncmp(name, "qn_conv2d_scalar", 16) == 0) {
		taps = ((const qn_scalar_args *)s->args)->taps;
		run = ((const qn_scalar_args *)s->args)->run;
	}
	return true;
}

static const char *
check(builder *b, const layer *l)
{
	return check_layer(b, l, "cortex-m0plus", call);
}

static const char *
bias_type(builder *b, int n)
{
	return pick(0, 1) == 0 ? NULL
			       : build_printf(b, "tensor<%dx!quant.uniform<i32:f32, 0.25*0.5>>", n);
}

static void
test_dense(void **state)
{
	int reached[2] = {0, 0};

	(void)state;
	for (uint64_t round = 1; round <= 400; round++) {
		builder b;
		const bool four = round % 2 == 0; /* weights of 4 bits */
		const int n = pick(1, 2), in = pick(1, 41), out = pick(1, 19);

		build_begin(&b, "net", round);
		const layer l = {
			.op = QN_OP_dense,
			.x = build_printf(&b, "tensor<%dx%dx!quant.uniform<i8:f32, 0.5:%d>>", n, in,
					  pick(-128, 127)),
			.w = build_printf(&b, "tensor<%dx%dx!quant.uniform<%s:f32, 0.25>>", out, in,
					  four ? "i4" : "i8"),
			.bias = bias_type(&b, out),
			.y = CODES(&b),
			.w_lo = four ? -8 : -128,
			.w_hi = four ? 7 : 127,
			.bias_lo = -20000,
			.bias_hi = 20000,
			.x_lo = -128,
			.x_hi = 127,
			.relu = pick(0, 1) == 0,
		};
		reached[four] +=
			strcmp(check(&b, &l), four ? "qn_dense_scalar_w4" : "qn_dense_scalar") == 0;
		build_end(&b);
	}
	assert_true(reached[0] > 150 && reached[1] > 150);
}

/* A convolution of drawn shape: windows in the image, over its border, outside of it, one pixel. */
static layer
draw_conv(builder *b, bool deep, bool four, qn_attrs *a)
{
	const bool same = pick(0, 2) == 0;
	const int k = pick(0, 3) > 0 ? 3 : pick(0, 1) * 4 + 1;
	const int c = deep ? pick(1, 9) : pick(1, 13), o = deep || same ? c : pick(1, 9);
	const int kh = deep ? 3 : same ? k : pick(1, 4), kw = deep ? 3 : same ? k : pick(1, 4);
	const int h = pick(same ? 1 : kh, 8), w = pick(same ? 1 : kw, 9);
	const int most = kh > kw ? kh : kw;

	*a = build_attrs(QN_OP_conv2d);
	a->conv2d.groups = deep ? c : 1;
	a->conv2d.stride[0] = same ? 1 : pick(1, 4);
	a->conv2d.stride[1] = same ? 1 : pick(1, 3);
	if (!deep && !same && kh + kw < 7) {
		a->conv2d.dilation[0] = pick(1, 2);
		a->conv2d.dilation[1] = pick(1, 2);
	}
	for (int i = 0; i < 4; i++)
		a->conv2d.pad[i] = same ? kh / 2 : pick(most, 2 * most);
	return (layer){
		.op = QN_OP_conv2d,
		.x = build_printf(b, "tensor<%dx%dx%dx%dx!quant.uniform<i8:f32, 0.5:%d>>",
				  pick(1, 2), h, w, c, pick(-128, 127)),
		.w = build_printf(b, "tensor<%dx%dx%dx%dx!quant.uniform<%s:f32, 0.25>>", o, kh, kw,
				  deep ? 1 : c, four ? "i4" : "i8"),
		.bias = bias_type(b, o),
		.y = CODES(b),
		.w_lo = four ? -8 : -128,
		.w_hi = four ? 7 : 127,
		.bias_lo = -20000,
		.bias_hi = 20000,
		.x_lo = -128,
		.x_hi = 127,
		.attr = a,
		.relu = pick(0, 1) == 0,
	};
}

static void
test_conv(void **state)
{
	int conv[2] = {0, 0}, depthwise[2] = {0, 0};

	(void)state;
	over = 0;
	for (uint64_t round = 1; round <= 1800; round++) {
		builder b;
		qn_attrs a;

		build_begin(&b, "net", round);
		const bool four = round % 2 == 0;
		const layer l = draw_conv(&b, pick(0, 1) == 0, four, &a);
		const char *name = check(&b, &l);
		conv[four] += strcmp(name, four ? "qn_conv2d_scalar_w4" : "qn_conv2d_scalar") == 0;
		depthwise[four] += strcmp(name, four ? "qn_depthwise3_scalar_w4"
						     : "qn_depthwise3_scalar") == 0;
		build_end(&b);
	}
	for (int i = 0; i < 2; i++)
		assert_true(conv[i] > 250 && depthwise[i] > 250);
	assert_true(over > 200);
}

/* Of three convolutions in a row the second one writes over its operand, with rows of that beside it. */
static void
test_ring(void **state)
{
	static const char *const type = "tensor<1x9x7x4x!quant.uniform<i8:f32, 0.5>>";
	qn_attrs a = build_attrs(QN_OP_conv2d);
	const qn_attrs none = build_attrs(QN_OP_requantize);
	qn_plan *p = NULL;
	builder b;

	(void)state;
	build_begin(&b, "net", 1);
	for (int i = 0; i < 4; i++)
		a.conv2d.pad[i] = 1;
	qn_id x = build_input(&b, "x", type);
	for (int i = 0; i < 3; i++) {
		const qn_id in[] = {x, build_const(&b, build_printf(&b, "w%d", i),
						   "tensor<4x3x3x4x!quant.uniform<i8:f32, 0.25>>",
						   -128, 127)};
		const qn_id acc =
			build_op(&b, QN_OP_conv2d, build_printf(&b, "conv%d", i), 2, in, &a, NULL);
		x = build_op(&b, QN_OP_requantize, build_printf(&b, "y%d", i), 1, &acc, &none,
			     type);
	}
	qn_graph_output(b.g, "y", x);
	const qn_plan_opts how = {.target = qn_target_find(&b.env, "cortex-m0plus"),
				  .optimize = QN_OPTIMIZE_SPEED};
	build_check(&b, qn_plan_make(b.g, "net", &how, &b.arena, &p) == QN_OK);
	assert_int_equal(p->nstep, 3);
	assert_int_equal(p->step[0].work_over, 0);
	assert_int_equal(p->step[1].work_over, 4 * 7 * 4);
	assert_int_equal(p->step[1].work, p->step[0].work + 4 * 7 * 4);
	assert_int_equal(p->step[1].offset, p->step[0].offset);
	const size_t bytes = p->scratch_bytes;
	qn_plan_place(p, &b.arena);
	assert_int_equal(p->scratch_bytes, bytes);
	build_end(&b);
}

/* ---- proofs ---- */

/* One result of `depth` inputs and weights, all of them at an end. */
static const char *
check_extreme(const char *depth, const char *type, int64_t weight, int64_t x, int32_t bias,
	      const char *y)
{
	const qn_attrs a = build_attrs(QN_OP_conv2d);
	builder b;

	build_begin(&b, "net", 1);
	const layer l = {
		.op = QN_OP_conv2d,
		.x = build_printf(&b, "tensor<1x1x2x%sx!quant.uniform<i8:f32, 0.5>>", depth),
		.w = build_printf(&b, "tensor<5x1x1x%sx!quant.uniform<%s:f32, 0.25>>", depth, type),
		.bias = "tensor<5x!quant.uniform<i32:f32, 0.25*0.5>>",
		.y = y,
		.w_lo = weight,
		.w_hi = weight,
		.bias_lo = bias,
		.bias_hi = bias,
		.x_lo = x,
		.x_hi = x,
		.attr = &a,
	};
	const char *name = build_printf(&b, "%s", check(&b, &l));
	const bool scalar = strncmp(name, "qn_conv2d_scalar", 16) == 0;
	build_end(&b);
	return scalar ? "scalar" : "another";
}

/* 63 products of -128 and -128 reach 2^20 - 2^14, 64 reach 2^20 and are cut into two runs; of -128 and 127
 * they reach no more than -2^20 + 2^13, but inputs may be others. */
static void
test_runs(void **state)
{
	static const struct {
		const char *depth, *type;
		int weight, run;
	} rows[] = {
		{"63", "i8", -128, 64},   {"64", "i8", -128, 32},  {"64", "i8", -127, 64},
		{"64", "i8", 127, 64},    {"65", "i8", 127, 36},   {"68", "i8", 120, 68},
		{"68", "i8", 121, 36},    {"130", "i8", -128, 44}, {"576", "i8", 14, 576},
		{"576", "i8", 15, 288},   {"576", "i8", -127, 64}, {"576", "i8", -128, 60},
		{"1023", "i4", -8, 1024}, {"1024", "i4", -8, 512}, {"1170", "i4", 7, 1172},
		{"1171", "i4", 7, 588},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		for (int end = 0; end < 2; end++) {
			const int x = end == 0 ? -128 : 127;

			assert_string_equal(check_extreme(rows[i].depth, rows[i].type,
							  rows[i].weight, x, 0, "i8:f32, 1024.0:3"),
					    "scalar");
			assert_int_equal(taps, (atoi(rows[i].depth) + 3) / 4 * 4);
			assert_int_equal(run, rows[i].run);
		}
}

/* Sums of less than 2^30 are let through: 4096 products of 128 and 127, which are some steps of the result,
 * and the bias. */
static void
test_bound(void **state)
{
	const int32_t most = (1 << 30) - 1 - 4096 * 128 * 127;

	(void)state;
	for (int sign = -1; sign <= 1; sign += 2) {
		const char *y = sign < 0 ? "i8:f32, 741455.0:127" : "i8:f32, 741455.0:-128";

		assert_string_equal(check_extreme("4096", "i8", 127, -128, sign * most, y),
				    "scalar");
		assert_string_equal(check_extreme("4096", "i8", 127, -128, sign * (most + 1), y),
				    "another");
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_split),    cmocka_unit_test(test_high),
		cmocka_unit_test(test_rounding), cmocka_unit_test(test_dense),
		cmocka_unit_test(test_conv),     cmocka_unit_test(test_ring),
		cmocka_unit_test(test_runs),     cmocka_unit_test(test_bound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
