/* SPDX-License-Identifier: Apache-2.0 */
/* test_null_lists.c - lists of a host that are NULL, or have an element that is: refused by name,
 * never read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "quern/layout.h"
#include "quern/measure.h"
#include "quern/patterns.h"
#include "quern/stream.h"

typedef struct world {
	qn_ctx *ctx;
	qn_model *m;
	qn_array *x, *none;
} world;

static void
ignore(void *user, const qn_metric *metric)
{
	(void)user;
	(void)metric;
}

static qn_status
target_element(world *w)
{
	return qn_measure(w->m, 1, &w->x, &(qn_measure_opts){.ntarget = 1, .target = &w->none},
			  ignore, NULL);
}

static qn_status
target_list(world *w)
{
	return qn_measure(w->m, 1, &w->x, &(qn_measure_opts){.ntarget = 1}, ignore, NULL);
}

static qn_status
top_list(world *w)
{
	return qn_measure(w->m, 1, &w->x, &(qn_measure_opts){.labels = w->x, .ntop = 1}, ignore,
			  NULL);
}

static qn_status
measured(world *w)
{
	return qn_measure(w->m, 1, &w->none, &(qn_measure_opts){.labels = w->x}, ignore, NULL);
}

static qn_status
measured_against(world *w)
{
	return qn_measure(w->m, 1, &w->none, &(qn_measure_opts){.against = w->m}, ignore, NULL);
}

static qn_status
run_element(world *w)
{
	qn_array *y;

	return qn_run(w->m, 1, &w->none, 0, 1, &y);
}

static qn_status
run_list(world *w)
{
	qn_array *y;

	return qn_run(w->m, 1, NULL, 0, 1, &y);
}

static qn_status
compiled(world *w)
{
	return qn_compile(w->m, &(qn_compile_opts){.ncalib = 1, .calib = &w->none});
}

static qn_status
quantizers(world *w)
{
	return qn_compile(w->m, &(qn_compile_opts){.nquantizers = 1});
}

static qn_status
observed(world *w)
{
	qn_stats *s;

	return qn_calibrate(w->m, &(qn_compile_opts){.ncalib = 1, .calib = &w->none}, 1, 1, &s);
}

static qn_status
merged(world *w)
{
	qn_stats *none = NULL, *s;

	return qn_stats_merge(w->ctx, 1, &none, NULL, &s);
}

static qn_status
saved(world *w)
{
	const qn_array *none = NULL;
	const char *path = "/tmp/quern-never.npy";

	return qn_arrays_save(w->ctx, 1, &none, &path);
}

static qn_status
imported_dim(world *w)
{
	qn_model *m;

	return qn_import(w->ctx, "m.onnx", &(qn_import_opts){.ndim = 1}, &m);
}

static qn_status
imported_value(world *w)
{
	qn_model *m;

	return qn_import(w->ctx, "m.onnx", &(qn_import_opts){.nvalue = 1}, &m);
}

static qn_status
rules(world *w)
{
	return qn_rewrite_model(w->m, 1, NULL, NULL, NULL);
}

static qn_status
cut_key(world *w)
{
	return qn_cut_model(w->m, qn_pat_any(w->ctx), &(qn_cut_opts){.nattr = 1}, NULL);
}

static qn_status
sample_mean(world *w)
{
	qn_array *x;
	size_t n;

	return qn_samples_open(w->ctx, "x.npy", &(qn_data_opts){.nmean = 1}, 1, &x, &n);
}

static qn_status
sample_shape(world *w)
{
	qn_array *x;
	size_t n;

	return qn_samples_open(w->ctx, "x.bin", &(qn_data_opts){.rank = 1}, 1, &x, &n);
}

static qn_status
stored_array(world *w)
{
	qn_stored *t;

	return qn_stored_of_array(w->ctx, "w", NULL, &t);
}

static qn_status
archive_tensor(world *w)
{
	qn_archive *x;

	assert_int_equal(qn_archive_new(w->ctx, &x), QN_OK);
	return qn_archive_add(x, "w", NULL);
}

static qn_status
loaded_path(world *w)
{
	qn_model *m;

	return qn_load(w->ctx, NULL, &m);
}

static qn_status
stream_text(world *w)
{
	return qn_stream(w->m, NULL);
}

static qn_status
output_name(world *w)
{
	return qn_add_output(qn_model_main(w->m), NULL, 1);
}

static qn_status
predicate_fn(world *w)
{
	return qn_pattern_predicate(w->ctx, "large", NULL, NULL);
}

static qn_status
pattern_args(world *w)
{
	return qn_pat_call(w->ctx, qn_callee_any(w->ctx), 3, NULL) == NULL ? QN_EUSAGE : QN_OK;
}

static void
refuses_each(void **state)
{
	static const struct {
		qn_status (*call)(world *w);
		const char *place;
	} rows[] = {
		{target_element, "target"}, {target_list, "target"},    {top_list, "top"},
		{measured, "samples"},      {measured_against, "in"},   {run_element, "samples"},
		{run_list, "samples"},      {compiled, "samples"},      {quantizers, "quantizers"},
		{observed, "samples"},      {merged, "part"},           {saved, "array"},
		{imported_dim, "dim"},      {imported_value, "value"},  {rules, "rules"},
		{cut_key, "key"},           {sample_mean, "mean"},      {sample_shape, "shape"},
		{stored_array, "array"},    {archive_tensor, "tensor"}, {loaded_path, "path"},
		{stream_text, "text"},      {output_name, "name"},      {predicate_fn, "fn"},
		{pattern_args, "arg"},
	};
	static const float data[2] = {1, 2};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		world w = {.ctx = qn_open(NULL)};

		assert_int_equal(qn_array_new(w.ctx, "f32", 2, (const int64_t[]){1, 2}, data, &w.x),
				 QN_OK);
		assert_int_equal(qn_model_new(w.ctx, "m", &w.m), QN_OK);
		qn_graph *g = qn_model_main(w.m);
		qn_id y = qn_add_input(g, "x", "tensor<1x2xf32>");
		y = qn_add_op(g, "relu", "y", 1, &y, NULL, NULL);
		assert_int_equal(qn_add_output(g, "y", y), QN_OK);
		assert_int_equal(rows[i].call(&w), QN_EUSAGE);
		assert_int_equal(qn_diag_count(w.ctx), 1);
		assert_string_equal(qn_diag_get(w.ctx, 0).id, "array.null");
		assert_string_equal(qn_diag_get(w.ctx, 0).place, rows[i].place);
		qn_close(w.ctx);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(refuses_each)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
