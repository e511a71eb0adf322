/* SPDX-License-Identifier: Apache-2.0 */
/* Emitted C against the interpreter, byte for byte: reductions, argmax, log_softmax and the
 * normalizations. */
#include "tests/e2e/e2e.h"

#define Q(shape) "tensor<" shape "x!quant.uniform<i8:f32, 0.05:3>>"
#define R(shape) "tensor<" shape "x!quant.uniform<i8:f32, 0.11:-7>>"

enum { SAMPLES = 5 };

static void
finish(builder *b, qn_id y)
{
	qn_graph_output(b->g, "y", y);
	e2e_check(b, SAMPLES);
	build_end(b);
}

static qn_id
reduce(builder *b, qn_op op, const char *name, qn_id x, qn_list axes, int64_t keep,
       const char *type)
{
	qn_attrs a = build_attrs(op);

	a.reduce.axes = axes;
	a.reduce.keepdims = keep;
	return build_op(b, op, name, IDS(x), &a, type);
}

static void
reductions(void **state)
{
	builder b;

	(void)state;
	build_begin(&b, "reductions", 71);
	qn_id x = build_input(&b, "x", Q("2x3x4x5"));
	qn_id mean = reduce(&b, QN_OP_reduce_mean, "mean", x, LIST(1, 2), 1, R("2x1x1x5"));
	qn_id sum = reduce(&b, QN_OP_reduce_sum, "sum", x, LIST(0, -1), 0,
			   "tensor<3x4x!quant.uniform<i8:f32, 0.4:-20>>");
	qn_id max = reduce(&b, QN_OP_reduce_max, "max", x, LIST(3, 1), 0, NULL);
	qn_id prod = reduce(&b, QN_OP_reduce_prod, "prod", x, LIST(1, 0), 1,
			    "tensor<1x1x4x5x!quant.uniform<i8:f32, 40.0:7>>");
	const qn_list none = {0};
	qn_id all = reduce(&b, QN_OP_reduce_min, "all", x, none, 0, NULL);
	qn_graph_output(b.g, "mean", mean);
	qn_graph_output(b.g, "sum", sum);
	qn_graph_output(b.g, "prod", prod);
	qn_graph_output(b.g, "all", all);
	finish(&b, reduce(&b, QN_OP_reduce_min, "min", max, LIST(1), 1, NULL));
}

/* Four kept axes and four others, in turn. */
static void
eight_axes(void **state)
{
	builder b;

	(void)state;
	build_begin(&b, "eight", 72);
	qn_id x = build_input(&b, "x", Q("2x3x2x2x3x2x2x2"));
	qn_graph_output(b.g, "max",
			reduce(&b, QN_OP_reduce_max, "max", x, LIST(1, 3, 5, 7), 0, NULL));
	finish(&b, reduce(&b, QN_OP_reduce_mean, "mean", x, LIST(0, 2, 4, 6), 0, R("3x2x2x2")));
}

/* Results in scratch and as outputs, of 4 and of 8 bytes. */
static void
argmax(void **state)
{
	qn_attrs a = build_attrs(QN_OP_argmax), r = build_attrs(QN_OP_reshape);
	builder b;

	(void)state;
	build_begin(&b, "argmax", 73);
	qn_id x = build_input(&b, "x", Q("2x5x3"));
	a.argmax.axis = 1;
	qn_id first = build_op(&b, QN_OP_argmax, "first", IDS(x), &a, NULL);
	a.argmax.select_last_index = a.argmax.keepdims = 1;
	qn_id last = build_op(&b, QN_OP_argmax, "last", IDS(x), &a, "tensor<2x1x3xi64>");
	a = build_attrs(QN_OP_transpose);
	a.perm.perm = LIST(1, 0);
	r.shape.shape = LIST(6);
	qn_graph_output(b.g, "turned", build_op(&b, QN_OP_transpose, "t", IDS(first), &a, NULL));
	qn_graph_output(b.g, "wide", build_op(&b, QN_OP_reshape, "flat", IDS(last), &r, NULL));
	a = build_attrs(QN_OP_concat);
	finish(&b, build_op(&b, QN_OP_concat, "c", IDS(last, last), &a, NULL));
}

static void
log_softmax(void **state)
{
	const char *type = "tensor<3x7x!quant.uniform<i8:f32, 0.0625:127>>";
	builder b;

	(void)state;
	build_begin(&b, "log_softmax", 74);
	qn_id x = build_input(&b, "x", Q("3x7"));
	qn_id s = build_op(&b, QN_OP_log_softmax, "s", IDS(x), NULL, type);
	qn_id r = build_op(&b, QN_OP_requantize, "r", IDS(s), NULL, R("3x7"));
	finish(&b, build_op(&b, QN_OP_log_softmax, "again", IDS(r), NULL, type));
}

static void
norms(void **state)
{
	qn_attrs a = build_attrs(QN_OP_layer_norm);
	builder b;

	(void)state;
	build_begin(&b, "norms", 75);
	qn_id x = build_input(&b, "x", Q("2x4x3x5"));
	qn_id w = build_const(&b, "w", "tensor<5x!quant.uniform<i8:f32, 0.01:-9>>", -128, 127);
	qn_id o = build_const(&b, "b", "tensor<5x!quant.uniform<i8:f32, 0.02:5>>", -128, 127);
	qn_id image = build_op(&b, QN_OP_instance_norm, "image", IDS(x, w, o), NULL,
			       "tensor<2x4x3x5x!quant.uniform<i8:f32, 0.03:4>>");
	qn_id layer = build_op(&b, QN_OP_layer_norm, "layer", IDS(image, w, o), &a,
			       "tensor<2x4x3x5x!quant.uniform<i8:f32, 0.03:-4>>");
	qn_id w2 = build_const(&b, "w2", Q("3x5"), -128, 127);
	a.layer_norm.axis = 2;
	a.layer_norm.epsilon = 0.5;
	finish(&b, build_op(&b, QN_OP_layer_norm, "tail", IDS(layer, w2, w2), &a, R("2x4x3x5")));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reductions), cmocka_unit_test(eight_axes),
		cmocka_unit_test(argmax),     cmocka_unit_test(log_softmax),
		cmocka_unit_test(norms),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
