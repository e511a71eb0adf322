/* SPDX-License-Identifier: Apache-2.0 */
/* test_pin.c - fixed inputs: values of every type, models of every format, and what is refused. */
#define _POSIX_C_SOURCE 200809L /* mkdtemp */

#include "tests/unit/onnx_rig.h"

#include <stdio.h>
#include <unistd.h>

#include "quern/quern.h"
#include "tests/unit/tflite_writer.h"

static qn_pin pins[4];

static void
pin_text(const char *name, const char *text)
{
	how.pin = pins;
	pins[how.npin++] = (qn_pin){.name = name, .text = text};
}

static void
pin_array(const char *name, const char *t, const double *v)
{
	how.pin = pins;
	pins[how.npin++] = (qn_pin){.name = name, .value = tensor(type(t), v)};
}

/* ---- values ---- */

/* The elements that a text or an array becomes under a type. */
static void
becomes(const char *of, qn_pin pin, int64_t n, const double *want)
{
	pin.name = "p";
	const qn_tensor *x = qn_pin_tensor(&rg->m.types, &rg->arena, "f", &pin, type(of));

	no_errors();
	assert_non_null(x);
	assert_int_equal(qn_type_count(x->type), n);
	for (int64_t i = 0; i < n; i++)
		assert_true(qn_tensor_f64(x, i) == want[i]);
}

#define BECOMES(of, pin, ...)                                                                      \
	becomes(of, pin, (int64_t)(sizeof(V(__VA_ARGS__)) / sizeof(double)), V(__VA_ARGS__))
#define TEXT(s) ((qn_pin){.text = s})
#define ARRAY(t, ...) ((qn_pin){.value = tensor(type(t), V(__VA_ARGS__))})

static void
test_values(void **state)
{
	(void)state;
	BECOMES("tensor<1xi64>", TEXT("16000"), 16000);
	BECOMES("tensor<i64>", TEXT("-3"), -3);
	BECOMES("tensor<i64>", TEXT("-9223372036854775808"), -0x1p63);
	BECOMES("tensor<2x2xf32>", TEXT("0.5"), 0.5, 0.5, 0.5, 0.5);
	BECOMES("tensor<1x3xf32>", TEXT("0.5,-1,1e3"), 0.5, -1, 1000);
	BECOMES("tensor<3xbool>", TEXT("true,false,1"), 1, 0, 1);
	BECOMES("tensor<2xu8>", TEXT("255,0"), 255, 0);
	BECOMES("tensor<2xf32>", ARRAY("tensor<2xf64>", 0.25, 4), 0.25, 4);
	BECOMES("tensor<1x2xf32>", ARRAY("tensor<1xf32>", 7), 7, 7);
	BECOMES("tensor<?x2xf32>", ARRAY("tensor<2x2xf32>", 1, 2, 3, 4), 1, 2, 3, 4);
	BECOMES("tensor<2xi64>", ARRAY("tensor<2xi32>", 5, -5), 5, -5);
	/* quantized values as they are, float values quantized */
	BECOMES("tensor<2x!quant.uniform<i8:f32, 0.5:3>>", TEXT("1"), 5, 5);
	BECOMES("tensor<2x!quant.uniform<i8:f32, 0.5:3>>", TEXT("62.2,-65.7"), 127, -128);
	BECOMES("tensor<2x!quant.uniform<i8:f32:0, {0.5,2.0}>>", TEXT("60,200"), 120, 100);
	BECOMES("tensor<2x!quant.uniform<i8:f32, 0.5:3>>", ARRAY("tensor<2xf32>", 1, -1), 5, 1);
	BECOMES("tensor<2x!quant.uniform<i8:f32, 0.5:3>>", ARRAY("tensor<2xi8>", 1, -1), 1, -1);
}

static void
not_taken(const char *of, qn_pin pin, const char *text)
{
	pin.name = "p";
	assert_null(qn_pin_tensor(&rg->m.types, &rg->arena, "f", &pin, type(of)));
	assert_int_equal(rg->diags.n, 1);
	assert_string_equal(rg->diags.item[0].id, "import.value");
	assert_int_equal(rg->diags.item[0].status, QN_EUSAGE);
	if (strstr(rg->diags.item[0].message, text) == NULL)
		fail_msg("'%s' is not in: %s", text, rg->diags.item[0].message);
	qn_diags_clear(&rg->env, &rg->diags);
}

static void
test_refused(void **state)
{
	(void)state;
	not_taken("tensor<1xi64>", TEXT("1.5"), "element 0 is 1.5; integers");
	not_taken("tensor<1xi64>", TEXT("9223372036854775808"), "expected -9223372036854775808 to");
	not_taken("tensor<2xi8>", TEXT("1,128"), "element 1 is 128; expected -128 to 127");
	not_taken("tensor<1xbool>", TEXT("2"), "element 0 is 2; expected 0 to 1");
	not_taken("tensor<2xf32>", TEXT("1,x"), "element 1 is 'x'");
	not_taken("tensor<2xf32>", TEXT("1,"), "element 1 is ''");
	not_taken("tensor<1xf32>", TEXT("1e39"), "outside the range of f32");
	not_taken("tensor<4xf32>", TEXT("1,2"), "2 numbers; expected one for all 4");
	not_taken("tensor<4xf32>", ARRAY("tensor<2x2xf32>", 1, 2, 3, 4), "expected the shape");
	not_taken("tensor<2xf32>", ARRAY("tensor<2xi8>", 1, 2), "array of i8; float values");
	not_taken("tensor<1xi64>", ARRAY("tensor<1xf32>", 1), "integers are expected");
	not_taken("tensor<1xi8>", ARRAY("tensor<1xi32>", 300),
		  "element 0 is 300; expected -128 to 127");
	not_taken("tensor<1x!quant.uniform<i8:f32, 0.5>>", ARRAY("tensor<1xi32>", 3),
		  "quantized values of the storage type");
	not_taken("tensor<1x!quant.uniform<i8<-7:7>:f32, 0.5>>", ARRAY("tensor<1xi8>", 8),
		  "element 0 is 8; expected -7 to 7");
	not_taken("tensor<2x!quant.uniform<i8:f32, 0.5:3>>", TEXT("1,63"),
		  "element 1 is 63.0; expected -65.5 to 62.0");
	not_taken("tensor<1x!quant.uniform<i8:f32, 0.5>>", TEXT("nan"),
		  "element 0 is nan; expected -64.0 to");
	not_taken("tensor<2x!quant.uniform<i8:f32:0, {0.5,2.0}>>", TEXT("200,200"),
		  "element 0 is 200");
	not_taken("tensor<?xf32>", TEXT("1"), "a dimension is open");
}

/* ---- ONNX ---- */

/* A length that decides a shape: it is folded while reading. */
static void
test_onnx_shape(void **state)
{
	(void)state;
	onx_input(file, "x", ONX_FLOAT, "1,4");
	onx_input(file, "shape", ONX_INT64, "2");
	onx_node(file, "Reshape", "x,shape", "y");
	onx_output(file, "y");
	pin_text("shape", "2,2");
	import(13);
	assert_int_equal(rg->g->ninput, 1);
	output_is("tensor<2x2xf32>");
	GIVES(V(1, 2, 3, 4), 0, 1, 2, 3, 4);
}

/* Open dimensions are those of the array; an initializer that is an input too is replaced. */
static void
test_onnx_open(void **state)
{
	(void)state;
	onx_input(file, "x", ONX_FLOAT, "2");
	onx_input(file, "m", ONX_FLOAT, "N,?");
	onx_input(file, "w", ONX_FLOAT, "2");
	onx_floats(file, "w", "2", (const float[]){1, 1});
	onx_node(file, "Mul", "x,m", "z");
	onx_node(file, "Mul", "z,w", "y");
	onx_output(file, "y");
	pin_array("m", "tensor<2x2xf32>", V(1, 2, 3, 4));
	pin_text("w", "10");
	import(13);
	output_is("tensor<2x2xf32>");
	GIVES(V(1, 2), 0, 10, 40, 30, 80);
}

static void
test_onnx_refused(void **state)
{
	(void)state;
	onx_input(file, "x", ONX_FLOAT, "2");
	onx_input(file, "scale", ONX_FLOAT, "2");
	onx_node(file, "Mul", "x,scale", "y");
	onx_output(file, "y");
	pin_text("scal", "1");
	assert_int_equal(import_from(NULL, 13), QN_EUSAGE);
	assert_non_null(
		strstr(rg->diags.item[0].message, "did you mean 'scale'? inputs: 'x', 'scale'"));
	(void)rig_teardown(NULL);
	(void)rig_setup(NULL);
	how.npin = 0;
	pin_text("scale", "1,2,3");
	assert_int_equal(import_from(NULL, 13), QN_EUSAGE);
	assert_non_null(strstr(rg->diags.item[0].message, "3 numbers"));
	(void)rig_teardown(NULL);
	(void)rig_setup(NULL);
	how.npin = 0;
	pin_text("scale", "1");
	pin_text("scale", "2");
	assert_int_equal(import_from(NULL, 13), QN_EUSAGE);
	assert_non_null(strstr(rg->diags.item[0].message, "fixed twice"));
	(void)rig_teardown(NULL);
	(void)rig_setup(NULL);
	how.npin = 0;
	pin_text("no such", "1");
	pins[0].optional = true;
	import(13);
	assert_false(pins[0].used);
}

/* ---- TFLite ---- */

static void
test_tflite(void **state)
{
	(void)state;
	tfl_file *t = tfl_begin();
	int x = tfl_tensor(t, "x", TFL_FLOAT32, DIMS(1, 4), NULL, 0);
	int s = tfl_tensor(t, "s", TFL_INT32, DIMS(2), NULL, 0);
	int y = tfl_tensor(t, "y", TFL_FLOAT32, DIMS(2, 2), NULL, 0);
	size_t n;

	(void)tfl_op(t, QN_TFL_RESHAPE, INTS(x, s), INTS(y));
	const uint8_t *bytes = tfl_end(t, INTS(x, s), INTS(y), &n);
	void *copy = qn_arena_copy(&rg->arena, bytes, n);
	free(t);
	pin_array("s", "tensor<2xi64>", V(2, 2));
	assert_int_equal(qn_tflite_read(&rg->m, "f.tflite", copy, n, &how), QN_OK);
	no_errors();
	rg->g = qn_model_entry(&rg->m);
	assert_int_equal(rg->g->ninput, 1);
	GIVES(V(1, 2, 3, 4), 0, 1, 2, 3, 4);
}

/* ---- through the public interface, graphs of Quern's own ---- */

static const char *const graph = "model \"m\" stage %s\n"
				 "graph @main(%%x: tensor<1x2x%s>, %%k: tensor<1x2x%s>) {\n"
				 "  %%y = add %%x, %%k : tensor<1x2x%s>\n  return %%y\n}\n";

static void
through_api(const char *stage, const char *elem, const char *ending)
{
	char folder[] = "/tmp/quern-pin-XXXXXX", path[80], saved[80];
	qn_ctx *ctx = qn_open(NULL);
	qn_model *m;

	assert_non_null(mkdtemp(folder));
	(void)snprintf(path, sizeof path, "%s/m.qir", folder);
	(void)snprintf(saved, sizeof saved, "%s/m.%s", folder, ending);
	FILE *f = fopen(path, "w");
	fprintf(f, graph, stage, elem, elem, elem);
	(void)fclose(f);
	assert_int_equal(qn_load(ctx, path, &m), QN_OK);
	assert_int_equal(
		strcmp(ending, "json") == 0 ? qn_save(m, saved, 0) : qn_save_text(m, saved), QN_OK);
	qn_array *one;
	assert_int_equal(
		qn_array_new(ctx, "f32", 1, (const int64_t[]){1}, (const float[]){2}, &one), QN_OK);
	qn_input_value v[] = {{.name = "k", .array = one},
			      {.name = "none", .text = "1", .optional = 1}};
	assert_int_equal(qn_import(ctx, saved, &(qn_import_opts){.value = v, .nvalue = 2}, &m),
			 QN_OK);
	qn_array_free(one);
	assert_int_equal(qn_model_describe(m).inputs, 1);
	assert_string_equal(qn_model_input_name(m, 0), "x");
	assert_true(v[0].used && !v[1].used);
	v[0] = (qn_input_value){.name = "K", .text = "1"};
	assert_int_equal(qn_import(ctx, saved, &(qn_import_opts){.value = v, .nvalue = 1}, &m),
			 QN_EUSAGE);
	assert_string_equal(qn_diag_get(ctx, 0).id, "import.value");
	v[0] = (qn_input_value){.name = "k"};
	assert_int_equal(qn_import(ctx, saved, &(qn_import_opts){.value = v, .nvalue = 1}, &m),
			 QN_EUSAGE);
	qn_diag_clear(ctx);
	/* Without an input left the outputs are constants, which is said. */
	qn_input_value all[] = {{.name = "k", .text = "1"}, {.name = "x", .text = "2"}};
	assert_int_equal(qn_import(ctx, saved, &(qn_import_opts){.value = all, .nvalue = 1}, &m),
			 QN_OK);
	assert_int_equal(qn_diag_count(ctx), 0);
	assert_int_equal(qn_import(ctx, saved, &(qn_import_opts){.value = all, .nvalue = 2}, &m),
			 QN_OK);
	assert_int_equal(qn_diag_count(ctx), 1);
	assert_string_equal(qn_diag_get(ctx, 0).id, "import.fixed");
	assert_non_null(strstr(qn_diag_get(ctx, 0).message, "output 'y' is a constant"));
	qn_diag_clear(ctx);
	/* What only files of other tools have is refused. */
	const char *dim[] = {"x:0=1"};
	assert_int_equal(qn_import(ctx, saved, &(qn_import_opts){.dim = dim, .ndim = 1}, &m),
			 QN_EUSAGE);
	assert_string_equal(qn_diag_get(ctx, 0).id, "import.dim");
	assert_int_equal(qn_import(ctx, saved, &(qn_import_opts){.from_float = 1}, &m), QN_EUSAGE);
	assert_string_equal(qn_diag_get(ctx, 1).id, "import.from-float");
	qn_close(ctx);
	(void)remove(path);
	(void)remove(saved);
	(void)rmdir(folder);
}

static void
test_api(void **state)
{
	(void)state;
	through_api("float", "f32", "json");
	through_api("float", "f32", "qir");
	through_api("calibrated", "!quant.uniform<i8:f32, 0.5>", "json");
	through_api("integer", "!quant.uniform<i8:f32, 0.5>", "qir");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_values),    TEST(test_refused),      TEST(test_onnx_shape),
		TEST(test_onnx_open), TEST(test_onnx_refused), TEST(test_tflite),
		TEST(test_api),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
