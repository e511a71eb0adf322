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
		cmocka_unit_test(test_nodes),
		cmocka_unit_test(test_nesting),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_inline),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
