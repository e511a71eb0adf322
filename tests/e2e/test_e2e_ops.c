/* SPDX-License-Identifier: Apache-2.0 */
/* test_e2e_ops.c - emitted C against the interpreter, byte for byte, a case for each family of ops that move no window,
 * and small graphs of them. */
#include "tests/e2e/op_case.h"

/* ---- elementwise ---- */

static void
elementwise(void **state)
{
	builder b;

	(void)state;
	build_begin(&b, "elementwise", 31);
	qn_id x = build_input(&b, "x", Q("2x3x4"));
	qn_id y = build_input(&b, "y", R("3x1"));
	qn_id k = build_const(&b, "k", R("4"), -128, 127);
	qn_id sum = build_op(&b, QN_OP_add, "sum", IDS(x, y), NULL, R("2x3x4"));
	qn_id product = build_op(&b, QN_OP_mul, "product", IDS(sum, k), NULL, Q("2x3x4"));
	qn_id both = build_op(&b, QN_OP_add, "both", IDS(product, sum), NULL, Q("2x3x4"));
	qn_id square = build_op(&b, QN_OP_mul, "square", IDS(both, both), NULL, R("2x3x4"));
	finish(&b, build_op(&b, QN_OP_add, "last", IDS(y, square), NULL, R("2x3x4")));
}

/* ---- softmax ---- */

static void
softmax(void **state)
{
	const char *type = "tensor<3x7x!quant.uniform<i8:f32, 0.00390625:-128>>";
	builder b;

	(void)state;
	build_begin(&b, "softmax", 41);
	qn_id x = build_input(&b, "x", Q("3x7"));
	qn_id s = build_op(&b, QN_OP_softmax, "s", IDS(x), NULL, type);
	qn_id r = build_op(&b, QN_OP_requantize, "r", IDS(s), NULL, Q("3x7"));
	finish(&b, build_op(&b, QN_OP_softmax, "again", IDS(r), NULL, type));
}

/* ---- moves ---- */

static void
moves(void **state)
{
	qn_attrs a = build_attrs(QN_OP_transpose);
	builder b;

	(void)state;
	build_begin(&b, "moves", 51);
	qn_id x = build_input(&b, "x", Q("2x3x4"));
	qn_id k = build_const(&b, "k", Q("2x2x3"), -128, 127);
	a.perm.perm = LIST(0, 2, 1);
	qn_id t = build_op(&b, QN_OP_transpose, "t", IDS(x), &a, NULL);
	a = build_attrs(QN_OP_concat);
	a.axis.axis = 1;
	qn_id c = build_op(&b, QN_OP_concat, "c", IDS(t, k, t), &a, NULL);
	a = build_attrs(QN_OP_pad);
	a.pad.before = LIST(0, 1, 2);
	a.pad.after = LIST(1, 0, 3);
	a.pad.code = 3;
	qn_id p = build_op(&b, QN_OP_pad, "p", IDS(c), &a, NULL);
	qn_id f = build_op(&b, QN_OP_flatten, "f", IDS(p), NULL, NULL);
	a = build_attrs(QN_OP_reshape);
	a.shape.shape = LIST(4, 3, 2);
	qn_graph_output(b.g, "view", build_op(&b, QN_OP_reshape, "view", IDS(x), &a, NULL));
	qn_graph_output(b.g, "const", k);
	qn_graph_output(b.g, "twice", f);
	finish(&b, f);
}

/* A wide type moves as narrow ones do. */
static void
wide_moves(void **state)
{
	qn_attrs a = build_attrs(QN_OP_transpose);
	builder b;

	(void)state;
	build_begin(&b, "wide", 52);
	qn_id x = build_input(&b, "x", "tensor<2x3xi32>");
	a.perm.perm = LIST(1, 0);
	qn_id t = build_op(&b, QN_OP_transpose, "t", IDS(x), &a, NULL);
	a = build_attrs(QN_OP_concat);
	finish(&b, build_op(&b, QN_OP_concat, "c", IDS(t, t), &a, NULL));
}

/* ---- casts and clamps ---- */

static void
casts(void **state)
{
	const char *axis = "tensor<2x3x4x!quant.uniform<i8:f32:1, {0.05:3, 0.01:3, 0.2:3}>>";
	qn_attrs a = build_attrs(QN_OP_requantize);
	builder b;

	(void)state;
	build_begin(&b, "casts", 61);
	qn_id x = build_input(&b, "x", Q("2x3x4"));
	qn_id r = build_op(&b, QN_OP_requantize, "r", IDS(x), NULL, axis);
	a.clamp.lo = -90;
	a.clamp.hi = 77;
	qn_id back = build_op(&b, QN_OP_requantize, "back", IDS(r), &a, R("2x3x4"));
	qn_id codes = build_op(&b, QN_OP_scast, "codes", IDS(back), NULL, "tensor<2x3x4xi8>");
	qn_id other = build_op(&b, QN_OP_scast, "other", IDS(codes), NULL, Q("2x3x4"));
	a = build_attrs(QN_OP_clamp);
	a.clamp.lo = -5;
	a.clamp.hi = 60;
	qn_id c = build_op(&b, QN_OP_clamp, "c", IDS(other), &a, NULL);
	qn_graph_output(b.g, "relu", build_op(&b, QN_OP_relu, "relu", IDS(c), NULL, NULL));
	qn_graph_output(b.g, "relu6", build_op(&b, QN_OP_relu6, "relu6", IDS(c), NULL, NULL));
	qn_graph_output(b.g, "codes", codes);
	finish(&b, c);
}

/* The ports of uint16: its values less 32768 in i16 with a zero point, and without one inside. */
static void
shifted_ports(void **state)
{
	const char *port = "tensor<2x7x!quant.uniform<i16:f32, 0.001:-2768>>";
	const char *inside = "tensor<2x7x!quant.uniform<i16<-27663:32767>:f32, 0.0010845>>";
	builder b;
	qn_tensor *bit;
	void *data;

	(void)state;
	build_begin(&b, "shifted", 62);
	bit = qn_tensor_new(&b.arena, qn_type_plain(&b.model.types, QN_PLAIN_u16, 0, NULL), &data);
	qn_store_i64(data, QN_PLAIN_u16, 0, 32768);
	qn_id u = build_input(&b, "u", "tensor<2x7xu16>");
	qn_id top = qn_graph_const(b.g, "top", bit);
	qn_id x = build_op(&b, QN_OP_bitwise_xor, "x", IDS(u, top), NULL, NULL);
	x = build_op(&b, QN_OP_cast, "i", IDS(x), NULL, "tensor<2x7xi16>");
	x = build_op(&b, QN_OP_scast, "s", IDS(x), NULL, port);
	qn_graph_output(b.g, "same", x);
	x = build_op(&b, QN_OP_requantize, "in", IDS(x), NULL, inside);
	x = build_op(&b, QN_OP_add, "sum", IDS(x, x), NULL, inside);
	qn_graph_output(b.g, "narrow", build_op(&b, QN_OP_requantize, "n", IDS(x), NULL, Q("2x7")));
	finish(&b, build_op(&b, QN_OP_requantize, "out", IDS(x), NULL, port));
}

/* ---- whole graphs ---- */

static qn_id
random_node(builder *b, const qn_id *value, size_t n)
{
	qn_id x = value[build_random(b, 0, (int64_t)n - 1)];
	qn_id y = value[build_random(b, 0, (int64_t)n - 1)];
	qn_attrs a = build_attrs(QN_OP_clamp);

	switch (build_random(b, 0, 5)) {
	case 0:
		a.clamp.lo = -60;
		a.clamp.hi = 100;
		return build_op(b, QN_OP_clamp, NULL, IDS(x), &a, NULL);
	case 1:
		return build_op(b, QN_OP_add, NULL, IDS(x, y), NULL, Q("4x6"));
	case 2:
		return build_op(b, QN_OP_mul, NULL, IDS(x, y), NULL, Q("4x6"));
	case 3:
		x = build_op(b, QN_OP_requantize, NULL, IDS(x), NULL, R("4x6"));
		return build_op(b, QN_OP_requantize, NULL, IDS(x), NULL, Q("4x6"));
	case 4:
		x = build_op(b, QN_OP_dense, NULL,
			     IDS(x, build_const(b, "w", W1("6x6"), -127, 127)), NULL, NULL);
		return build_op(b, QN_OP_requantize, NULL, IDS(x), NULL, Q("4x6"));
	default:
		a = build_attrs(QN_OP_reshape);
		a.shape.shape = LIST(6, 4);
		x = build_op(b, QN_OP_reshape, NULL, IDS(x), &a, NULL);
		a = build_attrs(QN_OP_transpose);
		a.perm.perm = LIST(1, 0);
		return build_op(b, QN_OP_transpose, NULL, IDS(x), &a, NULL);
	}
}

/* Calls are inlined, also of a graph with two results and of one that calls. */
static void
calls(void **state)
{
	builder b;

	(void)state;
	build_parse(&b, "model \"calls\" stage integer\n"
			"graph @low(%x: tensor<2x5x!quant.uniform<i8:f32, 0.05:3>>) {\n"
			"  %c = clamp %x {lo=-50} : tensor<2x5x!quant.uniform<i8:f32, 0.05:3>>\n"
			"  return %c as \"c\"\n"
			"}\n"
			"graph @both(%x: tensor<2x5x!quant.uniform<i8:f32, 0.05:3>>) {\n"
			"  %l = call @low %x : tensor<2x5x!quant.uniform<i8:f32, 0.05:3>>\n"
			"  %h = clamp %x {hi=60} : tensor<2x5x!quant.uniform<i8:f32, 0.05:3>>\n"
			"  return %l as \"l\", %h as \"h\"\n"
			"}\n"
			"graph @main(%x: tensor<2x5x!quant.uniform<i8:f32, 0.05:3>>) {\n"
			"  %p = call @both %x\n"
			"  %l = get %p {index=0}\n"
			"  %h = get %p {index=1}\n"
			"  %s = add %l, %h : tensor<2x5x!quant.uniform<i8:f32, 0.11:-7>>\n"
			"  return %s as \"s\", %h as \"h\"\n"
			"}\n");
	e2e_check(&b, SAMPLES);
	build_end(&b);
}

/* Operands die, are read twice, are repeated; results share buffers in many ways. */
static void
random_graphs(void **state)
{
	uint64_t seed;

	(void)state;
	for (seed = 1; seed <= 3; seed++) {
		qn_id value[20];
		builder b;
		size_t n = 1;

		build_begin(&b, "random", seed);
		value[0] = build_input(&b, "x", Q("4x6"));
		for (; n < QN_COUNT(value); n++)
			value[n] = random_node(&b, value, n);
		for (n = 0; n < 3; n++)
			qn_graph_output(b.g, NULL, value[build_random(&b, 5, 18)]);
		finish(&b, value[19]);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(elementwise), cmocka_unit_test(softmax),
		cmocka_unit_test(moves),       cmocka_unit_test(wide_moves),
		cmocka_unit_test(casts),       cmocka_unit_test(shifted_ports),
		cmocka_unit_test(calls),       cmocka_unit_test(random_graphs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
