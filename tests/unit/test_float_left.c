/* SPDX-License-Identifier: Apache-2.0 */
/* What stays in float is listed with the reason that is its own: one graph for each reason. */
#include "tests/e2e/build.h"

#include "passes/passes.h"
#include "patterns/quantizer.h"

#define X "%x: tensor<2x4x!quant.uniform<i8:f32, 0.1:3>>"
#define F "%f: tensor<2x4xf32>"
#define Q(shape) "tensor<" shape "x!quant.uniform<i8:f32, 0.2:-128>>"

/* A calibrated graph; words: of the one message about `node`. */
static const struct {
	const char *name, *text, *node, *words;
	bool exact;
	bool quantized_here; /* by Quern, not by another tool */
} cases[] = {
	{"no integer implementation",
	 "(" X ", %g: tensor<4xf32>) {\n  %d = dequantize %x\n"
	 "  %n = batch_norm %d, %g, %g, %g, %g\n  %q = quantize %n : " Q(
		 "2x4") "\n  return %q\n}\n",
	 "batch_norm 'n'",
	 "no integer implementation, and quantized values cannot pass through it; dequantize and "
	 "recalibrate the model: --from-float --calib SAMPLES",
	 false, false},
	{"no pattern",
	 "(" F ") {\n  %s = exp %f\n  %q = quantize %s : " Q("2x4") "\n  return %q\n}\n", "exp 's'",
	 "no quantizer pattern of the scheme takes it", false, true},
	{"an lrn without samples",
	 "(%x: tensor<1x1x2x4x!quant.uniform<i8:f32, 0.1:3>>) {\n  %d = dequantize %x\n  %s = lrn "
	 "%d {size=3}\n"
	 "  %q = quantize %s : " Q("1x1x2x4") "\n  return %q\n}\n",
	 "lrn 's'", "samples give them some: --calib SAMPLES", false, false},
	{"a scatter that adds",
	 "(" X ", %u: tensor<2x4x!quant.uniform<i8:f32, 0.1:3>>) {\n  %d = dequantize %x\n  %e = "
	 "dequantize %u\n"
	 "  %i = const : tensor<2x4xi64> splat 0\n"
	 "  %s = scatter_elements %d, %i, %e {reduction=add}\n  %q = quantize %s : " Q(
		 "2x4") "\n  return %q\n}\n",
	 "scatter_elements 's'", "it adds or multiplies what meets (reduction)", false, false},
	{"weights with a scale for each input channel",
	 "(" X ") {\n  %d = dequantize %x\n"
	 "  %w = const : tensor<3x4x!quant.uniform<i8:f32:1, {0.1,0.2,0.3,0.4}>> splat 5\n"
	 "  %v = dequantize %w\n  %s = dense %d, %v\n  %q = quantize %s : " Q(
		 "2x3") "\n  return %q\n}\n",
	 "dense 's'", "its weights have a scale for each input channel", false, false},
	{"computed weights",
	 "(%x: tensor<1x4x4x1x!quant.uniform<i8:f32, 0.1:3>>) {\n  %d = dequantize %x\n"
	 "  %v = reshape %d {shape=[1,4,4,1]}\n  %s = conv2d %d, %v\n  %q = quantize %s : " Q(
		 "1x1x1x1") "\n  return %q\n}\n",
	 "conv2d 's'",
	 "its weights are computed, and its integer arithmetic takes constant weights", false,
	 false},
	{"no range of an operand",
	 "(" F ") {\n  %t = transpose %f {perm=[1,0]}\n  %s = exp %t\n  %q = quantize %s : " Q(
		 "4x2") "\n  return %q\n}\n",
	 "exp 's'", "no range for 'f'; calibrate it", false, false},
	{"a layer and its activation",
	 "(" F ") {\n  %h = exp %f\n  %h_1 = relu %h\n  %s = exp %h_1\n  %q = quantize %s : " Q(
		 "2x4") "\n  return %q\n}\n",
	 "exp 's'", "no range for 'h'; calibrate it", false, false},
	{"another layer after it",
	 "(" F ") {\n  %h = exp %f\n  %g_1 = relu %h\n  %s = exp %g_1\n  %q = quantize %s : " Q(
		 "2x4") "\n  return %q\n}\n",
	 "exp 's'", "no range for 'g_1'; calibrate it", false, false},
	{"a layer whose name begins with its operand's",
	 "(" F ") {\n  %h = exp %f\n  %h2 = relu %h\n  %s = exp %h2\n  %q = quantize %s : " Q(
		 "2x4") "\n  return %q\n}\n",
	 "exp 's'", "no range for 'h2'; calibrate it", false, false},
	{"no range at all", "(" F ") {\n  %s = exp %f\n  return %s\n}\n", "exp 's'",
	 "no range for 'f', 's'; calibrate it", false, false},
	{"a way out", "(" X ") {\n  %d = dequantize %x\n  %s = exp %d\n  return %s\n}\n", "exp 's'",
	 "no range for 's'; calibrate it: --calib SAMPLES", false, false},
	{"several operands",
	 "(" X ", " F ") {\n  %d = dequantize %x\n  %e = exp %f\n"
	 "  %c = concat %d, %e {axis=1}\n  %q = quantize %c : " Q("2x8") "\n  return %q\n}\n",
	 "concat 'c'", "one of its operands comes from 'e', which stays in float", false, false},
	{"behind",
	 "(" F
	 ") {\n  %e = exp %f\n  %r = relu %e\n  %q = quantize %r : " Q("2x4") "\n"
									      "  return %q\n}\n",
	 "relu 'r'", "it comes from 'e', which stays in float", false, false},
	{"before",
	 "(" X ") {\n  %d = dequantize %x\n  %r = relu %d\n  %e = exp %r\n"
	 "  return %e\n}\n",
	 "relu 'r'", "'e', which reads it, stays in float", false, false},
	{"blocks of an operand",
	 "(%x: tensor<2x4x!quant.uniform<i8:f32:{0:1, 1:2}, {{0.1,0.2},{0.3,0.4}}>>) {\n"
	 "  %d = dequantize %x\n  %s = div %d, %d\n  %q = quantize %s : " Q(
		 "2x4") "\n  return %q\n}\n",
	 "div 's'", "'x' has one scale per block", false, false},
	{"blocks of a move",
	 "(" X ") {\n  %d = dequantize %x\n  %r = reshape %d {shape=[4,2]}\n"
	 "  %q = quantize %r : tensor<4x2x!quant.uniform<i8:f32:{0:2, 1:1}, "
	 "{{0.1,0.3},{0.2,0.4}}>>\n"
	 "  return %q\n}\n",
	 "reshape 'r'", "'q' quantizes it with one scale per block", false, false},
	{"blocks of a result",
	 "(" X ") {\n  %d = dequantize %x\n  %s = exp %d\n"
	 "  %q = quantize %s : tensor<2x4x!quant.uniform<i8:f32:{0:1, 1:2}, "
	 "{{0.1,0.2},{0.3,0.4}}>>\n"
	 "  return %q\n}\n",
	 "exp 's'", "'q' gives its result one scale per block", false, false},
	{"shared",
	 "(" X ") {\n  %d = dequantize %x\n  %r = relu %d\n  %t = transpose %r {perm=[1,0]}\n"
	 "  %f = flatten %t\n  %q = quantize %f : " Q(
		 "4x2") "\n  %s = exp %f\n  return %q, %s\n}\n",
	 "flatten 'f'", "'s' needs it in float, and with it more than 2 ops", false, false},
	{"no parameters", "(" X ") {\n  %d = dequantize %x\n  %s = exp %d\n  return %s\n}\n",
	 "exp 's'", "its result is not quantized", false, true},
	{"calibrated here", "(" X ") {\n  %d = dequantize %x\n  %s = exp %d\n  return %s\n}\n",
	 "exp 's'", "its result is not quantized", false, true},
	{"other parameters",
	 "(" X ") {\n  %d = dequantize %x\n  %s = softmax %d\n"
	 "  %q = quantize %s : tensor<2x4x!quant.uniform<i16:f32, 0.00001>>\n  return %q\n}\n",
	 "softmax 's'", "other parameters than its integer arithmetic has; dequantize", false,
	 false},
	{"averages",
	 "(%x: tensor<1x4x4x1x!quant.uniform<i8:f32, 0.1:3>>) {\n  %d = dequantize %x\n"
	 "  %p = avg_pool %d {kernel=[2,2], stride=[2,2]}\n  %q = quantize %p : " Q(
		 "1x2x2x1") "\n"
			    "  return %q\n}\n",
	 "avg_pool 'p'", "integer averages round, and --no-approx keeps such ops in float", true,
	 false},
	{"output",
	 "(%x: tensor<2x4x!quant.uniform<i8:f32:{0:1, 1:2}, {{0.1,0.2},{0.3,0.4}}>>) {\n  %d = "
	 "dequantize %x\n"
	 "  %r = relu %d\n  return %r\n}\n",
	 "relu 'r'", "an output that is not quantized", false, true},
	{"infinite output",
	 "(" X ") {\n  %r = relu %x\n  %c = const : tensor<2xf32> [inf, 1.0]\n  return %r, %c\n}\n",
	 "const 'c'", "leave it out of the model", false, false},
	{"output beside a far number",
	 "(" X ") {\n  %d = dequantize %x\n"
	 "  %p = pad %d {before=[0,1], after=[0,0], value=100000.0}\n  return %p\n}\n",
	 "pad 'p'", "no range for 'p'; calibrate it: --calib SAMPLES", false, false},
};

static const char *
message_about(const builder *b, const char *node)
{
	for (size_t i = 0; i < b->diags.n; i++)
		if (strcmp(b->diags.item[i].id, "legalize.float") == 0 &&
		    strncmp(b->diags.item[i].message, node, strlen(node)) == 0)
			return b->diags.item[i].message;
	return NULL;
}

static void
each_reason(void **state)
{
	(void)state;
	for (size_t i = 0; i < QN_COUNT(cases); i++) {
		const qn_requant_opts opts = {.exact = cases[i].exact, .require_int = true};
		char text[2000];
		builder b;

		snprintf(text, sizeof(text), "model \"m\" stage calibrated\ngraph @main%s",
			 cases[i].text);
		build_parse(&b, text);
		b.model.quantized_here = cases[i].quantized_here;
		assert_int_equal(qn_requantize(&b.model, &opts), QN_EUNSUPPORTED);
		const char *message = message_about(&b, cases[i].node);
		if (message == NULL || strstr(message, cases[i].words) == NULL)
			fail_msg("%s: %s", cases[i].name, message != NULL ? message : "no message");
		build_end(&b);
	}
}

/* A pattern that declines says why, from partition to the list, through a file too. */
static void
declined(void **state)
{
	static const char text[] =
		"model \"m\" stage calibrated\ngraph @main(" F ") {\n"
		"  %s = softmax %f {axis=0} note \"pattern 'fixed' declined: axis\"\n"
		"  %q = quantize %s : " Q("2x4") "\n  return %q\n}\n";
	const qn_requant_opts opts = {.require_int = true};
	builder b;

	(void)state;
	build_parse(&b, text);
	assert_int_equal(qn_requantize(&b.model, &opts), QN_EUNSUPPORTED);
	const char *message = message_about(&b, "softmax 's'");
	assert_non_null(message);
	assert_non_null(strstr(message, "pattern 'fixed' declined: axis"));
	build_end(&b);
}

/* What no ranges would help is listed before what follows from it, which stands before it in the file. */
static void
causes_first(void **state)
{
	static const char text[] =
		"model \"m\" stage calibrated\ngraph @main(" X ", " F ") {\n  %e = exp %f\n"
		"  %d = dequantize %x\n  %i = const : tensor<2x4xi64> splat 0\n"
		"  %s = scatter_elements %d, %i, %e {reduction=add}\n"
		"  %q = quantize %s : " Q("2x4") "\n  return %q\n}\n";
	const qn_requant_opts opts = {.require_int = true};
	builder b;

	(void)state;
	build_parse(&b, text);
	assert_int_equal(qn_requantize(&b.model, &opts), QN_EUNSUPPORTED);
	assert_int_equal(b.diags.n, 2);
	assert_non_null(strstr(b.diags.item[0].message, "scatter_elements 's'"));
	assert_non_null(strstr(b.diags.item[1].message, "exp 'e'"));
	build_end(&b);
}

/* Inputs and outputs are no reason: legalize makes those integer. */
static void
edges_pass(void **state)
{
	static const char text[] =
		"model \"m\" stage calibrated\ngraph @main(" F ") {\n"
		"  %q = quantize %f : " Q("2x4") "\n  %d = dequantize %q\n  return %d\n}\n";
	const qn_requant_opts opts = {.require_int = true};
	builder b;

	(void)state;
	build_parse(&b, text);
	build_check(&b, qn_requantize(&b.model, &opts) == QN_OK);
	assert_int_equal(b.model.stage, QN_STAGE_CALIBRATED);
	build_end(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_reason),
		cmocka_unit_test(declined),
		cmocka_unit_test(causes_first),
		cmocka_unit_test(edges_pass),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
