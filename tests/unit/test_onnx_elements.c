/* SPDX-License-Identifier: Apache-2.0 */
/* test_onnx_elements.c - ONNX operators that choose elements by their places, that work on bits, and that tell
 * what kind of number an element is; with numbers computed by hand. */
#include "tests/unit/onnx_rig.h"

#include <math.h>

/* ---- bits ---- */

typedef struct bits_row {
	const char *op, *direction;
	int elem;
	double a[4], b[4], y[4];
} bits_row;

/* -6 is …11111010; 200 is 11001000, 100 is 01100100. */
static const bits_row bits[] = {
	{"BitwiseAnd", NULL, ONX_INT64, {12, -6, 255, 7}, {10, 3, -1, 8}, {8, 2, 255, 0}},
	{"BitwiseOr", NULL, ONX_INT64, {12, -6, 255, 7}, {10, 3, -1, 8}, {14, -5, -1, 15}},
	{"BitwiseXor", NULL, ONX_INT64, {12, -6, 255, 7}, {10, 3, -1, 8}, {6, -7, -256, 15}},
	{"BitwiseAnd", NULL, ONX_UINT8, {200, 255, 0, 1}, {100, 129, 9, 3}, {64, 129, 0, 1}},
	{"BitwiseOr", NULL, ONX_UINT8, {200, 255, 0, 1}, {100, 129, 9, 3}, {236, 255, 9, 3}},
	{"BitwiseXor", NULL, ONX_UINT8, {200, 255, 0, 1}, {100, 129, 9, 3}, {172, 126, 9, 2}},
	{"BitwiseNot", NULL, ONX_INT8, {0, 5, -1, -128}, {0}, {-1, -6, 0, 127}},
	{"BitwiseNot", NULL, ONX_UINT8, {0, 5, 255, 128}, {0}, {255, 250, 0, 127}},
	{"BitShift", "LEFT", ONX_UINT8, {1, 200, 255, 16}, {7, 1, 4, 0}, {128, 144, 240, 16}},
	{"BitShift", "RIGHT", ONX_UINT8, {1, 200, 255, 16}, {7, 1, 4, 0}, {0, 100, 15, 16}},
};

static void
test_bits(void **state)
{
	(void)state;
	for (size_t i = 0; i < QN_COUNT(bits); i++) {
		const bits_row *r = &bits[i];
		bool one = strcmp(r->op, "BitwiseNot") == 0;

		print_message("%s %d\n", r->op, r->elem);
		another_file();
		onx_input(file, "a", r->elem, "4");
		if (!one)
			onx_input(file, "b", r->elem, "4");
		if (r->direction != NULL)
			onx_string(file, "direction", r->direction);
		onx_node(file, r->op, one ? "a" : "a,b", "y");
		onx_output(file, "y");
		import(18);
		near(r->y, run((const double *const[]){r->a, r->b}), 4, 0);
	}
}

/* A direction must be said. */
static void
test_shift_refused(void **state)
{
	(void)state;
	onx_input(file, "a", ONX_UINT8, "4");
	onx_string(file, "direction", "UP");
	onx_node(file, "BitShift", "a,a", "y");
	onx_output(file, "y");
	import_fails(11, "import.attr", "direction is 'UP'");
}

/* ---- kinds of numbers ---- */

static void
kind_is(const char *op_name, const double *want)
{
	onx_input(file, "x", ONX_FLOAT, "4");
	onx_node(file, op_name, "x", "y");
	onx_output(file, "y");
	import(10);
	near(want, run1(V(HUGE_VAL, -HUGE_VAL, 1e38, (double)NAN)), 4, 0);
}

static void
test_kinds(void **state)
{
	(void)state;
	kind_is("IsNaN", V(0, 0, 0, 1));
	another_file();
	kind_is("IsInf", V(1, 1, 0, 0));
	another_file();
	onx_int(file, "detect_negative", 0);
	kind_is("IsInf", V(1, 0, 0, 0));
	another_file();
	onx_int(file, "detect_positive", 0);
	kind_is("IsInf", V(0, 1, 0, 0));
	another_file();
	onx_int(file, "detect_negative", 0);
	onx_int(file, "detect_positive", 0);
	kind_is("IsInf", V(0, 0, 0, 0));
}

/* ---- OneHot ---- */

/* 9 at the place, 5 elsewhere. */
static void
one_hot(const char *dims, int64_t depth)
{
	onx_input(file, "i", ONX_INT64, dims);
	onx_ints64(file, "d", "", &depth);
	onx_floats(file, "v", "2", (const float[]){5, 9});
	onx_node(file, "OneHot", "i,d,v", "y");
	onx_output(file, "y");
	import(11);
}

static void
test_one_hot(void **state)
{
	(void)state;
	one_hot("5", 3); /* -1 is the last; 3 and -4 are outside -3 … 2: no place is theirs */
	output_is("tensor<5x3xf32>");
	GIVES(V(0, -1, 1, 3, -4), 0, 9, 5, 5, 5, 5, 9, 5, 9, 5, 5, 5, 5, 5, 5, 5);
	another_file();
	onx_int(file, "axis", 0);
	one_hot("2", 3);
	output_is("tensor<3x2xf32>");
	GIVES(V(2, 0), 0, 5, 9, 5, 5, 9, 5);
	another_file();
	onx_int(file, "axis", -2);
	one_hot("2,2", 2);
	output_is("tensor<2x2x2xf32>");
	GIVES(V(0, 1, 1, 0), 0, 9, 5, 5, 9, 5, 9, 9, 5);
}

static void
test_one_hot_refused(void **state)
{
	(void)state;
	onx_input(file, "i", ONX_INT64, "2");
	onx_input(file, "d", ONX_INT64, "1");
	onx_floats(file, "v", "2", (const float[]){0, 1});
	onx_node(file, "OneHot", "i,d,v", "y");
	onx_output(file, "y");
	import_fails(11, "import.constant", "input 1");
}

/* ---- Scatter, ScatterElements ---- */

/* Over a row of five. */
static void
scatter(const char *op_name, int64_t version, const char *reduction, const int64_t *at)
{
	onx_input(file, "x", ONX_FLOAT, "1,5");
	onx_ints64(file, "i", "1,2", at);
	onx_floats(file, "u", "1,2", (const float[]){1.5f, -2.5f});
	onx_int(file, "axis", 1);
	if (reduction != NULL)
		onx_string(file, "reduction", reduction);
	onx_node(file, op_name, "x,i,u", "y");
	onx_output(file, "y");
	import(version);
}

static void
test_scatter(void **state)
{
	(void)state;
	scatter("Scatter", 9, NULL, (const int64_t[]){1, 3});
	GIVES(V(1, 2, 3, 4, 5), 0, 1, 1.5, 3, -2.5, 5);
	another_file();
	scatter("ScatterElements", 11, NULL, (const int64_t[]){1, -3});
	GIVES(V(1, 2, 3, 4, 5), 0, 1, 1.5, -2.5, 4, 5);
}

/* Both at place 1, where a 2 stands. */
static void
test_scatter_reductions(void **state)
{
	static const struct {
		const char *reduction;
		double y;
	} rows[] = {{"add", 1}, {"mul", -7.5}, {"max", 2}, {"min", -2.5}};

	(void)state;
	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		print_message("%s\n", rows[i].reduction);
		another_file();
		scatter("ScatterElements", 18, rows[i].reduction, (const int64_t[]){1, 1});
		GIVES(V(1, 2, 3, 4, 5), 0, 1, rows[i].y, 3, 4, 5);
	}
}

/* Down the columns: update [i][j] goes to row index[i][j] of column j. */
static void
test_scatter_columns(void **state)
{
	(void)state;
	onx_input(file, "x", ONX_FLOAT, "3,3");
	onx_ints64(file, "i", "2,3", (const int64_t[]){1, 0, 2, 0, 2, 1});
	onx_floats(file, "u", "2,3", (const float[]){1, 2, 3, 4, 5, 6});
	onx_node(file, "ScatterElements", "x,i,u", "y");
	onx_output(file, "y");
	import(11);
	GIVES(V(0, 0, 0, 0, 0, 0, 0, 0, 0), 0, 4, 2, 0, 1, 0, 6, 0, 5, 3);
}

/* ---- Compress, NonZero, ReverseSequence ---- */

static void
compress(int n, const char *dims)
{
	onx_input(file, "x", ONX_FLOAT, "3,2");
	onx_tensor(file, "c", ONX_BOOL, dims, (const uint8_t[]){0, 1, 0, 0, 1}, (size_t)n);
	onx_node(file, "Compress", "x,c", "y");
	onx_output(file, "y");
	import(11);
}

static void
test_compress(void **state)
{
	(void)state;
	compress(5, "5"); /* no axis: of all elements in a row */
	output_is("tensor<2xf32>");
	GIVES(V(1, 2, 3, 4, 5, 6), 0, 2, 5);
	another_file();
	onx_int(file, "axis", 0);
	compress(2, "2"); /* shorter than the axis: the rest is left out */
	output_is("tensor<1x2xf32>");
	GIVES(V(1, 2, 3, 4, 5, 6), 0, 3, 4);
	another_file();
	onx_int(file, "axis", -1);
	compress(2, "2");
	output_is("tensor<3x1xf32>");
	GIVES(V(1, 2, 3, 4, 5, 6), 0, 2, 4, 6);
}

/* [1 0; 1 1]: rows 0 1 1, columns 0 0 1. */
static void
test_non_zero(void **state)
{
	(void)state;
	onx_input(file, "x", ONX_INT64, "1");
	onx_floats(file, "c", "2,2", (const float[]){1, 0, -1, 1});
	onx_node(file, "NonZero", "c", "i");
	onx_node(file, "Add", "x,i", "y");
	onx_output(file, "y");
	import(13);
	output_is("tensor<2x3xi64>");
	GIVES(V(10), 0, 10, 11, 11, 10, 10, 11);
	another_file();
	onx_input(file, "x", ONX_FLOAT, "4");
	onx_node(file, "NonZero", "x", "y");
	onx_output(file, "y");
	import_fails(13, "import.constant", "input 0");
}

/* The first so many of each sequence turn round; sequences in rows. */
static void
test_reverse_sequence(void **state)
{
	(void)state;
	onx_input(file, "x", ONX_FLOAT, "3,4");
	onx_ints64(file, "n", "3", (const int64_t[]){1, 3, 4});
	onx_int(file, "time_axis", 1);
	onx_int(file, "batch_axis", 0);
	onx_node(file, "ReverseSequence", "x,n", "y");
	onx_output(file, "y");
	import(10);
	GIVES(V(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11), 0, 0, 1, 2, 3, 6, 5, 4, 7, 11, 10, 9, 8);
}

/* Numbers from 2^63 on, in a list. */
static void
test_unsigned_list(void **state)
{
	onx_bytes *t = &file->tensor;

	(void)state;
	t->n = 0;
	onx_number(t, 1, 2);
	onx_number(t, 2, 13); /* UINT64 */
	onx_number(t, 11, -1);
	onx_number(t, 11, INT64_MIN);
	onx_text(t, 8, "c");
	onx_field(&file->graph, 5, t->data, t->n);
	onx_node(file, "Identity", "c", "y");
	onx_output(file, "y");
	import(13);
	const qn_tensor *c = qn_graph_node(rg->g, rg->g->output[0].value)->value;
	assert_non_null(c);
	assert_int_equal(qn_tensor_bits64(c, 0), -1);
	assert_int_equal(qn_tensor_bits64(c, 1), INT64_MIN);
}

/* What a negative pad cuts off is neither wrapped nor reflected (ONNX Runtime 1.30). */
static void
test_pad_that_cuts(void **state)
{
	static const struct {
		const char *mode;
		double want[7];
	} rows[] = {
		{"wrap", {1, 2, 3, 4, 1, 2, 3}},
		{"reflect", {1, 2, 3, 4, 3, 2, 1}},
		{"edge", {1, 2, 3, 4, 4, 4, 4}},
		{"constant", {1, 2, 3, 4, 0, 0, 0}},
	};
	const int64_t pads[] = {-1, 3};

	(void)state;
	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		another_file();
		onx_input(file, "x", ONX_FLOAT, "5");
		onx_ints64(file, "p", "2", pads);
		onx_string(file, "mode", rows[i].mode);
		onx_node(file, "Pad", "x,p", "y");
		onx_output(file, "y");
		import(19);
		near(rows[i].want, run1(V(0, 1, 2, 3, 4)), 7, 0);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_unsigned_list),   TEST(test_bits),
		TEST(test_shift_refused),   TEST(test_kinds),
		TEST(test_one_hot),         TEST(test_one_hot_refused),
		TEST(test_scatter),         TEST(test_scatter_reductions),
		TEST(test_scatter_columns), TEST(test_compress),
		TEST(test_non_zero),        TEST(test_reverse_sequence),
		TEST(test_pad_that_cuts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
