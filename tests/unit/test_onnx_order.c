/* SPDX-License-Identifier: Apache-2.0 */
/* test_onnx_order.c - ONNX nodes in any order: graph, bodies and functions; cycles and names given twice. */
#include "tests/unit/onnx_rig.h"

#include <stdio.h>
#include <time.h>

static onx *body;

static int
setup(void **state)
{
	body = calloc(1, sizeof *body);
	onx_begin(body);
	return onnx_setup(state);
}

static int
teardown(void **state)
{
	free(body);
	return onnx_teardown(state);
}

/* y = -(relu x) * 2, from the end to the start. */
static void
test_graph(void **state)
{
	(void)state;
	onx_input(file, "x", ONX_FLOAT, "2");
	onx_node(file, "Add", "n,n", "y");
	onx_node(file, "Neg", "r", "n");
	onx_node(file, "Relu", "x", "r");
	onx_output(file, "y");
	import(13);
	GIVES(V(3, -4), 0, -6, 0);
}

/* Nodes that are in order already stay as they are: names and numbers of a graph do not move. */
static void
test_stays(void **state)
{
	(void)state;
	onx_input(file, "x", ONX_FLOAT, "2");
	onx_node(file, "Relu", "x", "late");
	onx_node(file, "Neg", "x", "early");
	onx_node(file, "Add", "early,late", "y");
	onx_output(file, "y");
	import(13);
	assert_string_equal(qn_graph_node(rg->g, 2)->name, "late");
	assert_string_equal(qn_graph_node(rg->g, 3)->name, "early");
}

static void
test_function(void **state)
{
	(void)state;
	onx_function(file, "mine", "Twice", "a", "b");
	onx_node(file, "Add", "h,h", "b");
	onx_node(file, "Neg", "a", "h");
	onx_function_end(file, 13);
	onx_input(file, "x", ONX_FLOAT, "2");
	file->domain = "mine";
	onx_node(file, "Twice", "h", "y");
	onx_node(file, "Twice", "x", "h");
	file->domain = NULL;
	onx_output(file, "y");
	import(13);
	GIVES(V(1, -4), 0, 4, -16);
}

/* Three steps of a body in disorder, which takes a value that a later node of the graph makes. */
static void
test_loop(void **state)
{
	(void)state;
	onx_input(file, "x", ONX_FLOAT, "2");
	onx_ints64(file, "m", "", (const int64_t[]){3});
	onx_input(body, "i", ONX_INT64, "");
	onx_input(body, "c", ONX_BOOL, "");
	onx_input(body, "s", ONX_FLOAT, "2");
	onx_node(body, "Neg", "t", "u");
	onx_node(body, "Sub", "s,outer", "t");
	onx_output(body, "c");
	onx_output(body, "u");
	onx_body(file, "body", body);
	onx_node(file, "Loop", "m,,x", "y");
	onx_node(file, "Relu", "x", "outer");
	onx_output(file, "y");
	import(13);
	GIVES(V(5, -1), 0, 0, 1); /* 5: 0, 5, 0; -1 and outer 0: 1, -1, 1 */
}

/* A body that gives nothing but a value from around it. */
static void
test_if(void **state)
{
	static const uint8_t yes = 1;

	(void)state;
	onx_input(file, "x", ONX_FLOAT, "2");
	onx_tensor(file, "c", ONX_BOOL, "", &yes, 1);
	onx_output(body, "outer");
	onx_body(file, "then_branch", body);
	onx_node(file, "If", "c", "y");
	onx_node(file, "Neg", "x", "outer");
	onx_output(file, "y");
	import(13);
	GIVES(V(5, -1), 0, -5, 1);
}

/* A name that a body defines is its own, though a node after it gives the same one to its result. */
static void
test_own_names(void **state)
{
	(void)state;
	onx_input(file, "x", ONX_FLOAT, "2");
	onx_ints64(file, "m", "", (const int64_t[]){1});
	onx_input(body, "i", ONX_INT64, "");
	onx_input(body, "c", ONX_BOOL, "");
	onx_input(body, "s", ONX_FLOAT, "2");
	onx_node(body, "Neg", "s", "t");
	onx_node(body, "Neg", "t", "u");
	onx_output(body, "c");
	onx_output(body, "t");
	onx_body(file, "body", body);
	onx_node(file, "Loop", "m,,x", "l");
	onx_node(file, "Relu", "l", "t");
	onx_output(file, "t");
	import(13);
	GIVES(V(5, -1), 0, 0, 1);
}

static void
test_cycle(void **state)
{
	(void)state;
	onx_input(file, "x", ONX_FLOAT, "2");
	onx_node(file, "Add", "x,c", "a");
	onx_node(file, "Relu", "a", "b");
	onx_node(file, "Neg", "b", "c");
	onx_node(file, "Neg", "c", "y");
	onx_output(file, "y");
	assert_int_equal(import_from(NULL, 13), QN_EINVALID);
	assert_string_equal(rg->diags.item[0].id, "import.cycle");
	assert_non_null(strstr(rg->diags.item[0].message, "'b' -> 'c' -> 'a' -> 'b'"));
	assert_int_equal(rg->diags.n, 2); /* and how many nodes could not be looked at */
	assert_string_equal(rg->diags.item[1].id, "import.behind");
}

static void
test_itself(void **state)
{
	(void)state;
	onx_input(file, "x", ONX_FLOAT, "2");
	onx_node(file, "Add", "x,y", "y");
	onx_output(file, "y");
	import_fails(13, "import.cycle", "'y' -> 'y'");
}

/* Through a body. */
static void
test_cycle_of_body(void **state)
{
	static const uint8_t yes = 1;

	(void)state;
	onx_input(file, "x", ONX_FLOAT, "2");
	onx_tensor(file, "c", ONX_BOOL, "", &yes, 1);
	onx_node(body, "Neg", "z", "u");
	onx_output(body, "u");
	onx_body(file, "then_branch", body);
	onx_node(file, "If", "c", "y");
	onx_node(file, "Relu", "y", "z");
	onx_output(file, "z");
	import_fails(13, "import.cycle", "'z' -> 'y' -> 'z'");
}

static void
test_given_twice(void **state)
{
	(void)state;
	onx_input(file, "x", ONX_FLOAT, "2");
	onx_node(file, "Neg", "x", "y");
	onx_node(file, "Relu", "x", "y");
	onx_output(file, "y");
	import_fails(13, "import.output", "has the duplicate name 'y'");
	another_file();
	onx_input(file, "x", ONX_FLOAT, "2");
	onx_node(file, "Neg", "x", "x");
	onx_output(file, "x");
	import_fails(13, "import.output", "has the duplicate name 'x'");
	another_file();
	onx_input(file, "x", ONX_FLOAT, "2");
	onx_node(file, "Neg", "x", "y");
	onx_output(file, "y");
	onx_output(file, "y");
	import_fails(13, "import.output",
		     "output 1 has the name 'y', which an output before it has");
}

static void
test_nobody_gives(void **state)
{
	(void)state;
	onx_input(file, "x", ONX_FLOAT, "2");
	onx_node(file, "Add", "x,lost", "y");
	onx_output(file, "y");
	import_fails(13, "import.input", "'lost', is not a result of a node");
}

/* ---- large files ---- */

static size_t
put(uint8_t *to, int number)
{
	char name[16];
	int n = snprintf(name, sizeof name, "v%d", number);

	memcpy(to, name, (size_t)n);
	return (size_t)n;
}

/* v1 = Neg(v0), v2 = Neg(v1) … in reverse order, `ring`: v0 = Neg(vN). */
static qn_status
read_reversed(int nodes, bool ring)
{
	enum { EACH = 48 };
	uint8_t *graph = malloc((size_t)nodes * EACH), *whole = malloc((size_t)nodes * EACH + 4096);
	size_t n = 0, k = 0;

	for (int i = nodes; i > (ring ? -1 : 0); i--) {
		uint8_t *len = graph + n + 1, *p = len + 1;

		graph[n] = 1 << 3 | 2;
		*p++ = 1 << 3 | 2;
		uint8_t *name = p++;
		p += *name = (uint8_t)put(p, i > 0 ? i - 1 : nodes);
		*p++ = 2 << 3 | 2;
		name = p++;
		p += *name = (uint8_t)put(p, i);
		memcpy(p, "\x22\x03Neg", 5);
		p += 5;
		*len = (uint8_t)(p - len - 1);
		n = (size_t)(p - graph);
	}
	char last[16];
	(void)snprintf(last, sizeof last, "v%d", nodes);
	if (!ring)
		onx_input(file, "v0", ONX_FLOAT, "2");
	onx_output(file, last);
	/* the head of the file, its graph longer by the nodes */
	onx_bytes *head = &file->file;
	head->n = 0;
	onx_number(head, 1, 8);
	onx_sets(file, head, 8, 13);
	onx_varint(head, 7 << 3 | 2);
	onx_varint(head, file->graph.n + n);
	memcpy(whole, head->data, k = head->n);
	memcpy(whole + k, file->graph.data, file->graph.n);
	k += file->graph.n;
	memcpy(whole + k, graph, n);
	void *copy = qn_arena_copy(&rg->arena, whole, k + n);
	free(graph);
	free(whole);
	return qn_onnx_read(&rg->m, "f.onnx", NULL, copy, k + n, &how);
}

/* Linear: a quadratic walk over 100,000 nodes takes minutes. */
static void
test_many(void **state)
{
	(void)state;
	const clock_t start = clock();
	const qn_status status = read_reversed(100000, false);
	no_errors();
	assert_int_equal(status, QN_OK);
	rg->g = qn_model_entry(&rg->m);
	assert_int_equal(rg->g->n, 100002); /* the input, the nodes, and 0 for none */
	assert_true(clock() - start < 20 * CLOCKS_PER_SEC);
}

static void
test_long_cycle(void **state)
{
	(void)state;
	const clock_t start = clock();
	assert_int_equal(read_reversed(100000, true), QN_EINVALID);
	assert_string_equal(rg->diags.item[0].id, "import.cycle");
	assert_non_null(strstr(rg->diags.item[0].message, "99993 more"));
	assert_true(clock() - start < 20 * CLOCKS_PER_SEC);
}

#define BODY(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		BODY(test_graph),       BODY(test_stays),        BODY(test_function),
		BODY(test_loop),        BODY(test_if),           BODY(test_own_names),
		BODY(test_cycle),       BODY(test_itself),       BODY(test_cycle_of_body),
		BODY(test_given_twice), BODY(test_nobody_gives), BODY(test_many),
		BODY(test_long_cycle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
