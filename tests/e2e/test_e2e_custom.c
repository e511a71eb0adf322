/* SPDX-License-Identifier: Apache-2.0 */
/* test_e2e_custom.c - operators of a host's, from the public header alone: they are read from text
 * and built, calibrated, quantized, interpreted, emitted, and the emitted C gives the
 * interpreter's bytes. */
#define _POSIX_C_SOURCE 200809L /* mkdtemp */
#include "tests/e2e/host_operators.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "quern/graph.h"
#include "quern/measure.h"

static void
show(const qn_ctx *ctx)
{
	for (size_t i = 0; i < qn_diag_count(ctx); i++)
		print_message("%s: %s [%s]\n", qn_diag_get(ctx, i).place,
			      qn_diag_get(ctx, i).message, qn_diag_get(ctx, i).id);
}

static qn_array *
samples_of(qn_ctx *ctx)
{
	float x[SAMPLES * ROWS * COLUMNS];
	qn_array *out;

	for (int i = 0; i < SAMPLES * ROWS * COLUMNS; i++)
		x[i] = 0.25f * (float)(i * 7 % 41 - 17);
	assert_int_equal(
		qn_array_new(ctx, "f32", 2, (const int64_t[]){SAMPLES * ROWS, COLUMNS}, x, &out),
		QN_OK);
	return out;
}

/* blend(softsign(x), flip(softsign(x))), flip of that. */
static qn_model *
build(qn_ctx *ctx)
{
	qn_model *m;

	assert_int_equal(qn_model_new(ctx, "host", &m), QN_OK);
	qn_graph *g = qn_model_main(m);
	qn_id x = qn_add_input(g, "x", "tensor<3x5xf32>");
	qn_id s = qn_add_op(g, "test.softsign", "s", 1, &x, "gain=0.5", NULL);
	qn_id f = qn_add_op(g, "test.flip", "f", 1, &s, NULL, NULL);
	qn_id y = qn_add_op(g, "test.blend", "y", 2, (qn_id[]){x, f}, "w=0.25", NULL);
	qn_id z = qn_add_op(g, "test.flip", "z", 1, &y, NULL, NULL);
	assert_int_equal(qn_add_output(g, "z", z), QN_OK);
	return m;
}

static void
run(const char *format, const char *folder)
{
	char command[1000];

	(void)snprintf(command, sizeof command, format, folder);
	if (system(command) != 0)
		fail_msg("%s", command);
}

static void
compiles_to_c(void **state)
{
	static const char *const ways[] = {
		/* in parentheses: clang takes texts in a list for ones that lack a comma */
		("cd %s && cc -std=c99 -O1 -g -fsanitize=address,undefined "
		 "-fno-sanitize-recover=all -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror "
		 "-DHOST_SELFTEST_MAIN -DHOST_TRACE -o t *.c && ./t > log"),
		"cd %s && cc -std=c99 -O3 -DHOST_SELFTEST_MAIN -o t *.c && ./t > log",
		("cd %s && { ! command -v g++ > /dev/null || { g++ -std=c++11 -x c++ -O2 "
		 "-DHOST_SELFTEST_MAIN -o t *.c && ./t > log; }; }"),
	};
	char folder[] = "/tmp/quern-custom-XXXXXX";
	qn_ctx *ctx = open_with_operators();
	qn_model *m = build(ctx);
	qn_array *x = samples_of(ctx);
	const qn_compile_opts opts = {.calib = &x, .ncalib = 1};
	const qn_emit_opts emit = {.test = &x, .ntest = 1};

	(void)state;
	qn_status s = qn_compile(m, &opts);
	if (s == QN_OK && mkdtemp(folder) != NULL)
		s = qn_emit(m, folder, &emit, NULL);
	show(ctx);
	assert_int_equal(s, QN_OK);
	for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++)
		run(ways[i], folder);
	run("rm -r %s", folder);
	qn_close(ctx);
}

/* Two networks in one C file: the functions that both have stand there once.  A model whose names a function could
 * meet is refused. */
static void
shares_functions(void **state)
{
	char folder[] = "/tmp/quern-custom-XXXXXX";
	qn_ctx *ctx = open_with_operators();
	qn_model *m = build(ctx);
	qn_array *x = samples_of(ctx);
	const qn_compile_opts opts = {.calib = &x, .ncalib = 1};
	qn_emit_opts emit = {.test = &x, .ntest = 1, .shared_kernels = 1, .name = "one"};

	(void)state;
	assert_int_equal(qn_compile(m, &opts), QN_OK);
	assert_non_null(mkdtemp(folder));
	assert_int_equal(qn_emit(m, folder, &emit, NULL), QN_OK);
	emit.name = "two";
	assert_int_equal(qn_emit(m, folder, &emit, NULL), QN_OK);
	run("cd %s && printf '#include \"one.c\"\\n#include \"two.c\"\\n' >both.c && "
	    "cc -std=c99 -O1 -Wall -Wextra -Werror -DTWO_SELFTEST_MAIN both.c one_weights.c "
	    "two_weights.c "
	    "two_selftest.c -o both && ./both >/dev/null",
	    folder);
	emit.name = "flip";
	assert_int_equal(qn_emit(m, folder, &emit, NULL), QN_EINVALID);
	assert_string_equal(qn_diag_get(ctx, 0).id, "emit.function");
	run("rm -r %s", folder);
	qn_close(ctx);
}

/* The codes stand for what the float functions give, to two steps of the output. */
static void
stays_close_to_float(void **state)
{
	qn_ctx *ctx = open_with_operators();
	qn_model *m = build(ctx);
	qn_array *x = samples_of(ctx), *real, *codes;
	const qn_compile_opts opts = {.calib = &x, .ncalib = 1};

	(void)state;
	assert_int_equal(qn_run(m, 1, &x, 1, 1, &real), QN_OK);
	assert_int_equal(qn_compile(m, &opts), QN_OK);
	assert_int_equal(qn_run(m, 1, &x, 1, 1, &codes), QN_OK);
	const float *want = qn_array_data(real), *have = qn_array_data(codes);
	float low = want[0], high = want[0];
	for (int i = 0; i < SAMPLES * ROWS * COLUMNS; i++) {
		low = want[i] < low ? want[i] : low;
		high = want[i] > high ? want[i] : high;
	}
	for (int i = 0; i < SAMPLES * ROWS * COLUMNS; i++) {
		float error = want[i] - have[i];

		assert_true((error < 0.0f ? -error : error) <= 2.0f * (high - low) / 255.0f);
	}
	assert_true(high - low > 1.0f);
	qn_close(ctx);
}

/* Saved in both forms and read again, it is the same model. */
static void
prints_and_parses(void **state)
{
	static const char *const names[] = {"m.qir", "m.json"};
	char folder[] = "/tmp/quern-custom-XXXXXX", path[100];

	(void)state;
	assert_non_null(mkdtemp(folder));
	for (size_t i = 0; i < 2; i++) {
		qn_ctx *ctx = open_with_operators();
		qn_model *m = build(ctx), *again;

		(void)snprintf(path, sizeof path, "%s/%s", folder, names[i]);
		assert_int_equal(i == 0 ? qn_save_text(m, path) : qn_save(m, path, 0), QN_OK);
		qn_status s = qn_load(ctx, path, &again);
		show(ctx);
		assert_int_equal(s, QN_OK);
		qn_graph *g = qn_model_main(again);
		qn_id y = qn_value_find(g, "y");
		assert_string_equal(qn_value(g, y).op, "test.blend");
		assert_string_equal(qn_value_attrs(g, y), "w=0.25");
		qn_close(ctx);
		/* Without the operators the file names what is missing. */
		ctx = qn_open(NULL);
		assert_int_equal(qn_load(ctx, path, &again), QN_EINVALID);
		assert_string_equal(qn_diag_get(ctx, 0).id, "op.unknown");
		qn_close(ctx);
	}
	run("rm -r %s", folder);
}

static void
names_what_has_no_integer_form(void **state)
{
	static const char *const ops[] = {"test.gate", "test.probe"};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		qn_ctx *ctx = open_with_operators();
		qn_array *x = samples_of(ctx), *y;
		const qn_compile_opts opts = {.calib = &x, .ncalib = 1};
		qn_model *m;

		assert_int_equal(qn_model_new(ctx, "m", &m), QN_OK);
		qn_graph *g = qn_model_main(m);
		qn_id v = qn_add_input(g, "x", "tensor<3x5xf32>");
		v = qn_add_op(g, ops[i], "mine", 1, &v, NULL, NULL);
		assert_int_equal(qn_add_output(g, "y", v), QN_OK);
		assert_int_equal(qn_run(m, 1, &x, 1, 1, &y), QN_OK);
		assert_int_equal(qn_compile(m, &opts), QN_EUNSUPPORTED);
		assert_non_null(strstr(qn_diag_get(ctx, 0).message, ops[i]));
		assert_non_null(strstr(qn_diag_get(ctx, 0).message, "mine"));
		qn_close(ctx);
	}
}

static void
checks_what_it_is_given(void **state)
{
	qn_ctx *ctx = open_with_operators();
	qn_op_desc bad[] = {operators[0], operators[0], operators[0], operators[0], operators[1],
			    operators[1], operators[3], operators[4], operators[1], operators[1]};
	const size_t n = sizeof bad / sizeof bad[0];

	(void)state;
	for (size_t i = 1; i < n; i++)
		bad[i].name = "test.other"; /* bad[0]: the name is taken */
	bad[1].name = "softsign";
	bad[2].run_float = NULL;
	bad[3].max_inputs = 2;
	bad[4].integer_name = "other";
	bad[5].run_integer = NULL;
	bad[6].fixed_scale = 0;
	bad[7].min_inputs = 2;
	bad[8].name = "test.";
	bad[9].integer_text = "static void flip_codes(void) {}"; /* the name has another text */
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(qn_op_register(ctx, &bad[i]), QN_EUSAGE);
		assert_int_equal(qn_diag_count(ctx), i + 1);
		assert_string_equal(qn_diag_get(ctx, i).id, "op.register");
	}
	qn_diag_clear(ctx);
	qn_model *m;
	assert_int_equal(qn_model_new(ctx, "m", &m), QN_OK);
	qn_graph *g = qn_model_main(m);
	qn_id x = qn_add_input(g, "x", "tensor<2x3x5xf32>");
	assert_int_equal(qn_add_op(g, "test.gate", "g", 1, &x, NULL, NULL), 0);
	assert_string_equal(qn_diag_get(ctx, 0).id, "shape.custom");
	assert_int_equal(qn_add_op(g, "test.blend", "b", 2, (qn_id[]){x, x}, NULL, NULL), 0);
	assert_string_equal(qn_diag_get(ctx, 1).id, "attr.missing");
	assert_int_equal(qn_add_op(g, "custom", "c", 1, &x, NULL, NULL), 0);
	assert_string_equal(qn_diag_get(ctx, 2).id, "op.unknown");
	qn_close(ctx);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(compiles_to_c),
		cmocka_unit_test(shares_functions),
		cmocka_unit_test(stays_close_to_float),
		cmocka_unit_test(prints_and_parses),
		cmocka_unit_test(names_what_has_no_integer_form),
		cmocka_unit_test(checks_what_it_is_given),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
