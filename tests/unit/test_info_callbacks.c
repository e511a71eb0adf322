/* SPDX-License-Identifier: Apache-2.0 */
/* test_info_callbacks.c - calibration callbacks: what they are called with, in which order, and that fail. */
#include "tests/unit/info_rig.h"

static bool
method(const void *user, const qn_symbol *sym, double *scale, int64_t *zp)
{
	(void)user;
	(void)sym;
	*scale = 0.5;
	*zp = 0;
	return true;
}

typedef struct record {
	char names[64];
	bool fail, forget;
} record;

static qn_status
take_defaults(void *user, qn_info *i)
{
	record *r = user;

	(void)strcat(r->names, i->part->out);
	if (r->fail)
		return QN_EUNSUPPORTED;
	for (size_t k = 0; k < i->npair && !r->forget; k++)
		if (!i->pair[k].set)
			assert_int_equal(qn_info_store_range(i, k, -2.0, 2.0), QN_OK);
	return QN_OK;
}

static void
bind_weights(double scale)
{
	assert_int_equal(qn_symbol_bind(&rg->m.types, "", "f.w", 1, &scale, NULL), QN_OK);
	assert_int_equal(qn_symbol_bind(&rg->m.types, "", "g.w", 1, &scale, NULL), QN_OK);
}

static void
test_callbacks(void **state)
{
	record r = {.names = ""};
	qn_calib_callback list[] = {{"dense", take_defaults, &r, NULL},
				    {NULL, take_defaults, &r, NULL}};

	(void)state;
	begin();
	bind_weights(0.25);
	assert_int_equal(qn_callbacks_run(&graphs, 2, list, &rg->arena), QN_OK);
	assert_string_equal(r.names, "fg"); /* in the order of the graph */
	assert_true(qn_symbol_find(&rg->m.types, "f.x")->bound);
	qn_map found;
	const qn_symbol *g = qn_symbol_find(&rg->m.types, "g.x");
	const qn_symbol *f = qn_symbol_find(&rg->m.types, "f.x"); /* of a dense_bias */
	assert_int_equal(qn_callback_symbols(&graphs, 1, list, &rg->arena, &found), QN_OK);
	assert_non_null(qn_map_get(&found, &g, sizeof g));
	assert_null(qn_map_get(&found, &f, sizeof f));
}

/* A row for a pattern wins wherever it stands; one for every pattern takes the partitions of its method. */
static void
test_row_of_partition(void **state)
{
	static const qn_calib_callback list[] = {{NULL, NULL, NULL, NULL},
						 {"conv2d", NULL, NULL, "kl"},
						 {"dense", NULL, NULL, NULL},
						 {NULL, NULL, NULL, "kl"}};
	static const struct {
		const char *pattern, *method;
		int row; /* -1: none */
	} cases[] = {
		{"dense", NULL, 2}, {"dense", "kl", 2}, {"conv2d", NULL, 1}, {"conv2d", "mse", 1},
		{"add", NULL, 0},   {"add", "kl", 3},   {"add", "mse", -1},
	};

	(void)state;
	for (size_t i = 0; i < QN_COUNT(cases); i++) {
		const qn_part part = {.pattern = cases[i].pattern, .method = cases[i].method};
		const qn_calib_callback *row = qn_callback_of(QN_COUNT(list), list, &part);

		assert_int_equal(row != NULL ? row - list : -1, cases[i].row);
		assert_null(qn_callback_of(0, list, &part));
	}
}

/* A chain of additions, each a partition: nodes that are looked at to find the symbols of all callbacks, and
 * bytes that this takes. */
static uint64_t
looked_at(int n, size_t *bytes)
{
	const qn_quant_opts opts = {.per_tensor_weights = true};
	const qn_calib_callback list[] = {{NULL, take_defaults, NULL, NULL}};
	static const int64_t shape[] = {BATCHES, 2};
	const char *name = "x";
	qn_dataset *data;
	qn_graph *real;
	qn_map found;
	qn_id *map;
	qn_buf b;

	rig_teardown(NULL);
	rig_setup(NULL);
	qn_buf_init(&b, &rg->arena);
	qn_buf_puts(&b, "model \"m\" stage float\ngraph @main(%r0: tensor<1x2xf32>) {\n");
	for (int i = 0; i < n; i++)
		qn_buff(&b, "  %%r%d = add %%r%d, %%r0\n", i + 1, i);
	qn_buff(&b, "  return %%r%d\n}\n", n);
	assert_int_equal(qn_model_parse(&rg->m, "m.qir", qn_buf_str(&b), b.n), QN_OK);
	assert_int_equal(qn_partition(&rg->m, &opts), QN_OK);
	assert_int_equal(qn_quantize_model(&rg->m, &opts), QN_OK);
	assert_int_equal(qn_erase_quantization(&rg->m, qn_model_entry(&rg->m), true, &real, &map),
			 QN_OK);
	const qn_tensor *all = qn_tensor_view(
		&rg->arena, qn_type_plain(&rg->m.types, QN_PLAIN_f32, 2, shape), samples);
	assert_int_equal(
		qn_dataset_arrays(qn_model_entry(&rg->m), &rg->arena, 1, &all, &name, &data),
		QN_OK);
	qn_info_graphs_init(&graphs, &rg->m, qn_model_entry(&rg->m), real, map, data, 1 << 20,
			    &rg->arena);
	*bytes = rg->arena.used;
	assert_int_equal(qn_callback_symbols(&graphs, 1, list, &rg->arena, &found), QN_OK);
	*bytes = rg->arena.used - *bytes;
	return *graphs.looked;
}

/* Twice the nodes take twice the work. */
static void
test_work(void **state)
{
	size_t bytes, more_bytes;

	(void)state;
	const uint64_t some = looked_at(500, &bytes);
	const uint64_t more = looked_at(1000, &more_bytes);
	assert_true(some >= 500 && some <= 2500);
	assert_in_range(more, 2 * some - 10, 2 * some + 10);
	assert_true(more_bytes < 3 * bytes);
}

/* What a callback reports itself is not reported again. */
static qn_status
report_own(void *user, qn_info *i)
{
	(void)user;
	return qn_info_store_range(i, 7, -1.0, 1.0);
}

static void
test_callbacks_that_fail(void **state)
{
	record r = {.names = "", .fail = true};
	const qn_calib_callback list[] = {{NULL, take_defaults, &r, NULL}};
	const qn_calib_callback own[] = {{NULL, report_own, NULL, NULL}};
	const qn_calib_callback none[] = {{"conv2d", report_own, NULL, NULL}};
	const size_t before = rg->diags.n;

	(void)state;
	begin();
	bind_weights(0.25);
	assert_int_equal(qn_callbacks_run(&graphs, 1, list, &rg->arena), QN_EUNSUPPORTED);
	assert_string_equal(last_id(), "calibrate.callback");
	assert_string_equal(r.names, "f");
	assert_int_equal(rg->diags.n, before + 1);
	assert_int_equal(qn_callbacks_run(&graphs, 1, own, &rg->arena), QN_EUSAGE);
	assert_string_equal(last_id(), "calibrate.value");
	assert_int_equal(rg->diags.n, before + 2);
	assert_int_equal(qn_callbacks_run(&graphs, 1, none, &rg->arena), QN_OK);
	r.fail = false;
	r.forget = true;
	assert_int_equal(qn_callbacks_run(&graphs, 1, list, &rg->arena), QN_EINVALID);
	assert_string_equal(last_id(), "calibrate.missing");
}

/* Of a partition's output, which has so many elements. */
static double
error_of(const char *out, int n)
{
	qn_info *f = info_of(out);
	double error = 0;

	for (size_t b = 0; b < BATCHES; b++)
		for (int k = 0; k < n; k++) {
			double d = (double)get(f, QN_INFO_FLOAT_OUTPUT, 0, b, k) -
				   (double)get(f, QN_INFO_OUTPUT, 0, b, k);

			error += d * d;
		}
	return error;
}

/* The search is never worse than where it begins, and finds a better scale where there is one. */
static void
test_search(void **state)
{
	static const char *const methods[] = {"output:steps=16,least=0.25",
					      "output:steps=16,least=0.25,cosine=1"};
	qn_method_opts opts;
	const qn_calib_callback list[] = {{NULL, qn_search_output_of, &opts, NULL}};
	const double start = 0.5;

	(void)state;
	for (int round = 0; round < 2; round++) {
		rig_teardown(NULL);
		rig_setup(NULL);
		begin();
		graphs.method = method;
		bind_weights(0.25);
		assert_int_equal(qn_symbol_bind(&rg->m.types, "", "f.x", 1, &start, NULL), QN_OK);
		double before = error_of("f", 2);
		rig_teardown(NULL);
		rig_setup(NULL);
		begin();
		graphs.method = method;
		bind_weights(0.25);
		assert_int_equal(qn_method_parse(&rg->env, &rg->arena, methods[round], &opts),
				 QN_OK);
		assert_int_equal(qn_callbacks_run(&graphs, 1, list, &rg->arena), QN_OK);
		assert_true(round == 1 || error_of("f", 2) < 0.5 * before);
		assert_true(qn_symbol_find(&rg->m.types, "f.x")->scale <= 0.5);
	}
	assert_int_equal(rg->diags.n, 0);
}

/* An output of one element: its error counts. */
static void
test_search_of_one(void **state)
{
	qn_method_opts opts;
	const qn_calib_callback list[] = {{"dense", qn_search_output_of, &opts, NULL}};
	const double fine = 1.0 / 64, start = 0.5;
	const int64_t zp = 0;
	double before = 0;

	(void)state;
	for (int round = 0; round < 2; round++) {
		rig_teardown(NULL);
		rig_setup(NULL);
		begin();
		graphs.method = method;
		bind_weights(0.25);
		assert_int_equal(qn_symbol_bind(&rg->m.types, "", "f.x", 1, &fine, &zp), QN_OK);
		assert_int_equal(
			qn_method_parse(&rg->env, &rg->arena, "output:steps=16,least=0.25", &opts),
			QN_OK);
		if (round == 0) {
			assert_int_equal(qn_symbol_bind(&rg->m.types, "", "g.x", 1, &start, &zp),
					 QN_OK);
			before = error_of("g", 1);
			continue;
		}
		assert_int_equal(qn_callbacks_run(&graphs, 1, list, &rg->arena), QN_OK);
		assert_true(error_of("g", 1) < 0.5 * before);
		assert_true(qn_symbol_find(&rg->m.types, "g.x")->scale < 0.5);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_callbacks, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_row_of_partition, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_work, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_callbacks_that_fail, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_search, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_search_of_one, rig_setup, rig_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
