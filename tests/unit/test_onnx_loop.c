/* SPDX-License-Identifier: Apache-2.0 */
/* test_onnx_loop.c - which Loops of ONNX are loops of the graph: those whose steps differ in what they read alone. */
#include "tests/unit/onnx_control_rig.h"

static size_t
count_of(qn_op op)
{
	size_t n = 0;

	for (qn_id id = 1; id < rg->g->n; id++)
		n += qn_graph_node(rg->g, id)->op == op;
	return n;
}

static void
head(const char *state, const char *shape)
{
	onx_input(body, "i", ONX_INT64, "");
	onx_input(body, "c", ONX_BOOL, "");
	onx_input(body, state, ONX_FLOAT, shape);
}

/* Sums of rows or columns; where there are more than steps, of the first ones. */
static void
test_slices(void **state)
{
	static const struct {
		const char *shape;
		int64_t axis, steps;
		double want[4]; /* after the first step and after the second */
	} rows[] = {{"3,2", 0, 3, {1, 2, 4, 6}},
		    {"2,3", 1, 3, {1, 4, 3, 9}},
		    {"2,3", -1, 2, {1, 4, 3, 9}},
		    {"3,2", -2, 2, {1, 2, 4, 6}}};

	(void)state;
	for (size_t r = 0; r < QN_COUNT(rows); r++) {
		another_file();
		onx_begin(body);
		head("s", "2");
		onx_node(body, "Identity", "i", "same");
		onx_int(body, "axis", rows[r].axis);
		onx_node(body, "Gather", "x,same", "row");
		onx_node(body, "Add", "s,row", "s2");
		onx_output(body, "c");
		onx_output(body, "s2");
		onx_output(body, "s2");
		onx_input(file, "x", ONX_FLOAT, rows[r].shape);
		onx_floats(file, "zero", "2", (const float[]){0, 0});
		number(file, "m", rows[r].steps);
		onx_body(file, "body", body);
		onx_node(file, "Loop", "m,,zero", "y,z");
		onx_output(file, "z");
		import(13);
		assert_int_equal(count_of(QN_OP_loop), 1);
		assert_int_equal(count_of(QN_OP_loop_slice), 1);
		near(rows[r].want, run1(V(1, 2, 3, 4, 5, 6)), 4, 0);
	}
}

/* As TensorFlow writes it: a counter, what is kept, and a condition that ends the loop after three of ten steps. */
static void
test_counter(void **state)
{
	(void)state;
	head("s", "2");
	onx_input(body, "t", ONX_INT32, "");
	onx_input(body, "kept", ONX_FLOAT, "5,2");
	onx_node(body, "Gather", "kept,t", "row");
	onx_node(body, "Add", "s,row", "s2");
	onx_node(body, "Add", "t,one", "t2");
	onx_node(body, "Less", "t2,three", "more");
	onx_node(body, "Identity", "kept", "kept2");
	onx_output(body, "more");
	onx_output(body, "s2");
	onx_output(body, "t2");
	onx_output(body, "kept2");
	onx_input(file, "x", ONX_FLOAT, "5,2");
	onx_floats(file, "zero", "2", (const float[]){0, 0});
	onx_tensor(file, "none", ONX_INT32, "", (const int32_t[]){0}, 4);
	onx_tensor(file, "one", ONX_INT32, "", (const int32_t[]){1}, 4);
	onx_tensor(file, "three", ONX_INT32, "", (const int32_t[]){3}, 4);
	number(file, "m", 10);
	onx_body(file, "body", body);
	onx_node(file, "Loop", "m,,zero,none,x", "y,n,same");
	onx_int(file, "to", ONX_FLOAT);
	onx_node(file, "Cast", "n", "steps");
	onx_node(file, "Mul", "y,steps", "z");
	onx_output(file, "z");
	import(13);
	assert_int_equal(count_of(QN_OP_loop), 1);
	assert_int_equal(count_of(QN_OP_loop_carry), 1);
	GIVES(V(1, 2, 3, 4, 5, 6, 7, 8, 9, 10), 0, 27, 36);
}

/* States that grow, a number that is computed with, slices of what changes, conditions that the data decides. */
static void
test_others(void **state)
{
	static const struct {
		const char *op, *in, *out;
		size_t loops;
		double want[3];
		int64_t n;
	} rows[] = {{"Add", "s,x", "s2", 1, {3, 30}, 2},
		    {"Mul", "s,f", "s2", 0, {0, 0}, 2},
		    {"Concat", "s,x", "s2", 0, {0}, 6}};

	(void)state;
	for (size_t r = 0; r < QN_COUNT(rows); r++) {
		another_file();
		onx_begin(body);
		head("s", rows[r].n == 6 ? "n" : "2");
		onx_int(body, "to", ONX_FLOAT);
		onx_node(body, "Cast", "i", "f");
		if (rows[r].n == 6)
			onx_int(body, "axis", 0);
		onx_node(body, rows[r].op, rows[r].in, rows[r].out);
		onx_output(body, "c");
		onx_output(body, "s2");
		onx_input(file, "x", ONX_FLOAT, "2");
		number(file, "m", 2);
		onx_body(file, "body", body);
		onx_node(file, "Loop", "m,,x", "y");
		onx_output(file, "y");
		import(13);
		assert_int_equal(count_of(QN_OP_loop), rows[r].loops);
		const double *y = run1(V(1, 10));
		if (rows[r].n == 6)
			near((const double[]){1, 10, 1, 10, 1, 10}, y, 6, 0);
		else
			near(rows[r].want, y, 2, 0);
	}
}

/* What counts follows from a float state, which is not known in each step: the steps are read one by one, so that the
 * condition ends them after the third. */
static void
test_condition_of_floats(void **state)
{
	(void)state;
	head("s", "");
	onx_input(body, "h", ONX_FLOAT, "2");
	onx_node(body, "Add", "s,one", "s2");
	onx_node(body, "Add", "h,x", "h2");
	onx_node(body, "Less", "s2,three", "more");
	onx_output(body, "more");
	onx_output(body, "s2");
	onx_output(body, "h2");
	onx_input(file, "x", ONX_FLOAT, "2");
	onx_floats(file, "zero", "", (const float[]){0});
	onx_floats(file, "one", "", (const float[]){1});
	onx_floats(file, "three", "", (const float[]){3});
	number(file, "m", 10);
	onx_body(file, "body", body);
	onx_node(file, "Loop", "m,,zero,x", "n,y");
	onx_output(file, "y");
	import(13);
	assert_int_equal(count_of(QN_OP_loop), 0);
	GIVES(V(1, 10), 0, 4, 40);
}

/* A counter of one dimension; a number of a type that does not hold it. */
static void
test_other_numbers(void **state)
{
	(void)state;
	for (int cast = 0; cast < 2; cast++) {
		another_file();
		onx_begin(body);
		head("s", "2");
		onx_input(body, "k", ONX_INT64, "1");
		onx_int(body, "to", cast ? ONX_BOOL : ONX_INT64);
		onx_node(body, "Cast", cast ? "i" : "k", "a");
		onx_int(body, "to", ONX_INT64);
		onx_node(body, "Cast", "a", "at");
		onx_node(body, "Gather", "x,at", "row");
		onx_node(body, "Add", "s,row", "sum");
		onx_int(body, "keepdims", 0);
		onx_node(body, "ReduceSum", "sum,first", "all");
		onx_node(body, "Identity", cast ? "sum" : "all", "s2");
		onx_node(body, "Add", "k,ones", "k2");
		onx_output(body, "c");
		onx_output(body, "s2");
		onx_output(body, "k2");
		onx_input(file, "x", ONX_FLOAT, "3,2");
		onx_floats(file, "zero", "2", (const float[]){0, 0});
		onx_ints64(file, "first", "1", (const int64_t[]){0});
		onx_ints64(file, "start", "1", (const int64_t[]){0});
		onx_ints64(file, "ones", "1", (const int64_t[]){1});
		number(file, "m", 3);
		onx_body(file, "body", body);
		onx_node(file, "Loop", "m,,zero,start", "y,n");
		onx_output(file, "y");
		import(13);
		assert_int_equal(count_of(QN_OP_loop), !cast);
		if (cast) /* rows 0, 1, 1 */
			GIVES(V(1, 2, 3, 4, 5, 6), 0, 7, 10);
		else
			GIVES(V(1, 2, 3, 4, 5, 6), 0, 9, 12);
	}
}

/* Which elements of six a step reads, by what its number goes through; the sums of what three steps of a loop read, or
 * two that are written out. */
static void
test_indices(void **state)
{
	static const struct {
		const char *nodes[5][3]; /* operator, operands, result */
		size_t loops, slices;
		double want;
	} rows[] = {
		{{{"Add", "i,two", "k"}, {"Gather", "x,k", "y"}}, 1, 1, 12},
		{{{"Sub", "two,i", "k"}, {"Gather", "x,k", "y"}}, 1, 1, 6},
		{{{"Neg", "i", "k"}, {"Sub", "k,one", "l"}, {"Gather", "x,l", "y"}}, 1, 1, 15},
		{{{"Mul", "i,two", "k"}, {"Gather", "x,k", "y"}}, 1, 0, 9},
		{{{"Mul", "one,i", "k"},
		  {"Add", "k,k", "l"},
		  {"Sub", "l,k", "m"},
		  {"Gather", "x,m", "y"}},
		 1,
		 1,
		 6},
		{{{"Unsqueeze", "i,none", "k"}, {"Gather", "x,k", "y"}}, 1, 1, 6},
		{{{"Unsqueeze", "i,none", "k"}, {"Add", "k,one", "l"}, {"Slice", "x,k,l", "y"}},
		 1,
		 1,
		 6},
		{{{"Unsqueeze", "i,none", "k"},
		  {"Add", "k,two", "l"},
		  {"Slice", "x,k,l,none", "y"}},
		 1,
		 2,
		 15},
		{{{"Sub", "two,i", "j"},
		  {"Unsqueeze", "j,none", "k"},
		  {"Add", "k,one", "l"},
		  {"Slice", "x,k,l,none", "y"}},
		 1,
		 1,
		 6},
		/* a window that grows, and one whose limits count from the end at first */
		{{{"Unsqueeze", "i,none", "k"}, {"Add", "k,k", "l"}, {"Slice", "x,k,l,none", "y"}},
		 0,
		 0,
		 2},
		{{{"Unsqueeze", "i,none", "k"},
		  {"Sub", "k,two", "j"},
		  {"Add", "j,one", "l"},
		  {"Slice", "x,j,l,none", "y"}},
		 0,
		 0,
		 5},
		/* limits that count from the end in all steps */
		{{{"Unsqueeze", "i,none", "k"},
		  {"Sub", "k,five", "j"},
		  {"Add", "j,two", "l"},
		  {"Slice", "x,j,l,none", "y"}},
		 1,
		 2,
		 21},
		/* what a step reads fits the others, but x as a whole does not: nothing is reported */
		{{{"Unsqueeze", "i,none", "k"},
		  {"Add", "k,k", "j"},
		  {"Add", "j,one", "l"},
		  {"Slice", "x,k,l,none", "w"},
		  {"Add", "w,zeros", "y"}},
		 0,
		 0,
		 7},
		/* not of the step alone */
		{{{"Mul", "i,i", "k"}, {"Gather", "x,k", "y"}}, 1, 0, 8},
	};

	(void)state;
	for (size_t r = 0; r < QN_COUNT(rows); r++) {
		another_file();
		onx_begin(body);
		head("s", "");
		for (size_t k = 0; k < 5 && rows[r].nodes[k][0] != NULL; k++)
			onx_node(body, rows[r].nodes[k][0], rows[r].nodes[k][1],
				 rows[r].nodes[k][2]);
		onx_int(body, "keepdims", 0);
		onx_node(body, "ReduceSum", "y", "all");
		onx_node(body, "Add", "s,all", "s2");
		onx_output(body, "c");
		onx_output(body, "s2");
		onx_input(file, "x", ONX_FLOAT, "6");
		onx_floats(file, "zero", "", (const float[]){0});
		onx_ints64(file, "none", "1", (const int64_t[]){0});
		number(file, "one", 1);
		number(file, "two", 2);
		number(file, "five", 5);
		onx_floats(file, "zeros", "2", (const float[]){0, 0});
		number(file, "m", rows[r].loops > 0 ? 3 : 2);
		onx_body(file, "body", body);
		onx_node(file, "Loop", "m,,zero", "z");
		onx_output(file, "z");
		import(13);
		print_message("%zu: %s\n", r, rows[r].nodes[0][0]);
		assert_int_equal(count_of(QN_OP_loop), rows[r].loops);
		assert_int_equal(count_of(QN_OP_loop_slice), rows[r].slices);
		near(&rows[r].want, run1(V(1, 2, 3, 4, 5, 6)), 1, 0);
	}
}

/* A slice that differs from step to step is not forgotten over a loop inside of the body, which is one. */
static void
test_loop_inside(void **state)
{
	onx *inner = calloc(1, sizeof *inner);

	(void)state;
	onx_begin(inner);
	onx_input(inner, "n", ONX_INT64, "");
	onx_input(inner, "d", ONX_BOOL, "");
	onx_input(inner, "t", ONX_FLOAT, "");
	onx_node(inner, "Add", "t,t", "t2");
	onx_output(inner, "d");
	onx_output(inner, "t2");
	head("s", "");
	onx_node(body, "Unsqueeze", "i,none", "k");
	onx_node(body, "Add", "k,k", "l");
	onx_node(body, "Slice", "x,k,l,none", "y");
	onx_int(body, "keepdims", 0);
	onx_node(body, "ReduceSum", "y", "all");
	onx_body(body, "body", inner);
	onx_node(body, "Loop", "two,,all", "four");
	onx_node(body, "Add", "s,four", "s2");
	onx_output(body, "c");
	onx_output(body, "s2");
	onx_input(file, "x", ONX_FLOAT, "6");
	onx_floats(file, "zero", "", (const float[]){0});
	onx_ints64(file, "none", "1", (const int64_t[]){0});
	number(file, "two", 2);
	number(file, "m", 3);
	onx_body(file, "body", body);
	onx_node(file, "Loop", "m,,zero", "z");
	onx_output(file, "z");
	import(13);
	assert_int_equal(count_of(QN_OP_loop), 3);
	GIVES(V(1, 2, 3, 4, 5, 6), 0, 36); /* four times 0, 2 and 3 + 4 */
	free(inner);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CONTROL(test_slices),        CONTROL(test_counter),
		CONTROL(test_others),        CONTROL(test_condition_of_floats),
		CONTROL(test_other_numbers), CONTROL(test_indices),
		CONTROL(test_loop_inside)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
