/* SPDX-License-Identifier: Apache-2.0 */
/* test_e2e_support.c - makes each cell of the table of supported operators true by running it, and
 * each empty one by the refusal that it stands for.
 *
 *   float      the graph of one such node runs on f32 values
 *   int8       it compiles to integers and runs on codes
 *   uint8      … with activations of u8
 *   int16      … with activations of i16
 *   emitted    … and the C that is written for it, built by a compiler, gives the same bytes
 *
 * The graph of an operator is "%y = OP %x" of a matrix, or stands below where it has more operands, a
 * smaller domain, or attributes that must be given. */
#define _POSIX_C_SOURCE 200809L /* mkdtemp */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "quern/graph.h"
#include "quern/measure.h"

typedef struct example {
	const char *op, *stage;
	const char *
		input; /* type of %x; %z is a second input of the same type where the body has it */
	const char *body;
} example;

#define IMAGE "tensor<1x5x6x4xf32>"
#define MATRIX "tensor<1x3x8xf32>"
/* The running maximum over axis 1. */
#define LOOP_BODY                                                                                  \
	"  %f = slice %x {begin=[0,0,0], end=[1,1,8]}\n"                                           \
	"  %h0 = squeeze %f {axes=[1]}\n"                                                          \
	"  %i = loop {count=3}\n"                                                                  \
	"  %s = loop_slice %x, %i {axis=1}\n"                                                      \
	"  %h = loop_carry %h0, %i\n"                                                              \
	"  %n = maximum %s, %h\n"                                                                  \
	"  %e = loop_end %i, %n\n"
#define LOOP(op, value)                                                                            \
	{                                                                                          \
		op, "float", MATRIX,                                                               \
			LOOP_BODY "  %y = loop_stack " value ", %e {axis=1, length=3}\n"           \
	}
#define CODES "tensor<1x4x!quant.uniform<i8:f32, 0.05:10>>"
#define VECTOR(name, from) "  " name " = const : tensor<4xf32> rand " from "\n"
#define BINARY(op)                                                                                 \
	{                                                                                          \
		op, "float", MATRIX, "  %y = " op " %x, %z\n"                                      \
	}
#define COMPARE(op)                                                                                \
	{                                                                                          \
		op, "float", MATRIX, "  %c = " op " %x, %z\n  %y = where %c, %x, %z\n"             \
	}
#define LOGICAL(op)                                                                                \
	{                                                                                          \
		op, "float", MATRIX,                                                               \
			"  %c = less %x, %z\n  %d = greater %x, %z\n  %e = " op                    \
			" %c, %d\n  %y = where %e, %x, %z\n"                                       \
	}
#define BITWISE(op)                                                                                \
	{                                                                                          \
		op, "float", MATRIX,                                                               \
			"  %i = cast %x : tensor<1x3x8xi32>\n  %j = cast %z : tensor<1x3x8xi32>\n" \
			"  %y = " op " %i, %j\n"                                                   \
	}

/* On integers, which quantized values are read as. */
#define INTEGERS(op, use)                                                                          \
	{                                                                                          \
		op, "integer", CODES,                                                              \
			"  %s = scast %x : tensor<1x4xi8>\n  %c = cast %s : tensor<1x4xi32>\n"     \
			"  %d = " op " " use "\n  %e = cast %d : tensor<1x4xi8>\n"                 \
			"  %y = scast %e : " CODES "\n"                                            \
	}

/* clang-format off */
static const example examples[] = {
	{"quantize", "calibrated", "tensor<1x4xf32>", "  %y = quantize %x : " CODES "\n"},
	{"dequantize", "calibrated", CODES, "  %y = dequantize %x\n"},
	{"requantize", "integer", CODES, "  %y = requantize %x : tensor<1x4x!quant.uniform<i8:f32, 0.04>>\n"},
	{"scast", "integer", CODES, "  %s = scast %x : tensor<1x4xi8>\n  %y = scast %s : " CODES "\n"},
	{"table", "integer", CODES, "  %t = const : tensor<256x!quant.uniform<i8:f32, 0.04>> rand 3\n  %y = table %x, %t : tensor<1x4x!quant.uniform<i8:f32, 0.04>>\n"},
	{"clamp", "integer", CODES, "  %y = clamp %x {lo=-20, hi=30}\n"},
	{"conv2d", "float", IMAGE, "  %w = const : tensor<3x3x2x4xf32> rand 1\n  %y = conv2d %x, %w {padding=same}\n"},
	{"conv1d", "float", MATRIX, "  %w = const : tensor<3x2x8xf32> rand 1\n  %y = conv1d %x, %w {pad=[1,0]}\n"},
	{"conv2d_transpose", "float", IMAGE, "  %w = const : tensor<3x3x2x4xf32> rand 1\n  %y = conv2d_transpose %x, %w {stride=[2,2]}\n"},
	{"dense", "float", "tensor<1x8xf32>", "  %w = const : tensor<5x8xf32> rand 1\n  %y = dense %x, %w\n"},
	{"matmul", "float", MATRIX, "  %y = matmul %x, %z {transpose_b=1}\n"},
	{"bias_add", "float", IMAGE, VECTOR("%b", "2") "  %y = bias_add %x, %b\n"},
	{"batch_norm", "float", IMAGE, VECTOR("%s", "3") VECTOR("%b", "4") VECTOR("%m", "5")
		"  %v = const : tensor<4xf32> splat 0.5\n  %y = batch_norm %x, %s, %b, %m, %v\n"},
	BINARY("add"), BINARY("mul"), BINARY("sub"), BINARY("minimum"), BINARY("maximum"),
	{"div", "float", MATRIX, "  %c = const : tensor<1xf32> splat 3.0\n  %d = add %z, %c\n  %y = div %x, %d\n"},
	COMPARE("equal"), COMPARE("not_equal"), COMPARE("less"), COMPARE("less_equal"), COMPARE("greater"),
	COMPARE("greater_equal"),
	BINARY("squared_difference"), BINARY("mod"), BINARY("floor_div"),
	LOGICAL("logical_and"), LOGICAL("logical_or"), LOGICAL("logical_xor"),
	{"logical_not", "float", MATRIX, "  %c = less %x, %z\n  %d = logical_not %c\n  %y = where %d, %x, %z\n"},
	BITWISE("bitwise_and"), BITWISE("bitwise_or"), BITWISE("bitwise_xor"), BITWISE("shift_left"), BITWISE("shift_right"),
	INTEGERS("rounding_divide_by_pot", "%c {exponent=1}"), INTEGERS("saturating_add", "%c, %c {clamp_min=-20, clamp_max=20}"),
	INTEGERS("fixed_multiply", "%c {multiplier=1200000000, shift=-1}"),
	{"integer_dense", "integer", CODES, "  %s = scast %x : tensor<1x4xi8>\n  %c = cast %s : tensor<1x4xi32>\n  %w = const : tensor<4x4xi32> splat 1\n"
		"  %d = integer_dense %c, %w\n  %e = cast %d : tensor<1x4xi8>\n  %y = scast %e : " CODES "\n"},
	{"dynamic_fake_quant", "calibrated", "tensor<1x4xf32>", "  %y = dynamic_fake_quant %x\n"},
	{"dynamic_quantize", "integer", CODES, "  %d = dynamic_quantize %x {rows=1}\n  %v = get %d {index=0}\n  %m = get %d {index=1}\n"
		"  %e = get %d {index=2}\n  %y = dynamic_rescale %v, %m, %e : " CODES "\n"},
	{"dynamic_values", "integer", CODES, "  %v = dynamic_values %x\n  %m = dynamic_mantissa %x\n  %e = const : tensor<1xi32> [0]\n"
		"  %y = dynamic_rescale %v, %m, %e : " CODES "\n"},
	{"dynamic_mantissa", "integer", CODES, "  %v = dynamic_values %x\n  %m = dynamic_mantissa %x\n  %e = const : tensor<1xi32> [0]\n"
		"  %y = dynamic_rescale %v, %m, %e : " CODES "\n"},
	{"dynamic_rescale", "integer", CODES, "  %d = dynamic_quantize %x {asymmetric=1}\n  %v = get %d {index=0}\n  %m = get %d {index=1}\n"
		"  %e = get %d {index=2}\n  %y = dynamic_rescale %v, %m, %e {lo=-50} : " CODES "\n"},
	{"trace", "float", MATRIX, "  %y = trace %x {key=\"x\"}\n"},
	{"stats_ref", "float", MATRIX, "  %y = stats_ref %x {key=\"x\"}\n"},
	{"stats", "float", MATRIX, "  %y = stats %x {layer=[-1.0,1.0]}\n"},
	{"coupled_ref", "float", MATRIX, "  %y = coupled_ref %x {key=\"x\"}\n"},
	{"const_fake_quant", "float", MATRIX, "  %y = const_fake_quant %x {min=-1.0, max=1.0}\n"},
	{"bitwise_not", "float", MATRIX, "  %i = cast %x : tensor<1x3x8xi32>\n  %y = bitwise_not %i\n"},
	{"where", "float", MATRIX, "  %c = less %x, %z\n  %y = where %c, %x, %z\n"},
	{"cast", "float", MATRIX, "  %c = less %x, %z\n  %y = cast %c : " MATRIX "\n"},
	{"clip", "float", MATRIX, "  %y = clip %x {min=-0.5, max=0.75}\n"},
	{"max_pool", "float", IMAGE, "  %y = max_pool %x {kernel=[2,3], stride=[2,2], padding=same}\n"},
	{"avg_pool", "float", IMAGE, "  %y = avg_pool %x {kernel=[2,3], stride=[2,2], padding=same}\n"},
	{"max_pool3d", "float", "tensor<1x3x4x3x2xf32>", "  %y = max_pool3d %x {kernel=[2,3,1], stride=[2,2,1], padding=same}\n"},
	{"avg_pool3d", "float", "tensor<1x3x4x3x2xf32>", "  %y = avg_pool3d %x {kernel=[2,3,1], pad=[1,0,0,0,0,0], count_include_pad=1}\n"},
	{"conv3d", "float", "tensor<1x3x4x3x2xf32>", "  %w = const : tensor<3x2x3x1x2xf32> rand 1\n  %y = conv3d %x, %w {padding=same}\n"},
	{"global_avg_pool", "float", IMAGE, "  %y = global_avg_pool %x\n"},
	{"asin", "float", MATRIX, "  %s = tanh %x\n  %y = asin %s\n"},
	{"acos", "float", MATRIX, "  %s = tanh %x\n  %y = acos %s\n"},
	{"atanh", "float", MATRIX, "  %s = sin %x\n  %t = mul %s, %z\n  %v = sin %t\n  %y = atanh %v\n"},
	{"acosh", "float", MATRIX, "  %s = cosh %x\n  %y = acosh %s\n"},
	{"log", "float", MATRIX, "  %s = sigmoid %x\n  %y = log %s\n"},
	{"sqrt", "float", MATRIX, "  %s = sigmoid %x\n  %y = sqrt %s\n"},
	{"rsqrt", "float", MATRIX, "  %s = sigmoid %x\n  %y = rsqrt %s\n"},
	{"pow", "float", MATRIX, "  %e = const : tensor<f32> [2.0]\n  %y = pow %x, %e\n"},
	{"prelu", "float", IMAGE, VECTOR("%s", "6") "  %y = prelu %x, %s\n"},
	{"reduce_mean", "float", IMAGE, "  %y = reduce_mean %x {axes=[1,2]}\n"},
	{"reduce_sum", "float", IMAGE, "  %y = reduce_sum %x {axes=[1,2]}\n"},
	{"reduce_max", "float", IMAGE, "  %y = reduce_max %x {axes=[1,2]}\n"},
	{"reduce_min", "float", IMAGE, "  %y = reduce_min %x {axes=[1,2]}\n"},
	{"reduce_prod", "float", IMAGE, "  %y = reduce_prod %x {axes=[1,2]}\n"},
	{"cumsum", "float", MATRIX, "  %y = cumsum %x {axis=1}\n"},
	{"rms_norm", "float", IMAGE, VECTOR("%s", "7") "  %y = rms_norm %x, %s\n"},
	{"log_mel", "float", "tensor<1x48xf32>", "  %y = log_mel %x {window=24, hop=11, channels=4}\n"},
	{"mfcc", "float", "tensor<1x48xf32>", "  %y = mfcc %x {window=24, hop=11, channels=4, coefficients=3}\n"},
	{"lrn", "float", IMAGE, "  %y = lrn %x {size=3}\n"},
	{"layer_norm", "float", IMAGE, VECTOR("%s", "7") VECTOR("%b", "8") "  %y = layer_norm %x, %s, %b\n"},
	{"instance_norm", "float", IMAGE, VECTOR("%s", "7") VECTOR("%b", "8") "  %y = instance_norm %x, %s, %b\n"},
	{"reshape", "float", MATRIX, "  %y = reshape %x {shape=[1,6,4]}\n"},
	{"transpose", "float", MATRIX, "  %y = transpose %x {perm=[0,2,1]}\n"},
	{"concat", "float", MATRIX, "  %y = concat %x, %z {axis=1}\n"},
	{"pad", "float", MATRIX, "  %y = pad %x {before=[0,1,2], after=[0,0,1], value=0.25}\n"},
	{"squeeze", "float", "tensor<1x1x8xf32>", "  %y = squeeze %x {axes=[1]}\n"},
	{"expand_dims", "float", MATRIX, "  %y = expand_dims %x {axes=[1]}\n"},
	{"expand_dims_like", "float", MATRIX, "  %y = expand_dims_like %x, %z {axes=[0,1,2]}\n"},
	{"slice", "float", MATRIX, "  %y = slice %x {begin=[0,0,7], end=[1,2,1], step=[1,1,-2]}\n"},
	{"expand", "float", "tensor<1x1x8xf32>", "  %y = expand %x {shape=[1,3,8]}\n"},
	{"tile", "float", MATRIX, "  %y = tile %x {repeats=[1,2,1]}\n"},
	{"depth_to_space", "float", IMAGE, "  %y = depth_to_space %x {block=2}\n"},
	{"space_to_depth", "float", "tensor<1x4x6x1xf32>", "  %y = space_to_depth %x {block=2}\n"},
	{"split", "float", MATRIX, "  %s = split %x {axis=2, sizes=[3,5]}\n  %y = get %s {index=1}\n"},
	{"gather", "float", MATRIX, "  %at = const : tensor<4xi32> [2, 0, -1, 1]\n  %y = gather %x, %at {axis=1}\n"},
	{"gather_elements", "float", MATRIX, "  %at = const : tensor<1x2x3xi64> [2, 0, -1, 1, 1, 0]\n  %y = gather_elements %x, %at {axis=1}\n"},
	LOOP("loop", "%n"),
	LOOP("loop_carry", "%n"),
	LOOP("loop_end", "%n"),
	LOOP("loop_slice", "%s"),
	LOOP("loop_stack", "%n"),
	{"loop_last", "float", MATRIX, LOOP_BODY "  %y = loop_last %n, %e\n"},
	{"gather_nd", "float", MATRIX, "  %at = const : tensor<1x2x2xi32> [0, 2, -1, 1]\n  %y = gather_nd %x, %at\n"},
	{"scatter_elements", "float", MATRIX, "  %at = const : tensor<1x3x8xi32> splat 1\n  %y = scatter_elements %x, %at, %z {axis=1, reduction=max}\n"},
	{"scatter_nd", "float", MATRIX, "  %at = const : tensor<1x2xi32> [0, 2]\n  %s = slice %z {begin=[0,1,0], end=[1,2,8]}\n  %u = squeeze %s {axes=[1]}\n"
		"  %y = scatter_nd %x, %at, %u\n"},
	{"one_hot", "float", "tensor<1x2xf32>", "  %i = argmax %x {axis=1}\n  %v = reshape %x {shape=[2]}\n  %y = one_hot %i, %v {depth=4}\n"},
	{"top_k", "float", MATRIX, "  %t = top_k %x {axis=1, k=2}\n  %y = get %t {index=0}\n"},
	{"top_k_indices", "float", MATRIX, "  %y = top_k_indices %x {k=3, largest=0}\n"},
	{"trilu", "float", MATRIX, "  %y = trilu %x {k=1}\n"},
	{"reverse", "float", MATRIX, "  %y = reverse %x {axes=[2,1]}\n"},
	{"resize_nearest", "float", IMAGE, "  %y = resize_nearest %x {size=[7,4]}\n"},
	{"resize_bilinear", "float", IMAGE, "  %y = resize_bilinear %x {size=[7,4]}\n"},
};
/* clang-format on */

enum { NEXAMPLE = sizeof examples / sizeof examples[0], SAMPLES = 6 };

static example
example_of(const char *op)
{
	static char body[100];

	for (size_t i = 0; i < NEXAMPLE; i++)
		if (strcmp(examples[i].op, op) == 0)
			return examples[i];
	(void)snprintf(body, sizeof body, "  %%y = %s %%x\n", op);
	return (example){op, "float", MATRIX, body};
}

/* Writes text with the codes of another storage: <i8:f32, 0.05:10> becomes <u8:f32, 0.05:10> or
 * <i16:f32, 0.05>. */
static void
put_text(FILE *f, const char *text, qn_activations codes)
{
	static const char *const name[] = {"i8", "u8", "i16"};

	while (*text != '\0') {
		if (strncmp(text, "i8", 2) == 0) {
			(void)fputs(name[codes], f);
			text += 2;
		} else if (codes == QN_ACTIVATIONS_I16 && strncmp(text, ":10>", 4) == 0) {
			text += 3;
		} else if (codes == QN_ACTIVATIONS_I16 && strncmp(text, "256x", 4) == 0) {
			(void)fputs("513", f); /* entries of a table */
			text += 3;
		} else {
			(void)fputc(*text++, f);
		}
	}
}

/* The example's model, through its text form. */
static qn_model *
load(qn_ctx *ctx, const example *e, qn_activations codes, const char *folder)
{
	const char *second = strstr(e->body, "%z") != NULL ? ", %z: " : "";
	char path[200];
	qn_model *m;

	(void)snprintf(path, sizeof path, "%s/one.qir", folder);
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	(void)fprintf(f, "model \"one\" stage %s\ngraph @main(%%x: ", e->stage);
	put_text(f, e->input, codes);
	(void)fprintf(f, "%s%s) {\n", second, second[0] != '\0' ? e->input : "");
	put_text(f, e->body, codes);
	(void)fprintf(f, "  return %%y\n}\n");
	assert_int_equal(fclose(f), 0);
	if (qn_load(ctx, path, &m) != QN_OK)
		fail_msg("%s: %s", e->op, qn_diag_get(ctx, 0).message);
	assert_int_equal(remove(path), 0);
	return m;
}

/* Samples for input k: reals in about [-1.5, 1.5]; integer inputs quantize them. */
static qn_array *
samples(qn_ctx *ctx, qn_model *m, size_t k)
{
	const qn_value_info in =
		qn_value(qn_model_main(m), qn_value_find(qn_model_main(m), k == 0 ? "x" : "z"));
	int64_t shape[8], n = 1;
	float data[SAMPLES * 256];
	qn_array *out;

	for (int i = 0; i < in.rank; i++) {
		shape[i] = i == 0 ? SAMPLES * in.shape[0] : in.shape[i];
		n *= shape[i];
	}
	assert_true(n <= (int64_t)(sizeof data / sizeof data[0]));
	uint32_t state = 12345u + (uint32_t)k;
	for (int64_t i = 0; i < n; i++) {
		state = state * 1664525u + 1013904223u;
		data[i] = 3.0f * (float)(state >> 8) / 16777216.0f - 1.5f;
	}
	assert_int_equal(qn_array_new(ctx, "f32", in.rank, shape, data, &out), QN_OK);
	return out;
}

typedef struct outcome {
	bool real, codes, emitted;
} outcome;

/* Builds the files in folder and runs their self-test. */
static bool
builds_and_agrees(const char *folder)
{
	char command[1000];

	(void)snprintf(
		command, sizeof command,
		"cd %s && cc -std=c99 -O0 -w -DONE_SELFTEST_MAIN -DONE_TRACE -o t *.c && ./t > log",
		folder);
	return system(command) == 0;
}

static outcome
try_all(const example *e, qn_activations codes, const char *folder)
{
	outcome got = {false, false, false};
	qn_ctx *ctx = qn_open(NULL);
	qn_model *m = load(ctx, e, codes, folder);
	size_t nin = qn_model_describe(m).inputs;
	qn_array *x[2], *y;
	const qn_emit_opts emit = {.test = x, .ntest = nin, .test_samples = SAMPLES};
	const qn_compile_opts opts = {
		.calib = x,
		.ncalib = nin,
		.activations = strcmp(e->stage, "integer") == 0 ? QN_ACTIVATIONS_I8 : codes};

	for (size_t k = 0; k < nin; k++)
		x[k] = samples(ctx, m, k);
	if (strcmp(e->stage, "integer") != 0)
		got.real = qn_run(m, nin, x, 0, 1, &y) == QN_OK;
	if (strcmp(e->stage, "calibrated") != 0) {
		got.codes = qn_compile(m, &opts) == QN_OK && qn_run(m, nin, x, 0, 1, &y) == QN_OK;
		got.emitted = got.codes && qn_emit(m, folder, &emit, NULL) == QN_OK;
		got.emitted = got.emitted && builds_and_agrees(folder);
	}
	qn_close(ctx);
	return got;
}

/* batch_norm has no integer form: it is folded into the operator before it or made a convolution;
 * const_fake_quant becomes a quantize and a dequantize, and notes for the solver are used up. */
static bool
is_rewritten(const char *op)
{
	static const char *const ops[] = {"batch_norm", "const_fake_quant", "stats_ref", "stats",
					  "coupled_ref"};

	for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++)
		if (strcmp(op, ops[i]) == 0)
			return true;
	return false;
}

static void
every_cell_is_true(void **state)
{
	char folder[] = "/tmp/quern-support-XXXXXX", command[100];
	size_t n = 0;

	(void)state;
	assert_non_null(mkdtemp(folder));
	for (qn_op_support s; (s = qn_supported_op(n)).name != NULL; n++) {
		const example one = example_of(s.name), *e = &one;
		const outcome got = try_all(e, QN_ACTIVATIONS_I8, folder);
		const outcome u8 = try_all(e, QN_ACTIVATIONS_U8, folder);
		const outcome i16 = try_all(e, QN_ACTIVATIONS_I16, folder);

		if (got.real != (s.float32 != 0))
			fail_msg("%s: float is claimed %d", s.name, s.float32);
		if (got.codes != (s.int8 != 0) && !is_rewritten(s.name))
			fail_msg("%s: int8 is claimed %d", s.name, s.int8);
		if (u8.codes != (s.uint8 != 0) && !is_rewritten(s.name))
			fail_msg("%s: uint8 is claimed %d", s.name, s.uint8);
		if (i16.codes != (s.int16 != 0) && !is_rewritten(s.name))
			fail_msg("%s: int16 is claimed %d", s.name, s.int16);
		if (s.emitted != 0 && !is_rewritten(s.name) &&
		    (u8.emitted != u8.codes || i16.emitted != i16.codes))
			fail_msg("%s: emitted is not what runs", s.name);
		if (got.emitted != (s.emitted != 0) && !is_rewritten(s.name))
			fail_msg("%s: emitted is claimed %d", s.name, s.emitted);
	}
	assert_true(n > 120);
	(void)snprintf(command, sizeof command, "rm -r %s", folder);
	assert_int_equal(system(command), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_cell_is_true),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
