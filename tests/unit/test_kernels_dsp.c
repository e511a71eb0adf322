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
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		if (strcmp(name, rows[i].name) == 0) {
			over += y == x[0];
			rows[i].conv(s->args, x[0], work, y);
			return true;
		}
	if (strcmp(name, "qn_dense_dsp") != 0)
		return false;
	qn_dense_dsp(s->args, x[0], work, y);
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

/* What test_conv and test_depthwise reach. */
typedef struct reached {
	int conv, depthwise3, depthwise, relu;
} reached;

/* A convolution of windows of kh x kw, on an image that holds one; `same`: of as many pixels and channels as its
 * result. */
static void
check_conv(uint64_t round, bool deep, bool same, int kh, int kw, reached *r)
{
	const int most = pick(0, 2) == 0 ? 0 : 2; /* rows and columns of padding */
	const int c = deep ? pick(4, 13) : pick(1, 9), o = deep || same ? c : pick(1, 9);
	const int h = pick(kh, 8), w = pick(kw, 9), zp = pick(-128, 127);
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
		.w = build_printf(&b, "tensor<%dx%dx%dx%dx!quant.uniform<i8:f32, 0.25>>", o, kh, kw,
				  deep ? 1 : c),
		.bias = pick(0, 1) == 0
				? NULL
				: build_printf(&b, "tensor<%dx!quant.uniform<i32:f32, 0.25*0.5>>",
					       o),
		.y = CODES(&b),
		.w_lo = -127,
		.w_hi = 127,
		.bias_lo = -20000,
		.bias_hi = 20000,
		.x_lo = -128,
		.x_hi = 127,
		.attr = &a,
		.relu = pick(0, 1) == 0,
	};
	const char *name = check(&b, &l);
	r->conv += strncmp(name, "qn_conv2d_", 10) == 0 && strstr(name, "dsp") != NULL;
	r->depthwise3 += strncmp(name, "qn_depthwise3_", 14) == 0;
	r->depthwise += strncmp(name, "qn_depthwise_", 13) == 0 && strstr(name, "dsp") != NULL;
	r->relu += strstr(name, "_relu_dsp") != NULL;
	build_end(&b);
}

static void
test_conv(void **state)
{
	reached r = {0};

	(void)state;
	over = 0;
	for (uint64_t round = 1; round <= 600; round++) {
		const bool same = pick(0, 2) == 0;
		const int k = pick(0, 1) * 2 + 1;

		check_conv(round, false, same, same ? k : pick(1, 3), same ? k : pick(1, 4), &r);
	}
	assert_true(r.conv > 200 && r.relu > 50 && over > 25);
}

static void
test_depthwise(void **state)
{
	reached r = {0};

	(void)state;
	over = 0;
	for (uint64_t round = 1; round <= 900; round++) {
		const bool same = pick(0, 2) == 0, three = pick(0, 1) == 0;

		check_conv(round, true, same,
			   three  ? 3
			   : same ? 1 + 2 * pick(0, 2)
				  : pick(1, 5),
			   three  ? 3
			   : same ? 1 + 2 * pick(0, 3)
				  : pick(1, 7),
			   &r);
	}
	assert_true(r.depthwise3 > 100 && r.depthwise > 200 && r.relu > 100 && over > 50);
}

/* The rounding form is TFLite's for every sum, multiplier and shift that is let through, ties too: the
 * plain kernel rounds twice. */
static void
test_rounding(void **state)
{
	(void)state;
	for (int32_t n = 0; n <= 21; n++)
		for (int round = 0; round < 4000; round++) {
			const int32_t m = pick(0, 3) == 0 ? 1 << 30 : pick(1 << 30, INT32_MAX);
			const int32_t limits = 1 << pick(1, 30), zo = pick(-128, 127);
			/* near a multiple of half a step, where ties are */
			const int64_t half = pick(-300, 300) * (INT64_C(1) << n);
			const int64_t near = half * ((INT64_C(1) << 31)) / m + pick(-2, 2);
			const int32_t acc = round % 2 == 0 && near > -(1 << 30) && near < 1 << 30
						    ? (int32_t)near
						    : pick(-limits + 1, limits - 1);
			const uint32_t scale[2] = {(uint32_t)m, (uint32_t)n};
			const int32_t want =
				qn_requant(acc, m, -n - 1, zo, -128, 127, QN_RQ_DOUBLE);

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
		cmocka_unit_test(test_depthwise),
		cmocka_unit_test(test_rounding),
		cmocka_unit_test(test_bound),
		cmocka_unit_test(test_constant_channels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
