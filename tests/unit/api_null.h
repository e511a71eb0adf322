/* SPDX-License-Identifier: Apache-2.0 */
/* api_null.h - calls of public functions with NULL for a pointer that must not be NULL: refused by name, or their
 * nothing; never read.
 *
 *   REFUSED("path", qn_load(ctx, NULL, &m))     QN_EUSAGE, one report: array.null, "path"
 *   SILENT(qn_load(NULL, path, &m))             QN_EUSAGE, without a report: that needs a context
 *   NOTHING(qn_model_name(NULL))                0 or NULL, no report
 *   REPORTED("g", qn_pat_expr(ctx, NULL, 1))    0 or NULL, and a report
 *
 * test_api_null.c finds functions that none of the files test_api_null*.c calls. */
#ifndef TESTS_UNIT_API_NULL_H
#define TESTS_UNIT_API_NULL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "quern/layout.h"
#include "quern/patterns.h"

static qn_ctx *ctx;

static inline void
check(bool ok, const char *name, const char *what)
{
	const size_t n = qn_diag_count(ctx);
	const bool reported = n == 1 && strcmp(qn_diag_get(ctx, 0).id, "array.null") == 0 &&
			      name != NULL && strcmp(qn_diag_get(ctx, 0).place, name) == 0;

	if (!ok || (name != NULL ? !reported : n > 0))
		fail_msg("%s: %zu reports, %s %s %s", what, n, n > 0 ? qn_diag_get(ctx, 0).id : "",
			 n > 0 ? qn_diag_get(ctx, 0).place : "",
			 n > 0 ? qn_diag_get(ctx, 0).message : "");
	qn_diag_clear(ctx);
}

#define REFUSED(name, call) check((call) == QN_EUSAGE, name, #call)
#define SILENT(call) check((call) == QN_EUSAGE, NULL, #call)
#define NOTHING(call) check((call) == 0, NULL, #call)
#define REPORTED(name, call) check((call) == 0, name, #call)

static inline int
put(void *user, const char *text, size_t n)
{
	(void)user;
	(void)text;
	(void)n;
	return 0;
}

/* ---- what the functions are called with ---- */

static qn_model *m;
static qn_graph *g;
static qn_array *x;
static qn_pattern *p;
static qn_archive *a;
static qn_stored *t;

static inline int
set_up(void **state)
{
	static const float data[8] = {1, -2, 3, -4, 5, -6, 7, -8};

	(void)state;
	ctx = qn_open(NULL);
	assert_int_equal(qn_array_new(ctx, "f32", 2, (const int64_t[]){2, 4}, data, &x), QN_OK);
	assert_int_equal(qn_model_new(ctx, "m", &m), QN_OK);
	g = qn_model_main(m);
	qn_id y = qn_add_input(g, "x", "tensor<1x4xf32>");
	y = qn_add_op(g, "relu", "y", 1, &y, NULL, NULL);
	assert_int_equal(qn_add_output(g, "y", y), QN_OK);
	assert_int_equal(qn_pattern_parse(ctx, "relu(x)", &p), QN_OK);
	assert_int_equal(qn_archive_new(ctx, &a), QN_OK);
	assert_int_equal(qn_stored_of_array(ctx, "t", x, &t), QN_OK);
	return 0;
}

static inline int
tear_down(void **state)
{
	(void)state;
	qn_close(ctx);
	return 0;
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

#endif
