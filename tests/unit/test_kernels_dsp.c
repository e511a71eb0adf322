/* SPDX-License-Identifier: Apache-2.0 */
/* test_kernels_dsp.c - the instructions of the DSP extension by their definitions, and the kernels
 * over them, with weights as they are packed, against the plain ones: graphs of one layer are planned
 * for cortex-m4 and its kernel is called with the packed arguments. */
#include "codegen/kernels_dsp.h"
#include "runtime/kernels/dsp_dense_long.h"
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
			assert_int_equal((uint32_t)qn_smmlar((int32_t)x, (int32_t)y, (int32_t)x),
					 (uint32_t)((p >> 32) + (int32_t)x));
			assert_int_equal(qn_ssat8((int32_t)x), limit((int32_t)x, -128, 127));
			const uint32_t even = ((uint32_t)(int8_t)(x & 0xff) & 0xffffu) |
					      (uint32_t)(int8_t)(x >> 16 & 0xff) << 16;
			assert_int_equal(qn_sxtb16(x), even);
			assert_int_equal(qn_sxtb16_ror8(x), qn_sxtb16(x >> 8));
		}
}

/* ---- layers ---- */

static int over; /* results that were computed over their operand */

static bool
call(const char *name, const qn_step *s, const int8_t *const *x, void *work, int8_t *y)
{
	static const struct {
		const char *name;
		void (*conv)(const qn_dsp_args *, const int8_t *, uint32_t *, int8_t *);
	} rows[] = {
		{"qn_conv2d_dsp", qn_conv2d_dsp},
		{"qn_conv2d_relu_dsp", qn_conv2d_relu_dsp},
		{"qn_depthwise3_dsp", qn_depthwise3_dsp},
		{"qn_depthwise3_relu_dsp", qn_depthwise3_relu_dsp},
		{"qn_depthwise_dsp", qn_depthwise_dsp},
		{"qn_depthwise_relu_dsp", qn_depthwise_relu_dsp},
		{"qn_conv2d_dsp_w4", qn_conv2d_dsp_w4},
		{"qn_conv2d_relu_dsp_w4", qn_conv2d_relu_dsp_w4},
		{"qn_depthwise3_dsp_w4", qn_depthwise3_dsp_w4},
		{"qn_depthwise3_relu_dsp_w4", qn_depthwise3_relu_dsp_w4},
		{"qn_depthwise_dsp_w4", qn_depthwise_dsp_w4},
		{"qn_depthwise_relu_dsp_w4", qn_depthwise_relu_dsp_w4},
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		if (strcmp(name, rows[i].name) == 0) {
			over += y == x[0];
			rows[i].conv(s->args, x[0], work, y);
			return true;
		}
	if (strcmp(name, "qn_dense_dsp") == 0)
		qn_dense_dsp(s->args, x[0], work, y);
	else if (strcmp(name, "qn_dense_long_dsp") == 0)
		qn_dense_long_dsp(s->args, x[0], work, y);
	else if (strcmp(name, "qn_dense_dsp_w4") == 0)
		qn_dense_dsp_w4(s->args, x[0], work, y);
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
			.bias = pick(0, 1) == 0
					? NULL
					: build_printf(
						  &b,
						  "tensor<%dx!quant.uniform<i32:f32, 0.25*0.5>>",
						  out),
			.y = CODES(&b),
			.w_lo = four              ? -8
				: pick(0, 3) == 0 ? -128
						  : -127,
			.w_hi = four ? 7 : 127,
			.bias_lo = four ? -2000 : -20000,
			.bias_hi = four ? 2000 : 20000,
			.x_lo = -128,
			.x_hi = 127,
		};
		reached[four] +=
			strcmp(check(&b, &l), four ? "qn_dense_dsp_w4" : "qn_dense_dsp") == 0;
		build_end(&b);
	}
	assert_true(reached[0] > 150 && reached[1] > 150);
}

/* What test_conv and test_depthwise reach. */
typedef struct reached {
	int conv, depthwise3, depthwise, relu;
} reached;

/* A convolution of windows of kh x kw, on an image that holds one; `same`: of as many pixels and channels as its
 * result.  Every second one has weights of 4 bits, which are counted apart. */
static void
check_conv(uint64_t round, bool deep, bool same, int kh, int kw, reached *all)
{
	const bool four = round % 2 == 0;
	reached *r = &all[four];
	const int most = pick(0, 2) == 0 ? 0 : 2; /* rows and columns of padding */
	const int c = deep ? pick(4, 13) : pick(1, 9), o = deep || same ? c : pick(1, 9);
	const int h = pick(kh, 8), w = pick(0, 3) == 0 ? pick(20, 90) : pick(kw, 9),
		  zp = pick(-128, 127);
	qn_attrs a = build_attrs(QN_OP_conv2d);
	builder b;

	build_begin(&b, "net", round);
	a.conv2d.groups = deep ? c : 1;
	for (int i = 0; i < 2; i++) { /* windows that the image holds, or of one row or column */
		const int k = i == 0 ? kh : kw;

		a.conv2d.stride[i] = same ? 1 : pick(1, 4 - i);
		if (2 * (k - 1) < (i == 0 ? h : w))
			a.conv2d.dilation[i] = pick(1, 2);
		for (int j = 0; j < 2; j++)
			a.conv2d.pad[2 * i + j] =
				same ? (int)a.conv2d.dilation[i] * (k - 1) / 2 : pick(0, most);
	}
	const layer l = {
		.op = QN_OP_conv2d,
		.x = build_printf(&b, "tensor<%dx%dx%dx%dx!quant.uniform<i8:f32, 0.5:%d>>",
				  pick(1, 2), h, w, c, zp),
		.w = build_printf(&b, "tensor<%dx%dx%dx%dx!quant.uniform<%s:f32, 0.25>>", o, kh, kw,
				  deep ? 1 : c, four ? "i4" : "i8"),
		.bias = pick(0, 1) == 0
				? NULL
				: build_printf(&b, "tensor<%dx!quant.uniform<i32:f32, 0.25*0.5>>",
					       o),
		.y = CODES(&b),
		.w_lo = four              ? -8
			: pick(0, 3) == 0 ? -128
					  : -127,
		.w_hi = four ? 7 : 127,
		.bias_lo = four ? -2000 : -20000,
		.bias_hi = four ? 2000 : 20000,
		.x_lo = -128,
		.x_hi = 127,
		.attr = &a,
		.relu = pick(0, 1) == 0,
	};
	const char *name = check(&b, &l);
	if (strstr(name, four ? "dsp_w4" : "dsp") == NULL)
		name = "";
	r->conv += strncmp(name, "qn_conv2d_", 10) == 0;
	r->depthwise3 += strncmp(name, "qn_depthwise3_", 14) == 0;
	r->depthwise += strncmp(name, "qn_depthwise_", 13) == 0;
	r->relu += strstr(name, "_relu_dsp") != NULL;
	build_end(&b);
}

static void
test_conv(void **state)
{
	reached r[2] = {{0}, {0}};

	(void)state;
	over = 0;
	for (uint64_t round = 1; round <= 1200; round++) {
		const bool same = pick(0, 2) == 0;
		const int k = pick(0, 1) * 2 + 1;

		check_conv(round, false, same, same ? k : pick(1, 3), same ? k : pick(1, 4), r);
	}
	for (int i = 0; i < 2; i++)
		assert_true(r[i].conv > 200 && r[i].relu > 50);
	assert_true(over > 50);
}

static void
test_depthwise(void **state)
{
	reached r[2] = {{0}, {0}};

	(void)state;
	over = 0;
	for (uint64_t round = 1; round <= 1800; round++) {
		const bool same = pick(0, 2) == 0, three = pick(0, 1) == 0;

		check_conv(round, true, same,
			   three  ? 3
			   : same ? 1 + 2 * pick(0, 2)
				  : pick(1, 5),
			   three  ? 3
			   : same ? 1 + 2 * pick(0, 3)
				  : pick(1, 7),
			   r);
	}
	for (int i = 0; i < 2; i++)
		assert_true(r[i].depthwise3 > 100 && r[i].depthwise > 200 && r[i].relu > 100);
	assert_true(over > 100);
}

/* The rounding form is that of the plain kernel, which rounds twice, as TFLite does, or once, for every sum,
 * multiplier and shift that is let through, ties too. */
static void
test_rounding(void **state)
{
	(void)state;
	for (int32_t n = 0; n <= 21; n++)
		for (int round = 0; round < 4000; round++) {
			const int32_t m = pick(0, 3) == 0 ? 1 << 30 : pick(1 << 30, INT32_MAX);
			const int32_t zo = pick(-128, 127);
			const int32_t acc = pick_sum(round, m, n, 30);
			const uint32_t scale[2] = {(uint32_t)m, (uint32_t)n};
			const int32_t want =
				qn_requant(acc, m, -n - 1, zo, -128, 127, LAYER_ROUNDING);

			assert_int_equal(qn_dsp_code_from(2 * acc, scale, 2 * zo + 1, 0), want);
			const int8_t up = qn_dsp_code_from(2 * acc, scale, 2 * zo + 1, 1);
			assert_int_equal(up > zo ? up : zo, want > zo ? want : zo);
		}
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
					    more == 0 ? "qn_dense_dsp" : "qn_dense_long_dsp");
			build_end(&b);
		}
}

/* Two channels of one word: 256 b + a has 16 bits, unless b is -128 and a is negative. */
static void
test_pairs(void **state)
{
	static const struct {
		int a, b;
		const char *want;
	} rows[] = {{0, -128, "qn_dense_dsp"},      {127, -128, "qn_dense_dsp"},
		    {-128, -127, "qn_dense_dsp"},   {-128, 127, "qn_dense_dsp"},
		    {-1, -128, "qn_dense_by4_s8"},  {-128, -128, "qn_dense_by4_s8"},
		    {-77, -128, "qn_dense_by4_s8"}, {-1, -127, "qn_dense_dsp"}};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		for (int last = 0; last < 2;
		     last++) { /* the pair of the first channels, or of the last */
			int8_t w[8] = {1, 2, 3, 4, 5, 6, 7, 8};
			builder b;

			w[6 * last] = (int8_t)rows[i].a;
			w[6 * last + 1] = (int8_t)rows[i].b;
			build_begin(&b, "net", 1);
			const layer l = {
				.op = QN_OP_dense,
				.x = "tensor<1x1x!quant.uniform<i8:f32, 0.5>>",
				.w = "tensor<8x1x!quant.uniform<i8:f32, 0.25>>",
				.y = "i8:f32, 64.0:3",
				.weight = w,
				.x_lo = -128,
				.x_hi = 127,
			};
			assert_string_equal(check(&b, &l), rows[i].want);
			build_end(&b);
		}
}

/* The function of a dense layer of eight channels that has one weight of 4 bits throughout, inputs of -128. */
static void
check_fours(int in, int weight, int bias, const char *want)
{
	builder b;

	build_begin(&b, "net", 1);
	const layer l = {
		.op = QN_OP_dense,
		.x = build_printf(&b, "tensor<1x%dx!quant.uniform<i8:f32, 0.5>>", in),
		.w = build_printf(&b, "tensor<8x%dx!quant.uniform<i4:f32, 0.25>>", in),
		.bias = "tensor<8x!quant.uniform<i32:f32, 0.25*0.5>>",
		.y = "i8:f32, 16384.0:3",
		.w_lo = weight,
		.w_hi = weight,
		.bias_lo = bias,
		.bias_hi = bias,
		.x_lo = -128,
		.x_hi = -128,
	};
	assert_string_equal(check(&b, &l), want);
	build_end(&b);
}

/* Of four channels in a word the fourth one keeps sums below 2^19 before its bias: 128 times 4095, not 4096.  The
 * third one keeps, with its bias, those of weights that are 8 more below 2^23: 128 * 9 * 4095 and 3671167. */
static void
test_fours_bound(void **state)
{
	(void)state;
	check_fours(585, 7, 0, "qn_dense_dsp_w4");
	check_fours(4095, -1, 0, "qn_dense_dsp_w4");
	check_fours(512, -8, 0, "qn_dense_by4_s8w4");
	check_fours(4095, 1, 3671167, "qn_dense_dsp_w4");
	check_fours(4095, 1, 3671168, "qn_dense_by4_s8w4");
	check_fours(4095, 1, -3671167, "qn_dense_dsp_w4");
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
			.w_lo = -128,
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
		cmocka_unit_test(test_instructions), cmocka_unit_test(test_dense),
		cmocka_unit_test(test_conv),         cmocka_unit_test(test_depthwise),
		cmocka_unit_test(test_rounding),     cmocka_unit_test(test_bound),
		cmocka_unit_test(test_pairs),        cmocka_unit_test(test_constant_channels),
		cmocka_unit_test(test_fours_bound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
