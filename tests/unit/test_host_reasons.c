/* SPDX-License-Identifier: Apache-2.0 */
/* test_host_reasons.c - callbacks of a host that decline and leave no reason, or set it to NULL: the report says that
 * there is none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "quern/host_ops.h"
#include "quern/patterns.h"

/* Not 0: the callbacks set *why to NULL. */
static const int leave = 0, set = 1;

static void
maybe_set(const void *user, const char **why)
{
	if (*(const int *)user == set)
		*why = NULL;
}

static int
no_shape(void *user, const qn_op_call *c, int64_t dim[8], const char **why)
{
	(void)c;
	(void)dim;
	maybe_set(user, why);
	return -1;
}

static int
no_prepare(void *user, const qn_op_call *c, int32_t *param, int cap, const char **why)
{
	(void)c;
	(void)param;
	(void)cap;
	maybe_set(user, why);
	return -1;
}

static int
no_accept(void *user, const qn_graph *g, const qn_match *m, const char **why)
{
	(void)g;
	(void)m;
	maybe_set(user, why);
	return 0;
}

static qn_id
never(void *user, qn_quantizing *q, const qn_match *m)
{
	(void)user;
	(void)q;
	(void)m;
	fail();
	return 0;
}

static void
copy(void *user, const qn_op_call *c, const float *const *in, float *out)
{
	(void)user;
	(void)c;
	memcpy(out, in[0], 4 * sizeof *out);
}

static void
never_run(const int32_t *param, const void *const *in, void *out)
{
	(void)param;
	(void)in;
	(void)out;
	fail();
}

/* A model of one node of this op. */
static qn_model *
model_of(qn_ctx *ctx, const char *op)
{
	qn_model *m;

	assert_int_equal(qn_model_new(ctx, "m", &m), QN_OK);
	qn_graph *g = qn_model_main(m);
	qn_id y = qn_add_input(g, "x", "tensor<1x4xf32>");
	y = qn_add_op(g, op, "y", 1, &y, NULL, NULL);
	if (y != 0)
		assert_int_equal(qn_add_output(g, "y", y), QN_OK);
	return m;
}

static void
says_none(qn_ctx *ctx, const char *id)
{
	const size_t n = qn_diag_count(ctx);

	for (size_t i = 0; i < n; i++)
		if (strcmp(qn_diag_get(ctx, i).id, id) == 0) {
			assert_non_null(strstr(qn_diag_get(ctx, i).message, "gives no reason"));
			return;
		}
	fail_msg("no %s", id);
}

static void
shape(const int *how)
{
	qn_ctx *ctx = qn_open(NULL);
	const qn_op_desc op = {.name = "test.shape",
			       .min_inputs = 1,
			       .max_inputs = 1,
			       .shape = no_shape,
			       .run_float = copy,
			       .user = (void *)(uintptr_t)how};

	assert_int_equal(qn_op_register(ctx, &op), QN_OK);
	(void)model_of(ctx, "test.shape");
	says_none(ctx, "shape.custom");
	qn_close(ctx);
}

static void
prepare(const int *how)
{
	static const float data[4] = {1, 2, 3, 4};
	qn_ctx *ctx = qn_open(NULL);
	qn_array *x;
	const qn_op_desc op = {.name = "test.copy",
			       .min_inputs = 1,
			       .max_inputs = 1,
			       .behaviour = QN_OP_SAME,
			       .run_float = copy,
			       .prepare = no_prepare,
			       .run_integer = never_run,
			       .integer_name = "never_run",
			       .integer_text = "static void never_run(const int32_t *param, const "
					       "void *const *in, void *out) { }",
			       .user = (void *)(uintptr_t)how};

	assert_int_equal(qn_op_register(ctx, &op), QN_OK);
	qn_model *m = model_of(ctx, "test.copy");
	assert_int_equal(qn_array_new(ctx, "f32", 2, (const int64_t[]){1, 4}, data, &x), QN_OK);
	assert_int_equal(qn_compile(m, &(qn_compile_opts){.calib = &x, .ncalib = 1}),
			 QN_EUNSUPPORTED);
	says_none(ctx, "int.unsupported");
	qn_close(ctx);
}

static void
tell(void *user, const qn_explained *e)
{
	const char **why = user;

	*why = e->why;
}

static void
accept(const int *how)
{
	qn_ctx *ctx = qn_open(NULL);
	const char *why = NULL;
	const qn_quantizer q = {.name = "test.relu",
				.text = "relu(x)",
				.accept = no_accept,
				.quantize = never,
				.user = (void *)(uintptr_t)how};
	const qn_compile_opts o = {.passes = "partition",
				   .quantizers = &q,
				   .nquantizers = 1,
				   .no_standard = 1,
				   .explain = tell,
				   .explain_user = &why};

	assert_int_equal(qn_compile(model_of(ctx, "relu"), &o), QN_OK);
	assert_non_null(why);
	assert_string_equal(why, "it gives no reason");
	qn_close(ctx);
}

static void
test_shape(void **state)
{
	(void)state;
	shape(&leave);
	shape(&set);
}

static void
test_prepare(void **state)
{
	(void)state;
	prepare(&leave);
	prepare(&set);
}

static void
test_accept(void **state)
{
	(void)state;
	accept(&leave);
	accept(&set);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shape),
		cmocka_unit_test(test_prepare),
		cmocka_unit_test(test_accept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
