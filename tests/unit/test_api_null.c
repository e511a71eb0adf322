/* SPDX-License-Identifier: Apache-2.0 */
/* test_api_null.c - functions of contexts, models and graphs with NULL for each pointer that must not be NULL; and that
 * no function is left out. */
#include <stdio.h>

#include "tests/unit/api_null.h"

#include "quern/kernels.h"
#include "quern/stream.h"
#include "quern/tune.h"

static int
put_file(void *user, const char *name, const char *text, size_t n)
{
	(void)user;
	(void)name;
	(void)text;
	(void)n;
	return 0;
}

static void
see_metric(void *user, const qn_metric *metric)
{
	(void)user;
	(void)metric;
}

/* ---- context.h ---- */

static void
contexts(void **state)
{
	(void)state;
	qn_close(NULL);
	qn_abandon(NULL);
	qn_diag_clear(NULL);
	qn_set_sequence(NULL, 1);
	NOTHING(qn_diag_count(NULL));
	NOTHING(qn_diag_dropped(NULL));
	NOTHING(qn_diag_get(NULL, 0).id);
	NOTHING(qn_nearer_name(NULL, NULL, NULL));
	NOTHING(qn_file_remove(NULL, "f"));
	NOTHING(qn_file_remove(ctx, NULL));
	SILENT(qn_file_add(NULL, "f", "", 0));
	REFUSED("path", qn_file_add(ctx, NULL, "", 0));
	REFUSED("data", qn_file_add(ctx, "f", NULL, 1));
	SILENT(qn_write_file(NULL, "f", "", 0));
	REFUSED("path", qn_write_file(ctx, NULL, "", 0));
	REFUSED("data", qn_write_file(ctx, "f", NULL, 1));
}

/* ---- model.h, compile.h, emit.h, stream.h ---- */

static void
models(void **state)
{
	qn_model *out = m;

	(void)state;
	qn_model_free(NULL);
	SILENT(qn_load(NULL, "f", &out));
	assert_null(out);
	REFUSED("path", qn_load(ctx, NULL, &out));
	REFUSED("out", qn_load(ctx, "f", NULL));
	SILENT(qn_import(NULL, "f", NULL, &out));
	REFUSED("path", qn_import(ctx, NULL, NULL, &out));
	REFUSED("out", qn_import(ctx, "f", NULL, NULL));
	NOTHING(qn_model_name(NULL));
	NOTHING(qn_model_stage(NULL));
	NOTHING(qn_model_describe(NULL).inputs);
	NOTHING(qn_model_input_name(NULL, 0));
	NOTHING(qn_model_output_name(NULL, 0));
	NOTHING(qn_model_state_name(NULL, 0));
	NOTHING(qn_model_input_type(NULL, 0));
	NOTHING(qn_model_output_type(NULL, 0));
	NOTHING(qn_model_state_type(NULL, 0));
	NOTHING(qn_model_kinds(NULL));
	SILENT(qn_print(NULL, QN_FORMAT_IR, put, NULL));
	REFUSED("write", qn_print(m, QN_FORMAT_IR, NULL, NULL));
	SILENT(qn_save(NULL, "f.json", 0));
	REFUSED("path", qn_save(m, NULL, 0));
	SILENT(qn_save_text(NULL, "f.qir"));
	REFUSED("path", qn_save_text(m, NULL));
	SILENT(qn_export(NULL, "f.onnx", QN_EXPORT_ONNX_QDQ));
	REFUSED("path", qn_export(m, NULL, QN_EXPORT_ONNX_QDQ));
	SILENT(qn_reduce_range(NULL));
	SILENT(qn_compile(NULL, NULL));
	SILENT(qn_stream_check(NULL, "axis=1,hop=1"));
	REFUSED("text", qn_stream_check(m, NULL));
	SILENT(qn_stream(NULL, "axis=1,hop=1"));
	REFUSED("text", qn_stream(m, NULL));
}

static void
see_buffer(void *user, const qn_plan_buffer *b)
{
	(void)user;
	(void)b;
}

static void
see_step(void *user, const qn_plan_step *s)
{
	(void)user;
	(void)s;
}

static void
emitting(void **state)
{
	(void)state;
	SILENT(qn_memory_plan(NULL, NULL, see_buffer, NULL, NULL));
	REFUSED("fn", qn_memory_plan(m, NULL, NULL, NULL, NULL));
	SILENT(qn_plan_steps(NULL, NULL, see_step, NULL, NULL));
	REFUSED("fn", qn_plan_steps(m, NULL, NULL, NULL, NULL));
	SILENT(qn_emit(NULL, "f", NULL, NULL));
	REFUSED("folder", qn_emit(m, NULL, NULL, NULL));
	SILENT(qn_emit_to(NULL, NULL, put_file, NULL, NULL));
	REFUSED("fn", qn_emit_to(m, NULL, NULL, NULL, NULL));
}

/* ---- graph.h ---- */

static void
graphs(void **state)
{
	const qn_id one = 1;
	qn_model *out = m;

	(void)state;
	SILENT(qn_model_new(NULL, "m", &out));
	assert_null(out);
	REFUSED("name", qn_model_new(ctx, NULL, &out));
	REFUSED("out", qn_model_new(ctx, "m", NULL));
	NOTHING(qn_model_main(NULL));
	NOTHING(qn_add_input(NULL, "x", "tensor<1xf32>"));
	REPORTED("type", qn_add_input(g, "x", NULL));
	NOTHING(qn_add_const(NULL, "x", x));
	NOTHING(qn_add_const(g, "x", NULL));
	NOTHING(qn_add_op(NULL, "relu", NULL, 1, &one, NULL, NULL));
	REPORTED("op", qn_add_op(g, NULL, NULL, 1, &one, NULL, NULL));
	REPORTED("in", qn_add_op(g, "relu", NULL, 1, NULL, NULL, NULL));
	SILENT(qn_add_output(NULL, "z", 1));
	REFUSED("name", qn_add_output(g, NULL, 1));
	NOTHING(qn_graph_size(NULL));
	NOTHING(qn_value(NULL, 1).op);
	NOTHING(qn_value_find(NULL, "x"));
	NOTHING(qn_value_find(g, NULL));
	NOTHING(qn_value_type(NULL, 1));
	NOTHING(qn_value_attrs(NULL, 1));
}

/* ---- calibrate.h ---- */

static void
statistics(void **state)
{
	const qn_compile_opts o = {.calib = &x, .ncalib = 1};
	qn_stats *s = NULL, *out = NULL;
	const char *no_name = NULL;
	uint64_t first, last;

	(void)state;
	qn_stats_free(NULL);
	SILENT(qn_calibrate(NULL, &o, 0, 0, &out));
	REFUSED("out", qn_calibrate(m, &o, 0, 0, NULL));
	assert_int_equal(qn_calibrate(m, &o, 0, 0, &s), QN_OK);
	qn_diag_clear(ctx);
	SILENT(qn_stats_merge(NULL, 1, &s, NULL, &out));
	REFUSED("part", qn_stats_merge(ctx, 1, NULL, NULL, &out));
	REFUSED("names", qn_stats_merge(ctx, 1, &s, &no_name, &out));
	REFUSED("out", qn_stats_merge(ctx, 1, &s, NULL, NULL));
	SILENT(qn_stats_load(NULL, "f", &out));
	REFUSED("path", qn_stats_load(ctx, NULL, &out));
	REFUSED("out", qn_stats_load(ctx, "f", NULL));
	SILENT(qn_stats_save(NULL, "f"));
	REFUSED("path", qn_stats_save(s, NULL));
	NOTHING(qn_stats_complete(NULL));
	NOTHING(qn_stats_missing(NULL, 0, &first, &last, NULL));
	REPORTED("first", qn_stats_missing(s, 0, NULL, &last, NULL));
	REPORTED("last", qn_stats_missing(s, 0, &first, NULL, NULL));
	SILENT(qn_stats_explain(NULL, s, NULL, 0, NULL, put, NULL));
	REFUSED("s", qn_stats_explain(m, NULL, NULL, 0, NULL, put, NULL));
	REFUSED("samples", qn_stats_explain(m, s, NULL, 1, NULL, put, NULL));
	REFUSED("write", qn_stats_explain(m, s, NULL, 0, NULL, NULL, NULL));
	SILENT(qn_method_register(NULL, &(qn_method_desc){.name = "a.b"}));
	REFUSED("desc", qn_method_register(ctx, NULL));
	REFUSED("param", qn_method_register(ctx, &(qn_method_desc){.name = "a.b", .nparam = 1}));
}

/* ---- measure.h, tune.h ---- */

static void
running(void **state)
{
	qn_array *out = x;
	qn_session *s;

	(void)state;
	qn_session_free(NULL);
	qn_session_reset(NULL);
	SILENT(qn_run(NULL, 1, &x, 0, 1, &out));
	assert_null(out);
	REFUSED("samples", qn_run(m, 1, NULL, 0, 1, &out));
	REFUSED("out", qn_run(m, 1, &x, 0, 1, NULL));
	SILENT(qn_run_traced(NULL, 1, &x, 0, 1, &out, NULL, NULL));
	REFUSED("samples", qn_run_traced(m, 1, NULL, 0, 1, &out, NULL, NULL));
	REFUSED("out", qn_run_traced(m, 1, &x, 0, 1, NULL, NULL, NULL));
	SILENT(qn_session_new(NULL, &s));
	assert_null(s);
	REFUSED("out", qn_session_new(m, NULL));
	assert_int_equal(qn_session_new(m, &s), QN_OK);
	out = x;
	SILENT(qn_session_run(NULL, 1, &x, 0, 1, &out));
	assert_null(out);
	REFUSED("samples", qn_session_run(s, 1, NULL, 0, 1, &out));
	REFUSED("out", qn_session_run(s, 1, &x, 0, 1, NULL));
}

static void
see_layer(void *user, const qn_layer_cost *l)
{
	(void)user;
	(void)l;
}

static void
measuring(void **state)
{
	const qn_measure_opts by = {.against = m};
	const qn_compile_opts how = {.calib = &x, .ncalib = 1};
	const qn_tune_opts tune = {.compile = &how};
	const qn_device device = {0};
	const char *journal = "f";
	qn_analysis analysis;
	qn_validation validation;
	qn_noise noise;
	qn_tuned tuned;
	qn_array *out;

	(void)state;
	SILENT(qn_labels_open(NULL, "f.npy", NULL, NULL, &out));
	REFUSED("path", qn_labels_open(ctx, NULL, NULL, NULL, &out));
	REFUSED("out", qn_labels_open(ctx, "f.npy", NULL, NULL, NULL));
	NOTHING(qn_array_has_labels(NULL));
	NOTHING(qn_array_class(NULL, 0));
	NOTHING(qn_runs_in_integers(NULL));
	SILENT(qn_measure(NULL, 1, &x, &by, see_metric, NULL));
	REFUSED("in", qn_measure(m, 1, NULL, &by, see_metric, NULL));
	REFUSED("fn", qn_measure(m, 1, &x, &by, NULL, NULL));
	SILENT(qn_measure_noise(NULL, 1, &x, NULL, NULL, &noise));
	REFUSED("out", qn_measure_noise(m, 1, &x, NULL, NULL, NULL));
	SILENT(qn_analyze(NULL, 1, &x, NULL, see_layer, NULL, &analysis));
	REFUSED("fn", qn_analyze(m, 1, &x, NULL, NULL, NULL, &analysis));
	REFUSED("out", qn_analyze(m, 1, &x, NULL, see_layer, NULL, NULL));
	SILENT(qn_validate(NULL, "f", 1, &x, NULL, &device, &validation));
	REFUSED("folder", qn_validate(ctx, NULL, 1, &x, NULL, &device, &validation));
	REFUSED("device", qn_validate(ctx, "f", 1, &x, NULL, NULL, &validation));
	REFUSED("run", qn_validate(ctx, "f", 1, &x, NULL, &device, &validation));
	REFUSED("out", qn_validate(ctx, "f", 1, &x, NULL, &device, NULL));
	SILENT(qn_tune(NULL, &tune, NULL, NULL, &tuned));
	REFUSED("out", qn_tune(m, &tune, NULL, NULL, NULL));
	SILENT(qn_tune_merge(NULL, 1, &journal, "f"));
	REFUSED("journal", qn_tune_merge(ctx, 1, NULL, "f"));
	REFUSED("to", qn_tune_merge(ctx, 1, &journal, NULL));
}

/* ---- host_ops.h, kernels.h ---- */

static void
operators(void **state)
{
	int32_t number;

	(void)state;
	SILENT(qn_op_register(NULL, &(qn_op_desc){.name = "a.b"}));
	REFUSED("desc", qn_op_register(ctx, NULL));
	REFUSED("attr", qn_op_register(ctx, &(qn_op_desc){.name = "a.b", .nattr = 1}));
	SILENT(qn_compositions_load(NULL, "f"));
	REFUSED("path", qn_compositions_load(ctx, NULL));
	SILENT(qn_multiplier_of(0.5, NULL, &number));
	SILENT(qn_multiplier_of(0.5, &number, NULL));
	SILENT(qn_kernel_register(NULL, &(qn_kernel_desc){.name = "a.b"}));
	REFUSED("desc", qn_kernel_register(ctx, NULL));
	REFUSED("in", qn_kernel_register(ctx, &(qn_kernel_desc){.name = "a.b", .nin = 1}));
	SILENT(qn_kernel_unregister(NULL, "a.b"));
	REFUSED("name", qn_kernel_unregister(ctx, NULL));
	SILENT(qn_kernel_rules_set(NULL, NULL));
}

/* ---- completeness ---- */

enum { MOST = 1 << 18 };

/* Appends a file. */
static void
read_text(const char *path, char *text)
{
	FILE *f = fopen(path, "rb");
	size_t n = strlen(text);

	assert_non_null(f);
	n += fread(text + n, 1, MOST - 1 - n, f);
	text[n] = '\0';
	assert_true(n < MOST - 1);
	assert_int_equal(fclose(f), 0);
}

/* Every function of this header that takes a pointer is called above. */
static void
find_calls(const char *header, const char *own)
{
	static char text[MOST];
	char path[64], name[80];

	(void)snprintf(path, sizeof path, "include/quern/%s.h", header);
	text[0] = '\0';
	read_text(path, text);
	for (const char *s = strstr(text, "\nQN_API "); s != NULL; s = strstr(s + 1, "\nQN_API ")) {
		const char *open = strchr(s, '('), *end = strchr(s, ';'), *first = open;
		const char *star = strchr(open, '*');

		while (first[-1] == '_' || (first[-1] >= 'a' && first[-1] <= 'z'))
			first--;
		(void)snprintf(name, sizeof name, "%.*s(", (int)(open - first), first);
		if (star != NULL && star < end && strcmp(name, "qn_open(") != 0 &&
		    strstr(own, name) == NULL)
			fail_msg("%s...) of %s is not called with NULL", name, path);
	}
}

static void
all_of_them(void **state)
{
	static const char *const headers[] = {
		"calibrate", "compile", "context", "emit",     "graph",
		"host_ops",  "kernels", "layout",  "measure",  "model",
		"samples",   "stream",  "tokens",  "patterns", "tune",
	};
	static char own[MOST];

	(void)state;
	read_text("tests/unit/test_api_null.c", own);
	read_text("tests/unit/test_api_null_data.c", own);
	read_text("tests/unit/test_api_null_patterns.c", own);
	for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++)
		find_calls(headers[i], own);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(contexts),  TEST(models),     TEST(emitting),
		TEST(graphs),    TEST(statistics), TEST(running),
		TEST(measuring), TEST(operators),  TEST(all_of_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
