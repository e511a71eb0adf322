/* SPDX-License-Identifier: Apache-2.0 */
/* test_tflite_custom.c - custom operators of TFLite that a composition defines, and their options: maps that the
 * package flatbuffers (25.9, JavaScript) wrote, cut off and with each byte changed. */
#include "tests/unit/tflite_rig.h"

#include <stdio.h>

#include "import/flexbuffer.h"

/* {alpha: 0.5, mode: "sum", pads: [1, 2]} */
static const char small[] = "616c706861006d6f6465000373756d00706164730001020318130a000400000001"
			    "000000030000000000003f200000001b0000000e14400f2601";
/* {big: 1e10, neg: -3, far: 123456789012, yes: true, none: null, list: [1, -70000, 0.25, "x"], reals: [0.1, 0.3],
 * third: 0.1, flags: [true, false]} */
static const char wide[] = "6269670066617200666c616773000201006c69737400017800000000"
			   "040000000100000090eefeff0000803e1500000004060e146e656700"
			   "6e6f6e65007265616c730000000000009a9999999999b93f33333333"
			   "3333d33f746869726400796573000963605d5533302c120d00000000"
			   "0d000000000000000100000000000000090000000000000000e40b54"
			   "02000000141a99be1c00000089000000000000008000000000000000"
			   "fdffffffffffffff000000000000000070000000000000009a999999"
			   "9999b93f01000000000000000707902a04004b0f68512701";
/* {a: {b: 1}} */
static const char nested[] = "6100620001030101010104010c0101010724022401";
static const char empty[] = "00000100002401";

typedef struct octets {
	uint8_t b[256];
	size_t n;
} octets;

static octets
of_hex(const char *text)
{
	octets x = {.n = strlen(text) / 2};

	for (size_t i = 0; i < x.n; i++) {
		unsigned v;

		assert_int_equal(sscanf(text + 2 * i, "%2x", &v), 1);
		x.b[i] = (uint8_t)v;
	}
	return x;
}

/* "alpha 0.5, mode sum, " or what is wrong. */
static const char *
read_map(const void *data, size_t n)
{
	qn_flex f = {.data = qn_arena_copy(&rg->arena, data, n), .n = n, .a = &rg->arena};
	qn_lib_attr *attr;
	const size_t found = qn_flex_attributes(&f, &attr);
	qn_buf b;

	qn_buf_init(&b, &rg->arena);
	if (f.why != NULL) {
		assert_int_equal(found, 0);
		qn_buff(&b, "%s: %s", f.key != NULL ? f.key : "", f.why);
	}
	for (size_t i = 0; i < found; i++) {
		qn_buff(&b, "%s ", attr[i].name);
		qn_item_print(&b, &attr[i].value);
		qn_buf_puts(&b, ", ");
	}
	return qn_buf_str(&b);
}

static const char *
read_hex(const char *text)
{
	const octets x = of_hex(text);

	return read_map(x.b, x.n);
}

static void
test_maps(void **state)
{
	(void)state;
	assert_string_equal(read_hex(small), "alpha 0.5, mode sum, pads [1, 2], ");
	assert_string_equal(read_hex(wide), "big 10000000000, far 123456789012, flags [1, 0], "
					    "list [1, -70000, 0.25, x], neg -3, "
					    "reals [0.1, 0.3], third 0.1, yes 1, ");
	assert_string_equal(read_hex(empty), "");
	assert_string_equal(read_hex(""), "");
	assert_string_equal(read_hex(nested), "a: is neither a number, a text nor a list of such");
	assert_non_null(strstr(read_hex("070401"), "not a map"));
}

/* Whatever the bytes are, nothing outside of them is read, and what is read stays small. */
static void
test_hostile(void **state)
{
	static const char *const files[] = {small, wide, nested, empty};

	(void)state;
	for (size_t k = 0; k < QN_COUNT(files); k++) {
		octets x = of_hex(files[k]);

		for (size_t n = 1; n < x.n; n++)
			(void)read_map(x.b + x.n - n, n);
		for (size_t i = 0; i < x.n; i++)
			for (int bit = 0; bit < 8; bit++) {
				x.b[i] ^= (uint8_t)(1 << bit);
				assert_true(strlen(read_map(x.b, x.n)) < 4096);
				x.b[i] ^= (uint8_t)(1 << bit);
			}
	}
}

/* ---- operators ---- */

static const char swoosh[] =
	"graph @swoosh(%x, %shift?) {alpha: real = 4.0, mode: \"sum\" | \"product\" = "
	"\"product\", pads: ints = []} tflite \"Swoosh\" {\n"
	"  %y = has %shift ? %x - %shift : %x\n"
	"  require len(pads) != 1, import.attr, \"{len(pads)} pads\"\n"
	"  return mode == \"sum\" ? %y + alpha : %y * alpha\n"
	"}\n";

static void
define(const char *text)
{
	if (qn_lib_add(&rg->env, &rg->arena, "acme.qir", text, strlen(text)) != QN_OK)
		fail_msg("%s: %s", rg->diags.item[0].place, rg->diags.item[0].message);
}

static tfl_op_of *
custom(int nin, const int32_t *in, int nout, const int32_t *out)
{
	file->custom = "Swoosh";
	return tfl_op(file, QN_TFL_CUSTOM, nin, in, nout, out);
}

static void
test_floats(void **state)
{
	(void)state;
	define(swoosh);
	int x = tfl_tensor(file, "x", TFL_FLOAT32, DIMS(2), NULL, 0);
	int y = tfl_tensor(file, "y", TFL_FLOAT32, DIMS(2), NULL, 0);
	(void)custom(INTS(x), INTS(y));
	import(INTS(x), INTS(y));
	near(V(4, -8), run1(V(1, -2)), 2, 0);
}

static void
test_options(void **state)
{
	const octets options = of_hex(small);
	const float shift[] = {1, 10};

	(void)state;
	define(swoosh);
	int x = tfl_tensor(file, "x", TFL_FLOAT32, DIMS(2), NULL, 0);
	int y = tfl_tensor(file, "y", TFL_FLOAT32, DIMS(2), NULL, 0);
	const int s = tfl_tensor(file, "s", TFL_FLOAT32, DIMS(2), shift, sizeof shift);
	tfl_op_of *o = custom(INTS(x, s), INTS(y));
	o->custom = options.b;
	o->ncustom = options.n;
	import(INTS(x), INTS(y));
	near(V(0.5, -11.5), run1(V(1, -2)), 2, 0);
}

/* Options in a form of the operator's own are not read by a composition without attributes. */
static void
test_struct_options(void **state)
{
	static const uint8_t options[12] = {1, 0, 0, 0, 2, 0, 0, 0, 0xff, 0xff, 7, 4};

	(void)state;
	define("graph @swoosh(%x) { } tflite \"Swoosh\" { return %x + 1.0 }\n");
	int x = tfl_tensor(file, "x", TFL_FLOAT32, DIMS(2), NULL, 0);
	int y = tfl_tensor(file, "y", TFL_FLOAT32, DIMS(2), NULL, 0);
	tfl_op_of *o = custom(INTS(x), INTS(y));
	o->custom = options;
	o->ncustom = sizeof options;
	import(INTS(x), INTS(y));
	near(V(2, -1), run1(V(1, -2)), 2, 0);
}

/* Quantized values are dequantized for it, and its result is quantized as the file says. */
static void
test_quantized(void **state)
{
	(void)state;
	define(swoosh);
	const int x = tfl_codes(file, "x", TFL_INT8, DIMS(2), 0.5F, 1, NULL, 0);
	const int y = tfl_codes(file, "y", TFL_INT8, DIMS(2), 0.25F, -3, NULL, 0);
	(void)custom(INTS(x), INTS(y));
	import(INTS(x), INTS(y));
	/* codes 3 and 0: 1 and -0.5, times 4: 4 and -2 */
	near(V(13, -11), run1(V(3, 0)), 2, 0);
}

/* MediaPipe's transposed convolution of 2x2 windows, whose options are a struct; the result has `columns` columns. */
static tfl_op_of *
transpose_bias(int32_t columns, const uint8_t *options, size_t n, int32_t at[2])
{
	static const float weights[] = {1, 2, 3, 4}, bias[] = {0.5F};

	tflite_teardown(NULL);
	tflite_setup(NULL);
	at[0] = tfl_tensor(file, "x", TFL_FLOAT32, DIMS(1, 1, 2, 1), NULL, 0);
	const int w = tfl_tensor(file, "w", TFL_FLOAT32, DIMS(1, 2, 2, 1), weights, sizeof weights);
	const int b = tfl_tensor(file, "b", TFL_FLOAT32, DIMS(1), bias, sizeof bias);
	at[1] = tfl_tensor(file, "y", TFL_FLOAT32, DIMS(1, 2, columns, 1), NULL, 0);
	tfl_op_of *o = custom(INTS(at[0], w, b), INTS(at[1]));
	file->custom = "Convolution2DTransposeBias";
	o->custom = options;
	o->ncustom = n;
	return o;
}

/* Each element of the data becomes four of the result: strides 2 and 2, SAME; 3 along the width, VALID. */
static void
test_transpose_bias(void **state)
{
	static const uint8_t same[12] = {1, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0},
			     valid[12] = {2, 0, 0, 0, 3, 0, 0, 0, 2, 0, 0, 0},
			     none[12] = {1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0};
	int32_t at[2];

	(void)state;
	(void)transpose_bias(4, same, sizeof same, at);
	import(1, &at[0], 1, &at[1]);
	near(V(10.5, 20.5, -0.5, -1.5, 30.5, 40.5, -2.5, -3.5), run1(V(10, -1)), 8, 0);
	(void)transpose_bias(5, valid, sizeof valid, at);
	import(1, &at[0], 1, &at[1]);
	near(V(10.5, 20.5, 0.5, -0.5, -1.5, 30.5, 40.5, 0.5, -2.5, -3.5), run1(V(10, -1)), 10, 0);
	tfl_op_of *o = transpose_bias(4, none, sizeof none, at);
	import_fails(1, &at[0], 1, &at[1], "import.attr", "strides 2 and 0");
	o->ncustom = 8;
	import_fails(1, &at[0], 1, &at[1], "import.attr", "custom options of 8 bytes");
}

static void
test_refused(void **state)
{
	const octets options = of_hex(nested);

	(void)state;
	define("graph @swoosh(%x) tflite \"Swoosh\" { return none }\n");
	const int x = tfl_tensor(file, "x", TFL_FLOAT32, DIMS(2), NULL, 0);
	const int y = tfl_tensor(file, "y", TFL_FLOAT32, DIMS(2), NULL, 0);
	tfl_op_of *o = custom(INTS(x), INTS(y));
	import_fails(INTS(x), INTS(y), "import.input", "@swoosh has no result 0");
	o->custom = options.b;
	o->ncustom = options.n;
	import_fails(INTS(x), INTS(y), "import.attr", "option 'a' is neither");
	file->custom = "Other";
	import_fails(INTS(x), INTS(y), "import.op", "Other is not supported");
}

int
main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, tflite_setup, tflite_teardown)
	const struct CMUnitTest tests[] = {
		T(test_maps),           T(test_hostile),   T(test_floats),         T(test_options),
		T(test_struct_options), T(test_quantized), T(test_transpose_bias), T(test_refused)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
