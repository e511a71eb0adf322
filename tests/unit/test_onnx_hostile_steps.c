/* SPDX-License-Identifier: Apache-2.0 */
/* test_onnx_hostile_steps.c - loops and recurrent nodes of ONNX files that ask for more than they are worth: steps
 * without end or that multiply, bodies full of names, sequences that are none. */
#include "tests/unit/onnx_hostile_rig.h"

#include <stdio.h>

/* ---- loops ---- */

/* A loop whose body defines thousands of names at each step, or has a node of as many inputs, or a value of a very long
 * name. */
static void
crowded_body(void **state)
{
	enum { MANY = 3000 };
	char inputs[2 * MANY + 2] = "s", name[8], result[4 * MANY + 1];

	for (int kind = 0; kind < 3; kind++) {
		onx *body = calloc(1, sizeof *body);

		(void)teardown(state);
		(void)setup(state);
		assert_non_null(body);
		onx_begin(body);
		onx_input(body, "i", ONX_INT64, "");
		onx_input(body, "c", ONX_BOOL, "");
		onx_input(body, "q", ONX_FLOAT, "2");
		onx_int(body, "to", ONX_FLOAT);
		onx_node(body, "Cast", "i", "real");
		onx_node(body, "Mul", "q,real", "s"); /* each step computes something else */
		for (size_t k = 0; kind == 0 && k < MANY; k++) {
			(void)snprintf(name, sizeof name, "%x", (unsigned)k);
			body->tensor.n = 0;
			onx_text(&body->tensor, 8, name);
			onx_field(&body->graph, 5, body->tensor.data, body->tensor.n);
		}
		for (size_t k = 0; kind == 1 && k < MANY; k++)
			memcpy(inputs + 1 + 2 * k, ",s", 3);
		memset(result, 't', sizeof result);
		result[kind == 2 ? 4 * MANY : 1] = '\0';
		onx_node(body, "Identity", kind == 1 ? inputs : "s", result);
		onx_output(body, "c");
		onx_output(body, result);
		onx_input(file, "x", ONX_FLOAT, "2");
		onx_ints64(file, "n", "", (const int64_t[]){4000});
		onx_body(file, "body", body);
		onx_node(file, "Loop", "n,,x", "y");
		onx_output(file, "y");
		free(body);
		no_way("import.size");
	}
}

/* The body of a Loop that gives back its state; with an inner one, that of a loop in a loop. */
static onx *
state_body(const onx *inner, int64_t count)
{
	onx *body = calloc(1, sizeof *body);

	assert_non_null(body);
	onx_begin(body);
	onx_input(body, "i", ONX_INT64, "");
	onx_input(body, "c", ONX_BOOL, "");
	onx_input(body, "s", ONX_FLOAT, "2");
	if (inner != NULL) {
		onx_ints64(body, "n", "", &count);
		onx_body(body, "body", inner);
		onx_node(body, "Loop", "n,,s", "u");
	} else {
		onx_node(body, "Neg", "s", "u");
	}
	onx_int(body, "to", ONX_FLOAT);
	onx_node(body, "Cast", "i", "f");
	onx_node(body, "Mul", "u,f", "t"); /* each step computes something else */
	onx_output(body, "c");
	onx_output(body, "t");
	return body;
}

/* As many steps as a number can say, or few that multiply. */
static void
huge_loops(void **state)
{
	static const struct {
		int64_t outer, inner; /* inner 0: none */
	} rows[] = {{INT64_MAX, 0}, {INT64_C(1) << 40, 0}, {4097, 0}, {64, 64}, {4000, INT64_MAX}};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		onx *inner = rows[i].inner > 0 ? state_body(NULL, 0) : NULL;
		onx *body = state_body(inner, rows[i].inner);

		(void)teardown(state);
		(void)setup(state);
		onx_input(file, "x", ONX_FLOAT, "2");
		onx_ints64(file, "n", "", &rows[i].outer);
		onx_body(file, "body", body);
		onx_node(file, "Loop", "n,,x", "y");
		onx_output(file, "y");
		free(inner);
		free(body);
		no_way("import.size");
	}
}

/* A loop of 2^31 - 1 steps has as many nodes as one of two. */
static void
long_scan(void **state)
{
	onx *body = calloc(1, sizeof *body);

	(void)state;
	assert_non_null(body);
	onx_begin(body);
	onx_input(body, "s", ONX_FLOAT, "1");
	onx_input(body, "x", ONX_FLOAT, "1");
	onx_node(body, "Add", "s,x", "t");
	onx_output(body, "t");
	onx_input(file, "x", ONX_FLOAT, "2147483647,1");
	onx_input(file, "s", ONX_FLOAT, "1");
	onx_body(file, "body", body);
	onx_int(file, "num_scan_inputs", 1);
	onx_node(file, "Scan", "s,x", "y");
	onx_output(file, "y");
	free(body);
	assert_int_equal(import_from(NULL), QN_OK);
	assert_true(qn_model_entry(&rg->m)->n < 16);
	assert_true(peak < MOST_MEMORY);
}

/* ---- recurrent nodes ---- */

/* Lengths of sequences that lie outside, activations that nobody has. */
static void
wrong_sequences(void **state)
{
	static const struct {
		int64_t length;
		const char *activation, *id;
	} rows[] = {
		{INT64_MIN, "Tanh", "import.input"},
		{INT64_MAX, "Tanh", "import.input"},
		{1, "Tan", "import.attr"},
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		(void)teardown(state);
		(void)setup(state);
		onx_input(file, "x", ONX_FLOAT, "2,1,1");
		onx_floats(file, "w", "1,1,1", (const float[]){1});
		onx_ints64(file, "n", "1", &rows[i].length);
		onx_attr_begin(file, "activations");
		onx_text(&file->work, 9, rows[i].activation);
		onx_number(&file->work, 20, 8);
		onx_attr_end(file);
		onx_node(file, "RNN", "x,w,w,,n", "y");
		onx_output(file, "y");
		no_way(rows[i].id);
	}
}

static void
long_sequence(void **state)
{
	(void)state;
	onx_input(file, "x", ONX_FLOAT, "70000,1,1");
	onx_floats(file, "w", "1,4,1", (const float[]){1, 1, 1, 1});
	onx_floats(file, "r", "1,4,1", (const float[]){1, 1, 1, 1});
	onx_node(file, "LSTM", "x,w,r", "y");
	onx_output(file, "y");
	no_way("import.size");
}

/* Operands of a recurrent node without the axes that it takes apart. */
static void
scalar_bias(void **state)
{
	(void)state;
	onx_input(file, "x", ONX_FLOAT, "2,1,1");
	onx_floats(file, "w", "1,1,1", (const float[]){1});
	onx_floats(file, "r", "1,1,1", (const float[]){1});
	onx_floats(file, "b", "", (const float[]){1});
	onx_node(file, "RNN", "x,w,r,b", "y");
	onx_output(file, "y");
	no_way("import.input");
}

/* A name as long as the file, on a node that becomes thousands. */
static void
long_name(void **state)
{
	static char name[20001];

	(void)state;
	memset(name, 'n', sizeof name - 1);
	onx_input(file, "x", ONX_FLOAT, "2000,1,1");
	onx_floats(file, "w", "1,4,1", (const float[]){1, 1, 1, 1});
	onx_floats(file, "r", "1,4,1", (const float[]){1, 1, 1, 1});
	onx_node(file, "LSTM", "x,w,r", name);
	onx_output(file, name);
	assert_int_equal(import_from(NULL), QN_OK);
	assert_true(peak < MOST_MEMORY);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(crowded_body),  TEST(huge_loops),  TEST(long_scan), TEST(wrong_sequences),
		TEST(long_sequence), TEST(scalar_bias), TEST(long_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
