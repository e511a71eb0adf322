/* SPDX-License-Identifier: Apache-2.0 */
/* test_onnx_sequence.c - sequences and optional values of ONNX, which are taken apart while reading. */
#include "tests/unit/onnx_control_rig.h"

/* Rows 1, 2 and 3; the second one goes away, the first one is put at the place before the last. */
static void
test_sequence(void **state)
{
	(void)state;
	onx_input(file, "x", ONX_FLOAT, "3,2");
	number(file, "one", 1);
	number(file, "last", -1);
	number(file, "first", 0);
	onx_node(file, "SplitToSequence", "x", "s");
	onx_node(file, "SequenceErase", "s,one", "t");
	onx_node(file, "SequenceAt", "t,first", "e");
	onx_node(file, "SequenceInsert", "t,e,last", "u");
	onx_int(file, "axis", 0);
	onx_node(file, "ConcatFromSequence", "u", "y");
	onx_node(file, "SequenceLength", "u", "n");
	onx_output(file, "y");
	onx_output(file, "n");
	import(13);
	assert_int_equal(qn_tensor_i64(qn_graph_node(rg->g, rg->g->output[1].value)->value, 0), 3);
	GIVES(V(1, 2, 3, 4, 5, 6), 0, 1, 2, 1, 2, 5, 6);
}

/* Pieces of 1 and 2; rows without their axis, put together along a new one. */
static void
test_pieces(void **state)
{
	(void)state;
	onx_input(file, "x", ONX_FLOAT, "3,2");
	onx_ints64(file, "sizes", "2", (const int64_t[]){1, 2});
	number(file, "last", -1);
	onx_node(file, "SplitToSequence", "x,sizes", "s");
	onx_node(file, "SequenceAt", "s,last", "p");
	onx_int(file, "keepdims", 0);
	onx_node(file, "SplitToSequence", "p", "t");
	onx_int(file, "axis", 1);
	onx_int(file, "new_axis", 1);
	onx_node(file, "ConcatFromSequence", "t", "y");
	onx_output(file, "y");
	import(13);
	output_is("tensor<2x2xf32>");
	GIVES(V(1, 2, 3, 4, 5, 6), 0, 3, 5, 4, 6);
}

/* A row of each step, gathered in a sequence that goes round. */
static void
test_sequence_in_loop(void **state)
{
	(void)state;
	onx_input(body, "i", ONX_INT64, "");
	onx_input(body, "c", ONX_BOOL, "");
	onx_input(body, "s", ONX_FLOAT, "");
	onx_node(body, "Gather", "x,i", "r");
	onx_node(body, "SequenceInsert", "s,r", "s2");
	onx_output(body, "c");
	onx_output(body, "s2");
	onx_input(file, "x", ONX_FLOAT, "3,2");
	number(file, "m", 3);
	onx_node(file, "SequenceEmpty", "", "e");
	onx_body(file, "body", body);
	onx_node(file, "Loop", "m,,e", "s");
	onx_int(file, "axis", 1);
	onx_int(file, "new_axis", 1);
	onx_node(file, "ConcatFromSequence", "s", "y");
	onx_output(file, "y");
	import(13);
	output_is("tensor<2x3xf32>");
	GIVES(V(1, 2, 3, 4, 5, 6), 0, 1, 3, 5, 2, 4, 6);
}

static void
test_sequence_map(void **state)
{
	(void)state;
	onx_input(body, "a", ONX_FLOAT, "1,2");
	onx_input(body, "b", ONX_FLOAT, "2");
	onx_node(body, "Mul", "a,b", "m");
	onx_output(body, "m");
	onx_input(file, "x", ONX_FLOAT, "2,2");
	onx_floats(file, "w", "2", (const float[]){10, 100});
	onx_node(file, "SplitToSequence", "x", "s");
	onx_body(file, "body", body);
	onx_node(file, "SequenceMap", "s,w", "t");
	onx_int(file, "axis", 0);
	onx_node(file, "ConcatFromSequence", "t", "y");
	onx_output(file, "y");
	import(17);
	GIVES(V(1, 2, 3, 4), 0, 10, 200, 30, 400);
}

static void
test_sequence_refused(void **state)
{
	static const struct {
		const char *op, *in, *id, *text;
	} rows[] = {{"Relu", "s", "import.type", "is a sequence"},
		    {"SequenceConstruct", "s,x", "import.type", "a sequence in a sequence"},
		    {"SequenceAt", "x,one", "import.input", "must be a sequence"},
		    {"SequenceAt", "s,nine", "import.input", "position 9 of 3 values"},
		    {"SequenceAt", "s,i", "import.constant", "must be a constant"},
		    {"SplitToSequence", "x,nine", "import.output", "is a sequence"},
		    {"SplitToSequence", "x,sizes", "import.input", "do not add up"},
		    {"Optional", "", "import.type", "an empty optional value"}};

	(void)state;
	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		another_file();
		onx_input(file, "x", ONX_FLOAT, "3,2");
		onx_input(file, "i", ONX_INT64, "");
		number(file, "one", 1);
		number(file, "nine", 9);
		onx_ints64(file, "sizes", "2", (const int64_t[]){1, 1});
		onx_node(file, "SplitToSequence", "x", "s");
		onx_node(file, rows[i].op, rows[i].in, "y");
		onx_output(file, "y");
		import_fails(15, rows[i].id, rows[i].text);
	}
}

static void
test_optional(void **state)
{
	(void)state;
	onx_input(file, "x", ONX_FLOAT, "2");
	onx_node(file, "Optional", "x", "o");
	onx_node(file, "OptionalHasElement", "o", "h");
	onx_node(file, "OptionalHasElement", "", "k");
	onx_node(file, "OptionalGetElement", "o", "y");
	onx_output(file, "y");
	onx_output(file, "h");
	onx_output(file, "k");
	import(18);
	assert_int_equal(qn_tensor_i64(qn_graph_node(rg->g, rg->g->output[1].value)->value, 0), 1);
	assert_int_equal(qn_tensor_i64(qn_graph_node(rg->g, rg->g->output[2].value)->value, 0), 0);
	GIVES(V(1, 2), 0, 1, 2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CONTROL(test_sequence),         CONTROL(test_pieces),
		CONTROL(test_sequence_in_loop), CONTROL(test_sequence_map),
		CONTROL(test_sequence_refused), CONTROL(test_optional),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
