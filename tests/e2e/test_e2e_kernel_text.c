/* SPDX-License-Identifier: Apache-2.0 */
/* test_e2e_kernel_text.c - kernels of a host in emitted C, and what is done where they have no C text or where
 * no kernel takes a node. */
#define _POSIX_C_SOURCE 200809L /* mkdtemp */
#include <stdio.h>
#include <stdlib.h>

#include "driver/context.h"
#include "tests/e2e/host_kernels.h"

/* ---- emitted C ---- */

static void
build_and_run(const char *folder, const char *way)
{
	char command[600];

	(void)snprintf(command, sizeof command,
		       "cd %s && %s -Wall -Wextra -Wpedantic -Werror -DQN_PORTABLE -DT_TRACE "
		       "-DT_SELFTEST_MAIN *.c -o t && ./t >log",
		       folder, way);
	assert_int_equal(system(command), 0);
}

/* The C calls the function, the report names the kernel, and the self-test passes. */
static void
expect_emitted(rig *r, const qn_kernel_desc *d, const char *target)
{
	char folder[] = "/tmp/quern-kernels-XXXXXX", command[200];
	const qn_emit_opts opts = {
		.test = &r->x, .ntest = 1, .test_samples = SAMPLES, .target = target};

	assert_non_null(mkdtemp(folder));
	add(r, d);
	if (qn_emit(r->m, folder, &opts, NULL) != QN_OK)
		fail_msg("%s", qn_diag_get(r->ctx, 0).message);
	(void)snprintf(command, sizeof command, "grep -q '\t%s(t_' %s/t.c", d->c_name, folder);
	assert_int_equal(system(command), 0);
	(void)snprintf(command, sizeof command,
		       "grep -q '\"custom_kernel\": \"%s\"' %s/t.report.json", d->name, folder);
	assert_int_equal(system(command), 0);
	build_and_run(folder,
		      "cc -std=c99 -O1 -fsanitize=address,undefined -fno-sanitize-recover=all");
	build_and_run(folder, "g++ -std=c++11 -O2 -x c++");
	(void)snprintf(command, sizeof command, "rm -r %s", folder);
	assert_int_equal(system(command), 0);
}

/* Also on targets that compute values of u8 in i8. */
static void
emits_its_text(void **state)
{
	static const struct {
		qn_activations activations;
		const char *target;
	} row[] = {{QN_ACTIVATIONS_I8, NULL},
		   {QN_ACTIVATIONS_I8, "cortex-m55"},
		   {QN_ACTIVATIONS_U8, "cortex-m4"}};

	(void)state;
	for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
		rig *r = open_rig(row[i].activations);

		expect_emitted(r, &q8, row[i].target);
		assert_int_equal(runs, SAMPLES);
		qn_close(r->ctx);
	}
}

/* ---- an operator whose operands lie in its result otherwise ---- */

BOTH(
	join_rows, static void join_rows(const int32_t *p, const void *const *in, void *out) {
		int8_t *y = (int8_t *)out;
		int32_t i, k;

		for (i = 0; i < 2 * p[0]; i++)
			y[i] = 99; /* what stands there is lost */
		for (k = 0; k < 2; k++)
			for (i = 0; i < p[0]; i++)
				y[k * p[0] + i] = ((const int8_t *)in[k])[i];
	})

static int
prepare_join(void *user, const qn_kernel_call *c, int32_t *param, int cap, const char **why)
{
	(void)user;
	(void)why;
	assert_string_equal(c->attrs, "axis=1");
	if (cap > 0)
		param[0] = (int32_t)c->in[0]->numbers->shape[1];
	return 1;
}

static void
reads_operands_beside_the_result(void **state)
{
	static const char text[] =
		"model \"t\" stage integer\n"
		"graph @main(%x: tensor<1x64x!quant.uniform<i8:f32, 0.01:3>>) {\n"
		"  %a = clamp %x {lo=-5, hi=100}\n  %b = clamp %x {lo=-50, hi=20}\n"
		"  %c = concat %a, %b {axis=1}\n  %y = clamp %c {lo=-40, hi=90}\n  return %y\n}\n";
	static const char *const forms[] = {"i8", "i8"};
	const qn_kernel_desc join = {.size = sizeof join,
				     .name = "test.join",
				     .op = "concat",
				     .nin = 2,
				     .in = forms,
				     .prepare = prepare_join,
				     .run = join_rows,
				     .c_name = "join_rows",
				     .c_text = join_rows_text};
	rig *r = open_rig(QN_ACTIVATIONS_I8);

	(void)state;
	assert_int_equal(qn_file_add(r->ctx, "join.qir", text, sizeof text - 1), QN_OK);
	assert_int_equal(qn_load(r->ctx, "join.qir", &r->m), QN_OK);
	expect_emitted(r, &join, NULL);
	qn_close(r->ctx);
}

static void
needs_text_for_c(void **state)
{
	rig *r = open_rig(QN_ACTIVATIONS_I8);
	qn_kernel_desc silent = q8;
	int8_t want[SAMPLES * OUT];

	(void)state;
	outputs(r, want);
	silent.c_name = silent.c_text = NULL;
	add(r, &silent);
	expect_outputs(r, want, SAMPLES);
	assert_int_equal(qn_emit_to(r->m, NULL, drop, NULL, NULL), QN_EUNSUPPORTED);
	assert_string_equal(qn_diag_get(r->ctx, 0).id, "emit.kernel");
	assert_non_null(strstr(qn_diag_get(r->ctx, 0).message, "op dense of node 'fc"));
	qn_diag_clear(r->ctx);
	const qn_kernel_rules rules = {.size = sizeof rules, .interpreter_only = 1};
	assert_int_equal(qn_kernel_rules_set(r->ctx, &rules), QN_OK);
	expect_outputs(r, want, SAMPLES);
	expect_explained(r, "dense + requantize: qn_dense_blocks_by4");
	expect_explained(r, "not test.dense_q8 of the host: it has no C text");
	assert_int_equal(qn_kernel_rules_set(r->ctx, NULL), QN_OK);
	assert_int_equal(qn_emit_to(r->m, NULL, drop, NULL, NULL), QN_EUNSUPPORTED);
	qn_close(r->ctx);
}

/* ---- in float ---- */

/* A transpose of 7 axes has no kernel. */
static const char transposed[] =
	"model \"t\" stage integer\n"
	"graph @main(%x: tensor<1x2x2x2x2x2x2x2x!quant.uniform<i8:f32, 0.5:3>>) {\n"
	"  %y = reshape %x {shape=[2,2,2,2,2,2,2]}\n"
	"  %t = transpose %y {perm=[6,5,4,3,2,1,0]}\n"
	"  return %t\n}\n";

static void
dequantizes_where_allowed(void **state)
{
	static const int64_t shape[] = {1, 2, 2, 2, 2, 2, 2, 2};
	const qn_kernel_rules rules = {.size = sizeof rules, .allow_dequantize = 1};
	qn_ctx *ctx = qn_open(NULL);
	int8_t data[128], want[128];
	qn_array *x, *y;
	qn_model *m;

	(void)state;
	for (int i = 0; i < 128; i++) {
		int reversed = 0;

		for (int b = 0; b < 7; b++)
			reversed |= (i >> b & 1) << (6 - b);
		data[i] = (int8_t)(2 * i - 128);
		want[reversed] = data[i];
	}
	assert_int_equal(qn_file_add(ctx, "t.qir", transposed, sizeof transposed - 1), QN_OK);
	assert_int_equal(qn_load(ctx, "t.qir", &m), QN_OK);
	assert_int_equal(qn_array_new(ctx, "i8", 8, shape, data, &x), QN_OK);
	assert_int_equal(qn_run(m, 1, &x, 0, 1, &y), QN_EUNSUPPORTED);
	qn_diag_clear(ctx);
	assert_int_equal(qn_kernel_rules_set(ctx, &rules), QN_OK);
	assert_int_equal(qn_run(m, 1, &x, 0, 1, &y), QN_OK);
	assert_int_equal(qn_diag_count(ctx), 0);
	assert_memory_equal(qn_array_data(y), want, sizeof want);
	/* C has no floats */
	assert_int_equal(qn_emit_to(m, NULL, drop, NULL, NULL), QN_EUNSUPPORTED);
	assert_string_equal(qn_diag_get(ctx, 0).id, "int.unsupported");
	qn_close(ctx);
}

typedef struct memory {
	size_t left; /* allocations until one fails */
} memory;

static void *
allocate(void *user, void *p, size_t old_size, size_t new_size)
{
	memory *m = user;

	(void)old_size;
	if (new_size == 0) {
		free(p);
		return NULL;
	}
	if (m->left == 0)
		return NULL;
	m->left--;
	return realloc(p, new_size);
}

/* The rules of a context stay when a run that needs them ends without memory. */
static void
allows_it_after_a_failure(void **state)
{
	static const int64_t shape[] = {1, 2, 2, 2, 2, 2, 2, 2};
	static const int8_t data[128] = {1};
	const qn_kernel_rules rules = {.size = sizeof rules, .allow_dequantize = 1};
	memory left = {.left = SIZE_MAX};
	const qn_config config = {.size = sizeof config, .alloc = allocate, .alloc_user = &left};
	qn_ctx *ctx = qn_open(&config);
	qn_status status = QN_ENOMEM;
	size_t failed = 0;
	qn_array *x, *y;
	qn_model *m;

	(void)state;
	assert_int_equal(qn_file_add(ctx, "t.qir", transposed, sizeof transposed - 1), QN_OK);
	assert_int_equal(qn_load(ctx, "t.qir", &m), QN_OK);
	assert_int_equal(qn_array_new(ctx, "i8", 8, shape, data, &x), QN_OK);
	assert_int_equal(qn_kernel_rules_set(ctx, &rules), QN_OK);
	ctx->env.chunk_bytes = 64; /* an allocation for nearly each object */
	for (; status != QN_OK; failed++) {
		left.left = failed;
		status = qn_run(m, 1, &x, 0, 1, &y);
		left.left = SIZE_MAX;
		assert_true(status == QN_OK || status == QN_ENOMEM);
		qn_diag_clear(ctx);
		assert_int_equal(qn_run(m, 1, &x, 0, 1, &y), QN_OK);
	}
	assert_true(failed > 10);
	qn_close(ctx);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(emits_its_text),
		cmocka_unit_test(reads_operands_beside_the_result),
		cmocka_unit_test(needs_text_for_c),
		cmocka_unit_test(dequantizes_where_allowed),
		cmocka_unit_test(allows_it_after_a_failure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
