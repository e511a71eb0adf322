/* SPDX-License-Identifier: Apache-2.0 */
/* test_quantizer_skip.c - quantizer patterns of a host: layers that are skipped, what is told of matches, and
 * recipes that name a pattern. */
#include "tests/unit/quantizer_rig.h"

#include <stdio.h>

/* ---- skip and explain ---- */

typedef struct told {
	size_t taken, symbols, other;
	char why[256];
} told;

static void
tell(void *user, const qn_explained *e)
{
	told *t = user;

	if (e->why != NULL && t->other++ == 0)
		(void)snprintf(t->why, sizeof t->why, "%s %s: %s", e->pattern, e->root, e->why);
	if (e->why == NULL && strcmp(e->pass, "partition") == 0)
		t->taken++;
	t->symbols += e->nsymbol;
}

static int
skip_pattern(void *user, const qn_graph *g, qn_id root, const char *pattern)
{
	return strcmp(pattern, user) == 0 && qn_value(g, root).name[0] == 'y';
}

/* The layer y = bias_add(c) is the first match, z the second. */
static void
test_skip(void **state)
{
	static const struct {
		const char *skip, *host;
		size_t taken;
		const char *why, *warning;
	} rows[] = {
		{"first", NULL, 1, "conv2d_bias y: skipped by 'first'", NULL},
		{"last", NULL, 1, "conv2d_bias z: skipped by 'last'", NULL},
		{"first,last", NULL, 0, "conv2d_bias y: skipped by 'first'", NULL},
		{"name:c", NULL, 1, "conv2d_bias y: skipped by name 'c'", NULL},
		{"name:?", NULL, 0, "conv2d_bias y: skipped by name '?'", NULL},
		{"name:*z*", NULL, 1, "conv2d_bias z: skipped by name '*z*'", NULL},
		{"op:bias_add", NULL, 1, "conv2d_bias y: skipped by op 'bias_add'", NULL},
		{"op:relu", NULL, 2, "", "skip.nothing"},
		{"name:b", NULL, 2, "", "skip.nothing"}, /* a constant is not of the match */
		{NULL, "conv2d_bias", 1,
		 "conv2d_bias y: skipped by the callback of the host program", NULL},
		{NULL, "conv2d", 2, "", NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		qn_ctx *ctx = qn_open(NULL);
		qn_model *m = two_layers(ctx);
		told t = {0};
		qn_compile_opts o = {.passes = "partition,quantize",
				     .skip = rows[i].skip,
				     .explain = tell,
				     .explain_user = &t};
		const char *skipped = strstr(rows[i].why, "skipped");

		if (rows[i].host != NULL) {
			o.skip_fn = skip_pattern;
			o.skip_user = (void *)(uintptr_t)rows[i].host;
		}
		assert_int_equal(qn_compile(m, &o), QN_OK);
		assert_int_equal(t.taken, rows[i].taken);
		assert_int_equal(t.symbols, 2 * rows[i].taken);
		assert_int_equal(qn_diag_count(ctx), rows[i].warning != NULL);
		if (rows[i].warning != NULL)
			assert_string_equal(qn_diag_get(ctx, 0).id, rows[i].warning);
		if (skipped != NULL)
			assert_true(t.other >= 1);
		qn_close(ctx);
	}
}

/* A constant that a pattern takes with it has no name or op that a layer is skipped by. */
static void
test_skip_constant(void **state)
{
	static const struct {
		const char *skip;
		size_t taken;
	} rows[] = {{"name:exponent", 1}, {"op:const", 1}, {"name:p", 0}, {"op:add", 0}};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		qn_ctx *ctx = qn_open(NULL);
		qn_model *m;
		qn_pattern *made;
		told t = {0};
		qn_compile_opts o = {.passes = "partition",
				     .skip = rows[i].skip,
				     .explain = tell,
				     .explain_user = &t};

		assert_int_equal(qn_model_new(ctx, "net", &m), QN_OK);
		qn_graph *g = qn_model_main(m);
		qn_id x = qn_add_input(g, "x", "tensor<1x4xf32>");
		qn_id e = qn_add_const(g, "exponent", ramp(ctx, 1, (int64_t[]){1}));
		qn_id p = qn_add_op(g, "add", "p", 2, (qn_id[]){x, e}, NULL, NULL);
		assert_int_equal(qn_add_output(g, "out", p), QN_OK);
		assert_int_equal(qn_pattern_parse(ctx, "add(*, const)", &made), QN_OK);
		qn_quantizer mine = {.name = "host.half", .pattern = made, .quantize = half_of};
		o.quantizers = &mine;
		o.nquantizers = 1;
		o.no_standard = 1;
		assert_int_equal(qn_compile(m, &o), QN_OK);
		assert_int_equal(t.taken, rows[i].taken);
		assert_int_equal(qn_diag_count(ctx), rows[i].taken);
		if (rows[i].taken)
			assert_string_equal(qn_diag_get(ctx, 0).id, "skip.nothing");
		qn_close(ctx);
	}
}

/* Matches that cannot be taken out, and why. */
static void
test_explain(void **state)
{
	qn_ctx *ctx = qn_open(NULL);
	qn_model *m;
	told t = {0};
	qn_compile_opts o = {.passes = "partition", .explain = tell, .explain_user = &t};

	(void)state;
	assert_int_equal(qn_model_new(ctx, "net", &m), QN_OK);
	qn_graph *g = qn_model_main(m);
	qn_id x = qn_add_input(g, "x", "tensor<1x4x4x2xf32>");
	qn_id w = qn_add_const(g, "w", ramp(ctx, 4, (int64_t[]){3, 1, 1, 2}));
	qn_id b = qn_add_const(g, "b", ramp(ctx, 1, (int64_t[]){3}));
	qn_id c = qn_add_op(g, "conv2d", "c", 2, (qn_id[]){x, w}, NULL, NULL);
	qn_id y = qn_add_op(g, "bias_add", "y", 2, (qn_id[]){c, b}, NULL, NULL);
	assert_int_equal(qn_add_output(g, "out", y), QN_OK);
	assert_int_equal(qn_add_output(g, "inner", c), QN_OK);
	assert_int_equal(qn_compile(m, &o), QN_OK);
	assert_string_equal(t.why,
			    "conv2d_bias y: 'c', an inner node of the match, is used elsewhere");
	assert_int_equal(t.taken, 2);
	qn_close(ctx);

	ctx = qn_open(NULL);
	t = (told){0};
	o.passes = "partition";
	m = two_layers(ctx);
	assert_int_equal(qn_compile(m, &o), QN_OK);
	assert_string_equal(t.why, "conv2d c: 'c' belongs to the match of 'conv2d_bias' at 'y'");
	qn_close(ctx);
}

/* ---- recipes ---- */

static void
test_recipe(void **state)
{
	static const struct {
		const char *recipe;
		const char *has[3]; /* of the text behind quantize */
	} rows[] = {
		/* the last rule that has the key wins, key by key */
		{"{\"rules\": [{\"activations\": \"u8\"}, {\"name\": \"c\", \"activations\": "
		 "\"i16\", "
		 "\"weights\": \"i4\"}]}",
		 {"u8:f32, $x.input", "i16:f32, $c.x", "i4<-7:7>:f32:0, $c.w"}},
		{"{\"rules\": [{\"name\": \"c\", \"activations\": \"i16\"}, {\"activations\": "
		 "\"u8\"}]}",
		 {"u8:f32, $c.x", "u8:f32, $z.x", "u8:f32, $out.output"}},
		{"{\"rules\": [{\"op\": \"conv2d\", \"granularity\": \"per-tensor\"}, {\"name\": "
		 "\"z\", "
		 "\"granularity\": \"per-channel\"}]}",
		 {"i8<-127:127>:f32, $c.w", "i8<-127:127>:f32:0, $z.w", "i8:f32, $x.input"}},
		{"{\"rules\": [{\"op\": \"output\", \"activations\": \"i16\"}, {\"op\": \"input\", "
		 "\"name\": \"x\", \"activations\": \"u8\"}]}",
		 {"i16:f32, $out.output", "u8:f32, $x.input", "i8:f32, $c.x"}},
		{"{\"rules\": [{\"skip\": true}, {\"name\": \"z\", \"skip\": false}]}",
		 {"%y = bias_add %c, %b", "$z.w", "$x.input"}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		qn_ctx *ctx = qn_open(NULL);
		qn_model *m = two_layers(ctx);
		qn_compile_opts o = {.passes = "partition,quantize", .recipe = rows[i].recipe};
		static text got;

		assert_int_equal(qn_compile(m, &o), QN_OK);
		assert_int_equal(qn_diag_count(ctx), 0);
		print_to(m, &got);
		for (size_t k = 0; k < 3; k++)
			if (strstr(got.s, rows[i].has[k]) == NULL)
				fail_msg("row %zu: no '%s' in\n%s", i, rows[i].has[k], got.s);
		qn_close(ctx);
	}
}

/* A rule that matches nothing is told the names nearest to its own, at most three: the nearest first, of equally near ones
 * the first in the graph; none that has nothing in common with it. */
static void
test_recipe_near(void **state)
{
	static const struct {
		const char *names, *rule, *near;
	} rows[] = {
		{"dense_234 dense_23 dense_2 dense_3", "dense_1",
		 "'dense_1'; did you mean 'dense_2', 'dense_3' or 'dense_23'?"},
		{"abcd abce abcf abcg", "abcx", "'abcx'; did you mean 'abcd', 'abce' or 'abcf'?"},
		{"ab qq", "xx", "'xx'"},
		{"aq bq", "xq", "'xq'; did you mean 'aq' or 'bq'?"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		qn_ctx *ctx = qn_open(NULL);
		qn_model *m;
		char names[80], recipe[80];
		qn_compile_opts o = {.passes = "partition,quantize", .recipe = recipe};

		(void)snprintf(names, sizeof names, "%s", rows[i].names);
		(void)snprintf(recipe, sizeof recipe,
			       "{\"rules\": [{\"name\": \"%s\", \"skip\": true}]}", rows[i].rule);
		assert_int_equal(qn_model_new(ctx, "net", &m), QN_OK);
		qn_graph *g = qn_model_main(m);
		qn_id x = qn_add_input(g, "input_of_the_model", "tensor<1x4xf32>");
		for (char *name = strtok(names, " "); name != NULL; name = strtok(NULL, " "))
			x = qn_add_op(g, "relu", name, 1, &x, NULL, NULL);
		assert_int_equal(qn_add_output(g, "output_of_the_model", x), QN_OK);
		assert_int_equal(qn_compile(m, &o), QN_EINVALID);
		assert_string_equal(qn_diag_get(ctx, 0).id, "recipe.nothing");
		const char *end = strstr(qn_diag_get(ctx, 0).message, "output named ");
		assert_non_null(end);
		assert_string_equal(end + strlen("output named "), rows[i].near);
		qn_close(ctx);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_skip),          cmocka_unit_test(test_explain),
		cmocka_unit_test(test_skip_constant), cmocka_unit_test(test_recipe),
		cmocka_unit_test(test_recipe_near),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
