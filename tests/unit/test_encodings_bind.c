/* SPDX-License-Identifier: Apache-2.0 */
/* test_encodings_bind.c - what a file of encodings binds the symbol of a small model to, by the names of values.
 *
 *   quantize %x : i8, $s     "x": offset -128, scale 0.5     ->   $s is 0.5, zero point 0 */
#include "tests/unit/run_util.h"

#include "calibrate/encodings.h"
#include "tests/unit/encodings_text.h"

#define VALUE(elem, kind)                                                                          \
	"symbol $s : " kind "\ngraph @main(%x: tensor<1x2xf32>) {\n"                               \
	"  %q = quantize %x : tensor<1x2x!quant.uniform<" elem ">>\n"                              \
	"  %y = dequantize %q\n  return %y\n}\n"
#define WEIGHTS                                                                                    \
	"symbol $s : sym, len 2\ngraph @main(%x: tensor<1x2xf32>) {\n"                             \
	"  %w = const : tensor<2x2xf32> [1.0, 2.0, 3.0, 4.0]\n"                                    \
	"  %q = quantize %w : tensor<2x2x!quant.uniform<i8<-127:127>:f32:0, $s>>\n"                \
	"  %d = dequantize %q\n  %y = dense %x, %d\n  return %y\n}\n"
#define SHARED_WEIGHTS                                                                             \
	"symbol $s : sym, len 2\ngraph @main(%x: tensor<1x2xf32>) {\n"                             \
	"  %w = const : tensor<2x2xf32> [1.0, 2.0, 3.0, 4.0]\n"                                    \
	"  %v = const : tensor<2x2xf32> [4.0, 2.0, 3.0, 1.0]\n"                                    \
	"  %q = quantize %w : tensor<2x2x!quant.uniform<i8<-127:127>:f32:0, $s>>\n"                \
	"  %r = quantize %v : tensor<2x2x!quant.uniform<i8<-127:127>:f32:0, $s>>\n"                \
	"  %d = dequantize %q\n  %e = dequantize %r\n  %f = dense %x, %d\n"                        \
	"  %y = dense %f, %e\n  return %y\n}\n"
#define TWICE(op, shape)                                                                           \
	"symbol $s : asym\ngraph @main(%x: tensor<1x2xf32>) {\n"                                   \
	"  %p = quantize %x : tensor<1x2x!quant.uniform<i8:f32, 0.25:0>>\n"                        \
	"  %d = dequantize %p\n  " op "\n"                                                         \
	"  %q = quantize %m : tensor<" shape "x!quant.uniform<u8:f32, $s:$s>>\n"                   \
	"  %y = dequantize %q\n  return %y\n}\n"
#define SHARED                                                                                     \
	"symbol $s : asym\ngraph @main(%x: tensor<1x2xf32>, %z: tensor<1x2xf32>) {\n"              \
	"  %q = quantize %x : tensor<1x2x!quant.uniform<u8:f32, $s:$s>>\n"                         \
	"  %r = quantize %z : tensor<1x2x!quant.uniform<u8:f32, $s:$s>>\n"                         \
	"  %d = dequantize %q\n  %e = dequantize %r\n  %y = add %d, %e\n  return %y\n}\n"
#define MOVED(op)                                                                                  \
	"symbol $s : asym\ngraph @main(%x: tensor<1x2xf32>) {\n  " op "\n"                         \
	"  %q = quantize %m : tensor<2x1x!quant.uniform<u8:f32, $s:$s>>\n"                         \
	"  %y = dequantize %q\n  return %y\n}\n"
#define I8 VALUE("i8:f32, $s:$s", "asym")
#define U8 VALUE("u8:f32, $s:$s", "asym")
#define SYMMETRIC VALUE("i8:f32, $s", "sym")
#define ACT(entry) "{'activation_encodings': {'x': [{'bitwidth': 8, 'scale': 0.5, " entry "}]}}"
#define PAIR(scale, offset) "{'bitwidth': 8, 'scale': " scale ", 'offset': " offset "}"

/* What a symbol becomes; '-' and the ids of errors or warnings: it stays open. */
static const struct {
	const char *model, *file, *want;
} bound[] = {
	{I8, ACT("'offset': -128"), "0.5:0"},
	{I8, ACT("'offset': -127"), "0.5:-1"},
	{I8, ACT("'offset': -127, 'is_symmetric': true"), "0.5:0"},
	{I8, ACT("'offset': -128, 'is_symmetric': true"), "0.5:0"},
	{I8, ACT("'offset': -126, 'is_symmetric': true"), "0.5:-2"},
	{I8, ACT("'offset': -129, 'is_symmetric': true"), "0.5:1"},
	{I8, ACT("'offset': 0"), "0.5:-128"},
	{I8, ACT("'offset': -255"), "0.5:127"},
	{U8, ACT("'offset': -128, 'is_symmetric': true"), "0.5:128"},
	{U8, ACT("'offset': -127, 'is_symmetric': true"), "0.5:128"},
	{U8, ACT("'offset': -126, 'is_symmetric': true"), "0.5:126"},
	{U8, ACT("'offset': -127"), "0.5:127"},
	{SYMMETRIC, ACT("'offset': -128"), "0.5:0"},
	{SYMMETRIC, ACT("'offset': -127"), "0.5:0"},
	{SYMMETRIC, ACT("'offset': -126"), "- encodings.symmetric"},
	{VALUE("i8<-127:127>:f32, $s:$s", "asym"), ACT("'offset': 0"), "0.5:-127"},
	{VALUE("i8<-127:127>:f32, $s:$s", "asym"), ACT("'offset': -254"), "0.5:127"},
	{VALUE("i8<-127:127>:f32, $s:$s", "asym"), ACT("'offset': -255"), "- encodings.value"},
	{VALUE("i16:f32, $s:$s", "asym"), ACT("'offset': -128"), "- encodings.bitwidth"},
	{I8, "{'activation_encodings': {'x': [{'dtype': 'float', 'bitwidth': 16}]}}",
	 "- encodings.float"},
	{I8,
	 "{'activation_encodings': {'q': [" PAIR("0.25", "0") "], 'x': [" PAIR("0.5", "0") "]}}",
	 "0.25:-128"},
	{I8, "{'activation_encodings': {'nothing': [" PAIR("0.5", "0") "]}}", "- encodings.unused"},
	{I8, "{'param_encodings': {'x': [" PAIR("0.5", "0") "]}}", "-"},
	{WEIGHTS, "{'param_encodings': {'w': [" PAIR("0.5", "-128") ", " PAIR("0.25", "-127") "]}}",
	 "0.5, 0.25"},
	{WEIGHTS, "{'param_encodings': {'w': [" PAIR("0.5", "-128") "]}}", "0.5, 0.5"},
	{WEIGHTS,
	 "{'param_encodings': {'w': [" PAIR("0.5", "-128") ", " PAIR("0.5", "-128") ", " PAIR(
		 "0.5", "-128") "]}}",
	 "- encodings.length"},
	{WEIGHTS, "{'activation_encodings': {'w': [" PAIR("0.5", "-128") "]}}", "-"},
	{SHARED, "{'activation_encodings': {'x': [" PAIR("0.5", "-3") "]}}", "0.5:3"},
	{SHARED, "{'activation_encodings': {'z': [" PAIR("0.5", "-3") "]}}", "0.5:3"},
	{SHARED,
	 "{'activation_encodings': {'x': [" PAIR("0.5", "-3") "], 'z': [" PAIR("0.5", "-3") "]}}",
	 "0.5:3"},
	{SHARED,
	 "{'activation_encodings': {'x': [" PAIR("0.5", "-3") "], 'z': [" PAIR("0.5", "-4") "]}}",
	 "0.5:3 encodings.shared"},
	{SHARED,
	 "{'activation_encodings': {'x': [" PAIR("0.5", "-3") "], 'z': [" PAIR("0.25", "-3") "]}}",
	 "0.5:3 encodings.shared"},
	{SHARED,
	 "{'activation_encodings': {'x': [" PAIR("0.5", "-3") "], 'z': [" PAIR("0.75", "-3") "]}}",
	 "0.5:3 encodings.shared"},
	{MOVED("%m = reshape %x {shape=[2,1]}"), ACT("'offset': -3"), "0.5:3"},
	{MOVED("%m = reshape %x {shape=[2,1]}"),
	 "{'activation_encodings': {'x': [" PAIR("0.5", "-3") "], 'm': [" PAIR("0.25", "-4") "]}}",
	 "0.25:4"},
	{TWICE("%m = reshape %d {shape=[2,1]}", "2x1"), ACT("'offset': -3"), "0.5:3"},
	{TWICE("%e = quantize %d : tensor<1x2x!quant.uniform<u8:f32, 0.5:1>>\n  %m = dequantize %e",
	       "1x2"),
	 ACT("'offset': -3"), "0.5:3"},
	{SHARED_WEIGHTS,
	 "{'param_encodings': {'w': [" PAIR("0.5", "-128") "], 'v': [" PAIR(
		 "0.5", "-128") ", " PAIR("0.25", "-128") "]}}",
	 "0.5, 0.5 encodings.shared"},
	{MOVED("%m = transpose %x {perm=[1,0]}"), ACT("'offset': -3"), "0.5:3"},
	{MOVED("%n = reshape %x {shape=[2,1]}\n  %m = relu %n"), ACT("'offset': -3"), "-"},
	{MOVED("%n = reshape %x {shape=[2,1]}\n  %m = relu6 %n"), ACT("'offset': -3"), "-"},
	{MOVED("%n = reshape %x {shape=[2,1]}\n  %m = clip %n {min=0.0, max=1.0}"),
	 ACT("'offset': -3"), "-"},
};

static const char *
bound_to(const char *model, const char *file)
{
	const char *json = json_of(file);
	qn_encodings *e;
	qn_buf b;

	qn_buf_init(&b, &rg->arena);
	qn_buff(&b, "model \"m\" stage symbolic\n%s", model);
	assert_int_equal(qn_model_parse(&rg->m, "m.qir", qn_buf_str(&b), b.n), QN_OK);
	assert_int_equal(qn_encodings_read(&rg->env, &rg->arena, "e.json", json, strlen(json), &e),
			 QN_OK);
	const qn_status status = qn_encodings_bind(&rg->m, e);
	const qn_symbol *s = qn_symbol_find(&rg->m.types, "s");
	assert_int_equal(status == QN_OK, rg->diags.nerrors == 0);
	qn_buf_init(&b, &rg->arena);
	if (!s->bound)
		qn_buf_puts(&b, "-");
	else if (s->len > 0)
		qn_buff(&b, "%g, %g", s->vec->scale[0], s->vec->scale[1]);
	else
		qn_buff(&b, "%g:%lld", s->scale, (long long)s->zp);
	for (size_t i = 0; i < rg->diags.n; i++)
		qn_buff(&b, " %s", rg->diags.item[i].id);
	return qn_buf_str(&b);
}

static void
test_bind(void **state)
{
	for (size_t i = 0; i < QN_COUNT(bound); i++) {
		rig_teardown(state);
		rig_setup(state);
		const char *have = bound_to(bound[i].model, bound[i].file);

		if (strcmp(have, bound[i].want) != 0)
			fail_msg("%s%s\n  is    %s\n  not   %s", bound[i].model, bound[i].file,
				 have, bound[i].want);
	}
}

/* Values that the model does not have are named, twelve at most. */
static void
test_unused(void **state)
{
	static const char *const want[] = {
		"names 2 unknown values: 'n1', 'n2'",
		"names 12 unknown values: 'n1', 'n2', 'n3', 'n4', 'n5', 'n6', "
		"'n7', 'n8', 'n9', 'n10', 'n11', 'n12'",
		"names 13 unknown values: 'n1', 'n2', 'n3', 'n4', 'n5', 'n6', "
		"'n7', 'n8', 'n9', 'n10', 'n11', 'n12', …"};
	static const int count[] = {2, 12, 13};

	for (size_t k = 0; k < QN_COUNT(count); k++) {
		qn_buf b;

		rig_teardown(state);
		rig_setup(state);
		qn_buf_init(&b, &rg->arena);
		qn_buf_puts(&b, "{'activation_encodings': {'x': [" PAIR("0.5", "0") "]");
		for (int i = 1; i <= count[k]; i++)
			qn_buff(&b, ", 'n%d': [" PAIR("0.5", "0") "]", i);
		qn_buf_puts(&b, "}}");
		assert_string_equal(bound_to(I8, qn_buf_str(&b)), "0.5:-128 encodings.unused");
		assert_string_equal(rg->diags.item[0].message, want[k]);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_bind, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_unused, rig_setup, rig_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
