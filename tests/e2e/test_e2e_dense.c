/* SPDX-License-Identifier: Apache-2.0 */
/* Fully connected networks from their text form, emitted, compiled, run, and compared with the
 * interpreter; that the self-test notices a wrong byte; and what the compiled program needs from
 * outside. */
#include "tests/e2e/e2e.h"

/* Two layers with biases; the first has a scale per channel, the second a clamp. */
static const char mlp[] =
	"model \"mlp\" stage integer rounding %s\n"
	"graph @main(%%x: tensor<2x9x!quant.uniform<i8:f32, 0.05:-4>>) {\n"
	"  %%w1 = const : tensor<3x9x!quant.uniform<i8:f32:0, {0.02,0.003,0.5}>> rand 7\n"
	"  %%b1 = const : tensor<3x!quant.uniform<i32:f32:0, 0.05*{0.02,0.003,0.5}>>"
	" [9000, -70, 123]\n"
	"  %%fc1 = dense %%x, %%w1, %%b1 :"
	" tensor<2x3x!quant.uniform<i32:f32:1, 0.05*{0.02,0.003,0.5}>>\n"
	"  %%q1 = requantize %%fc1 : tensor<2x3x!quant.uniform<i8:f32, 0.25:11>>\n"
	"  %%w2 = const : tensor<5x3x!quant.uniform<i8:f32, 0.01>> rand 8\n"
	"  %%b2 = const : tensor<5x!quant.uniform<i32:f32, 0.25*0.01>> [1, -2, 300, -400, 5000]\n"
	"  %%fc2 = dense %%q1, %%w2, %%b2 : tensor<2x5x!quant.uniform<i32:f32, 0.25*0.01>>\n"
	"  %%q2 = requantize %%fc2 {lo=-20, hi=90} :"
	" tensor<2x5x!quant.uniform<i8:f32, 0.125:-20>>\n"
	"  return %%q2 as \"probs\"\n"
	"}\n";

static void
parse_mlp(builder *b, const char *rounding)
{
	char text[2048];

	snprintf(text, sizeof(text), mlp, rounding);
	build_parse(b, text);
}

static void
layers(void **state)
{
	static const char *const rounding[] = {"double", "single", "nearest", "even"};
	builder b;
	size_t i;

	(void)state;
	for (i = 0; i < QN_COUNT(rounding); i++) {
		parse_mlp(&b, rounding[i]);
		assert_int_equal(b.model.rounding, i);
		e2e_check(&b, 12);
		build_end(&b);
	}
}

/* Weights that are an activation. */
static void
product_of_activations(void **state)
{
	builder b;

	(void)state;
	build_parse(&b,
		    "model \"product\" stage integer\n"
		    "graph @main(%x: tensor<2x4x!quant.uniform<i8:f32, 0.05:-4>>,"
		    " %y: tensor<3x4x!quant.uniform<i8:f32, 0.02>>) {\n"
		    "  %c = clamp %y {lo=-99, hi=99} : tensor<3x4x!quant.uniform<i8:f32, 0.02>>\n"
		    "  %d = dense %x, %c : tensor<2x3x!quant.uniform<i32:f32, 0.05*0.02>>\n"
		    "  %q = requantize %d : tensor<2x3x!quant.uniform<i8:f32, 0.125:7>>\n"
		    "  return %q as \"q\", %d as \"d\"\n"
		    "}\n");
	e2e_check(&b, 6);
	build_end(&b);
}

/* No step at all: the output is the input. */
static void
nothing(void **state)
{
	builder b;

	(void)state;
	build_parse(&b, "model \"nothing\" stage integer\n"
			"graph @main(%x: tensor<4xi16>) {\n"
			"  return %x as \"y\"\n"
			"}\n");
	e2e_check(&b, 3);
	build_end(&b);
}

static bool
log_holds(const e2e *t, const char *text)
{
	char path[256], line[256] = "";
	FILE *f;

	snprintf(path, sizeof(path), "%s/log", t->dir);
	f = fopen(path, "r");
	assert_non_null(f);
	assert_non_null(fgets(line, sizeof(line), f));
	assert_int_equal(fclose(f), 0);
	return strstr(line, text) != NULL;
}

/* Builds and runs with one thing changed in the expectations. */
static void
expect(builder *b, e2e *t, bool trace, int result, const char *text)
{
	e2e_write(b, t);
	assert_int_equal(e2e_build_run(b, t, "cc -std=c99", trace), result);
	assert_true(log_holds(t, text));
	e2e_remove(b, t);
}

static void
selftest_notices(void **state)
{
	builder b;
	int8_t *out;
	e2e t;

	(void)state;
	parse_mlp(&b, "double");
	e2e_prepare(&b, &t, 4);
	expect(&b, &t, true, 0, "mlp: self-test passed (4 samples, outputs and 2 steps)");
	t.crc[2 * 2 + 1] ^= 1;
	expect(&b, &t, true, 1, "mlp: sample 2: step fc2 differs");
	expect(&b, &t, false, 0,
	       "mlp: self-test passed (4 samples, outputs; define MLP_TRACE to compare 2 steps)");
	t.crc[2 * 2 + 1] ^= 1;
	out = (int8_t *)(uintptr_t)t.test.out[3];
	out[9] = (int8_t)(out[9] ^ 1);
	expect(&b, &t, false, 1, "mlp: sample 3: output probs differs");
	expect(&b, &t, true, 1, "mlp: sample 3: output probs differs");
	build_end(&b);
}

/* A section may be given, and nothing but memcpy and memset is needed from outside (the program's
 * own constants aside). */
static void
surroundings(void **state)
{
	static const char nm[] = "nm -u mlp.o mlp_weights.o | grep ' U ' | "
				 "grep -v -w -e memcpy -e memset -e 'mlp_[a-z0-9_]*'";
	builder b;
	e2e t;

	(void)state;
	parse_mlp(&b, "double");
	e2e_prepare(&b, &t, 3);
	e2e_write(&b, &t);
	assert_int_equal(
		e2e_build_run(
			&b, &t,
			"cc -std=c99 '-DMLP_WEIGHTS_ATTR=__attribute__((section(\".weights\")))'",
			true),
		0);
	assert_true(e2e_shell(&b, "objdump -h t | grep -q", t.dir, "[.]weights"));
	assert_true(e2e_shell(&b, "cc -std=c99 -O1 -fno-pic -fno-stack-protector -c", t.dir,
			      "mlp.c mlp_weights.c"));
	assert_true(e2e_shell(&b, "nm mlp.o | grep -q", t.dir, "' T mlp_run'"));
	assert_false(e2e_shell(&b, nm, t.dir, NULL));
	e2e_remove(&b, &t);
	build_end(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(layers),       cmocka_unit_test(product_of_activations),
		cmocka_unit_test(nothing),      cmocka_unit_test(selftest_notices),
		cmocka_unit_test(surroundings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
