/* SPDX-License-Identifier: Apache-2.0 */
/* test_onnx_hostile.c - ONNX files that ask for more than they are worth: huge results of few bytes, nodes that
 * multiply, data behind links.  Each is an error with a name, in a moment
 * and in little memory. */
#define _POSIX_C_SOURCE 200809L /* symlink */

#include "tests/unit/run_util.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "import/import.h"
#include "tests/unit/onnx_writer.h"

enum { MOST_MEMORY = 64 << 20 };

static onx *file;
static size_t live, peak;

static void *
counted(void *user, void *p, size_t old_size, size_t new_size)
{
	live += new_size - (p != NULL ? old_size : 0);
	peak = live > peak ? live : peak;
	return rig_heap(user, p, old_size, new_size);
}

static int
setup(void **state)
{
	file = calloc(1, sizeof *file);
	onx_begin(file);
	(void)rig_setup(state);
	qn_arena_release(&rg->arena);
	live = peak = 0;
	rg->env.alloc = counted;
	qn_arena_init(&rg->arena, &rg->env);
	qn_model_init(&rg->m, &rg->env, &rg->arena, "test");
	return 0;
}

static int
teardown(void **state)
{
	free(file);
	return rig_teardown(state);
}

static qn_status
import_from(const char *folder)
{
	const qn_import_how how = {0};
	size_t n;
	const uint8_t *bytes = onx_end(file, 13, &n);

	return qn_onnx_read(&rg->m, "f.onnx", folder, qn_arena_copy(&rg->arena, bytes, n), n, &how);
}

/* An error of this id, with little memory. */
static void
no_way(const char *id)
{
	assert_int_not_equal(import_from(NULL), QN_OK);
	assert_true(rg->diags.n > 0);
	assert_string_equal(rg->diags.item[0].id, id);
	assert_true(peak < MOST_MEMORY);
}

static void
huge(void **state)
{
	static const struct {
		const char *op, *id;
		int64_t n, v[4];
	} rows[] = {
		{"ConstantOfShape", "import.size", 1, {1000000000}},
		{"ConstantOfShape", "import.size", 2, {2000000000, 2000000000}},
		{"ConstantOfShape", "import.input", 1, {INT64_MAX}},
		{"ConstantOfShape", "import.input", 1, {INT64_MIN}},
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		char dims[8];

		(void)teardown(state);
		(void)setup(state);
		(void)snprintf(dims, sizeof dims, "%d", (int)rows[i].n);
		onx_ints64(file, "v", dims, rows[i].v);
		onx_node(file, rows[i].op, "v", "y");
		onx_output(file, "y");
		no_way(rows[i].id);
	}
}

/* A value that nobody could hold is none from the start. */
static void
huge_input(void **state)
{
	(void)state;
	onx_input(file, "x", ONX_FLOAT, "2000000000,2000000000,2000000000");
	onx_int(file, "axis", 3);
	onx_node(file, "Flatten", "x", "y");
	onx_output(file, "y");
	no_way("import.dim");
}

/* Nor do dims without elements let the others overflow. */
static void
huge_and_empty(void **state)
{
	(void)state;
	onx_input(file, "x", ONX_FLOAT, "0,2000000000,2000000000,2000000000");
	onx_int(file, "axis", 1);
	onx_node(file, "Flatten", "x", "y");
	onx_output(file, "y");
	no_way("import.dim");
}

/* Results that take no input, of sizes that nobody has room for. */
static void
huge_from_empty(void **state)
{
	onx_input(file, "x", ONX_FLOAT, "0,1000000,1000000");
	onx_list(file, "axes", 1, (const int64_t[]){0});
	onx_node(file, "ReduceMax", "x", "y");
	onx_output(file, "y");
	no_way("import.size");
	(void)teardown(state);
	(void)setup(state);
	onx_input(file, "x", ONX_FLOAT, "1,2");
	onx_ints64(file, "n", "2", (const int64_t[]){INT64_MAX, 0});
	onx_node(file, "Tile", "x,n", "y");
	onx_output(file, "y");
	no_way("import.size");
}

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
		onx_input(body, "s", ONX_FLOAT, "2");
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
		onx_node(body, "Loop", "n,,s", "t");
	} else {
		onx_node(body, "Neg", "s", "t");
	}
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
mask(void **state)
{
	(void)state;
	onx_input(file, "x", ONX_FLOAT, "30000,30000");
	onx_node(file, "Dropout", "x", "y,m");
	onx_output(file, "m");
	no_way("import.size");
}

/* Each node doubles nothing, but there are many of them: what they fold to is left alone in the end. */
static void
many_folds(void **state)
{
	const int64_t n = 1000000;

	(void)state;
	onx_ints64(file, "n", "1", &n);
	onx_node(file, "ConstantOfShape", "n", "v0");
	for (int i = 0; i < 200; i++) {
		char in[32], out[16];

		(void)snprintf(in, sizeof in, "v%d,v0", i);
		(void)snprintf(out, sizeof out, "v%d", i + 1);
		onx_node(file, "Add", in, out);
	}
	onx_output(file, "v200");
	assert_int_equal(import_from(NULL), QN_OK);
	assert_true(peak < MOST_MEMORY);
}

/* 2^40 nodes out of forty functions. */
static void
doubling(void **state)
{
	(void)state;
	for (int i = 0; i < 40; i++) {
		char name[16], inner[16];

		(void)snprintf(name, sizeof name, "f%d", i);
		(void)snprintf(inner, sizeof inner, "f%d", i + 1);
		onx_function(file, "mine", name, "a", "b");
		file->domain = i < 39 ? "mine" : NULL;
		onx_node(file, i < 39 ? inner : "Relu", "a", "t");
		file->domain = i < 39 ? "mine" : NULL;
		onx_node(file, i < 39 ? inner : "Relu", "t", "b");
		onx_function_end(file, 13);
	}
	onx_input(file, "x", ONX_FLOAT, "1");
	file->domain = "mine";
	onx_node(file, "f0", "x", "y");
	onx_output(file, "y");
	no_way("import.size");
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
	no_way("import.rank");
}

static void
one_name_twice(void **state)
{
	(void)state;
	onx_input(file, "x", ONX_FLOAT, "2");
	onx_node(file, "Relu", "x", "y");
	onx_output(file, "y");
	onx_output(file, "y");
	no_way("import.output");
}

/* A sparse tensor of values only. */
static void
sparse_without_places(void **state)
{
	(void)state;
	onx_make_tensor(file, "w", ONX_FLOAT, "1", (const float[]){1}, 4);
	file->inner.n = 0;
	onx_field(&file->inner, 1, file->tensor.data, file->tensor.n);
	onx_number(&file->inner, 3, 4);
	onx_field(&file->graph, 15, file->inner.data, file->inner.n);
	onx_node(file, "Relu", "w", "y");
	onx_output(file, "y");
	no_way("import.file");
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

/* ---- data beside the file ---- */

/* Data in "made-by-a-test/", behind a link `name` to `target`. */
static qn_status
through_link(const char *target)
{
	FILE *f;

	(void)mkdir("made-by-a-test", 0700);
	(void)unlink("made-by-a-test/link");
	assert_non_null(f = fopen("made-by-a-test/real", "wb"));
	assert_int_equal(fwrite("12345678", 1, 8, f), 8);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(symlink(target, "made-by-a-test/link"), 0);
	onx_external(file, "w", ONX_FLOAT, "2", "link", "0");
	onx_node(file, "Relu", "w", "y");
	onx_output(file, "y");
	qn_status status = import_from("made-by-a-test/");
	(void)unlink("made-by-a-test/link");
	(void)unlink("made-by-a-test/real");
	(void)rmdir("made-by-a-test");
	return status;
}

static void
link_inside(void **state)
{
	(void)state;
	assert_int_equal(through_link("real"), QN_OK);
}

static void
link_outside(void **state)
{
	(void)state;
	assert_int_not_equal(through_link("/etc/hostname"), QN_OK);
	assert_string_equal(rg->diags.item[0].id, "import.external");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(huge),
		TEST(huge_input),
		TEST(huge_and_empty),
		TEST(huge_from_empty),
		TEST(wrong_sequences),
		TEST(mask),
		TEST(many_folds),
		TEST(doubling),
		TEST(long_sequence),
		TEST(crowded_body),
		TEST(huge_loops),
		TEST(long_scan),
		TEST(scalar_bias),
		TEST(one_name_twice),
		TEST(sparse_without_places),
		TEST(long_name),
		TEST(link_inside),
		TEST(link_outside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
