/* SPDX-License-Identifier: Apache-2.0 */
/* test_onnx_control.c - loops of ONNX whose steps differ, which are taken apart while reading, and the limits of that;
 * test_onnx_loop.c has the others. */
#include "tests/unit/onnx_control_rig.h"

/* A body of s: s + x, and s * step for each step.  again: the name of the condition. */
static void
add_body(const char *again)
{
	onx_input(body, "i", ONX_INT64, "");
	onx_input(body, "c", ONX_BOOL, "");
	onx_input(body, "s", ONX_FLOAT, "2");
	onx_node(body, "Add", "s,x", "s2");
	onx_int(body, "to", ONX_FLOAT);
	onx_node(body, "Cast", "i", "f");
	onx_node(body, "Mul", "s2,f", "z");
	onx_output(body, again);
	onx_output(body, "s2");
	onx_output(body, "z");
}

static void
test_loop(void **state)
{
	(void)state;
	onx_input(file, "x", ONX_FLOAT, "2");
	number(file, "m", 3);
	add_body("c");
	onx_body(file, "body", body);
	onx_node(file, "Loop", "m,,x", "y,z");
	onx_output(file, "z");
	import(13);
	output_is("tensor<3x2xf32>");
	GIVES(V(1, 10), 0, 0, 0, 3, 30, 8, 80);
}

/* While the number of the step is below 2, which it is twice: the third step is the last. */
static void
test_while(void **state)
{
	static const uint8_t yes = 1;

	(void)state;
	onx_input(file, "x", ONX_FLOAT, "2");
	onx_tensor(file, "t", ONX_BOOL, "", &yes, 1);
	number(body, "two", 2);
	add_body("more");
	onx_node(body, "Less", "i,two", "more");
	onx_body(file, "body", body);
	onx_node(file, "Loop", ",t,x", "y,z");
	onx_output(file, "y");
	import(13);
	GIVES(V(1, 10), 0, 4, 40);
}

/* What the body cannot do is said once, not at each step. */
static void
test_said_once(void **state)
{
	(void)state;
	onx_input(file, "x", ONX_FLOAT, "2");
	number(file, "m", 3);
	add_body("c");
	onx_node(body, "Strange", "s2", "unused");
	onx_body(file, "body", body);
	onx_node(file, "Loop", "m,,x", "y,z");
	onx_output(file, "y");
	assert_int_not_equal(import_from(NULL, 13), QN_OK);
	assert_int_equal(rg->diags.nerrors, 1);
	qn_diags_clear(&rg->env, &rg->diags);
}

/* No step: what goes round stays, what each step would give has no shape. */
static void
test_no_step(void **state)
{
	static const uint8_t no = 0;

	(void)state;
	for (int both = 0; both < 2; both++) {
		another_file();
		onx_begin(body);
		onx_input(file, "x", ONX_FLOAT, "2");
		onx_tensor(file, "t", ONX_BOOL, "", &no, 1);
		add_body("c");
		onx_body(file, "body", body);
		onx_node(file, "Loop", ",t,x", both ? "y,z" : "y");
		onx_output(file, both ? "z" : "y");
		if (both) {
			import_fails(13, "import.dim", "no step");
			continue;
		}
		import(13);
		GIVES(V(1, 10), 0, 1, 10);
	}
}

static void
test_loop_refused(void **state)
{
	static const struct {
		const char *in, *id, *text;
		int64_t steps;
	} rows[] = {{"m,,x", "import.size", "more than 4096 steps", 4097},
		    {"n,,x", "import.constant", "must be a constant", 0},
		    {",b,x", "import.constant", "must be known before a run", 0},
		    {"m,,x,x", "import.attr", "do not match those of the node", 1}};

	(void)state;
	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		another_file();
		onx_begin(body);
		onx_input(file, "x", ONX_FLOAT, "2");
		onx_input(file, "n", ONX_INT64, "");
		onx_input(file, "b", ONX_BOOL, "");
		number(file, "m", rows[i].steps);
		add_body("c");
		onx_body(file, "body", body);
		onx_node(file, "Loop", rows[i].in, "y,z");
		onx_output(file, "y");
		import_fails(13, rows[i].id, rows[i].text);
	}
}

/* The message names the way to allow more, which then suffices. */
static void
test_limit_raised(void **state)
{
	(void)state;
	for (uint64_t times = 0; times < 3; times++) {
		another_file();
		onx_begin(body);
		onx_input(file, "x", ONX_FLOAT, "2");
		number(file, "m", 5000);
		add_body("c");
		onx_body(file, "body", body);
		onx_node(file, "Loop", "m,,x", "y,z");
		onx_output(file, "y");
		how.times = times;
		if (times == 2) {
			import(13);
			GIVES(V(1, 10), 0, 5001, 50010);
		} else {
			import_fails(13, "import.size", "--import-limit 2 (qn_import_opts.limit)");
		}
	}
}

/* A table out of proportion to the file. */
static void
test_room_raised(void **state)
{
	(void)state;
	for (uint64_t times = 1; times < 4; times += 2) {
		another_file();
		onx_ints64(file, "n", "1", (const int64_t[]){10000000}); /* 40 MB */
		onx_node(file, "ConstantOfShape", "n", "y");
		onx_output(file, "y");
		how.times = times;
		if (times == 3)
			import(13);
		else
			import_fails(13, "import.size", "--import-limit 2");
	}
}

/* 64 steps of 64 are 4160 with those around. */
static void
test_nested(void **state)
{
	static onx inner;

	(void)state;
	for (int64_t m = 3; m <= 64; m += 61) {
		another_file();
		onx_begin(body);
		onx_begin(&inner);
		onx_input(&inner, "j", ONX_INT64, "");
		onx_input(&inner, "d", ONX_BOOL, "");
		onx_input(&inner, "r", ONX_FLOAT, "2");
		onx_node(&inner, "Add", "r,s", "r1"); /* s: of the body around */
		onx_int(&inner, "to", ONX_FLOAT);
		onx_node(&inner, "Cast", "j", "f");
		onx_node(&inner, "Mul", "zero,f", "e");
		onx_node(&inner, "Add", "r1,e", "r2"); /* the steps differ */
		onx_output(&inner, "d");
		onx_output(&inner, "r2");
		onx_input(body, "i", ONX_INT64, "");
		onx_input(body, "c", ONX_BOOL, "");
		onx_input(body, "s", ONX_FLOAT, "2");
		onx_body(body, "body", &inner);
		onx_node(body, "Loop", m == 3 ? "i,,s" : "m,,s", "s1");
		onx_int(body, "to", ONX_FLOAT);
		onx_node(body, "Cast", "i", "g");
		onx_node(body, "Mul", "zero,g", "h");
		onx_node(body, "Add", "s1,h", "s2");
		onx_output(body, "c");
		onx_output(body, "s2");
		onx_input(file, "x", ONX_FLOAT, "2");
		onx_floats(file, "zero", "", (const float[]){0});
		number(file, "m", m);
		onx_body(file, "body", body);
		onx_node(file, "Loop", "m,,x", "y");
		onx_output(file, "y");
		if (m == 3) { /* times 1, 2 and 3 */
			import(13);
			GIVES(V(1, 10), 0, 6, 60);
		} else {
			import_fails(13, "import.size", "more than 4096 steps");
		}
	}
}

/* Sums from the last column to the first, each column of the result one of them. */
static void
test_scan(void **state)
{
	(void)state;
	onx_input(body, "a", ONX_FLOAT, "2");
	onx_input(body, "b", ONX_FLOAT, "2");
	onx_node(body, "Add", "a,b", "a2");
	onx_node(body, "Neg", "a2", "z");
	onx_output(body, "a2");
	onx_output(body, "z");
	onx_input(file, "x", ONX_FLOAT, "2,3");
	onx_floats(file, "zero", "2", (const float[]){0, 0});
	onx_body(file, "body", body);
	onx_int(file, "num_scan_inputs", 1);
	onx_list(file, "scan_input_axes", 1, (const int64_t[]){-1});
	onx_list(file, "scan_input_directions", 1, (const int64_t[]){1});
	onx_list(file, "scan_output_axes", 1, (const int64_t[]){1});
	onx_list(file, "scan_output_directions", 1, (const int64_t[]){1});
	onx_node(file, "Scan", "zero,x", "y,z");
	onx_output(file, "z");
	import(13);
	output_is("tensor<2x3xf32>");
	GIVES(V(1, 2, 3, 4, 5, 6), 0, -6, -5, -3, -15, -11, -6);
}

/* Quantized values in a body alone: 0.34 is 3 steps of 0.125, and 40 more than i8 holds; a file of floats would keep them. */
static void
test_quantized_body(void **state)
{
	(void)state;
	onx_input(file, "x", ONX_FLOAT, "2");
	number(file, "m", 2);
	onx_floats(file, "zero", "2", (const float[]){0, 0});
	onx_floats(file, "scale", "", &(const float){0.125f});
	onx_tensor(file, "zp", ONX_INT8, "", &(const int8_t){0}, 1);
	onx_input(body, "i", ONX_INT64, "");
	onx_input(body, "c", ONX_BOOL, "");
	onx_input(body, "s", ONX_FLOAT, "2");
	onx_node(body, "QuantizeLinear", "x,scale,zp", "q");
	onx_node(body, "DequantizeLinear", "q,scale,zp", "r");
	onx_node(body, "Add", "s,r", "s2");
	onx_output(body, "c");
	onx_output(body, "s2");
	onx_body(file, "body", body);
	onx_node(file, "Loop", "m,,zero", "y");
	onx_output(file, "y");
	import(13);
	GIVES(V(0.34, 40), 0, 0.75, 31.75);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CONTROL(test_loop),         CONTROL(test_while),
		CONTROL(test_said_once),    CONTROL(test_no_step),
		CONTROL(test_loop_refused), CONTROL(test_limit_raised),
		CONTROL(test_room_raised),  CONTROL(test_nested),
		CONTROL(test_scan),         CONTROL(test_quantized_body),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
