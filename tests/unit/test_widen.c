/* SPDX-License-Identifier: Apache-2.0 */
/* test_widen.c - activations that are 16 bits wide where a range needs it (QN_ACTIVATIONS_AUTO): planted layers are found
 * and no others, what rules say stays, and a network that needs none is that of i8. */
#include "tests/unit/widen_rig.h"

static void
take_sqnr(void *user, const qn_metric *m)
{
	if (strcmp(m->name, "sqnr") == 0)
		*(double *)user = m->value;
}

/* What a compilation gives. */
typedef struct result {
	double sqnr;
	size_t n;
	char layers[80], options[300], input[80];
	double least_gain;
	char *graph; /* the text of the integer model, without what it says of options; of the caller */
} result;

static int
append(void *user, const char *piece, size_t n)
{
	char **to = user;
	const size_t have = *to != NULL ? strlen(*to) : 0;

	*to = realloc(*to, have + n + 1);
	if (*to == NULL)
		return 1;
	memcpy(*to + have, piece, n);
	(*to)[have + n] = '\0';
	return 0;
}

static result
result_of(rig *r)
{
	const qn_measure_opts measure = {.against = r->real};
	result out = {.n = r->m->nwidened, .least_gain = 1e9};

	assert_int_equal(qn_measure(r->m, 1, &r->x, &measure, take_sqnr, &out.sqnr), QN_OK);
	for (size_t i = 0; i < r->m->nwidened; i++) {
		const qn_widened *w = &r->m->widened[i];

		(void)strcat(strcat(out.layers, i > 0 ? " " : ""), w->value);
		out.least_gain = w->gain < out.least_gain ? w->gain : out.least_gain;
	}
	(void)snprintf(out.options, sizeof out.options, "%s", r->m->options);
	(void)snprintf(out.input, sizeof out.input, "%s", qn_model_input_type(r->m, 0));
	assert_int_equal(qn_print(r->m, QN_FORMAT_IR, append, &out.graph), QN_OK);
	const char *nodes = strstr(out.graph, "graph @"); /* after the header */
	memmove(out.graph, nodes, strlen(nodes) + 1);
	return out;
}

static result
run(plant p, int threads, float held, qn_compile_opts o)
{
	rig r = make(p, threads, held);

	assert_int_equal(compile(&r, o), QN_OK);
	const result out = result_of(&r);
	qn_close(r.ctx);
	return out;
}

/* ---- what is found ---- */

static void
planted(void **state)
{
	static const struct {
		plant p;
		const char *layers, *input;
		double gain; /* of each layer, at least */
	} rows[] = {
		{IN_INPUT, "fc1", "i16", 15},        {IN_ONE, "fc3", "i8", 15},
		{IN_TWO, "fc2 fc3", "i8", 10},       {IN_SHARED, "fc4 fc5", "i8", 10},
		{IN_CHAIN, "raw centred", "i8", 10},
	};

	(void)state;
	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		result a = run(rows[i].p, 1, 1, narrow), b = run(rows[i].p, 1, 1, automatic),
		       c = run(rows[i].p, 3, 1, automatic), d = run(rows[i].p, 1, 1, wide);

		print_message("i8 %.2f dB, auto %.2f dB (%s, from %.2f dB), i16 %.2f dB: %s\n",
			      a.sqnr, b.sqnr, b.layers, b.least_gain, d.sqnr, b.options);
		assert_true(b.sqnr > a.sqnr + 15);
		assert_true(b.least_gain > rows[i].gain);
		assert_true(strcmp(b.layers, rows[i].layers) == 0 ||
			    strcmp(b.layers, "fc5 fc4") == 0 || strcmp(b.layers, "fc3 fc2") == 0);
		assert_non_null(strstr(b.input, rows[i].input));
		assert_non_null(strstr(b.options, "activations=auto:"));
		assert_string_equal(b.options, c.options); /* for any number of threads */
		assert_string_equal(b.graph, c.graph);
		free(a.graph), free(b.graph), free(c.graph), free(d.graph);
	}
}

/* A network that needs none has the bytes of i8, and so has one where the samples that are held back say no. */
static void
healthy(void **state)
{
	static const qn_compile_opts ways[] = {
		{.activations = QN_ACTIVATIONS_AUTO},
		{.recipe = "{\"rules\": [{\"activations\": \"auto\"}]}"},
		{.recipe = "{\"rules\": [{\"name\": \"fc3\", \"activations\": \"auto\"}]}"}};

	(void)state;
	for (size_t i = 0; i < 2 * QN_COUNT(ways); i++) {
		const plant p = i < QN_COUNT(ways) ? NOWHERE : IN_ONE;
		const float held = p == NOWHERE ? 1 : 0;
		result a = run(p, 1, held, narrow), b = run(p, 1, held, ways[i % QN_COUNT(ways)]);

		assert_int_equal(b.n, 0);
		assert_non_null(strstr(b.options, "activations=auto:0/"));
		assert_true(a.sqnr == b.sqnr);
		assert_string_equal(a.graph, b.graph);
		free(a.graph), free(b.graph);
	}
}

/* ---- rules ---- */

static void
rules(void **state)
{
	static const struct {
		const char *recipe, *layers;
		bool found;
	} rows[] = {
		{"{\"rules\": [{\"activations\": \"auto\"}]}", "fc3", true},
		{"{\"rules\": [{\"op\": \"dense\", \"activations\": \"auto\"}]}", "fc3", true},
		{"{\"rules\": [{\"name\": \"fc[12]\", \"activations\": \"auto\"}]}", "", false},
		{"{\"rules\": [{\"activations\": \"auto\"}, {\"name\": \"fc3\", \"activations\": "
		 "\"i8\"}]}",
		 "", false},
		/* the rule is met: nothing is left to choose there */
		{"{\"rules\": [{\"activations\": \"auto\"}, {\"name\": \"fc3\", \"activations\": "
		 "\"i16\"}]}",
		 "", true},
		{"{\"rules\": [{\"name\": \"fc3\", \"activations\": \"dynamic\"}, {\"name\": "
		 "\"fc1\", \"activations\": \"auto\"}]}",
		 "", false},
	};
	result a = run(IN_ONE, 1, 1, narrow);

	(void)state;
	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		result b = run(IN_ONE, 1, 1, (qn_compile_opts){.recipe = rows[i].recipe});

		print_message("%s: %s, %.2f dB\n", rows[i].recipe, b.layers, b.sqnr);
		assert_string_equal(b.layers, rows[i].layers);
		assert_true((b.sqnr > a.sqnr + 10) == rows[i].found);
		free(b.graph);
	}
	/* an input whose storage a rule says, and a layer that takes it */
	result b = run(IN_INPUT, 1, 1,
		       (qn_compile_opts){.activations = QN_ACTIVATIONS_AUTO,
					 .recipe = "{\"rules\": [{\"op\": \"input\", "
						   "\"activations\": \"i8\"}]}"});
	assert_int_equal(b.n, 0);
	assert_non_null(strstr(b.input, "i8"));
	free(a.graph), free(b.graph);
}

/* ---- models that were saved between ---- */

static void
resumed(void **state)
{
	static const char *const stops[] = {"clean", "partition", "quantize", "bind"};
	result whole = run(IN_ONE, 1, 1, automatic);

	(void)state;
	for (size_t i = 0; i < QN_COUNT(stops); i++) {
		rig r = make(IN_ONE, 1, 1);
		qn_compile_opts o = automatic;
		const bool chosen = i >= 2;

		o.stop_after = stops[i];
		if (!chosen)
			o.activations = QN_ACTIVATIONS_I8;
		assert_int_equal(compile(&r, o), QN_OK);
		assert_int_equal(qn_save(r.m, "widen.json", 1), QN_OK);
		assert_int_equal(qn_load(r.ctx, "widen.json", &r.m), QN_OK);
		if (i == 3)
			assert_int_equal(qn_compile(r.m, NULL), QN_OK);
		else
			assert_int_equal(compile(&r, chosen ? narrow : automatic), QN_OK);
		result b = result_of(&r);
		assert_string_equal(b.layers, "fc3");
		assert_true(b.sqnr == whole.sqnr);
		assert_string_equal(b.graph, whole.graph);
		free(b.graph);
		qn_close(r.ctx);
	}
	free(whole.graph);
	(void)remove("widen.json");
	(void)remove("widen.safetensors");
}

/* The text of a model has what was chosen. */
static void
in_text(void **state)
{
	char *first = NULL, *second = NULL;
	rig r = make(IN_ONE, 1, 1);
	qn_compile_opts o = automatic;

	(void)state;
	o.stop_after = "quantize";
	assert_int_equal(compile(&r, o), QN_OK);
	assert_int_equal(qn_print(r.m, QN_FORMAT_IR, append, &first), QN_OK);
	assert_non_null(strstr(first, "widened \"fc3\" "));
	assert_int_equal(qn_file_add(r.ctx, "again.qir", first, strlen(first)), QN_OK);
	assert_int_equal(qn_load(r.ctx, "again.qir", &r.m), QN_OK);
	assert_int_equal(qn_print(r.m, QN_FORMAT_IR, append, &second), QN_OK);
	assert_string_equal(first, second);
	assert_int_equal(qn_model_describe(r.m).widened, 1);
	free(first), free(second);
	qn_close(r.ctx);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(planted), cmocka_unit_test(healthy), cmocka_unit_test(rules),
		cmocka_unit_test(resumed), cmocka_unit_test(in_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
