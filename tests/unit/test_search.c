/* SPDX-License-Identifier: Apache-2.0 */
/* test_search.c - the method "output", and the same search from a callback of the host's; with statistics, in a recipe.
 *
 *   fc = dense(x, w): x[3] is 16 in one sample, elsewhere all of x is within 1, and the weights of x[3] are small: the
 *   range of x that is best for fc cuts the 16 off, which no method that looks at x alone can know */
#include "tests/unit/search_rig.h"

#include <string.h>

typedef struct text {
	char s[TEXT];
	size_t n;
} text;

static int
append(void *user, const char *s, size_t n)
{
	text *t = user;

	assert_true(t->n + n < TEXT);
	memcpy(t->s + t->n, s, n);
	t->n += n;
	t->s[t->n] = '\0';
	return 0;
}

/* The lines of the symbols. */
static void
print_to(qn_model *m, text *t)
{
	t->n = 0;
	assert_int_equal(qn_print(m, QN_FORMAT_IR, append, t), QN_OK);
	char *symbols = strstr(t->s, "\nsymbol");
	char *graph = strstr(t->s, "graph @main");
	assert_true(symbols != NULL && graph != NULL);
	*graph = '\0';
	memmove(t->s, symbols, strlen(symbols) + 1);
}

static rig
make_within(int threads, uint64_t steps)
{
	rig r = {.ctx = qn_open(&(qn_config){.threads = threads, .limits = {.steps = steps}})};
	float w[OUT * IN], x[SAMPLES * IN];
	qn_array *weights;
	qn_id y;

	for (int i = 0; i < OUT * IN; i++)
		w[i] = (float)(i * 5 % 11 - 5) * (i % IN == 3 ? 0x1p-16f : 0.125f);
	for (int i = 0; i < SAMPLES * IN; i++)
		x[i] = (float)(i * 37 % 101 - 50) / 50;
	x[7 * IN + 3] = 16;
	assert_int_equal(qn_array_new(r.ctx, "f32", 2, (int64_t[]){OUT, IN}, w, &weights), QN_OK);
	assert_int_equal(qn_array_new(r.ctx, "f32", 2, (int64_t[]){SAMPLES, IN}, x, &r.x), QN_OK);
	assert_int_equal(qn_model_new(r.ctx, "net", &r.m), QN_OK);
	qn_graph *g = qn_model_main(r.m);
	y = qn_add_input(g, "x", "tensor<1x8xf32>");
	y = qn_add_op(g, "dense", "fc", 2, (qn_id[]){y, qn_add_const(g, "w", weights)}, NULL, NULL);
	assert_int_equal(qn_add_output(g, "y", y), QN_OK);
	return r;
}

static rig
make(int threads)
{
	return make_within(threads, 0);
}

static const char *
first_id(const rig *r)
{
	return qn_diag_count(r->ctx) > 0 ? qn_diag_get(r->ctx, 0).id : "";
}

/* The values of the symbols; *error: sum of squared differences to the float outputs. */
static void
result(int threads, qn_compile_opts o, text *t, double *error)
{
	rig r = make(threads);
	qn_array *real, *y;

	assert_int_equal(qn_run(r.m, 1, &r.x, 1, 1, &real), QN_OK);
	o.passes = quantized;
	o.scheme = QN_RFC; /* nothing but fc is quantized */
	assert_int_equal(compile(&r, o), QN_OK);
	assert_int_equal(qn_diag_count(r.ctx), 1); /* one sample has the outlier */
	assert_string_equal(first_id(&r), "data.few");
	assert_int_equal(qn_run(r.m, 1, &r.x, 1, 1, &y), QN_OK);
	const float *a = qn_array_data(real), *b = qn_array_data(y);
	*error = 0;
	for (int i = 0; i < SAMPLES * OUT; i++)
		*error += ((double)a[i] - (double)b[i]) * ((double)a[i] - (double)b[i]);
	print_to(r.m, t);
	qn_close(r.ctx);
}

static void
test_outlier(void **state)
{
	static const char *const methods[] = {"output", "output:cosine=1",
					      "output:steps=2,least=0.125"};
	static text plain, found;
	double before, after;

	(void)state;
	result(1, (qn_compile_opts){.method = "minmax"}, &plain, &before);
	for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
		result(1, (qn_compile_opts){.method = methods[i]}, &found, &after);
		assert_string_not_equal(found.s, plain.s);
		if (!(after < 0.6 * before))
			fail_msg("%s: error %g, minmax has %g", methods[i], after, before);
	}
	/* Nothing is tried but the factor 1. */
	result(1, (qn_compile_opts){.method = "output:least=1"}, &found, &after);
	assert_string_equal(found.s, plain.s);
}

static void
test_threads(void **state)
{
	static text one, four;
	double error;

	(void)state;
	result(1, (qn_compile_opts){.method = "output:steps=7"}, &one, &error);
	result(4, (qn_compile_opts){.method = "output:steps=7"}, &four, &error);
	assert_string_equal(four.s, one.s);
}

/* ---- what it costs ---- */

/* Steps of a search count against the limit of a run. */
static void
test_limit(void **state)
{
	static const struct {
		const char *method, *place;
		uint64_t too_few, enough;
	} rows[] = {{"output", "fc", 2000, 200000},
		    {"kl", "net", 100000, 1000000},
		    {"kl_tvm", "net", 500000, 5000000},
		    {"mse", "net", 4000000, 40000000},
		    {"minmax", NULL, 2000, 2000}};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		for (int k = 0; k < 2; k++) {
			rig r = make_within(1, k == 0 ? rows[i].too_few : rows[i].enough);
			qn_status status = compile(&r, (qn_compile_opts){.method = rows[i].method,
									 .scheme = QN_RFC,
									 .passes = quantized});

			if (k > 0 || rows[i].place == NULL) {
				assert_int_equal(status, QN_OK);
			} else {
				assert_int_equal(status, QN_EBUDGET);
				assert_string_equal(first_id(&r), "limit.steps");
				assert_string_equal(qn_diag_get(r.ctx, 0).place, rows[i].place);
			}
			qn_close(r.ctx);
		}
}

/* ---- from a callback ---- */

static qn_quantizer
searching(qn_search *search)
{
	return (qn_quantizer){.name = "dense",
			      .text = "dense(x, w=const)",
			      .quantize = quantize_dense,
			      .calibrate = qn_search_output,
			      .user = search};
}

/* The callback gives what the method gives, whatever the method of the options is that it begins with. */
static void
test_callback(void **state)
{
	static const struct {
		qn_search search;
		const char *method;
	} rows[] = {{{0}, "output"},
		    {{.steps = 9, .least = 0.125}, "output:steps=9,least=0.125"},
		    {{.metric = QN_SEARCH_COSINE, .steps = 5}, "output:cosine=1,steps=5"}};
	static text want, got;
	double error;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		qn_search search = rows[i].search;
		qn_quantizer mine = searching(&search);

		result(1, (qn_compile_opts){.method = rows[i].method}, &want, &error);
		result(1, (qn_compile_opts){.quantizers = &mine, .nquantizers = 1}, &got, &error);
		assert_string_equal(got.s, want.s);
		/* The method leaves partitions to the callbacks that they have. */
		result(1,
		       (qn_compile_opts){
			       .quantizers = &mine, .nquantizers = 1, .method = "output:least=1"},
		       &got, &error);
		assert_string_equal(got.s, want.s);
	}
}

static void
test_refused(void **state)
{
	static const qn_search bad[] = {{.steps = 1},         {.steps = -3},
					{.steps = 1001},      {.least = -0.5},
					{.least = 1.5},       {.least = 1e-9},
					{.least = 0.0 / 0.0}, {.metric = (qn_search_metric)2}};

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		rig r = make(1);
		qn_search search = bad[i];
		qn_quantizer mine = searching(&search);

		assert_int_equal(compile(&r, (qn_compile_opts){.scheme = QN_RFC,
							       .quantizers = &mine,
							       .nquantizers = 1}),
				 QN_EUSAGE);
		assert_int_equal(qn_diag_count(r.ctx), 1);
		assert_string_equal(first_id(&r), "calibrate.search");
		qn_close(r.ctx);
	}
}

/* ---- with statistics, and without partitions ---- */

static void
test_statistics(void **state)
{
	static text want, got;
	qn_compile_opts o;
	rig r = make(1);
	qn_stats *s;
	double error;

	(void)state;
	result(1, (qn_compile_opts){.method = "output"}, &want, &error);
	o = (qn_compile_opts){.scheme = QN_RFC, .method = "output", .calib = &r.x, .ncalib = 1};
	assert_int_equal(qn_calibrate(r.m, &o, 0, 0, &s), QN_OK);
	assert_string_equal(first_id(&r), "data.few");
	qn_diag_clear(r.ctx);
	/* Of this model, which is symbolic now. */
	o = (qn_compile_opts){.stats = s, .stop_after = "bind"};
	assert_int_equal(qn_compile(r.m, &o), QN_EINVALID);
	assert_string_equal(first_id(&r), "calibrate.no-data");
	assert_non_null(strstr(qn_diag_get(r.ctx, 0).message, "statistics"));
	assert_int_equal(compile(&r, o), QN_OK);
	print_to(r.m, &got);
	assert_string_equal(got.s, want.s);
	qn_close(r.ctx);
}

/* What a callback finds is not in statistics. */
static void
test_statistics_of_callbacks(void **state)
{
	qn_quantizer mine = searching(NULL);
	qn_compile_opts o = {.quantizers = &mine, .nquantizers = 1, .scheme = QN_RFC};
	rig r = make(1);
	qn_stats *s;

	(void)state;
	o.calib = &r.x;
	o.ncalib = 1;
	assert_int_equal(qn_calibrate(r.m, &o, 0, 0, &s), QN_EUSAGE);
	assert_string_equal(first_id(&r), "stats.callback");
	assert_string_equal(qn_diag_get(r.ctx, 0).place, "dense");
	assert_string_equal(qn_model_stage(r.m), "float");
	/* A pattern without one takes part in it. */
	mine.calibrate = NULL;
	mine.quantize = NULL;
	assert_int_equal(qn_calibrate(r.m, &o, 0, 0, &s), QN_EUSAGE);
	assert_string_equal(qn_diag_get(r.ctx, 1).id, "quantizer.register");
	mine.quantize = quantize_dense;
	assert_int_equal(qn_calibrate(r.m, &o, 0, 0, &s), QN_OK);
	qn_close(r.ctx);
}

/* ---- in a recipe ---- */

static void
test_recipe(void **state)
{
	static const char search[] = "{\"rules\": [{\"op\": \"dense\", \"method\": \"output\"}]}";
	static text want, got;
	double error;

	(void)state;
	result(1, (qn_compile_opts){.method = "output"}, &want, &error);
	result(1, (qn_compile_opts){.recipe = search}, &got, &error);
	assert_string_equal(got.s, want.s);
	/* In two runs on the same model; statistics are of one method. */
	rig r = make(1);
	qn_compile_opts o = {
		.scheme = QN_RFC, .recipe = search, .passes = "clean,partition,quantize"};
	qn_stats *s;
	assert_int_equal(compile(&r, o), QN_OK);
	assert_int_equal(
		qn_calibrate(r.m, &(qn_compile_opts){.calib = &r.x, .ncalib = 1}, 0, 0, &s),
		QN_EINVALID);
	assert_string_equal(first_id(&r), "stats.method");
	assert_int_equal(compile(&r, (qn_compile_opts){.passes = "calibrate,bind"}), QN_OK);
	print_to(r.m, &got);
	assert_string_equal(got.s, want.s);
	qn_close(r.ctx);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_outlier),    cmocka_unit_test(test_threads),
		cmocka_unit_test(test_callback),   cmocka_unit_test(test_refused),
		cmocka_unit_test(test_statistics), cmocka_unit_test(test_statistics_of_callbacks),
		cmocka_unit_test(test_recipe),     cmocka_unit_test(test_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
