/* SPDX-License-Identifier: Apache-2.0 */
/* test_limits.c - each limit: a model at it loads, one above is refused by its name. */
#define _DEFAULT_SOURCE /* mkstemps */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/e2e/build.h"

#include "codegen/inline.h"

/* Loads the text with these limits; returns the first diagnostic's id, "" when all is well. */
static const char *
load(const char *text, const qn_limits *limits)
{
	char path[] = "/tmp/quern-limits-XXXXXX.qir";
	static char id[64];
	int fd = mkstemps(path, 4);
	qn_ctx *ctx = qn_open(&(qn_config){.limits = *limits});
	qn_model *m;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	assert_int_equal(close(fd), 0);
	qn_status status = qn_load(ctx, path, &m);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(status == QN_OK, qn_diag_count(ctx) == 0);
	assert_true(status == QN_OK || status == QN_EBUDGET);
	(void)snprintf(id, sizeof id, "%s", status == QN_OK ? "" : qn_diag_get(ctx, 0).id);
	qn_close(ctx);
	return id;
}

/* Graphs @g1 … @gn, each calling the one before twice; `relu` stands in the first. */
static char *
doubling(size_t n, bool relu)
{
	char *text = malloc(300 * (n + 1));
	size_t at = 0;

	assert_non_null(text);
	at += (size_t)sprintf(text + at, "graph @g0(%%x: tensor<2xf32>) { %s return %%%s }\n",
			      relu ? "%y = relu %x" : "", relu ? "y" : "x");
	for (size_t i = 1; i <= n; i++)
		at += (size_t)sprintf(text + at,
				      "graph @g%zu(%%x: tensor<2xf32>) {\n  %%a = call @g%zu %%x\n"
				      "  %%b = call @g%zu %%a\n  return %%b\n}\n",
				      i, i - 1, i - 1);
	return text;
}

static void
expect(const char *want, size_t n, bool relu, const qn_limits *limits)
{
	char *text = doubling(n, relu);
	const char *id = load(text, limits);

	free(text);
	assert_string_equal(id, want);
}

/* Levels n hold 2, 3 + 2*2 = 7, 17, 37 … nodes. */
static void
test_nodes(void **state)
{
	(void)state;
	expect("", 2, true, &(qn_limits){.nodes = 17});
	expect("limit.nodes", 2, true, &(qn_limits){.nodes = 16});
	expect("", 16, true, &(qn_limits){0});
	expect("limit.nodes", 30, true, &(qn_limits){0});
	expect("limit.nodes", 30, false, &(qn_limits){0});
	expect("limit.nodes", 64, true, &(qn_limits){0}); /* does not wrap */
}

static void
test_nesting(void **state)
{
	(void)state;
	expect("", 3, true, &(qn_limits){.nesting = 3});
	expect("limit.nesting", 4, true, &(qn_limits){.nesting = 3});
	/* the host cannot go beyond what recursion stands */
	expect("limit.nesting", 65, true,
	       &(qn_limits){.nesting = 1000, .nodes = UINT64_MAX, .steps = UINT64_MAX});
}

static void
test_sizes(void **state)
{
	static const char net[] = "graph @main(%x: tensor<1x10xf32>) {\n"
				  "  %w = const : tensor<3x10xf32> rand 1\n"
				  "  %y = dense %x, %w\n  return %y\n}\n";
	static const char big[] = "graph @main(%x: tensor<3000000000xi8>) {\n  return %x\n}\n";
	static const char long_value[] =
		"graph @main(%x: tensor<2000000000xf32>) {\n  return %x\n}\n";

	(void)state;
	assert_string_equal(load(net, &(qn_limits){.dim = 10}), "");
	assert_string_equal(load(net, &(qn_limits){.dim = 9}), "limit.dim");
	assert_string_equal(load(net, &(qn_limits){.bytes = 120}), "");
	assert_string_equal(load(net, &(qn_limits){.bytes = 119}), "limit.bytes");
	assert_string_equal(load(net, &(qn_limits){.bytes = 60}), "limit.bytes"); /* the file */
	/* 3 nodes, 10 + 30 + 3 elements, 30 multiplications */
	assert_string_equal(load(net, &(qn_limits){.steps = 76}), "");
	assert_string_equal(load(net, &(qn_limits){.steps = 75}), "limit.steps");
	assert_string_equal(load(big, &(qn_limits){0}), "limit.dim");
	assert_string_equal(load(long_value, &(qn_limits){0}), "limit.bytes");
}

/* Loops of `count` steps, one in the other. */
static const char *
load_loops(size_t depth, const char *count, const qn_limits *limits)
{
	char *text = malloc(400 * (depth + 1));
	size_t at = 0;

	assert_non_null(text);
	at += (size_t)sprintf(text + at, "graph @main(%%x: tensor<1x4xf32>) {\n");
	for (size_t i = 0; i < depth; i++) {
		at += (size_t)sprintf(text + at, "  %%i%zu = loop", i);
		if (i > 0)
			at += (size_t)sprintf(text + at, " %%i%zu", i - 1);
		at += (size_t)sprintf(text + at, " {count=%s}\n  %%h%zu = loop_carry ", count, i);
		at += (size_t)sprintf(text + at, i > 0 ? "%%h%zu, %%i%zu\n" : "%%x, %%i0\n", i - 1,
				      i);
	}
	at += (size_t)sprintf(text + at, "  %%y%zu = relu %%h%zu\n", depth, depth - 1);
	for (size_t i = depth; i-- > 0;)
		at += (size_t)sprintf(text + at,
				      "  %%e%zu = loop_end %%i%zu, %%y%zu\n  %%y%zu = loop_last "
				      "%%y%zu, %%e%zu\n",
				      i, i, i + 1, i, i + 1, i);
	(void)sprintf(text + at, "  return %%y0\n}\n");
	const char *id = load(text, limits);
	free(text);
	return id;
}

/* 4 nodes of the loop and what it leaves, 64 and their elements in each of 10 steps, and the input's 1 + 4. */
static void
test_loops(void **state)
{
	const uint64_t steps = 10 * (5 * 64 + 1 + 4 + 4 + 1 + 4) + 5;

	(void)state;
	assert_string_equal(load_loops(1, "10", &(qn_limits){.steps = steps}), "");
	assert_string_equal(load_loops(1, "10", &(qn_limits){.steps = steps - 1}), "limit.steps");
	assert_string_equal(load_loops(1, "1000000000", &(qn_limits){0}), "");
	assert_string_equal(load_loops(1, "2147483647", &(qn_limits){.steps = UINT64_C(1) << 36}),
			    "limit.steps");
	assert_string_equal(load_loops(2, "2147483647", &(qn_limits){0}), "limit.steps");
	assert_string_equal(load_loops(10, "2147483647", &(qn_limits){0}), "limit.steps");
	assert_string_equal(load_loops(60, "1", &(qn_limits){0}), "");
	assert_string_equal(load_loops(65, "1", &(qn_limits){0}), "limit.nesting");
}

/* No state is beyond the limit, but all are. */
static void
test_states(void **state)
{
	static const char text[] =
		"graph @main(%x: tensor<4xf32>, %a: tensor<1000000000xi8> state, "
		"%b: tensor<1000000000xi8> state, %c: tensor<1000000000xi8> state, "
		"%d: tensor<1000000000xi8> state, %e: tensor<1000000000xi8> state) {\n"
		"  return %x, %a to %a, %b to %b, %c to %c, %d to %d, %e to %e\n}\n";

	(void)state;
	assert_string_equal(load(text, &(qn_limits){0}), "limit.bytes");
	assert_string_equal(load(text, &(qn_limits){.bytes = UINT64_C(5000000000)}), "");
	assert_string_equal(load(text, &(qn_limits){.bytes = UINT64_C(4999999999)}), "limit.bytes");
}

/* Graphs that never passed a reader explode neither. */
static void
test_inline(void **state)
{
	char *text = doubling(40, false);
	const qn_graph *flat;
	builder b;

	(void)state;
	build_parse(&b, text);
	assert_int_equal(qn_graph_inline(b.g, &b.arena, &flat), QN_EBUDGET);
	assert_true(build_reported(&b, "limit.nodes"));
	build_end(&b);
	free(text);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nodes),  cmocka_unit_test(test_nesting),
		cmocka_unit_test(test_sizes),  cmocka_unit_test(test_loops),
		cmocka_unit_test(test_states), cmocka_unit_test(test_inline),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
