/* SPDX-License-Identifier: Apache-2.0 */
/* test_runtime_codes.c - the integer forms: from a node's types to the kernel's arguments.  Results
 * are compared with real arithmetic on the dequantized codes, within one code where the kernel
 * rounds and exactly where it does not, and with published vectors; refusals by their ids. */
#include "tests/unit/run_util.h"

#include <math.h>

#include "runtime/impl_args.h"
#include "runtime/impls.h"

#define Q(shape, params) "tensor<" shape "x!quant.uniform<i8:f32, " params ">>"

/* The code of v: nearest, ties away from zero, limited to i8. */
static double
code(double v, double scale, double zp)
{
	double q = v / scale;

	q = (q < 0 ? -floor(0.5 - q) : floor(q + 0.5)) + zp;
	return q < -128 ? -128 : q > 127 ? 127 : q;
}

/* ---- add, mul ---- */

static double
add_once(const char *tx, const char *ty, const char *tz, double x, double y)
{
	fresh_graph();
	qn_id a = input("x", tx), b = input("y", ty);
	output(op2(QN_OP_add, a, b, NULL, tz));
	return run((const double *[]){&x, &y})[0];
}

/* Vectors of the TFLite reference arithmetic. */
static void
test_add_vectors(void **state)
{
	(void)state;
	assert_true(add_once(Q("1", "0.5"), Q("1", "0.25"), Q("1", "0.5"), 10, 20) == 20);
	assert_true(add_once(Q("1", "0.1:3"), Q("1", "0.05:-5"), Q("1", "0.08:1"), 10, -20) == 0);
	assert_true(add_once(Q("1", "0.1"), Q("1", "0.1"), Q("1", "0.1"), 127, 127) == 127);
	assert_true(add_once(Q("1", "0.02:-128"), Q("1", "0.03:-128"), Q("1", "0.05:-128"), -128,
			     -128) == -128);
}

static void
test_add_mul(void **state)
{
	double *x = codes(24, -128, 127), *y = codes(4, -128, 127), sum[24], product[24];

	(void)state;
	for (int i = 0; i < 24; i++) {
		double u = (x[i] - 3) * 0.02, v = (y[i % 4] + 7) * 0.05;

		sum[i] = code(u + v, 0.06, -1);
		product[i] = code(u * v, 0.06, -1);
	}
	for (qn_op kind = QN_OP_bias_add; kind <= QN_OP_mul; kind++) {
		if (kind != QN_OP_add && kind != QN_OP_mul && kind != QN_OP_bias_add)
			continue;
		for (int32_t mode = 0; mode < 3; mode++) {
			rg->m.rounding = mode;
			fresh_graph();
			qn_id a = input("x", Q("2x3x4", "0.02:3"));
			qn_id b = input("y", Q("4", "0.05:-7"));
			output(op2(kind, a, b, NULL, Q("2x3x4", "0.06:-1")));
			near(kind == QN_OP_mul ? product : sum, run((const double *[]){x, y}), 24,
			     1.0);
		}
	}
}

/* ---- accumulating ops and requantize ---- */

static const char w3x40[] = "tensor<3x40x!quant.uniform<i8<-127:127>:f32:0, {0.01,0.02,0.03}>>";

static void
test_dense(void **state)
{
	double *x = codes(2 * 40, -128, 127), *w = codes(3 * 40, -127, 127);
	const double sw[3] = {0.01, 0.02, 0.03}, b[3] = {1000, -2000, 30000};
	double acc[6];
	qn_id in[3];

	(void)state;
	in[0] = input("x", Q("2x40", "0.05:-4"));
	in[1] = constant("w", w3x40, w);
	/* The bias has the accumulator's scale, which the shape rule derives. */
	qn_id bare = op(QN_OP_dense, 2, in, NULL, NULL);
	qn_elem e = *qn_graph_node(rg->g, bare)->type->elem;
	const int32_t axis = 0;
	const int64_t three = 3;
	const qn_elem *made = NULL;
	e.axis = &axis;
	assert_int_equal(qn_elem_make(&rg->m.types, "test", &e, &made), QN_OK);
	const qn_type *bias = qn_type_tensor(&rg->m.types, made, 1, &three);
	in[2] = qn_graph_const(rg->g, "b", tensor(bias, b));
	qn_id full = op(QN_OP_dense, 3, in, NULL, NULL);
	output(full);
	for (int i = 0; i < 6; i++) {
		acc[i] = b[i % 3];
		for (int k = 0; k < 40; k++)
			acc[i] += (x[i / 3 * 40 + k] + 4) * w[i % 3 * 40 + k];
	}
	near(acc, run1(x), 6, 0.0);
	/* A bias that is quantized in the graph counts as a constant too. */
	double real_b[3];
	for (int i = 0; i < 3; i++)
		real_b[i] = b[i] * 0.05 * sw[i];
	in[2] = qn_graph_op(rg->g, QN_OP_quantize, "qb", 1,
			    (const qn_id[]){constant("fb", "tensor<3xf32>", real_b)}, NULL, bias);
	no_errors();
	rg->g->noutput = 0;
	output(op(QN_OP_dense, 3, in, NULL, NULL));
	near(acc, run1(x), 6, 0.0);
	in[2] = qn_graph_input(rg->g, "ib", bias);
	rg->g->noutput = 0;
	output(op(QN_OP_dense, 3, in, NULL, NULL));
	refused("int.unsupported", "only a constant bias");
}

/* dense, then a requantize that clamps as a fused activation does. */
static void
test_requantize_clamp(void **state)
{
	double *x = codes(2 * 40, -128, 127), *w = codes(3 * 40, -127, 127), out[6];
	const double sw[3] = {0.01, 0.02, 0.03};

	(void)state;
	qn_id xi = input("x", Q("2x40", "0.05:-4"));
	qn_id wi = constant("w", w3x40, w);
	for (int i = 0; i < 6; i++) {
		double acc = 0.0;

		for (int k = 0; k < 40; k++)
			acc += (x[i / 3 * 40 + k] + 4) * w[i % 3 * 40 + k];
		out[i] = code(acc * 0.05 * sw[i % 3], 1.5, 10);
		out[i] = out[i] < 0 ? 0 : out[i] > 60 ? 60 : out[i];
	}
	qn_attrs a = {.clamp = {.lo = 0, .hi = 60}};
	output(op1(QN_OP_requantize, op2(QN_OP_dense, xi, wi, NULL, NULL), &a, Q("2x3", "1.5:10")));
	near(out, run1(x), 6, 1.0);
}

static void
test_conv_codes(void **state)
{
	double *x = codes(5 * 6 * 4, -128, 127), *w = codes(6 * 9 * 2, -127, 127), want[90];
	qn_attrs a;

	(void)state;
	qn_attrs_default(QN_ATTRS(conv2d), &a);
	a.conv2d.padding = QN_PADDING_same;
	a.conv2d.stride[1] = 2;
	a.conv2d.groups = 2;
	qn_id xi = input("x", Q("1x5x6x4", "0.05:-4"));
	qn_id wi = constant("w", "tensor<6x3x3x2x!quant.uniform<i8<-127:127>:f32, 0.01>>", w);
	output(op2(QN_OP_conv2d, xi, wi, &a, NULL));
	/* same: rows pad 1 and 1; columns (3 - 1) * 2 + 3 - 6 = 1, all of it after. */
	for (int i = 0; i < 90; i++) {
		int o = i % 6, ox = i / 6 % 3, oy = i / 18;

		want[i] = 0;
		for (int t = 0; t < 18; t++) {
			int iy = oy - 1 + t / 6, ix = ox * 2 + t / 2 % 3;

			if (iy >= 0 && iy < 5 && ix < 6)
				want[i] += (x[(iy * 6 + ix) * 4 + o / 3 * 2 + t % 2] + 4) *
					   w[o * 18 + t];
		}
	}
	near(want, run1(x), 90, 0.0);
}

static void
test_requantize(void **state)
{
	double *x = codes(12, -128, 127), want[12];
	const double scale[3] = {0.1, 0.2, 0.3};

	(void)state;
	for (int i = 0; i < 12; i++)
		want[i] = code((x[i] - 5) * 0.1, 0.07, -9);
	output(op1(QN_OP_requantize, input("x", Q("2x3x2", "0.1:5")), NULL, Q("2x3x2", "0.07:-9")));
	near(want, run1(x), 12, 1.0);
	fresh_graph();
	for (int i = 0; i < 12; i++)
		want[i] = code(x[i] * scale[i / 2 % 3], 0.25, 1);
	qn_id in = input("x", "tensor<2x3x2x!quant.uniform<i8:f32:1, {0.1,0.2,0.3}>>");
	output(op1(QN_OP_requantize, in, NULL, Q("2x3x2", "0.25:1")));
	near(want, run1(x), 12, 1.0);
}

/* ---- moves and limits ---- */

static void
test_limits_codes(void **state)
{
	const double x[5] = {-128, -11, 0, 111, 127}, relu[5] = {-10, -10, 0, 111, 127};
	const double relu6[5] = {-10, -10, 0, 110, 110}, clip[5] = {-30, -11, 0, 10, 10};

	(void)state;
	output(op1(QN_OP_relu, input("x", Q("5", "0.05:-10")), NULL, NULL));
	near(relu, run1(x), 5, 0.0);
	fresh_graph();
	output(op1(QN_OP_relu6, input("x", Q("5", "0.05:-10")), NULL, NULL));
	near(relu6, run1(x), 5, 0.0);
	fresh_graph();
	output(op1(QN_OP_clip, input("x", Q("5", "0.05:-10")),
		   attributes((qn_attrs){.clip = {.min = -1.0, .max = 1.0}}), NULL));
	near(clip, run1(x), 5, 0.0);
	fresh_graph();
	output(op1(QN_OP_clamp, input("x", Q("5", "0.05:-10")),
		   attributes((qn_attrs){.clamp = {.lo = -30, .hi = 10}}), NULL));
	near(clip, run1(x), 5, 0.0);
}

static const qn_attrs *
pad_attrs(double value, int64_t pad_code)
{
	return attributes((qn_attrs){.pad = {.before = {2, {1, 0}},
					     .after = {2, {0, 1}},
					     .value = value,
					     .code = pad_code}});
}

static void
test_moves_codes(void **state)
{
	const double x[4] = {1, 2, 3, 4}, padded[9] = {7, 7, 7, 1, 2, 7, 3, 4, 7};
	const double zeros[9] = {0, 0, 0, 1, 2, 0, 3, 4, 0}, turned[4] = {1, 3, 2, 4};
	const double doubled[8] = {1, 2, 1, 2, 3, 4, 3, 4};
	const qn_attrs *perm = attributes((qn_attrs){.perm = {.perm = {2, {1, 0}}}});
	static const char *const both[2] = {Q("2x2", "0.5:-5"),
					    "tensor<2x2x!quant.uniform<i32:f32, 0.5>>"};

	(void)state;
	output(op1(QN_OP_pad, input("x", Q("2x2", "0.5:7")), pad_attrs(0.0, INT32_MIN), NULL));
	near(padded, run1(x), 9, 0.0);
	fresh_graph();
	output(op1(QN_OP_pad, input("x", Q("2x2", "0.5:-5")), pad_attrs(6.0, INT32_MIN), NULL));
	near(padded, run1(x), 9, 0.0);
	fresh_graph();
	output(op1(QN_OP_pad, input("x", Q("2x2", "0.5:-5")), pad_attrs(0.0, 7), NULL));
	near(padded, run1(x), 9, 0.0);
	fresh_graph();
	output(op1(QN_OP_pad, input("x", both[1]), pad_attrs(0.0, INT32_MIN), NULL));
	near(zeros, run1(x), 9, 0.0);
	for (int i = 0; i < 2; i++) {
		fresh_graph();
		output(op1(QN_OP_transpose, input("x", both[i]), perm, NULL));
		near(turned, run1(x), 4, 0.0);
		fresh_graph();
		qn_id a = input("x", both[i]);
		output(op2(QN_OP_concat, a, a, attributes((qn_attrs){.axis = {.axis = 1}}), NULL));
		near(doubled, run1(x), 8, 0.0);
		fresh_graph();
		output(op1(QN_OP_flatten, input("x", both[i]), NULL, NULL));
		near(x, run1(x), 4, 0.0);
	}
}

/* ---- casts ---- */

static void
test_casts(void **state)
{
	const double x[6] = {0.25, -0.75, 1.25, 1e9, 0.0, -3.0};
	const double want[6] = {2, -8, 12, 127, 0, -30};
	const double back[6] = {0.2, -0.8, 1.2, 12.7, 0.0, -3.0};
	const char *blocks = "tensor<2x2x!quant.uniform<u8:f32:{0:1,1:2}, {{0.5:10}, {0.25:20}}>>";

	(void)state;
	qn_id q = op1(QN_OP_quantize, input("x", "tensor<6xf32>"), NULL, Q("6", "0.1"));
	output(q);
	near(want, run1(x), 6, 0.0);
	rg->g->noutput = 0;
	output(op1(QN_OP_dequantize, q, NULL, NULL));
	near(back, run1(x), 6, 1e-6);
	/* Same results as the whole-tensor functions, for each granularity. */
	const char *const types[3] = {blocks,
				      "tensor<2x2x!quant.uniform<i16:f32:1, {0.5:10,0.25:-20}>>",
				      Q("2x2", "0.3:-7")};
	for (int i = 0; i < 3; i++) {
		const qn_type *t = type(types[i]);
		qn_tensor *real4 = tensor(type("tensor<2x2xf32>"), reals(4));
		const qn_tensor *coded = qn_tensor_quantize(&rg->m.types, &rg->arena, real4, t);
		qn_tensor *node_q = NULL;

		fresh_graph();
		qn_id in = input("x", "tensor<2x2xf32>");
		qn_id y = op1(QN_OP_quantize, in, NULL, types[i]);
		assert_int_equal(qn_eval_node(rg->g, qn_graph_node(rg->g, y),
					      (const qn_tensor *const[]){real4}, &rg->arena,
					      &node_q),
				 QN_OK);
		assert_true(qn_tensor_equal(node_q, coded));
		output(op1(QN_OP_dequantize, y, NULL, NULL));
		const qn_tensor *d = qn_tensor_dequantize(&rg->m.types, &rg->arena, coded,
							  type("tensor<2x2xf32>"));
		near(doubles(d), run1(doubles(real4)), 4, 0.0);
	}
	fresh_graph();
	output(op1(QN_OP_scast, input("x", Q("3", "0.1:5")), NULL, "tensor<3xi8>"));
	near(want, run1(want), 3, 0.0);
}

/* ---- refusals ---- */

static void
refuse_op2(qn_op kind, const char *tx, const char *ty, const char *tz, const char *id,
	   const char *text)
{
	fresh_graph();
	qn_id a = input("x", tx), b = input("y", ty);
	output(op2(kind, a, b, NULL, tz));
	refused(id, text);
}

static void
refuse_op1(qn_op kind, const char *tx, const char *ty, const char *id, const char *text)
{
	fresh_graph();
	output(op1(kind, input("x", tx), NULL, ty));
	refused(id, text);
}

static void
test_refusals(void **state)
{
	const char *u16 = "tensor<4x!quant.uniform<u16:f32, 0.1>>";

	(void)state;
	refuse_op2(QN_OP_add, u16, u16, u16, "int.unsupported",
		   "unsupported in integer arithmetic: add, node 'add_1', only storage i8, u8 and "
		   "i16");
	refuse_op2(QN_OP_add, Q("4", "1.0"), Q("4", "1.0"), Q("4", "1.0e-7"), "int.multiplier",
		   "below 1");
	refuse_op1(QN_OP_requantize, Q("4", "1.0e9"), Q("4", "1.0e-9"), "int.multiplier",
		   "below 2^30");
	refuse_op1(QN_OP_softmax, "tensor<1x4x!quant.uniform<i16:f32, 0.1>>",
		   "tensor<1x4x!quant.uniform<i16:f32, 0.1>>", "int.unsupported", "1/32768");
	refuse_op1(QN_OP_relu, "tensor<4x!quant.uniform<u16:f32, 0.1>>", NULL, "int.unsupported",
		   "only storage i8, u8 and i16");
	refuse_op1(QN_OP_relu, "tensor<4x!quant.uniform<i16:f32, 0.1:3>>", NULL, "int.unsupported",
		   "only zero point 0 in storage i16");
}

/* The largest sum that the accumulator holds, and one more. */
static void
test_accumulator(void **state)
{
	enum { K = 66311 };
	double *w = codes(K, 127, 127);

	(void)state;
	for (int beyond = 0; beyond < 2; beyond++) {
		const char *tx = beyond ? Q("1x66312", "1.0:-128") : Q("1x66311", "1.0:-128");
		const char *tw = beyond ? Q("1x66312", "1.0") : Q("1x66311", "1.0");
		double *more = codes(K + 1, 127, 127);

		fresh_graph();
		qn_id x = input("x", tx);
		output(op2(QN_OP_dense, x, constant("w", tw, beyond ? more : w), NULL, NULL));
		if (beyond)
			refused("int.accumulator", "2147514120");
		else
			assert_true(run1(codes(K, 127, 127))[0] == 66311.0 * 255.0 * 127.0);
	}
}

int
main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, rig_setup, rig_teardown)
	const struct CMUnitTest tests[] = {
		T(test_add_vectors),      T(test_add_mul),     T(test_dense),
		T(test_requantize_clamp), T(test_conv_codes),  T(test_requantize),
		T(test_limits_codes),     T(test_moves_codes), T(test_casts),
		T(test_refusals),         T(test_accumulator),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
